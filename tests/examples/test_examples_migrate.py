"""The scripts for those who come from another server: every call of theirs is answered.

The models are tiny. The server runs in this process; what the scripts call over gRPC is tested with the gRPC server.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers.serving import served
from polyvox.engines.catalog import Catalog
from polyvox.installation import load_settings
from polyvox.service.local_service import build_service

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed, which CosyVoice needs"),
]

MIGRATE = Path(__file__).parents[2] / "examples" / "migrate"
RECORDING = Path(__file__).parents[1] / "recordings" / "librivox_a.flac"
SCRIPTS = {1: ("cosyvoice.py", "cosyvoice_bundle.py", "rayserve.py"), 3: ("cosyvoice.py", "rayserve.py")}
"""By version. The tiny model of version 2 does not end its speech before its limit, which takes minutes here."""


@contextmanager
def tiny_server(folder: Path, version: int, recordings: Path) -> Iterator[str]:
    """A server with nothing but a model folder; that of version 3 is published without speakers."""
    from helpers.small_networks import without_onednn
    from helpers.tiny_cosyvoice import tiny_model

    tiny_model(folder, version)
    if version > 1:
        (folder / "spk2info.pt").unlink()
    model = f"cosyvoice{version}"
    settings = load_settings(
        models=[model],
        default_model=model,
        models_dir=folder.parent / "models",
        data_dir=folder.parent / "data",
        recording_dirs=[recordings],
        **{f"{model}_dir": folder},
    )
    with without_onednn(), served(build_service(settings, Catalog.installed().factories)) as url:
        yield url


@pytest.mark.parametrize("version", list(SCRIPTS))
def test_every_call_of_the_scripts_is_answered(tmp_path: Path, version: int) -> None:
    recording = Path(shutil.copy(RECORDING, tmp_path / "me.flac"))
    folder = tmp_path / "model"
    with tiny_server(folder, version, tmp_path) as url:
        for script in SCRIPTS[version]:
            command = [sys.executable, str(MIGRATE / script), "--url", url, "--model_dir", str(folder)]
            command += ["--recording", str(recording), "--text", "a."]
            done = subprocess.run(command, cwd=tmp_path, env=dict(os.environ), capture_output=True, timeout=240)
            assert done.returncode == 0, done.stderr.decode()
            assert b" NO\n" not in done.stdout
            assert done.stdout.count(b" yes\n") >= 4
