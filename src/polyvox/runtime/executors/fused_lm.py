"""A language model's work in few kernels, where the machine has what they are written in and gets them right."""

from importlib.util import find_spec

import structlog
import torch

from polyvox.models.qwen.model import Qwen
from polyvox.models.qwen.step import Arithmetic, QwenStep
from polyvox.runtime.kv_cache import KvCache, Places
from polyvox.runtime.sampling import FusedDraw, Sampler, Steps
from polyvox.runtime.tokens import Limits, Sampling

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_CLOSE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}
"""How far the kernels may be off, as a share of the plain network's spread."""
_TRIED = 4


def fused_step(model: Qwen, cache: KvCache) -> QwenStep | None:
    """The step, or nothing where the model is not on a GPU, its kernels cannot be built, or they err."""
    if not _has_triton(model.norm.weight.device):
        return None
    # Only machines with a GPU have the language that these are written in.
    from polyvox.models.qwen import qwen_kernels

    return checked_step(model, cache, qwen_kernels)


def fused_draw(vocabulary: int, device: torch.device) -> FusedDraw | None:
    """The usual way of drawing a token, or nothing where it cannot be built or draws others than the plain way."""
    if not _has_triton(device):
        return None
    from polyvox.runtime import sampling_kernels

    return checked_draw(vocabulary, device, sampling_kernels.draw)


def _has_triton(device: torch.device) -> bool:
    return device.type == "cuda" and find_spec("triton") is not None


def checked_step(model: Qwen, cache: KvCache, arithmetic: Arithmetic) -> QwenStep | None:
    """The step, tried out on the spare slot; nothing where it fails or is not what the plain network makes of it."""
    try:
        step = QwenStep(model, cache.tensors, arithmetic)
        error = _deviation(model, cache, step)
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, the plain network still speaks
        log.warning("The language model's fused step failed, so it decodes more slowly.", reason=str(failure)[:500])
        return None
    if not error <= _CLOSE[model.norm.weight.dtype]:
        log.warning("The language model's fused step errs, so it decodes more slowly.", deviation=error)
        return None
    return step


def checked_draw(vocabulary: int, device: torch.device, fused: FusedDraw) -> FusedDraw | None:
    """The way of drawing, tried out beside the plain one; nothing where it fails or draws something else."""
    try:
        plain, other = (_drawn(vocabulary, device, way) for way in (None, fused))
    except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, the plain way still draws
        log.warning("Fused sampling failed, so tokens are drawn more slowly.", reason=str(failure)[:500])
        return None
    if plain != other:
        log.warning("Fused sampling errs, so tokens are drawn more slowly.", drawn=other, expected=plain)
        return None
    return fused


@torch.inference_mode()
def _drawn(vocabulary: int, device: torch.device, fused: FusedDraw | None) -> list[list[int]]:
    """A few tokens of three sequences, from the same scores each time."""
    sampler = Sampler(4, vocabulary, device, fused)
    for slot, temperature in enumerate((0.0, 0.6, 1.0)):
        sampler.begin(slot, Sampling(temperature=temperature, repetition_penalty=1.15), slot, (slot,))
        sampler.limit(slot, Limits(most=4, least=2, ends=frozenset({0})))
    scores = 8 * torch.arange(3 * vocabulary, device=device, dtype=torch.float64).sin().float().view(3, vocabulary)
    slots = torch.arange(3, device=device)
    return [sampler.draw(scores, slots, Steps(0, redraws=False)).tolist() for _ in range(4)]


@torch.inference_mode()
def _deviation(model: Qwen, cache: KvCache, step: QwenStep) -> float:
    """How far a few positions of the spare slot are from the plain network, step by step and as one piece."""
    weight, count = model.norm.weight, _TRIED
    waves = torch.linspace(-1.0, 1.0, count * model.config.hidden, device=weight.device).sin()
    rows = waves.to(weight.dtype).view(1, count, -1)
    slots = torch.full((1,), cache.spare, device=weight.device)
    positions = torch.arange(count, device=weight.device)[None]
    places = Places(slots, slots[:, None].expand(1, count), positions, count)
    wanted = model.decode(rows, cache.memory(places), positions, places.mask)[0].float()
    piece = step.read(rows.clone(), slots, places.written, positions, count, places.mask)[0].float()
    steps = [step(rows[:, place].clone(), slots, positions[:, place], place + 1) for place in range(count)]
    worst = max((got - wanted).square().mean().sqrt().item() for got in (piece, torch.cat(steps).float()))
    return worst / wanted.std().item()
