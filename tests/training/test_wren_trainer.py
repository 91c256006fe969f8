"""Training steps and checkpoints of a tiny Wren, and the format of the first runs."""

from dataclasses import asdict
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from polyvox.models.kokoro.wren import Wren, WrenConfig  # noqa: E402
from polyvox.models.kokoro.wren_refiner import RefinerConfig  # noqa: E402
from training.wren.checkpoint import OPTIMIZER, Checkpoint, Progress, load_student  # noqa: E402
from training.wren.discriminators import Discriminators  # noqa: E402
from training.wren.legacy import CONFIG_NAMES, MODULE_NAMES, read_legacy  # noqa: E402
from training.wren.pool import random_pool  # noqa: E402
from training.wren.quantization import (  # noqa: E402
    dequantize_linear,
    dequantize_log,
    quantize_linear,
    quantize_log,
)
from training.wren.trainer import BatchShape, Trainer  # noqa: E402

CONFIG = WrenConfig(width=16, blocks=2, utterance_dim=6, refiner=RefinerConfig(width=8, blocks=1))
PLAIN = WrenConfig(width=16, blocks=2)
PROGRESS = Progress(steps=3, adversarial_steps=2, seconds=1.5)


def small_discriminators(band_sizes: tuple[int, ...]) -> Discriminators:
    return Discriminators((3,), (256,), band_sizes, period_channels=(4, 4), spectrogram_channels=4)


def new_trainer(config: WrenConfig = CONFIG) -> Trainer:
    torch.manual_seed(0)
    discriminators = small_discriminators(band_sizes=(512,))
    pool = random_pool(torch.device("cpu"), utterances=4, frames=40)
    return Trainer(Wren(config), discriminators, pool, BatchShape(2, 16))


def trained(trainer: Trainer | None = None) -> Trainer:
    trainer = trainer or new_trainer()
    for step in (trainer.spectral_step, trainer.adversarial_step, trainer.adversarial_step):
        step()
        trainer.update_ema(0.3)
    return trainer


def assert_close(one: Trainer, other: Trainer) -> None:
    for ours, theirs in ((one.student, other.student), (one.discriminators, other.discriminators)):
        for left, right in zip(ours.parameters(), theirs.parameters(), strict=True):
            assert torch.allclose(left, right, atol=2e-3, rtol=2e-3)


def step_both(one: Trainer, other: Trainer) -> None:
    for trainer in (one, other):
        torch.manual_seed(9)
        trainer.adversarial_step()


def write_legacy(checkpoint: Checkpoint, folder: Path) -> None:
    """The three files that the first runs wrote."""
    former = {new: old for old, new in MODULE_NAMES.items()}
    former_config = {new: old for old, new in CONFIG_NAMES.items()}

    def rename(entries):
        return {".".join(former.get(part, part) for part in key.split(".")): value for key, value in entries.items()}

    state = checkpoint.optimizer
    assert state is not None
    progress = {"steps": 3, "judged_steps": 2, "seconds": 1.5}
    config = {former_config.get(name, name): size for name, size in asdict(checkpoint.config).items()}
    student = {"config": config, "told": progress, "weights": rename(checkpoint.ema)}
    descent = {"beside": rename(state.student_offset), "way": list(state.student.exp_avg.values())}
    both = zip(state.discriminators.exp_avg.values(), state.discriminators.exp_avg_sq.values(), strict=True)
    judges = {
        "steps": (state.student.step, state.discriminators.step),
        "squares": list(state.student.exp_avg_sq.values()),
        "judges": rename(checkpoint.discriminators),
        "judging": list(both),
        "usual": state.gradient_norms,
    }
    for name, content in (("student", student), ("descent", descent), ("judges", judges)):
        torch.save(content, folder / f"{name}.pt")


@pytest.mark.long
def test_steps_lower_the_loss() -> None:
    trainer = new_trainer()
    trainer.set_learning_rates(2e-3, 1e-3)
    losses = []
    for _ in range(12):
        torch.manual_seed(4)  # the same segments at every step
        trainer.spectral_step()
        losses.append(float(trainer.metrics[0]))
    assert max(losses[-3:]) < losses[0]


@pytest.mark.long
def test_resuming_continues_as_if_training_had_not_stopped(tmp_path) -> None:
    first, second = trained(), new_trainer()
    Checkpoint.of(first, PROGRESS).write(tmp_path / "checkpoint")
    assert Checkpoint.read(tmp_path / "checkpoint").restore(second) == PROGRESS
    step_both(first, second)
    assert_close(first, second)


@pytest.mark.long
def test_without_optimizer_state_training_resumes_from_the_ema(tmp_path) -> None:
    first, second = trained(), new_trainer()
    Checkpoint.of(first, PROGRESS).write(tmp_path / "checkpoint", optimizer=False)
    assert not (tmp_path / "checkpoint" / OPTIMIZER).exists()
    assert Checkpoint.read(tmp_path / "checkpoint").restore(second) == PROGRESS
    for ema, student in zip(first.ema.parameters(), second.student.parameters(), strict=True):
        assert torch.allclose(ema, student, atol=2e-3)
    second.adversarial_step()
    assert second.metrics.isfinite().all()


@pytest.mark.long
def test_discriminators_that_a_checkpoint_lacks_start_anew(tmp_path) -> None:
    first, second = trained(), new_trainer()
    first.discriminators = small_discriminators(band_sizes=())
    first.discriminator_optimizer = torch.optim.AdamW(first.discriminators.parameters())
    fresh = {name: tensor.clone() for name, tensor in second.discriminators.members[2].state_dict().items()}
    Checkpoint.of(first, PROGRESS).write(tmp_path / "checkpoint")
    Checkpoint.read(tmp_path / "checkpoint").restore(second)
    for name, tensor in second.discriminators.members[2].state_dict().items():
        assert torch.equal(tensor, fresh[name])
    stored, restored = (trainer.discriminators.members[0].output.bias for trainer in (first, second))
    assert torch.allclose(stored, restored, atol=1e-3)
    second.adversarial_step()
    assert second.metrics.isfinite().all()


@pytest.mark.long
def test_parts_that_a_checkpoint_lacks_start_anew(tmp_path) -> None:
    first, second = trained(new_trainer(PLAIN)), new_trainer()
    fresh = second.student.refiner.spectra_in.weight.clone()
    Checkpoint.of(first, PROGRESS).write(tmp_path / "checkpoint")
    assert Checkpoint.read(tmp_path / "checkpoint").restore(second) == PROGRESS
    assert torch.equal(second.student.refiner.spectra_in.weight, fresh)
    assert torch.allclose(second.student.head.weight, first.student.head.weight, atol=2e-3)
    before = second.student.refiner.corrections.weight.clone()
    second.adversarial_step()
    assert second.metrics.isfinite().all()
    assert not torch.equal(second.student.refiner.corrections.weight, before)


@pytest.mark.long
def test_the_student_loads_for_inference(tmp_path) -> None:
    trainer = trained()
    Checkpoint.of(trainer, PROGRESS).write(tmp_path / "checkpoint")
    student = load_student(tmp_path / "checkpoint" / "wren.safetensors")
    assert student.config == CONFIG
    assert torch.allclose(student.head.weight, trainer.ema.head.weight, atol=1e-3)


@pytest.mark.long
def test_reads_checkpoints_of_the_first_runs(tmp_path) -> None:
    first, second = trained(), new_trainer()
    write_legacy(Checkpoint.of(first, PROGRESS), tmp_path)
    assert read_legacy(tmp_path).restore(second) == PROGRESS
    step_both(first, second)
    assert_close(first, second)


def test_quantization_keeps_signs_and_small_second_moments() -> None:
    values = torch.tensor([[-1.0, 0.5, 0.0], [2e-6, -1e-6, 1e-6]])
    assert torch.allclose(dequantize_linear(quantize_linear(values), values), values, rtol=0.02, atol=1e-8)
    squares = torch.tensor([[1e-8, 1e-4, 1.0]])
    assert torch.allclose(dequantize_log(quantize_log(squares), squares), squares, rtol=0.05)
