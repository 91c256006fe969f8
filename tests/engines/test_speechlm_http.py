"""What `polyvox pull speechlm` installs, behind the HTTP door: real recordings, the real intake, no other model."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from helpers.serving import called, error_of
from helpers.silent_progress import SilentProgress
from helpers.tiny_speechlm import tiny_speechlm_settings, write_cloning_model
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, encode
from polyvox.bundles.pull import pull
from polyvox.engines.catalog import Catalog
from polyvox.service.local_service import build_service
from polyvox.service.voices.voices import VoiceService

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

RECORDINGS = Path(__file__).parents[1] / "recordings"
SPEECH, OTHER = ((RECORDINGS / f"librivox_{name}.flac").read_bytes() for name in "ab")
FORM = {"reference_text": "Some words.", "generate_text": "Apa khabar?", "max_tokens": "20", "seed": "1"}


@pytest.fixture
async def door(tmp_path: Path, loose_manifests: None) -> AsyncIterator[httpx.AsyncClient]:
    """A server whose models came by one pull, from a folder with tiny copies."""
    copy, written = tmp_path / "copy", write_cloning_model(tmp_path / "written")
    copy.mkdir()
    _merge([*(written / "speechlm").glob("*.safetensors")], copy / "model.safetensors")
    for path in (*(written / "speechlm").glob("*.json"), written / "neucodec" / "pytorch_model.bin"):
        shutil.copyfile(path, copy / path.name)
    models = tmp_path / "models"
    pull("speechlm", models_dir=models, folder=copy, hub_url="http://127.0.0.1:9", progress=SilentProgress())
    service = build_service(tiny_speechlm_settings(models, data_dir=tmp_path / "data"), Catalog.installed().factories)
    voices = VoiceService.for_service(service)
    async with called(service, voices) as client:
        yield client
        await voices.close()


def _merge(parts: list[Path], into: Path) -> None:
    save_file({name: tensor for part in parts for name, tensor in load_file(part).items()}, into)


def lasting(seconds: float) -> bytes:
    """Speech for so long."""
    pcm, rate = decode(SPEECH, max_seconds=60, max_samples=10_000_000)
    return encode(np.resize(pcm, int(seconds * rate)), AudioFormat.WAV, rate)


async def cloned(client: httpx.AsyncClient, recording: bytes) -> httpx.Response:
    return await client.post("/v1/audio/vc", data=FORM, files={"reference_audio": ("a.flac", recording)}, timeout=120)


async def test_one_pull_is_all_that_cloning_by_upload_needs(door):
    first = await cloned(door, SPEECH)
    assert first.status_code == 200, first.text
    assert len(first.content) == 2 * 480 * 20
    other = await cloned(door, OTHER)
    again = await cloned(door, SPEECH)
    assert again.content == first.content != other.content


async def test_a_recording_that_is_too_long_or_none_is_refused_by_its_field(door):
    for recording in (lasting(31), b"This is no recording.\n" * 50):
        refused = await cloned(door, recording)
        assert (refused.status_code, error_of(refused)["param"]) == (400, "reference_audio"), refused.text
    assert (await cloned(door, SPEECH)).status_code == 200
