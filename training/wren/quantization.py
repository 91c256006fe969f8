"""8-bit row-wise quantization of optimizer state for checkpoints."""

from collections.abc import Mapping

import torch
from torch import Tensor

Quantized = dict[str, Tensor]
_LOG_RANGE = 20.0
"""Natural logarithms below a row's largest value that are kept apart."""


def quantize_linear(tensor: Tensor) -> Quantized:
    """Signed values in int8, scaled by the largest magnitude of each row."""
    rows = _rows(tensor)
    scale = rows.abs().amax(dim=1, keepdim=True).clamp(min=1e-30) / 127
    return {"q": (rows / scale).round().to(torch.int8).cpu(), "scale": scale.cpu()}


def dequantize_linear(quantized: Mapping[str, Tensor], like: Tensor) -> Tensor:
    """Inverse of `quantize_linear`, in shape, type and device of `like`."""
    return (quantized["q"].float() * quantized["scale"]).view(like.shape).to(like)


def quantize_log(tensor: Tensor) -> Quantized:
    """Second moments in uint8 on a logarithmic scale per row, so that none becomes 0 and blows up a step."""
    rows = _rows(tensor).clamp(min=1e-38).log()
    high = rows.amax(dim=1, keepdim=True)
    low = torch.maximum(rows.amin(dim=1, keepdim=True), high - _LOG_RANGE)
    levels = ((rows - low) / (high - low).clamp(min=1e-6)).clamp(0, 1) * 255
    return {"q": levels.round().to(torch.uint8).cpu(), "low": low.cpu(), "high": high.cpu()}


def dequantize_log(quantized: Mapping[str, Tensor], like: Tensor) -> Tensor:
    """Inverse of `quantize_log`, in shape, type and device of `like`."""
    low, high = quantized["low"], quantized["high"]
    return (low + quantized["q"].float() / 255 * (high - low)).exp().view(like.shape).to(like)


def _rows(tensor: Tensor) -> Tensor:
    return tensor.detach().float().flatten(1) if tensor.dim() > 1 else tensor.detach().float().view(1, -1)
