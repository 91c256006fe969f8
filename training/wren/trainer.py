"""Training steps, spectral or adversarial, eager or captured as a CUDA graph."""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.models.kokoro.wren import Wren
from training.wren.discriminators import Discriminators
from training.wren.losses import SpectralLoss, discriminator_loss, generator_losses
from training.wren.pool import Batch, SpeechPool

_BETAS = (0.8, 0.99)
_WEIGHT_DECAY = 0.01
_CLIP_RATIO = 3.0
"""Gradients are clipped to this many times the running mean of their norm."""
_FEATURE_MATCHING_WEIGHT = 4.0
_CAPTURE_WARMUP_STEPS = 4

Step = Callable[[], object]


@dataclass(frozen=True, slots=True)
class BatchShape:
    """Segments per batch, and frames per segment: an even number, 80 to the second."""

    segments: int = 32
    frames: int = 80


class Trainer:
    """Student, its exponential moving average (EMA), discriminators and their optimizers."""

    metric_names = (
        "spectral_loss",
        "discriminator_loss",
        "adversarial_loss",
        "feature_loss",
        "gradient_norm",
        "mean_gradient_norm",
    )

    def __init__(
        self,
        student: Wren,
        discriminators: Discriminators,
        pool: SpeechPool,
        shape: BatchShape,
        loss: SpectralLoss | None = None,
    ) -> None:
        self.device = pool.device
        self.student, self.discriminators = student.to(self.device), discriminators.to(self.device)
        self.ema = copy.deepcopy(self.student).requires_grad_(False)
        self.pool, self.shape = pool, shape
        self._loss = (loss or SpectralLoss()).to(self.device)
        self._student_parameters: list[Tensor] = list(self.student.parameters())
        self._ema_parameters: list[Tensor] = list(self.ema.parameters())
        self._discriminator_parameters: list[Tensor] = list(self.discriminators.parameters())
        self.optimizer = _adamw(self._student_parameters, self.device)
        self.discriminator_optimizer = _adamw(self._discriminator_parameters, self.device)
        self.metrics = torch.zeros(len(self.metric_names), device=self.device)
        """Values of `metric_names` at the last step."""
        self.gradient_norms = torch.zeros(4, device=self.device)
        """Running means: student's, discriminators', and at the samples from the spectral and adversarial losses."""
        self.adversarial_weight = torch.ones((), device=self.device)
        """Norm of the adversarial gradient at the samples relative to that of the spectral loss."""

    def set_learning_rates(self, student: float, discriminators: float) -> None:
        for optimizer, rate in ((self.optimizer, student), (self.discriminator_optimizer, discriminators)):
            for group in optimizer.param_groups:
                if isinstance(group["lr"], Tensor):
                    group["lr"].fill_(rate)
                else:
                    group["lr"] = rate

    @torch.no_grad()
    def update_ema(self, weight: float) -> None:
        """Move the EMA by this fraction towards the student."""
        torch._foreach_lerp_(self._ema_parameters, self._student_parameters, weight)

    def spectral_step(self) -> None:
        """Update the student by the spectral loss alone."""
        batch = self._sample()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self._loss(self._decode(batch), batch.samples)
        loss.backward()
        norm = self._clip(self._student_parameters, 0)
        self.optimizer.step()
        self._record(loss, gradient_norm=norm)

    def adversarial_step(self) -> None:
        """Update the student by both losses, and the discriminators, from one forward pass of each.

        The discriminators' forward pass is differentiated twice: at the samples for the student, at their own weights
        for themselves.
        """
        batch = self._sample()
        self.optimizer.zero_grad(set_to_none=True)
        self.discriminator_optimizer.zero_grad(set_to_none=True)
        decoded = self._decode(batch)
        samples = decoded.detach().requires_grad_()
        spectral = self._loss(samples, batch.samples)
        (spectral_gradient,) = torch.autograd.grad(spectral, samples)
        with self._autocast():
            real, fake = self.discriminators(batch.samples, samples)
        adversarial, features = generator_losses(real, fake)
        discriminator = discriminator_loss(real, fake)
        (adversarial_gradient,) = torch.autograd.grad(
            adversarial + _FEATURE_MATCHING_WEIGHT * features, samples, retain_graph=True
        )
        torch.autograd.backward(discriminator, inputs=self._discriminator_parameters)
        torch.autograd.backward(decoded, self._balance(spectral_gradient, adversarial_gradient))
        norm = self._clip(self._student_parameters, 0)
        self._clip(self._discriminator_parameters, 1)
        self.optimizer.step()
        self.discriminator_optimizer.step()
        self._record(spectral, discriminator, adversarial, features, gradient_norm=norm)

    def mutable_state(self) -> list[Tensor]:
        """Every tensor that a step changes, in a fixed order."""
        state = [
            *self._student_parameters,
            *self._ema_parameters,
            *self._discriminator_parameters,
            self.gradient_norms,
        ]
        for optimizer in (self.optimizer, self.discriminator_optimizer):
            for moments in filter(None, optimizer.state.values()):
                state += [moments["step"], moments["exp_avg"], moments["exp_avg_sq"]]
        return state

    def _sample(self) -> Batch:
        return self.pool.sample(self.shape.segments, self.shape.frames, self.student.context_frames)

    def _autocast(self) -> torch.autocast:
        """bfloat16 on a GPU, without the weight cache, which would outlive a captured step."""
        return torch.autocast(self.device.type, torch.bfloat16, self.device.type == "cuda", cache_enabled=False)

    def _decode(self, batch: Batch) -> Tensor:
        """The student's samples of a batch, zero in padding."""
        student, shape, hop = self.student, self.shape, self.student.config.hop
        context, overlap = student.context_frames, student.overlap_frames
        with self._autocast():
            condition = student.condition(batch.style, batch.utterance)
            hidden = student.encode(batch.text, batch.pitch, batch.energy, condition, batch.phase, batch.mask)
        span = slice(context - overlap, context + shape.frames + overlap)
        noise = torch.randn(shape.segments, (shape.frames + 2 * overlap) * hop, device=self.device)
        filters = student.project(hidden[:, span].float())
        samples = student.decode(filters, batch.pitch[:, span], batch.phase[:, span], noise)
        with self._autocast():
            samples = student.refine(samples, hidden[:, span], condition, batch.mask[:, span])
        mask = batch.mask[:, context : context + shape.frames].expand(-1, -1, hop).flatten(1)
        return samples[:, overlap * hop : -overlap * hop] * mask

    @torch.no_grad()
    def _balance(self, spectral: Tensor, adversarial: Tensor) -> Tensor:
        """Sum of gradients at the samples, the adversarial one scaled by the ratio of their mean norms."""
        norms = torch.stack((spectral.norm(), adversarial.norm()))
        means = self.gradient_norms[2:]
        means.copy_(torch.where(means == 0, norms, means.lerp(norms, 0.02)).nan_to_num(0.0, 0.0, 0.0))
        scale = self.adversarial_weight * means[0] / (means[1] + 1e-12)
        return (spectral + scale * adversarial).nan_to_num(0.0, 0.0, 0.0)

    @torch.no_grad()
    def _clip(self, parameters: Iterable[Tensor], index: int) -> Tensor:
        """Clip gradients relative to the running mean of their norm; returns the norm before."""
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        norm: Tensor = torch.stack(torch._foreach_norm(gradients)).norm()
        mean = self.gradient_norms[index]
        limit = torch.where(mean == 0, norm, _CLIP_RATIO * mean)
        torch._foreach_mul_(gradients, (limit / (norm + 1e-12)).clamp(max=1.0))
        clipped = torch.minimum(norm, limit)
        mean.copy_(torch.where(mean == 0, clipped, mean.lerp(clipped, 0.01)))
        return norm

    @torch.no_grad()
    def _record(self, spectral: Tensor, *adversarial: Tensor, gradient_norm: Tensor) -> None:
        zero = spectral.new_zeros(())
        losses = adversarial or (zero, zero, zero)
        self.metrics.copy_(torch.stack((spectral, *losses, gradient_norm, self.gradient_norms[0])))


def capture(step: Step) -> Step:
    """Capture a step as a CUDA graph, and return its replay."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(_CAPTURE_WARMUP_STEPS):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def compile_modules(trainer: Trainer) -> None:
    """Compile blocks and discriminators with `torch.compile`."""
    for module in (*trainer.student.blocks, *trainer.discriminators.members):
        module.compile()


def _adamw(parameters: list[Tensor], device: torch.device) -> torch.optim.AdamW:
    if device.type == "cuda":
        rate = torch.tensor(1e-3, device=device)
        return torch.optim.AdamW(parameters, rate, _BETAS, weight_decay=_WEIGHT_DECAY, fused=True, capturable=True)
    return torch.optim.AdamW(parameters, 1e-3, _BETAS, weight_decay=_WEIGHT_DECAY)
