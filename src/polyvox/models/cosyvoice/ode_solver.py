"""Euler solver of the flow's ordinary differential equation, with classifier-free guidance or without."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class FlowPoint:
    """Input of the velocity estimator: mel, mu and condition [batch, bins, frames], speaker [batch, bins]."""

    mel: Tensor
    mu: Tensor
    speaker: Tensor
    condition: Tensor

    def with_unconditional(self) -> "FlowPoint":
        """Double the batch for guidance: with the conditions, and with zeros in their place."""
        return FlowPoint(
            torch.cat((self.mel, self.mel)),
            *(torch.cat((each, torch.zeros_like(each))) for each in (self.mu, self.speaker, self.condition)),
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times at which the velocity is evaluated and the step from each, [steps] both."""

    times: Tensor
    deltas: Tensor

    @property
    def spans(self) -> Tensor:
        """The start and the end of each step, [steps, 2]."""
        return torch.stack((self.times, self.times + self.deltas), dim=1)


def cosine_schedule(steps: int) -> Schedule:
    """A cosine schedule, small steps first; times are sums of the steps before them, as the original rounds them."""
    grid = 1 - torch.cos(torch.linspace(0, 1, steps + 1, device="cpu") * 0.5 * torch.pi)
    times, deltas = [grid[0]], []
    for target in grid[1:]:
        deltas.append(target - times[-1])
        times.append(times[-1] + deltas[-1])
    return Schedule(torch.stack(times[:-1]), torch.stack(deltas))


def uniform_schedule(steps: int) -> Schedule:
    """Steps of equal length."""
    grid = torch.linspace(0, 1, steps + 1, device="cpu")
    return Schedule(grid[:-1], grid.diff())


def timestep_embedding(times: Tensor, width: int) -> Tensor:
    """Sinusoidal embedding of times between 0 and 1, scaled by 1000."""
    half = width // 2
    rates = torch.exp(torch.arange(half, device=times.device).float() * -(math.log(10_000) / (half - 1)))
    angles = 1000 * times[:, None].float() * rates
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


Velocity = Callable[[int, FlowPoint], Tensor]


def solve(start: FlowPoint, deltas: Sequence[float], guidance: float, velocity: Velocity) -> Tensor:
    """Integrate `velocity(step, point)` from noise to mel, in single precision also where the velocity is in half.

    Without guidance (0) the velocity is computed with the conditions alone.
    """
    precision = torch.promote_types(start.mu.dtype, torch.float32)
    mel = start.mel.to(precision)
    if not guidance:
        for step, delta in enumerate(deltas):
            mel = mel + delta * velocity(step, replace(start, mel=mel.to(start.mu.dtype))).to(precision)
        return mel
    fixed = start.with_unconditional()
    for step, delta in enumerate(deltas):
        point = FlowPoint(torch.cat((mel, mel)).to(fixed.mu.dtype), fixed.mu, fixed.speaker, fixed.condition)
        conditional, unconditional = velocity(step, point).to(precision).chunk(2)
        mel = mel + delta * ((1.0 + guidance) * conditional - guidance * unconditional)
    return mel
