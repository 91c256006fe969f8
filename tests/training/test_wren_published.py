"""The weights in the repository: sizes, loading, decoding, and resuming without optimizer state."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

import training.wren  # noqa: E402
from polyvox.models.kokoro.wren import Wren, WrenConfig  # noqa: E402
from polyvox.models.kokoro.wren_refiner import RefinerConfig  # noqa: E402
from training.wren.checkpoint import Checkpoint, load_student  # noqa: E402
from training.wren.discriminators import Discriminators  # noqa: E402
from training.wren.features import Features, synthesize  # noqa: E402
from training.wren.pool import random_pool  # noqa: E402
from training.wren.trainer import BatchShape, Trainer  # noqa: E402

FOLDER = Path(training.wren.__file__).parent / "checkpoint"
MEGABYTE = 1_000_000


def test_the_files_stay_small() -> None:
    assert (FOLDER / "wren.safetensors").stat().st_size < 22 * MEGABYTE
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 26 * MEGABYTE


def test_the_student_decodes_finite_samples_within_full_scale() -> None:
    torch.manual_seed(1)
    student = load_student(FOLDER / "wren.safetensors")
    frames = 24
    features = Features(torch.zeros(512, frames), torch.full((2 * frames,), 120.0), torch.zeros(48), torch.zeros(128))
    samples = synthesize(student, features)
    assert samples.shape == (frames * 600,)
    assert 0 < samples.abs().max() < 1


@pytest.mark.long
def test_the_checkpoint_fits_the_default_networks() -> None:
    checkpoint = Checkpoint.read(FOLDER)
    config = WrenConfig(utterance_dim=64, refiner=RefinerConfig(256, 4))
    assert checkpoint.config == config
    assert checkpoint.optimizer is None
    trainer = Trainer(Wren(config), Discriminators(), random_pool(torch.device("cpu"), 2, 60), BatchShape(1, 8))
    assert set(checkpoint.discriminators) == set(trainer.discriminators.state_dict())
    assert checkpoint.restore(trainer) == checkpoint.progress
    assert torch.equal(trainer.student.head.bias, checkpoint.ema["head.bias"].float())
