"""The vocoder's filter with a fused activation on a GPU, where that passes a test."""

from collections.abc import Callable
from importlib.util import find_spec

import structlog
import torch
from torch import Tensor

from polyvox.engines.cosyvoice.decoder.self_test import deviation
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.filter import SnakeKernel
from polyvox.models.hift.model import Hift

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

TOLERANCE = 1e-3
"""Largest deviation of the samples from those of PyTorch, as a share of their spread."""

Samples = Callable[[], Tensor]
"""Computes the samples of a short stream by the vocoder as it is."""


def snake_kernel(device: torch.device) -> SnakeKernel | None:
    """The fused activation; None off a GPU."""
    if device.type != "cuda" or find_spec("triton") is None:
        return None
    # Triton is installed on machines with a GPU only.
    from polyvox.models.hift.snake_kernels import snake

    return snake


def fuse_activation(vocoder: Hift | CausalHift, kernel: SnakeKernel, samples: Samples) -> None:
    """Let the filter use the kernel, unless it fails or computes something else than PyTorch."""
    exact = samples()
    try:
        vocoder.filter.use_kernel(kernel)
        found = deviation(samples(), exact)
        if not found <= TOLERANCE:
            raise ArithmeticError(f"it is off by {found:.2g}")
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, PyTorch's operations still work
        vocoder.filter.use_kernel(None)
        log.warning(
            "The vocoder's fused activation failed its test, so it runs more slowly without it.",
            reason=str(failure)[:500],
        )
