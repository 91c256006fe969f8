"""The vocoder's filter with fused kernels on a GPU, where they pass a test."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TypeVar

import structlog
import torch
from torch import Tensor

from polyvox.engines.cosyvoice.decoder.self_test import deviation
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.filter import SnakeKernel
from polyvox.models.hift.fused_filter import JoinKernel
from polyvox.models.hift.model import Hift

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

TOLERANCE = 1e-3
"""Largest deviation of the samples from those of PyTorch, as a share of their spread."""

Kernel = TypeVar("Kernel")

Samples = Callable[[], Tensor]
"""Computes the samples of a short stream by the vocoder as it is."""


def snake_kernel(device: torch.device) -> SnakeKernel | None:
    """The fused activation; None off a GPU."""
    if not _has_kernels(device):
        return None
    # Triton is installed on machines with a GPU only.
    from polyvox.models.hift.snake_kernels import snake

    return snake


def join_kernel(device: torch.device) -> JoinKernel | None:
    """The kernel between two convolutions; None off a GPU."""
    if not _has_kernels(device):
        return None
    from polyvox.models.hift.filter_kernels import join

    return join


def _has_kernels(device: torch.device) -> bool:
    return device.type == "cuda" and find_spec("triton") is not None


def fuse_activation(vocoder: Hift | CausalHift, kernel: SnakeKernel, samples: Samples) -> bool:
    """Let the filter use the kernel, unless it fails or computes something else than PyTorch; true if it is used."""
    return _fused("activation", vocoder.filter.use_kernel, kernel, samples)


def fuse_filter(vocoder: Hift | CausalHift, kernel: JoinKernel, samples: Samples) -> bool:
    """Let the filter use the kernel between its convolutions, likewise."""
    return _fused("filter", vocoder.filter.use_join, kernel, samples)


def _fused(part: str, use: Callable[[Kernel | None], None], kernel: Kernel, samples: Samples) -> bool:
    # In full single precision: the kernels are compared, not the roundings of two convolutions of a library.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        exact = samples()
        try:
            use(kernel)
            found = deviation(samples(), exact)
            if not found <= TOLERANCE:
                raise ArithmeticError(f"it is off by {found:.2g}")
        except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, PyTorch's operations still work
            use(None)
            log.warning(
                f"The vocoder's fused {part} failed its test, so it runs more slowly without it.",
                reason=str(failure)[:500],
            )
            return False
    return True
