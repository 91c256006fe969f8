"""The vocoder's filter with a fused activation and in half precision on a GPU, each only where it passes a test."""

from collections.abc import Callable
from importlib.util import find_spec

import structlog
import torch
from torch import Tensor

from polyvox.engines.cosyvoice.self_test import deviation
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.filter import SnakeKernel
from polyvox.models.hift.model import Hift

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

FUSED_TOLERANCE, HALF_TOLERANCE = 1e-3, 5e-2
"""Largest deviations of the samples from those of PyTorch in single precision, as shares of their spread."""

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
        if not found <= FUSED_TOLERANCE:
            raise ArithmeticError(f"it is off by {found:.2g}")
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, PyTorch's operations still work
        vocoder.filter.use_kernel(None)
        log.warning(
            "The vocoder's fused activation failed its test, so it runs more slowly without it.",
            reason=str(failure)[:500],
        )


def halve_precision(vocoder: Hift | CausalHift, samples: Samples) -> str:
    """Let the filter compute in float16; a warning where it stays in float32, because the speech would be another.

    F0 and the phases of its harmonics stay as they are: an error of theirs would grow with the length of the speech.
    """
    exact = samples()
    before = {name: parameter.data for name, parameter in vocoder.filter.named_parameters()}
    vocoder.filter.round_to(torch.float16)
    found = deviation(samples(), exact)
    log.info("vocoder precision", dtype="float16", deviation=round(found, 5))
    if found <= HALF_TOLERANCE:
        return ""
    for name, parameter in vocoder.filter.named_parameters():
        parameter.data = before[name]
    warning = "CosyVoice's vocoder in float16 differs too much from float32, so it runs in float32."
    log.warning(warning, deviation=found)
    return warning
