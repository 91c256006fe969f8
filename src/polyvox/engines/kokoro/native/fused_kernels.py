"""Give Kokoro and Wren their Triton kernels, where Triton is installed and each kernel passes a test."""

import copy
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import structlog
import torch
from torch import Tensor

from polyvox.models.kokoro.adain import AdaIN, NormKernel
from polyvox.models.kokoro.lstm import BidirectionalLstm, LstmKernel, run_lstm
from polyvox.models.kokoro.model import Kokoro
from polyvox.models.kokoro.ragged import StaticRagged
from polyvox.models.kokoro.wren import Wren
from polyvox.models.kokoro.wren_blocks import BlockKernel, Condition, ConvNeXtBlock

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 0.15}
"""Largest error of a kernel, in standard deviations of its output."""
_SLOPE = 0.2
_FRAMES = (700, 400)
"""Of the two rows that norms are tested with."""
_STEPS = (40, 17)
"""Those of the LSTMs and blocks."""


def fuse_kernels(network: Kokoro) -> None:
    """Give all norms and LSTMs of a network on a GPU their kernels, if there are some and they pass."""
    if find_spec("triton") is None:
        return
    # Triton is installed on machines with a GPU only.
    from polyvox.models.kokoro.adain_kernels import adain_activated
    from polyvox.models.kokoro.lstm_kernels import FusedLstm

    use_norm_kernel(network, adain_activated)
    use_lstm_kernel(network, FusedLstm)


def fuse_blocks(wren: Wren, dtype: torch.dtype) -> None:
    """Give Wren's blocks on a GPU their kernel, with products in this precision; else they keep their own."""
    if find_spec("triton") is None:
        return
    from polyvox.models.kokoro.wren_kernels import fused_block

    use_block_kernel(wren, fused_block, dtype)


def use_norm_kernel(network: Kokoro, kernel: NormKernel) -> None:
    """Let all norms use a kernel, unless it fails, or differs from PyTorch's norm in any precision in use."""
    norms = [module for module in network.modules() if isinstance(module, AdaIN)]
    checked = {norm.fc.weight.dtype: norm for norm in norms}
    if all(_passed("norm", dtype, partial(_norm_deviation, norm, kernel)) for dtype, norm in checked.items()):
        for norm in norms:
            norm.kernel = kernel


def use_lstm_kernel(network: Kokoro, kernel: Callable[[BidirectionalLstm], LstmKernel]) -> None:
    """Let each LSTM use a kernel of its own, unless the first one's fails or differs from PyTorch's LSTM."""
    lstms = [module for module in network.modules() if isinstance(module, BidirectionalLstm)]
    first = lstms[0]
    if _passed("LSTM", first.dtype, lambda: _lstm_deviation(first, kernel(first))):
        for lstm in lstms:
            lstm.kernel = kernel(lstm)


def use_block_kernel(wren: Wren, kernel: BlockKernel, dtype: torch.dtype) -> None:
    """Let all blocks use a kernel, and their products its precision, unless it fails or computes something else."""
    blocks = [module for module in wren.modules() if isinstance(module, ConvNeXtBlock)]
    tried = copy.deepcopy(blocks[0])
    _take_up(tried, kernel, dtype)
    if _passed("block", dtype, lambda: _block_deviation(blocks[0], tried)):
        for block in blocks:
            _take_up(block, kernel, dtype)


def _take_up(block: ConvNeXtBlock, kernel: BlockKernel, dtype: torch.dtype) -> None:
    block.kernel = kernel
    for product in (block.expand, block.contract):
        product.weight.data = product.weight.data.to(dtype)


@torch.inference_mode()
def _passed(name: str, dtype: torch.dtype, deviation: Callable[[], float]) -> bool:
    try:
        found = deviation()
        if found <= _TOLERANCE[dtype]:
            return True
        reason = f"it is off by {found:.2g} in {dtype}"
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, PyTorch's own layers still work
        reason = str(failure)[:500]
    log.warning(f"Kokoro's fused {name} kernel failed its test, so Kokoro runs more slowly without it.", reason=reason)
    return False


def _norm_deviation(norm: AdaIN, kernel: NormKernel) -> float:
    """The largest error against the norm in double precision, for rows of two lengths and both activations."""
    weight, exact = norm.fc.weight, copy.deepcopy(norm).double()
    channels = weight.shape[0] // 2
    rows = _waves(weight.device, channels, _FRAMES[0]).to(weight.dtype)
    style = torch.linspace(-1, 1, 2 * weight.shape[1], device=weight.device).view(2, -1).to(weight.dtype)
    frames = _ragged(_FRAMES, weight.device)
    alphas = torch.linspace(0.5, 2, channels, device=weight.device).view(1, -1, 1).to(weight.dtype)
    largest = 0.0
    for activation in (_SLOPE, alphas):
        own = activation.double() if isinstance(activation, Tensor) else activation
        wanted = exact.activated(rows.double(), style.double(), frames, own)
        got = kernel(rows, norm.fc(style), frames.ends, norm.eps, activation)
        largest = max(largest, _largest_error(got, wanted))
    return largest


def _lstm_deviation(lstm: BidirectionalLstm, kernel: LstmKernel) -> float:
    """The largest error against the LSTM in double precision, within rows of two lengths."""
    exact, steps = copy.deepcopy(lstm).double(), _ragged(_STEPS, lstm.device)
    rows = _waves(lstm.device, _STEPS[0], lstm.input_size).to(lstm.dtype)
    inside = steps.mask.transpose(1, 2)
    return _largest_error(kernel(rows, steps.ends) * inside, run_lstm(exact, rows.double(), steps) * inside)


def _block_deviation(exact: ConvNeXtBlock, tried: ConvNeXtBlock) -> float:
    """The largest error of a block against another, for rows of two lengths."""
    device, width = exact.film.weight.device, exact.expand.in_features
    rows, mask = _waves(device, _STEPS[0], width).float(), _ragged(_STEPS, device).mask.transpose(1, 2)
    utterance = exact.utterance_film
    condition = Condition(
        torch.linspace(-1, 1, 2 * exact.film.in_features, device=device).view(2, 1, -1),
        None if utterance is None else torch.linspace(-1, 1, 2 * utterance.in_features, device=device).view(2, 1, -1),
    )
    wanted = exact(rows, condition, mask) - rows
    return _largest_error(tried(rows, condition, mask) - rows, wanted)


def _waves(device: torch.device, *shape: int) -> Tensor:
    """Two rows of numbers of both signs, in double precision."""
    count = 2 * torch.Size(shape).numel()
    return torch.linspace(-40, 40, count, device=device, dtype=torch.float64).sin().view(2, *shape)


def _ragged(lengths: tuple[int, int], device: torch.device) -> StaticRagged:
    return StaticRagged(torch.tensor(lengths, device=device), max(lengths))


def _largest_error(got: Tensor, wanted: Tensor) -> float:
    return ((got - wanted).abs().max() / wanted.std()).item()
