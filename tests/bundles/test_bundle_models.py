"""The real models, as installed."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from helpers.sample_bundle import CountingProgress
from helpers.silent_progress import SilentProgress
from polyvox.bundles.pull import pull
from polyvox.bundles.validate import open_bundle, verify
from polyvox.onnx_session import open_session

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["kokoro", "moonshine-base"])
def test_an_installed_model_has_every_byte_its_manifest_promises(models_dir: Path, name):
    progress = CountingProgress()
    verify(open_bundle(name, models_dir), progress)
    assert progress.done == [total for _, total in progress.tasks]


def test_the_installed_kokoro_is_the_published_one_and_an_output_more(models_dir: Path):
    bundle = open_bundle("kokoro", models_dir)
    spec = bundle.manifest.files["model.onnx"]
    installed = bundle.file("model.onnx").read_bytes()
    published = installed[: spec.bytes]
    assert hashlib.sha256(published).hexdigest() == spec.sha256

    style = np.fromfile(bundle.file("voices/af_heart.bin"), np.float32).reshape(510, 1, 256)
    ids = np.array([[0, 50, 83, 54, 156, 31, 4, 0]])
    feed = {"input_ids": ids, "style": style[ids.size - 3], "speed": np.ones(1, np.float32)}
    (before,) = open_session(published).run(None, feed)
    session = open_session(installed)
    assert [output.name for output in session.get_outputs()] == ["waveform", "durations"]
    after, durations = session.run(["waveform", "durations"], feed)

    np.testing.assert_array_equal(after, before)
    assert durations.shape == ids.shape
    assert durations.sum() * 600 == before.size


def test_an_installed_model_can_be_carried_to_a_machine_without_network(models_dir: Path, tmp_path):
    bundle = pull(
        "kokoro",
        models_dir=tmp_path,
        folder=models_dir / "kokoro",
        hub_url="http://127.0.0.1:9",
        progress=SilentProgress(),
    )
    verify(bundle, SilentProgress())
