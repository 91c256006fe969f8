"""Checkpoints as safetensors: EMA weights, discriminators, and, in a file that may be left out, the optimizer state.

- `wren.safetensors`: EMA in float16, with the configuration and the progress as metadata. All that decoding needs.
- `discriminators.safetensors`: float16.
- `optimizer.safetensors`: the student's distance from its EMA and both optimizers' moments in 8 bits. Without it,
  training resumes from the EMA with fresh moments, which the learning rate's warm-up allows for.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from polyvox.models.kokoro.wren import Wren, WrenConfig
from training.wren.quantization import (
    Quantized,
    dequantize_linear,
    dequantize_log,
    quantize_linear,
    quantize_log,
)
from training.wren.trainer import Trainer

STUDENT, DISCRIMINATORS, OPTIMIZER = "wren.safetensors", "discriminators.safetensors", "optimizer.safetensors"
Weights = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Progress:
    """Steps taken so far, those with discriminators among them, and seconds of training."""

    steps: int = 0
    adversarial_steps: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Moments:
    """Adam's state by parameter name, quantized; empty before the first step."""

    step: float = 0.0
    exp_avg: dict[str, Quantized] = field(default_factory=dict)
    exp_avg_sq: dict[str, Quantized] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OptimizerState:
    """Training state beyond the weights. `student_offset` is the student minus its EMA."""

    student_offset: dict[str, Quantized]
    student: Moments
    discriminators: Moments
    gradient_norms: Tensor


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Contents of a checkpoint's folder, on the CPU."""

    config: WrenConfig
    progress: Progress
    ema: Weights
    discriminators: Weights
    optimizer: OptimizerState | None

    @classmethod
    @torch.no_grad()
    def of(cls, trainer: Trainer, progress: Progress) -> "Checkpoint":
        """Snapshot of a trainer."""
        ema = _float16(trainer.ema.state_dict())
        offset = {
            name: quantize_linear(tensor.cpu() - ema[name].float())
            for name, tensor in trainer.student.state_dict().items()
        }
        state = OptimizerState(
            offset,
            _moments(trainer.student, trainer.optimizer),
            _moments(trainer.discriminators, trainer.discriminator_optimizer),
            trainer.gradient_norms.cpu().clone(),
        )
        discriminators = _float16(trainer.discriminators.state_dict())
        return cls(trainer.student.config, progress, ema, discriminators, state)

    @classmethod
    def read(cls, folder: Path) -> "Checkpoint":
        """Read a folder; the optimizer state is None where its file is missing."""
        config, progress = _metadata(folder / STUDENT)
        state = _unflatten(load_file(folder / OPTIMIZER)) if (folder / OPTIMIZER).exists() else None
        return cls(config, progress, load_file(folder / STUDENT), load_file(folder / DISCRIMINATORS), state)

    def write(self, folder: Path, *, optimizer: bool = True) -> None:
        """Write a folder, replacing the one there was only once all files are complete."""
        fresh = folder.with_name(folder.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        metadata = {"config": json.dumps(asdict(self.config)), "progress": json.dumps(asdict(self.progress))}
        save_file(self.ema, fresh / STUDENT, metadata)
        save_file(self.discriminators, fresh / DISCRIMINATORS)
        if optimizer and self.optimizer is not None:
            save_file(_flatten(self.optimizer), fresh / OPTIMIZER)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)

    @torch.no_grad()
    def restore(self, trainer: Trainer) -> Progress:
        """Load into a trainer of the same configuration or one with more parts; what is not stored stays as it is."""
        ema = trainer.ema.state_dict() | _float32(self.ema)
        trainer.ema.load_state_dict(ema)
        discriminators = trainer.discriminators.state_dict() | _float32(self.discriminators)
        trainer.discriminators.load_state_dict(discriminators)
        if self.optimizer is None:
            trainer.student.load_state_dict(ema)
            return self.progress
        offset = self.optimizer.student_offset
        trainer.student.load_state_dict(
            {
                name: tensor + dequantize_linear(offset[name], tensor.cpu()).to(tensor.device)
                if name in offset
                else tensor
                for name, tensor in ema.items()
            }
        )
        _restore_moments(trainer.student, trainer.optimizer, self.optimizer.student)
        _restore_moments(trainer.discriminators, trainer.discriminator_optimizer, self.optimizer.discriminators)
        trainer.gradient_norms.copy_(self.optimizer.gradient_norms)
        return self.progress


def load_student(file: Path) -> Wren:
    """The EMA of a checkpoint's `wren.safetensors`, in float32 on the CPU, for inference."""
    config, _ = _metadata(file)
    student = Wren(config)
    student.load_state_dict(_float32(load_file(file)))
    return student.requires_grad_(False).eval()


def _metadata(file: Path) -> tuple[WrenConfig, Progress]:
    with safe_open(file, "pt") as opened:
        metadata = opened.metadata()
    return WrenConfig.of(json.loads(metadata["config"])), Progress(**json.loads(metadata["progress"]))


def _float16(weights: Mapping[str, Tensor]) -> Weights:
    return {name: tensor.detach().half().cpu().contiguous() for name, tensor in weights.items()}


def _float32(weights: Mapping[str, Tensor]) -> Weights:
    return {name: tensor.float() for name, tensor in weights.items()}


def _moments(module: nn.Module, optimizer: torch.optim.Optimizer) -> Moments:
    moments = Moments()
    for name, parameter in module.named_parameters():
        if state := optimizer.state.get(parameter):
            moments.step = float(state["step"])
            moments.exp_avg[name] = quantize_linear(state["exp_avg"])
            moments.exp_avg_sq[name] = quantize_log(state["exp_avg_sq"])
    return moments


def _restore_moments(module: nn.Module, optimizer: torch.optim.Optimizer, moments: Moments) -> None:
    for name, parameter in module.named_parameters():
        if name not in moments.exp_avg:
            continue
        device = parameter.device if parameter.is_cuda else "cpu"
        optimizer.state[parameter] = {
            "step": torch.tensor(moments.step, dtype=torch.float32, device=device),
            "exp_avg": dequantize_linear(moments.exp_avg[name], parameter.detach()),
            "exp_avg_sq": dequantize_log(moments.exp_avg_sq[name], parameter.detach()),
        }


def _flatten(state: OptimizerState) -> Weights:
    """Tensors by `section/parameter/field`."""
    sections = {
        "student_offset": state.student_offset,
        "student.exp_avg": state.student.exp_avg,
        "student.exp_avg_sq": state.student.exp_avg_sq,
        "discriminators.exp_avg": state.discriminators.exp_avg,
        "discriminators.exp_avg_sq": state.discriminators.exp_avg_sq,
    }
    flat = {
        f"{section}/{name}/{part}": tensor.contiguous()
        for section, rows in sections.items()
        for name, quantized in rows.items()
        for part, tensor in quantized.items()
    }
    steps = torch.tensor([state.student.step, state.discriminators.step])
    return flat | {"steps": steps, "gradient_norms": state.gradient_norms}


def _unflatten(flat: Weights) -> OptimizerState:
    sections: dict[str, dict[str, Quantized]] = {}
    for key, tensor in flat.items():
        if "/" in key:
            section, name, part = key.split("/")
            sections.setdefault(section, {}).setdefault(name, {})[part] = tensor
    student, discriminators = (
        Moments(float(step), sections.get(f"{name}.exp_avg", {}), sections.get(f"{name}.exp_avg_sq", {}))
        for name, step in zip(("student", "discriminators"), flat["steps"], strict=True)
    )
    return OptimizerState(sections["student_offset"], student, discriminators, flat["gradient_norms"])
