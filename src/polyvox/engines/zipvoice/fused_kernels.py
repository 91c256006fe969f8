"""Give the Zipformers their fused Triton kernels, where Triton is installed and the kernels pass a test."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import structlog
import torch

from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.models.zipvoice.model import ZipVoice
from polyvox.models.zipvoice.vocos import ProductKernels, Vocos
from polyvox.models.zipvoice.zipformer import ConvKernel, PaddingMask, ZipformerKernels

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_TOLERANCE = {torch.float32: 1e-3, torch.float16: 3e-2, torch.bfloat16: 0.2}
"""Greatest RMS error of the kernels against PyTorch's layers, in standard deviations of their output."""
_PRODUCT_TOLERANCE = 1e-5
"""That of the vocoder's products: the error of single precision, which they must keep."""
_PROBE_LENGTHS = (72, 31)


def fuse_kernels(networks: ZipVoiceNetworks) -> None:
    """Let a model on a GPU use the kernels, if there are some and they pass."""
    model = networks.acoustic_model
    if not isinstance(model, ZipVoice) or model.embed.weight.device.type != "cuda" or find_spec("triton") is None:
        return
    # Triton is installed on machines with a GPU only.
    from polyvox.models import product_kernels
    from polyvox.models.zipvoice import zipformer_kernels

    use_kernels(model, zipformer_kernels)
    use_conv_kernel(networks.vocos, zipformer_kernels.depthwise_conv)
    use_products(networks.vocos, product_kernels)


def use_kernels(model: ZipVoice, kernels: ZipformerKernels) -> None:
    """Let both Zipformers use the kernels, unless they fail or compute something else than PyTorch's layers."""
    try:
        deviation = _deviation(model, kernels)
        if not deviation <= _TOLERANCE[model.embed.weight.dtype]:
            raise ArithmeticError(f"they are off by {deviation:.2g}")
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, PyTorch's layers still work
        model.decoder.use_kernels(None)
        log.warning(
            "ZipVoice's fused kernels failed their test, so it runs more slowly without them.",
            reason=str(failure)[:500],
        )
        return
    model.text_encoder.use_kernels(kernels)


def use_conv_kernel(vocos: Vocos, kernel: ConvKernel) -> None:
    """Let the vocoder use a kernel for its convolutions, unless it fails or computes something else than PyTorch's."""
    _try_in_vocos(vocos, partial(vocos.use_kernel, kernel), partial(vocos.use_kernel, None), "convolution")


def use_products(vocos: Vocos, products: ProductKernels) -> None:
    """Let a vocoder in single precision use kernels for its products, unless they fail or lose precision."""
    if vocos.head.weight.dtype == torch.float32:
        use, leave = partial(vocos.use_products, products), partial(vocos.use_products, None)
        _try_in_vocos(vocos, use, leave, "product", _PRODUCT_TOLERANCE)


@torch.inference_mode()
def _try_in_vocos(
    vocos: Vocos, use: Callable[[], None], leave: Callable[[], None], name: str, tolerance: float | None = None
) -> None:
    weight = vocos.head.weight
    frames, bins = max(_PROBE_LENGTHS), vocos.config.bins
    waves = torch.linspace(-40, 40, len(_PROBE_LENGTHS) * frames * bins, device=weight.device).sin()
    rows = waves.view(len(_PROBE_LENGTHS), frames, bins).to(weight.dtype)
    padding = PaddingMask.of(_PROBE_LENGTHS, frames, weight.device)
    exact = vocos.backbone(rows, padding).float()
    try:
        use()
        deviation = ((vocos.backbone(rows, padding).float() - exact).square().mean().sqrt() / exact.std()).item()
        if not deviation <= (_TOLERANCE[weight.dtype] if tolerance is None else tolerance):
            raise ArithmeticError(f"it is off by {deviation:.2g}")
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, PyTorch's own still works
        leave()
        log.warning(
            f"The vocoder's {name} kernel failed its test, so it runs more slowly without it.",
            reason=str(failure)[:500],
        )


@torch.inference_mode()
def _deviation(model: ZipVoice, kernels: ZipformerKernels) -> float:
    """The error of the decoder with the kernels, which it is left with."""
    weight, frames = model.decoder.in_proj.weight, max(_PROBE_LENGTHS)
    waves = torch.linspace(-40, 40, len(_PROBE_LENGTHS) * frames * weight.shape[1], device=weight.device).sin()
    rows = waves.view(len(_PROBE_LENGTHS), frames, -1).to(weight.dtype)
    times = torch.tensor([0.2, 0.7], device=weight.device)
    embedded = model.time_embedding(times, torch.ones_like(times))
    padding = PaddingMask.of(_PROBE_LENGTHS, frames, weight.device)
    outputs = []
    for chosen in (None, kernels):
        model.decoder.use_kernels(chosen)
        out = model.decoder(rows, padding, embedded).float()
        outputs.append(torch.cat([row[:length] for row, length in zip(out, _PROBE_LENGTHS, strict=True)]))
    exact, fused = outputs
    return ((fused - exact).square().mean().sqrt() / exact.std()).item()
