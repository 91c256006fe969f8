"""Kokoro's norms in one kernel each, where the machine has what it is written in and gets it right."""

import copy
from importlib.util import find_spec

import structlog
import torch
from torch import Tensor

from polyvox.models.kokoro.adain import AdaIN, NormKernel
from polyvox.models.kokoro.model import Kokoro
from polyvox.models.kokoro.ragged import Boxed

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_CLOSE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 0.15}
"""How far a kernel may be off, where values are spread by about 1."""
_LEAK = 0.2


def fuse_norms(network: Kokoro) -> None:
    """Give all norms of a network on a GPU their kernel, if there is one and it passes."""
    if find_spec("triton") is None:
        return
    # Only machines with a GPU have the language that this is written in.
    from polyvox.models.kokoro.adain_kernels import normed_and_bent

    give_kernel(network, normed_and_bent)


def give_kernel(network: Kokoro, kernel: NormKernel) -> None:
    """Let all norms use a kernel, unless it fails, or differs from the plain norm in any precision in use."""
    norms = [module for module in network.modules() if isinstance(module, AdaIN)]
    try:
        for dtype, norm in {norm.fc.weight.dtype: norm for norm in norms}.items():
            deviation = _deviation(norm, kernel)
            if not deviation <= _CLOSE[dtype]:
                raise ArithmeticError(f"it is off by {deviation:.2g} in {dtype}")
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, the plain norms still work
        log.warning("The kernel of Kokoro's norms failed, so it speaks more slowly.", reason=str(failure)[:500])
        return
    for norm in norms:
        norm.kernel = kernel


@torch.inference_mode()
def _deviation(norm: AdaIN, kernel: NormKernel) -> float:
    """The most by which the kernel is off from an exact norm, over rows of two lengths, bent either way."""
    weight, exact = norm.fc.weight, copy.deepcopy(norm).double()
    channels, time = weight.shape[0] // 2, 700
    waves = torch.linspace(-40, 40, 2 * channels * time, device=weight.device, dtype=torch.float64).sin()
    rows = waves.view(2, channels, time).to(weight.dtype)
    style = torch.linspace(-1, 1, 2 * weight.shape[1], device=weight.device).view(2, -1).to(weight.dtype)
    frames = Boxed(torch.tensor([time, 400], device=weight.device), time)
    rates = torch.linspace(0.5, 2, channels, device=weight.device).view(1, -1, 1).to(weight.dtype)
    found = 0.0
    for bend in (_LEAK, rates):
        wanted = exact.bent(rows.double(), style.double(), frames, bend.double() if isinstance(bend, Tensor) else bend)
        got = kernel(rows, norm.fc(style), frames.ends, norm.eps, bend)
        found = max(found, ((got - wanted).abs().max() / wanted.std()).item())
    return found
