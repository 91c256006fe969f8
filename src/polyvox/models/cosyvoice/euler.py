"""The ordinary differential equation of the flows: from noise to mel by Euler steps with guidance."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class FlowPoint:
    """Where the flow stands: mel, mu and condition [batch, bins, frames], speaker [batch, bins]."""

    mel: Tensor
    mu: Tensor
    speaker: Tensor
    condition: Tensor

    def with_unguided(self) -> "FlowPoint":
        """Twice the batch: as it is, and knowing nothing but the mel."""
        return FlowPoint(
            torch.cat((self.mel, self.mel)),
            *(torch.cat((each, torch.zeros_like(each))) for each in (self.mu, self.speaker, self.condition)),
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times at which the velocity is asked for and the step taken from each, [steps] each."""

    times: Tensor
    deltas: Tensor


def cosine_schedule(steps: int) -> Schedule:
    """Small steps first; each is measured from the time reached by adding up those before it."""
    grid = 1 - torch.cos(torch.linspace(0, 1, steps + 1, device="cpu") * 0.5 * torch.pi)
    times, deltas = [grid[0]], []
    for target in grid[1:]:
        deltas.append(target - times[-1])
        times.append(times[-1] + deltas[-1])
    return Schedule(torch.stack(times[:-1]), torch.stack(deltas))


def time_code(times: Tensor, width: int) -> Tensor:
    """Times between 0 and 1 as sines and cosines of a thousand times themselves."""
    half = width // 2
    rates = torch.exp(torch.arange(half, device=times.device).float() * -(math.log(10_000) / (half - 1)))
    angles = 1000 * times[:, None].float() * rates
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


Velocity = Callable[[int, FlowPoint], Tensor]


def solve(start: FlowPoint, deltas: Sequence[float], guidance: float, velocity: Velocity) -> Tensor:
    """The mel that `velocity(step, point)` leads to. It is in single precision also where the velocity is in half."""
    precision = torch.promote_types(start.mu.dtype, torch.float32)
    mel, fixed = start.mel.to(precision), start.with_unguided()
    for step, delta in enumerate(deltas):
        point = FlowPoint(torch.cat((mel, mel)).to(fixed.mu.dtype), fixed.mu, fixed.speaker, fixed.condition)
        guided, unguided = velocity(step, point).to(precision).chunk(2)
        mel = mel + delta * ((1.0 + guidance) * guided - guidance * unguided)
    return mel
