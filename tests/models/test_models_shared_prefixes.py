"""Attention that reads a prefix once for the rows that share it, interpreted: a row is what it would be alone."""

import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from helpers import interpreted_triton  # noqa: E402
from polyvox.models.attention import attend  # noqa: E402
from polyvox.models.qwen import qwen_kernels  # noqa: E402
from polyvox.models.qwen.fused import FusedQwen  # noqa: E402
from polyvox.models.qwen.model import Qwen, QwenConfig  # noqa: E402
from polyvox.runtime.kv_cache import KvCache  # noqa: E402
from polyvox.runtime.shared_prefixes import SlotPrefix, prefix_table  # noqa: E402

SPLIT, KEYS = 32, 16
CAPACITY, WIDTH, KEY_HEADS = 96, 16, 2
NONE = SlotPrefix.NONE
SOME = SPLIT + 24
LENGTHS = [(2, length) for length in (0, 1, SPLIT - 1, SPLIT, SOME)] + [(7, 1), (1, SOME)]
SLOTS = 15


@pytest.fixture(autouse=True)
def short_splits(monkeypatch):
    interpreted_triton.mend(monkeypatch)
    monkeypatch.setattr(qwen_kernels, "SPLIT", SPLIT)
    monkeypatch.setattr(qwen_kernels, "_KEY_BLOCK", KEYS)


def keys_and_values(prefixes):
    """A memory in which the slots of one prefix begin with the same."""
    chance = torch.Generator().manual_seed(2)
    keys, values = torch.randn(2, SLOTS, KEY_HEADS, CAPACITY, WIDTH, generator=chance)
    for slot, prefix in enumerate(prefixes):
        first = prefixes.index(prefix)
        for tensor in (keys, values):
            tensor[slot, :, : prefix.length] = tensor[first, :, : prefix.length].clone()
    return keys, values


def table(slots, prefixes):
    return torch.tensor(prefix_table(slots, prefixes))


def rows_of(count, group):
    queries = torch.randn(SLOTS, KEY_HEADS * group, WIDTH, generator=torch.Generator().manual_seed(3))
    positions = torch.tensor([2 * SPLIT + (7 * row) % 32 for row in range(SLOTS)])
    return queries[:count], positions[:count]


def merged(queries, cache, slots, positions, prefixes):
    return qwen_kernels.attend_slots(queries, cache, slots, positions, CAPACITY, prefixes=prefixes)


def plainly(queries, cache, slots, positions):
    group = queries.shape[1] // KEY_HEADS
    keys, values = (each[slots].repeat_interleave(group, dim=1) for each in cache)
    mask = torch.arange(CAPACITY) <= positions[:, None]
    return attend(queries[:, :, None], keys, values, mask[:, None, None]).flatten(1)


@pytest.mark.long
@pytest.mark.parametrize(("group", "length"), LENGTHS)
def test_attention_is_the_plain_one_whatever_the_rows_share(group, length):
    """A prefix of eleven rows, more than a tile holds, another of two, and two rows without."""
    prefixes = [NONE] * 2 + [SlotPrefix(1, length)] * 11 + [SlotPrefix(2, SPLIT + 1)] * 2
    cache, slots = keys_and_values(prefixes), torch.arange(len(prefixes))
    queries, positions = rows_of(len(prefixes), group)
    got = merged(queries, cache, slots, positions, table(slots.tolist(), prefixes))
    torch.testing.assert_close(got, plainly(queries, cache, slots, positions), rtol=0, atol=2e-6)


@pytest.mark.long
@pytest.mark.parametrize("length", [1, SPLIT, SOME])
def test_a_row_is_bit_for_bit_the_same_alone_and_in_company(length):
    prefixes = [NONE, SlotPrefix(2, SPLIT), *[SlotPrefix(1, length)] * 9]
    cache, slots = keys_and_values(prefixes), torch.arange(len(prefixes))
    queries, positions = rows_of(len(prefixes), 2)
    together = merged(queries, cache, slots, positions, table(slots.tolist(), prefixes))
    backwards = merged(
        queries.flip(0), cache, slots.flip(0), positions.flip(0), table(slots.tolist()[::-1], prefixes[::-1])
    )
    assert torch.equal(backwards.flip(0), together)
    for row in (0, 1, 2, 5, 10):
        only = slice(row, row + 1)
        alone = merged(queries[only], cache, slots[only], positions[only], table([row], [prefixes[row]]))
        assert torch.equal(alone, together[only]), row


def test_a_row_without_a_prefix_is_what_it_is_without_the_table():
    cache, slots = keys_and_values([NONE] * 3), torch.arange(3)
    queries, positions = rows_of(3, 2)
    plain = qwen_kernels.attend_slots(queries, cache, slots, positions, CAPACITY)
    assert torch.equal(merged(queries, cache, slots, positions, table([0, 1, 2], [NONE] * 3)), plain)
    mixed = [NONE, SlotPrefix(1, SOME), NONE]
    assert torch.equal(merged(queries, cache, slots, positions, table([0, 1, 2], mixed))[::2], plain[::2])


@pytest.mark.long
def test_a_prefix_is_read_from_the_first_slot_alone():
    prefixes = [SlotPrefix(1, SOME)] * 10
    cache, slots = keys_and_values(prefixes), torch.arange(10)
    queries, positions = rows_of(10, 2)
    whole = merged(queries, cache, slots, positions, table(slots.tolist(), prefixes))
    for tensor in cache:
        tensor[1:, :, :SOME] = float("nan")
    assert torch.equal(merged(queries, cache, slots, positions, table(slots.tolist(), prefixes)), whole)


@pytest.mark.long
def test_a_row_that_ended_does_not_take_its_prefix_from_the_others():
    """Within a launched step it reads and writes the spare slot; the table still names its own."""
    prefixes = [SlotPrefix(1, SOME)] * 10
    cache = keys_and_values(prefixes)
    queries, positions = rows_of(10, 2)
    shared = table([*range(10), SLOTS - 1, SLOTS - 1], [*prefixes, NONE, NONE])
    padded = [torch.cat((each, each[:2])) for each in (queries, positions)]
    both = torch.tensor([*range(10), SLOTS - 1, SLOTS - 1])
    whole = merged(padded[0], cache, both, padded[1], shared)
    for tensor in cache:
        tensor[SLOTS - 1] = 50.0
    active = both.clone()
    active[0] = SLOTS - 1
    assert torch.equal(merged(padded[0], cache, active, padded[1], shared)[1:10], whole[1:10])


@torch.inference_mode()
@pytest.mark.parametrize("rows", [1, 3])
def test_the_network_decodes_the_same_with_the_table(rows):
    config = QwenConfig(
        vocabulary=8,
        hidden=48,
        feed_forward=80,
        layers=1,
        heads=4,
        key_heads=KEY_HEADS,
        head_width=WIDTH,
        qk_norm=True,
        qkv_bias=False,
    )
    torch.manual_seed(4)
    model = Qwen(config).requires_grad_(False).eval()
    given, slots = torch.randn(rows, config.hidden), torch.arange(rows)
    positions, prefixes = torch.tensor([80, 60, 95])[:rows], [SlotPrefix(5, SOME)] * rows
    decoded = []
    for shared in (None, table(slots.tolist(), prefixes)):
        cache = KvCache(config, SLOTS - 1, CAPACITY, torch.float32, torch.device("cpu"))
        for tensor, filling in zip(cache.tensors, keys_and_values(prefixes), strict=True):
            tensor.copy_(filling)
        fused = FusedQwen(model, cache.tensors, qwen_kernels)
        decoded.append(fused.decode_shared(given.clone(), slots, positions, CAPACITY, shared))
    torch.testing.assert_close(*decoded, rtol=0, atol=2e-5)
