"""The table of the prefixes that a batch shares: whatever starts and ends, a row is sent to its own prefix's bits."""

import asyncio

import pytest
import torch
from test_lm_scheduler import GREEDY, ids, runtime, spoken

from helpers.fixed_shapes import Fixed
from helpers.tiny_lm import tiny_lm
from polyvox.runtime import lm_scheduler
from polyvox.runtime.kv_cache import SlotMapping, slot_bytes
from polyvox.runtime.shared_prefixes import SavedPrefix, SlotPrefix, SlotPrefixes, prefix_table
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams


def test_rows_of_one_prefix_read_the_first_ones_slot():
    one, other = SlotPrefix(7, 90), SlotPrefix(4, 80)
    table = prefix_table([5, 9, 8, 3, 6], [SlotPrefix.NONE, SlotPrefix.NONE, other, one, one])
    assert table == [[0, 0, 2, 3, 3], [5, 5, 8, 3, 3], [0, 0, 80, 90, 90]]


def test_only_slots_that_were_filled_from_one_copy_share_it():
    prefixes, values = SlotPrefixes(), torch.zeros(2, 1, 70, 4)
    for slot in (1, 2):
        prefixes.start(slot, 70, None)
    one, other = prefixes.of([1, 2])
    assert one != other, "each computed its own, and may have rounded otherwise"
    saved = prefixes.save(1, values)
    prefixes.start(0, 70, saved)
    assert prefixes.of([0, 1, 2]) == [SlotPrefix(saved.number, 70)] * 2 + [other]
    prefixes.start(1, 0, None)
    assert prefixes.of([0, 1, 3]) == [SlotPrefix(saved.number, 70), SlotPrefix.NONE, SlotPrefix.NONE]


def test_a_prefix_that_is_shorter_than_a_block_is_not_read_apart():
    prefixes = SlotPrefixes()
    prefixes.start(1, 63, SavedPrefix(1, torch.zeros(2, 1, 63, 4)))
    assert prefixes.of([1]) == [SlotPrefix.NONE]


class Watching:
    """Decodes as the plain network does, and looks up every row's prefix where the table says it is."""

    def __init__(self, model, cache):
        self._model, self._cache = model, cache
        self.companies = []

    def decode(self, rows, slots, positions, extent):
        raise AssertionError("prefixes are shared here")

    def decode_shared(self, rows, slots, positions, extent, prefixes):
        leaders, sources, lengths = prefixes
        sharing = leaders[lengths > 0]
        assert torch.equal(sharing, sharing.sort().values), "rows that share are neighbours"
        for row, (leader, length) in enumerate(zip(leaders, lengths, strict=True)):
            assert leaders[leader] == leader
            assert length == lengths[leader]
            assert length <= positions[row]
            if slots[row] != self._cache.spare:
                for tensor in self._cache.tensors:
                    assert torch.equal(tensor[slots[row], :, :length], tensor[sources[row], :, :length])
        self.companies += torch.bincount(sharing).tolist()
        mapping = SlotMapping(slots, slots[:, None], positions[:, None], extent)
        memory = self._cache.memory(mapping)
        return self._model.decode(rows[:, None], memory, mapping.positions, mapping.mask)[:, 0]

    def prefill(self, rows, slots, write_slots, positions, extent, mask):
        mapping = SlotMapping(slots, write_slots, positions, extent)
        return self._model.decode(rows, self._cache.memory(mapping), positions, mask)


@pytest.mark.anyio
@pytest.mark.long
async def test_rows_find_their_prefix_whatever_starts_and_ends(monkeypatch):
    """Two voices in turns through five slots, with memory for one prefix: they are saved, dropped and saved again."""
    voices = [ids(70), ids(90, seed=1)]
    cases = [
        (
            Prompt(voices[turn // 4 % 2] + ids(5, seed=turn), shared=len(voices[turn // 4 % 2])),
            GREEDY if turn % 3 else SamplingParams(seed=turn, temperature=0.9),
            GenerationLimits(max_tokens=3 + 5 * turn % 11),
        )
        for turn in range(24)
    ] + [(Prompt(ids(12)), GREEDY, GenerationLimits(max_tokens=20))]
    async with runtime() as (lm, _):
        expected = [await spoken(lm, *case) for case in cases]
    made = []

    def watching(model, cache, *, float8):
        made.append(Watching(model, cache))
        return made[-1]

    monkeypatch.setattr(lm_scheduler, "fused_backbone", watching)
    room = slot_bytes(tiny_lm().config.backbone, 90, torch.float32)
    async with runtime(replay=Fixed(), slots=5, prefix_bytes=room) as (lm, _):
        await lm.warm(GREEDY)
        together = await asyncio.gather(*(spoken(lm, *case) for case in cases))
    assert together == expected
    assert max(made[0].companies) > 2
