"""Give Kokoro's AdaIN layers their fused Triton kernel, where Triton is installed and the kernel passes a test."""

import copy
from importlib.util import find_spec

import structlog
import torch
from torch import Tensor

from polyvox.models.kokoro.adain import AdaIN, NormKernel
from polyvox.models.kokoro.model import Kokoro
from polyvox.models.kokoro.ragged import StaticRagged

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 0.15}
"""Largest error of a kernel, in standard deviations of its output."""
_SLOPE = 0.2


def fuse_norms(network: Kokoro) -> None:
    """Give all norms of a network on a GPU the kernel, if there is one and it passes."""
    if find_spec("triton") is None:
        return
    # Triton is installed on machines with a GPU only.
    from polyvox.models.kokoro.adain_kernels import adain_activated

    use_kernel(network, adain_activated)


def use_kernel(network: Kokoro, kernel: NormKernel) -> None:
    """Let all norms use a kernel, unless it fails, or differs from PyTorch's norm in any precision in use."""
    norms = [module for module in network.modules() if isinstance(module, AdaIN)]
    try:
        for dtype, norm in {norm.fc.weight.dtype: norm for norm in norms}.items():
            deviation = _deviation(norm, kernel)
            if not deviation <= _TOLERANCE[dtype]:
                raise ArithmeticError(f"it is off by {deviation:.2g} in {dtype}")
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, PyTorch's norms still work
        log.warning(
            "Kokoro's fused norm kernel failed its test, so Kokoro runs more slowly without it.",
            reason=str(failure)[:500],
        )
        return
    for norm in norms:
        norm.kernel = kernel


@torch.inference_mode()
def _deviation(norm: AdaIN, kernel: NormKernel) -> float:
    """The largest error against the norm in double precision, for rows of two lengths and both activations."""
    weight, exact = norm.fc.weight, copy.deepcopy(norm).double()
    channels, time = weight.shape[0] // 2, 700
    waves = torch.linspace(-40, 40, 2 * channels * time, device=weight.device, dtype=torch.float64).sin()
    rows = waves.view(2, channels, time).to(weight.dtype)
    style = torch.linspace(-1, 1, 2 * weight.shape[1], device=weight.device).view(2, -1).to(weight.dtype)
    frames = StaticRagged(torch.tensor([time, 400], device=weight.device), time)
    alphas = torch.linspace(0.5, 2, channels, device=weight.device).view(1, -1, 1).to(weight.dtype)
    largest = 0.0
    for activation in (_SLOPE, alphas):
        own = activation.double() if isinstance(activation, Tensor) else activation
        wanted = exact.activated(rows.double(), style.double(), frames, own)
        got = kernel(rows, norm.fc(style), frames.ends, norm.eps, activation)
        largest = max(largest, ((got - wanted).abs().max() / wanted.std()).item())
    return largest
