"""Norms whose scale and shift come from a style, and StyleTTS 2's residual blocks around them."""

import math
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.kokoro.ragged import Ragged
from polyvox.models.loading import StateDict

_EPS = 1e-5
_LEAK = 0.2


class StyledNorm(nn.Module):
    """What the two norms share: a style [batch, width] as scale and shift [batch, channels] each."""

    def __init__(self, style: int, channels: int) -> None:
        super().__init__()
        self.fc = nn.Linear(style, 2 * channels)

    def scale_and_shift(self, style: Tensor) -> tuple[Tensor, Tensor]:
        scale, shift = self.fc(style).chunk(2, dim=1)
        return scale, shift


class NormKernel(Protocol):
    """`AdaIN` and what bends its result, in one pass over the device's memory."""

    def __call__(self, rows: Tensor, style: Tensor, ends: Tensor, eps: float, bend: "Tensor | float") -> Tensor:
        """What `AdaIN` makes of rows that end at `ends`, by scales beside shifts [batch, 2 channels].

        Then it is bent by a leaky rectifier of this slope, or by a snake of these rates, one for each channel.
        """


class AdaIN(StyledNorm):
    """Each channel normed over its row's own time, [batch, channels, time]; zeros beyond the row's end."""

    eps = _EPS
    kernel: NormKernel | None = None

    def bent(self, rows: Tensor, style: Tensor, ragged: Ragged, bend: Tensor | float) -> Tensor:
        """The same, then through a snake of the rates `bend`, or a leaky rectifier of the slope `bend`."""
        if self.kernel is not None:
            return self.kernel(rows, self.fc(style), ragged.ends, self.eps, bend)
        normed = self(rows, style, ragged)
        return snake(normed, bend) if isinstance(bend, Tensor) else functional.leaky_relu(normed, bend)

    def forward(self, rows: Tensor, style: Tensor, ragged: Ragged) -> Tensor:
        scale, shift = self.scale_and_shift(style)
        if ragged.mask is None:
            # All channels of all rows stand side by side, so that one call of the fused norm serves the batch.
            side_by_side = rows.reshape(1, -1, rows.shape[2])
            normed = functional.instance_norm(side_by_side, weight=scale.flatten(), bias=shift.flatten(), eps=_EPS)
            return normed.view_as(rows)
        exact = rows.to(torch.promote_types(rows.dtype, torch.float32))
        count = ragged.ends[:, None, None]
        centred = ragged.masked(exact - ragged.masked(exact).sum(dim=2, keepdim=True) / count)
        spread = torch.rsqrt(centred.square().sum(dim=2, keepdim=True) / count + _EPS)
        return ragged.masked(torch.addcmul(shift[:, :, None], centred, spread * scale[:, :, None])).to(rows.dtype)


def snake(rows: Tensor, rate: Tensor) -> Tensor:
    """Adds a squared sine, whose rate is learned, to each sample; zero stays zero."""
    return rows + (rows * rate).sin().square() / rate


class AdaLayerNorm(StyledNorm):
    """Each moment normed over its channels, [batch, time, channels]."""

    def forward(self, rows: Tensor, style: Tensor) -> Tensor:
        scale, shift = self.scale_and_shift(style)
        normed = functional.layer_norm(rows, rows.shape[-1:], eps=_EPS)
        return torch.addcmul(shift[:, None], normed, scale[:, None])


def fold_styled_norms(state: StateDict) -> dict[str, Tensor]:
    """Published norms as `StyledNorm` takes them.

    As published, the map of the style gives what the scale exceeds 1 by, and an instance norm may carry a scale and a
    shift of its own (released files leave them out: they are 1 and 0). All of it is linear in the style.
    """
    folded = dict(state)
    for name in [name for name in folded if name.endswith(".fc.bias")]:
        base = name.removesuffix("fc.bias")
        if f"{base}fc.weight" not in folded:
            continue
        scale, shift = folded[f"{base}fc.weight"].chunk(2)
        scale_bias, shift_bias = folded[name].chunk(2)
        gain = folded.pop(f"{base}norm.weight", torch.ones_like(scale_bias))
        offset = folded.pop(f"{base}norm.bias", torch.zeros_like(scale_bias))
        exceeding = scale_bias + 1
        folded[f"{base}fc.weight"] = torch.cat((scale * gain[:, None], shift + scale * offset[:, None]))
        folded[name] = torch.cat((exceeding * gain, shift_bias + exceeding * offset))
    return folded


class AdainBlock(nn.Module):
    """Two styled convolutions beside a shorter way; it may double the rate."""

    def __init__(self, inputs: int, outputs: int, style: int, *, doubling: bool = False) -> None:
        super().__init__()
        self.norm1 = AdaIN(style, inputs)
        self.conv1 = nn.Conv1d(inputs, outputs, 3, padding=1)
        self.norm2 = AdaIN(style, outputs)
        self.conv2 = nn.Conv1d(outputs, outputs, 3, padding=1)
        self.conv1x1 = nn.Conv1d(inputs, outputs, 1, bias=False) if inputs != outputs else None
        self.pool = (
            nn.ConvTranspose1d(inputs, inputs, 3, stride=2, padding=1, output_padding=1, groups=inputs)
            if doubling
            else None
        )

    def forward(self, rows: Tensor, style: Tensor, before: Ragged) -> Tensor:
        """[batch, inputs, time] as [batch, outputs, time], or twice the time."""
        after = before if self.pool is None else before.scaled(2)
        inner = self.norm1.bent(rows, style, before, _LEAK)
        if self.pool is not None:
            inner = after.masked(self.pool(inner))
        inner = self.norm2.bent(self.conv1(inner), style, after, _LEAK)
        out: Tensor = (self.conv2(inner) + self._shorter(rows)) / math.sqrt(2)
        return out

    def _shorter(self, rows: Tensor) -> Tensor:
        # Pointwise, so the convolution may come before the doubling and costs half.
        rows = rows if self.conv1x1 is None else self.conv1x1(rows)
        return rows if self.pool is None else rows.repeat_interleave(2, dim=2)
