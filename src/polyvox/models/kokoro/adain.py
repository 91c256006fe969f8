"""Adaptive norms (AdaIN, adaptive layer norm) and the AdaIN residual block of StyleTTS 2."""

import math
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.kokoro.ragged import Ragged
from polyvox.models.loading import StateDict

_EPS = 1e-5
_SLOPE = 0.2


class StyledNorm(nn.Module):
    """Base of the adaptive norms: maps a style [batch, width] to scale and shift, [batch, channels] each."""

    def __init__(self, style: int, channels: int) -> None:
        super().__init__()
        self.fc = nn.Linear(style, 2 * channels)

    def scale_and_shift(self, style: Tensor) -> tuple[Tensor, Tensor]:
        scale, shift = self.fc(style).chunk(2, dim=1)
        return scale, shift


class NormKernel(Protocol):
    """A fused kernel for `AdaIN.activated`: norm and activation in one pass over the device's memory."""

    def __call__(self, rows: Tensor, style: Tensor, ends: Tensor, eps: float, activation: "Tensor | float") -> Tensor:
        """Normalise rows that end at `ends` with `style`, scales beside shifts [batch, 2 channels], and activate them.

        The activation is a leaky ReLU of this slope, or a snake with these alphas, one for each channel.
        """


class AdaIN(StyledNorm):
    """Adaptive instance norm over each row's own length, [batch, channels, time]; zeros beyond the row's end."""

    eps = _EPS
    kernel: NormKernel | None = None

    def activated(self, rows: Tensor, style: Tensor, ragged: Ragged, activation: Tensor | float) -> Tensor:
        """`forward`, then a snake with these alphas, or a leaky ReLU of this slope."""
        if self.kernel is not None:
            return self.kernel(rows, self.fc(style), ragged.ends, self.eps, activation)
        normed = self(rows, style, ragged)
        if isinstance(activation, Tensor):
            return snake(normed, activation)
        return functional.leaky_relu(normed, activation)

    def forward(self, rows: Tensor, style: Tensor, ragged: Ragged) -> Tensor:
        scale, shift = self.scale_and_shift(style)
        if ragged.mask is None:
            # All channels of all rows as one row, so that one call of the fused norm serves the batch.
            flattened = rows.reshape(1, -1, rows.shape[2])
            normed = functional.instance_norm(flattened, weight=scale.flatten(), bias=shift.flatten(), eps=_EPS)
            return normed.view_as(rows)
        exact = rows.to(torch.promote_types(rows.dtype, torch.float32))
        count = ragged.ends[:, None, None]
        centred = ragged.masked(exact - ragged.masked(exact).sum(dim=2, keepdim=True) / count)
        inverse_std = torch.rsqrt(centred.square().sum(dim=2, keepdim=True) / count + _EPS)
        return ragged.masked(torch.addcmul(shift[:, :, None], centred, inverse_std * scale[:, :, None])).to(rows.dtype)


def snake(rows: Tensor, alpha: Tensor) -> Tensor:
    """Snake activation, x + sin(alpha x)^2 / alpha, with a learned alpha for each channel."""
    return rows + (rows * alpha).sin().square() / alpha


class AdaLayerNorm(StyledNorm):
    """Adaptive layer norm over channels, [batch, time, channels]."""

    def forward(self, rows: Tensor, style: Tensor) -> Tensor:
        scale, shift = self.scale_and_shift(style)
        normed = functional.layer_norm(rows, rows.shape[-1:], eps=_EPS)
        return torch.addcmul(shift[:, None], normed, scale[:, None])


def fold_styled_norms(state: StateDict) -> dict[str, Tensor]:
    """Fold published norms into the one linear layer that `StyledNorm` has.

    As published, that layer gives the scale minus 1, and an instance norm may carry an affine transform of its own
    (released files leave it out: it is the identity). All of it is linear in the style.
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
        full_scale = scale_bias + 1
        folded[f"{base}fc.weight"] = torch.cat((scale * gain[:, None], shift + scale * offset[:, None]))
        folded[name] = torch.cat((full_scale * gain, shift_bias + full_scale * offset))
    return folded


def without_bias(conv: nn.Module, rows: Tensor) -> Tensor:
    """A convolution less its bias, for rows that are normed next: AdaIN would take a constant away again."""
    assert isinstance(conv, nn.Conv1d)
    return _convolved(conv, rows, None)


def _convolved(conv: nn.Conv1d, rows: Tensor, bias: Tensor | None) -> Tensor:
    if rows.dtype == torch.float64 and rows.is_cuda:
        product = as_product(conv, rows)
        return product if bias is None else product + bias[:, None]
    return functional.conv1d(rows, conv.weight, bias, conv.stride, conv.padding, conv.dilation, conv.groups)


def as_product(conv: nn.Conv1d, rows: Tensor) -> Tensor:
    """A centred convolution less its bias as one matrix product: in double precision cuDNN uses no tensor cores."""
    taps = conv.kernel_size[0]
    padded = functional.pad(rows, (taps // 2, taps // 2))
    shifted = torch.cat([padded[..., tap : tap + rows.shape[2]] for tap in range(taps)], dim=1)
    return conv.weight.transpose(1, 2).flatten(1) @ shifted


class AdainBlock(nn.Module):
    """StyleTTS 2's residual block: two convolutions with AdaIN and a shortcut; it may upsample by 2."""

    def __init__(self, inputs: int, outputs: int, style: int, *, upsample: bool = False) -> None:
        super().__init__()
        self.norm1 = AdaIN(style, inputs)
        self.conv1 = nn.Conv1d(inputs, outputs, 3, padding=1)
        self.norm2 = AdaIN(style, outputs)
        self.conv2 = nn.Conv1d(outputs, outputs, 3, padding=1)
        self.conv1x1 = nn.Conv1d(inputs, outputs, 1, bias=False) if inputs != outputs else None
        self.pool = (
            nn.ConvTranspose1d(inputs, inputs, 3, stride=2, padding=1, output_padding=1, groups=inputs)
            if upsample
            else None
        )

    def forward(self, rows: Tensor, style: Tensor, before: Ragged) -> Tensor:
        """[batch, inputs, time] as [batch, outputs, time], or twice the time."""
        after = before if self.pool is None else before.scaled(2)
        inner = self.norm1.activated(rows, style, before, _SLOPE)
        if self.pool is not None:
            inner = after.masked(self.pool(inner))
        inner = self.norm2.activated(without_bias(self.conv1, inner), style, after, _SLOPE)
        out: Tensor = (_convolved(self.conv2, inner, self.conv2.bias) + self._shortcut(rows)) / math.sqrt(2)
        return out

    def _shortcut(self, rows: Tensor) -> Tensor:
        # Pointwise, so the convolution may come before upsampling and costs half.
        rows = rows if self.conv1x1 is None else self.conv1x1(rows)
        return rows if self.pool is None else rows.repeat_interleave(2, dim=2)
