"""A pair of guided sequences computes what its two sequences compute apart, whichever way it runs."""

import torch
from torch import Tensor

from helpers.tiny_lm import tiny_lm
from polyvox.models.qwen.model import Qwen, QwenState
from polyvox.runtime.guidance import FusedGuidedBackbone, GuidedBackbone
from polyvox.runtime.kv_cache import KvCache, SlotMapping

CPU = torch.device("cpu")
SLOTS, CAPACITY, PROMPT = 3, 16, 5
USED = torch.tensor([2, 0])
"""The slots of the two pairs."""


class EagerKernels:
    """Stands in for fused kernels, on slots of single sequences."""

    def __init__(self, model: Qwen, cache: KvCache) -> None:
        self._model, self._cache = model, cache

    def decode(self, rows: Tensor, slots: Tensor, positions: Tensor, extent: int) -> Tensor:
        mapping = SlotMapping(slots, slots[:, None], positions[:, None], extent)
        memory = self._cache.memory(mapping)
        return self._model.decode(rows[:, None], memory, mapping.positions, mapping.mask)[:, 0]

    def prefill(
        self, rows: Tensor, slots: Tensor, write_slots: Tensor, positions: Tensor, extent: int, mask: Tensor
    ) -> Tensor:
        memory = self._cache.memory(SlotMapping(slots, write_slots, positions, extent))
        return self._model.decode(rows, memory, positions, mask)


def prompt_mapping() -> SlotMapping:
    positions = torch.arange(PROMPT).expand(2, PROMPT)
    return SlotMapping(USED, USED[:, None].expand(2, PROMPT), positions, PROMPT)


@torch.inference_mode()
def test_both_ways_compute_what_the_sequences_compute_apart() -> None:
    model = tiny_lm().backbone
    chance, width = torch.Generator().manual_seed(3), model.config.hidden
    prompts = torch.randn(2, PROMPT, 2 * width, generator=chance)
    following = torch.randn(4, 2, 2 * width, generator=chance)
    wanted = []
    for pair in range(2):
        for branch in (slice(width), slice(width, None)):
            rows = torch.cat((prompts[pair], following[:, pair]))[:, branch]
            wanted.append(model(rows[None], QwenState())[0][0])
    expected = torch.stack([torch.cat(wanted[:2], dim=-1), torch.cat(wanted[2:], dim=-1)])

    guided = GuidedBackbone(model)
    cache = KvCache(guided.config, SLOTS, CAPACITY, torch.float32, CPU)
    mapping = prompt_mapping()
    plain = [guided.decode(prompts, cache.memory(mapping), mapping.positions, mapping.mask)]
    kernels_cache = KvCache(guided.config, SLOTS, CAPACITY, torch.float32, CPU)
    kernels = FusedGuidedBackbone(EagerKernels(model, kernels_cache.halves()))
    fused = [kernels.prefill(prompts, USED, mapping.write_slots, mapping.positions, PROMPT, mapping.mask)]
    for ahead, rows in enumerate(following):
        positions = torch.full((2,), PROMPT + ahead)
        step = SlotMapping(USED, USED[:, None], positions[:, None], PROMPT + ahead + 1)
        plain.append(guided.decode(rows[:, None], cache.memory(step), step.positions, step.mask))
        fused.append(kernels.decode(rows, USED, positions, step.extent)[:, None])
    for found in (plain, fused):
        torch.testing.assert_close(torch.cat(found, dim=1), expected, rtol=0, atol=1e-5)
    assert torch.equal(torch.stack(cache.tensors)[:, 1], torch.zeros_like(torch.stack(cache.tensors)[:, 1]))


def test_halves_are_the_same_memory_and_the_spare_slot_stays_spare() -> None:
    guided = GuidedBackbone(tiny_lm().backbone)
    cache = KvCache(guided.config, SLOTS, CAPACITY, torch.float32, CPU)
    halves = cache.halves()
    assert halves.spare == 2 * cache.spare + 1
    cache.tensors[0][cache.spare] = 1.0
    assert halves.tensors[0][halves.spare].min() == 1.0
    assert halves.tensors[0][: 2 * cache.spare].max() == 0.0
