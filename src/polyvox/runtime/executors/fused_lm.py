"""Fused Triton kernels of a language model, used where they build and agree with the eager network."""

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec

import structlog
import torch
from torch import Tensor

from polyvox.models.chatterbox.fused_gpt2 import FusedGpt2
from polyvox.models.chatterbox.gpt2 import Gpt2
from polyvox.models.qwen.float8 import supports_float8
from polyvox.models.qwen.fused import FusedQwen, QwenKernels
from polyvox.models.qwen.model import Qwen
from polyvox.runtime.causal_lm import Backbone, FusedBackbone, SupportsSharedPrefixes
from polyvox.runtime.guidance import FusedGuidedBackbone, GuidedBackbone
from polyvox.runtime.kv_cache import KvCache, SlotMapping
from polyvox.runtime.sampling.sampler import FusedSampling, Sampler, SamplingPlan
from polyvox.runtime.shared_prefixes import SlotPrefix, prefix_table
from polyvox.runtime.tokens import GenerationLimits, SamplingParams

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

FusedDraws = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, tuple[int, int]], Tensor]
"""`draw_kernels.draw_codes`."""
_TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}
"""Greatest RMS error of the kernels, relative to the standard deviation of the eager network's output."""
_FLOAT8_TOLERANCE = 0.3
"""The same for weights in float8: enough to tell wrong arithmetic from rounding."""
_PROBE_POSITIONS = 4


def fused_backbone(model: Backbone, cache: KvCache, *, float8: bool = False) -> FusedBackbone | None:
    """The fused network; None for others than Qwen and GPT-2, off a GPU, or where the kernels fail or are wrong.

    With `float8`, its weights are rounded to that where the GPU multiplies it.
    """
    if isinstance(model, GuidedBackbone):
        single = fused_backbone(model.single, cache.halves(), float8=float8)
        return None if single is None else FusedGuidedBackbone(single)
    if not isinstance(model, Qwen | Gpt2) or not has_triton(model.norm.weight.device):
        return None
    # Triton is only installed on machines with a GPU.
    from polyvox.models.qwen import qwen_kernels

    if float8 and not supports_float8(model.norm.weight.device):
        log.warning("This GPU does not multiply float8, so the weights stay as they are.")
        float8 = False
    return verified_backbone(model, cache, qwen_kernels, float8=float8)


def fused_sampling(vocabulary: int, device: torch.device, *, nested: bool = False) -> FusedSampling | None:
    """The fused sampling kernel; None off a GPU, or where it cannot be built or samples other tokens."""
    if not has_triton(device):
        return None
    from polyvox.runtime.sampling import draw_kernels, sampling_kernels

    if nested and vocabulary > draw_kernels.MAX_VOCABULARY:
        return None
    kernel = draw_kernels.sample_limited if nested else sampling_kernels.sample
    return verified_sampling(vocabulary, device, kernel, nested=nested)


def fused_draws(device: torch.device) -> FusedDraws | None:
    """The kernel that draws codes within limits; None off a GPU."""
    if not has_triton(device):
        return None
    from polyvox.runtime.sampling import draw_kernels

    return draw_kernels.draw_codes


def has_triton(device: torch.device) -> bool:
    """Return whether kernels can be built for the device."""
    return device.type == "cuda" and find_spec("triton") is not None


def verified_backbone(
    model: Qwen | Gpt2, cache: KvCache, kernels: QwenKernels, *, float8: bool = False
) -> FusedBackbone | None:
    """The fused network, tried on the spare slot; None where it fails or differs from the eager one."""
    float8 = float8 and isinstance(model, Qwen)
    try:
        fused = _fused(model, cache, kernels, float8=float8)
        error = _deviation(model, cache, fused)
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, the eager network still speaks
        log.warning("The language model's fused step failed, so it decodes more slowly.", reason=str(failure)[:500])
        return None
    if float8:
        log.info("The language model's weights are in float8.", deviation=error)
    if not error <= (_FLOAT8_TOLERANCE if float8 else _TOLERANCE[model.norm.weight.dtype]):
        log.warning("The language model's fused step errs, so it decodes more slowly.", deviation=error)
        return None
    return fused


def _fused(model: Qwen | Gpt2, cache: KvCache, kernels: QwenKernels, *, float8: bool) -> FusedBackbone:
    if isinstance(model, Qwen):
        return FusedQwen(model, cache.tensors, kernels, float8=float8)
    return FusedGpt2(model, cache.tensors, lambda *mapping: cache.memory(SlotMapping(*mapping)), kernels)


def verified_sampling(
    vocabulary: int, device: torch.device, fused: FusedSampling, *, nested: bool = False
) -> FusedSampling | None:
    """The fused sampling, tried beside the eager one; None where it fails or samples other tokens."""
    try:
        eager, other = (_probe_tokens(vocabulary, device, way, nested=nested) for way in (None, fused))
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, eager sampling still works
        log.warning("Fused sampling failed, so tokens are sampled more slowly.", reason=str(failure)[:500])
        return None
    if eager != other:
        log.warning("Fused sampling errs, so tokens are sampled more slowly.", sampled=other, expected=eager)
        return None
    return fused


@torch.inference_mode()
def _probe_tokens(
    vocabulary: int, device: torch.device, fused: FusedSampling | None, *, nested: bool
) -> list[list[int]]:
    """A few tokens of three sequences, from the same logits each time."""
    sampler = Sampler(4, vocabulary, device, fused, nested=nested)
    every = [SamplingParams(temperature=each, repetition_penalty=1.15) for each in (0.0, 0.6, 1.0)]
    if nested:
        every = [replace(each, top_k=20, top_p=0.8) for each in every]
    for slot, sampling in enumerate(every):
        sampler.start(slot, sampling, slot, (slot,))
        sampler.set_limits(slot, GenerationLimits(max_tokens=4, min_tokens=2, stop_tokens=frozenset({0})))
    logits = 8 * torch.arange(3 * vocabulary, device=device, dtype=torch.float64).sin().float().view(3, vocabulary)
    slots = torch.arange(3, device=device)
    plan = SamplingPlan.of(every, vocabulary)
    return [sampler.sample(logits, slots, plan).tolist() for _ in range(4)]


@torch.inference_mode()
def _deviation(model: Qwen | Gpt2, cache: KvCache, fused: FusedBackbone) -> float:
    """RMS error of a few positions of the spare slot, decoded one by one and prefilled at once, relative to the std.

    Where prefixes can be shared, the second half is decoded again with the first as a prefix.
    """
    weight, count = model.norm.weight, _PROBE_POSITIONS
    waves = torch.linspace(-1.0, 1.0, count * model.config.hidden, device=weight.device).sin()
    rows = waves.to(weight.dtype).view(1, count, -1)
    slots = torch.full((1,), cache.spare, device=weight.device)
    positions = torch.arange(count, device=weight.device)[None]
    mapping = SlotMapping(slots, slots[:, None].expand(1, count), positions, count)
    expected = model.decode(rows, cache.memory(mapping), positions, mapping.mask)[0].float()
    prefilled = fused.prefill(rows.clone(), slots, mapping.write_slots, positions, count, mapping.mask)[0].float()
    decoded = [fused.decode(rows[:, at].clone(), slots, positions[:, at], at + 1) for at in range(count)]
    wanted, half = [expected], count // 2
    if isinstance(fused, SupportsSharedPrefixes):
        table = torch.tensor(prefix_table([cache.spare], [SlotPrefix(1, half)]), device=weight.device)
        wanted.append(expected[half:])
        for at in range(half, count):
            decoded.append(fused.decode_shared(rows[:, at].clone(), slots, positions[:, at], at + 1, table))
    pairs = (prefilled, expected), (torch.cat(decoded).float(), torch.cat(wanted))
    errors = [(got - aim).square().mean().sqrt() for got, aim in pairs]
    # Unlike Python's, this maximum is NaN where any of them is.
    return (torch.stack(errors).max() / expected.std()).item()
