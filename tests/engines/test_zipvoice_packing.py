"""What a batch is packed into one piece of memory as, and what the device finds in it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from polyvox.engines.zipvoice.batch_packing import BatchPacking, BatchShape, PackedBatch
from polyvox.engines.zipvoice.chunk_row import ChunkRow
from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput, time_schedule

FEATURES = 5
"""An odd number, so that integers would not stand at multiples of 8 bytes by themselves."""
STEPS = 3


def row(tokens: int, prompt_frames: int, shift: float, features: int = FEATURES) -> ChunkRow:
    prompt = torch.randn(prompt_frames, features, generator=torch.Generator().manual_seed(tokens))
    given = ZipVoiceInput(range(1, tokens + 1), [7, 8], prompt)
    return ChunkRow.of(given, seed=tokens, solver=SolverOptions(STEPS, 1.0 + tokens, shift))


def packed(rows: list[ChunkRow], padded: int, channels: int) -> PackedBatch:
    shapes = (
        BatchShape("encode", padded + 1, 16),
        BatchShape("step", padded, 80),
        BatchShape("vocode", (padded + 2) * channels, 70),
    )
    packing = BatchPacking(rows, *shapes, channels)
    memory = np.full(packing.size, 0xA5, np.uint8)
    packing.write(memory)
    return packing.read(torch.from_numpy(memory))


ROWS = [row(4, 9, 0.5), row(11, 10, 0.5), row(1, 40, 0.25)]


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("padded", [3, 4])
def test_each_row_is_found_as_it_was_and_padding_is_zeros(padded: int, channels: int) -> None:
    found = packed(ROWS, padded, channels)
    noises, prompts = found.table[found.table_places].view(2, padded, 80, FEATURES).numpy()
    places = found.text_places.view(padded, 80).numpy()
    for index, each in enumerate(ROWS):
        np.testing.assert_array_equal(noises[index, : each.frames], each.noise)
        np.testing.assert_array_equal(prompts[index, : len(each.prompt)], each.prompt)
        assert not noises[index, each.frames :].any()
        assert not prompts[index, len(each.prompt) :].any()
        np.testing.assert_array_equal(places[index, : each.frames] - index * 16, each.indices)
        assert (places[index, each.frames :] == index * 16).all()
        assert found.tokens[index, : len(each.tokens)].tolist() == each.tokens.tolist()
        assert not found.tokens[index, len(each.tokens) :].any()
    assert not noises[3:].any()
    assert not prompts[3:].any()
    assert found.tokens.shape == (padded + 1, 16)
    assert found.token_counts.tolist() == [len(each.tokens) - 1 for each in ROWS] + [1] * (padded - 2)
    assert found.lengths.tolist() == [each.frames for each in ROWS] + [1] * (padded - 3)


@pytest.mark.parametrize("channels", [1, 2])
def test_the_vocoder_gets_what_follows_the_prompt(channels: int) -> None:
    found = packed(ROWS, 3, channels)
    places = found.speech_places.view(5, 70).numpy()
    for index, each in enumerate(ROWS):
        speech = index * 80 + np.minimum(len(each.prompt) + np.arange(70), 79)
        np.testing.assert_array_equal(places[index], speech)
        assert len(each.prompt) + each.generated == each.frames
    assert places.max() < 3 * 80
    lengths = [each.generated for each in ROWS] + [1, 1]
    assert found.speech_lengths.tolist() == [length for length in lengths for _ in range(channels)]


def test_each_row_has_its_own_schedule_and_guidance() -> None:
    found = packed(ROWS, 4, 1)
    for index, each in enumerate(ROWS):
        times = np.array(time_schedule(STEPS, each.solver.shift))
        np.testing.assert_array_equal(found.schedule[:STEPS, index], times[:-1].astype(np.float32))
        np.testing.assert_array_equal(found.schedule[STEPS:, index], np.diff(times).astype(np.float32))
    assert found.guidance.tolist() == [5.0, 12.0, 2.0, 0.0]
    assert not found.schedule[:, 3].any()


def test_padding_of_a_batch_is_not_sent() -> None:
    rows = [replace(each) for each in ROWS]
    shapes = (BatchShape("encode", 3, 16), BatchShape("step", 3, 80), BatchShape("vocode", 3, 70))
    wide = tuple(replace(shape, rows=32) for shape in shapes)
    table = sum(each.table.nbytes for each in rows)
    assert BatchPacking(rows, *shapes, 1).size > table
    assert BatchPacking(rows, *wide, 1).size - table < 32 * (80 * 3 + 70 + 16 + 16) * 8
