"""Streams of a codec's decoder that share calls, with a decoder that adds up what it is given."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from polyvox.engines.kit.decoder_streams import CALL_FRAMES, SPARE, DecoderStreams, call_frames
from polyvox.errors import EngineError
from polyvox.models.stream_state import StreamState
from polyvox.runtime.block_allocator import BlockLease

SAMPLES = 2
"""Samples of a frame: the sum so far, and the frame's position."""


@dataclass(frozen=True)
class Hop:
    slot: BlockLease
    frames: tuple[float, ...]
    first: bool = False


class Counting:
    """A replay that captures nothing and notes the calls."""

    def __init__(self) -> None:
        self.keys: list[Hashable] = []

    def __call__(
        self, key: Hashable, work: Callable[..., Tensor], given: Sequence[Tensor], idle: Sequence[Tensor] | None = None
    ) -> Tensor:
        self.keys.append(key)
        return work(*given)


class Sums(DecoderStreams[Hop]):
    def __init__(self, replay: Counting | None = None) -> None:
        super().__init__(_begin, 3, 3, SAMPLES, replay)

    def key(self, hop: Hop) -> int:
        return call_frames(len(hop.frames))

    def _frames(self, hop: Hop) -> int:
        return len(hop.frames)

    def _table(self, hops: Sequence[Hop], batch: int, frames: int) -> Tensor:
        table = torch.zeros(batch, 2 + frames)
        table[:, 0], table[:, 1] = SPARE, 1
        for row, hop in zip(table, hops, strict=False):
            row[0], row[1] = hop.slot.index, hop.first
            row[2 : 2 + len(hop.frames)] = torch.tensor(hop.frames)
        return table

    def _decoded(self, frames: Tensor, state: StreamState) -> tuple[Tensor, StreamState]:
        sums = state.kept[0] + frames.cumsum(1)
        positions = state.positions[:, None] + torch.arange(frames.shape[1])
        samples = torch.stack((sums, positions.float()), dim=2).flatten(1)
        return samples, StreamState(state.positions + frames.shape[1], (sums[:, -1:],))


def _begin(batch: int) -> StreamState:
    return StreamState(torch.zeros(batch, dtype=torch.long), (torch.zeros(batch, 1),))


def test_a_stream_continues_where_it_was_whoever_shares_its_calls() -> None:
    for replay in (None, Counting()):
        streams = Sums(replay)
        one, other = streams.open(), streams.open()
        streams.decode([Hop(one, (1, 2), first=True)])
        both = streams.decode([Hop(one, (3, 4)), Hop(other, (10, 20), first=True)])
        np.testing.assert_array_equal(both[0].pcm, [6, 2, 10, 3])
        np.testing.assert_array_equal(both[1].pcm, [10, 0, 30, 1])
        again = streams.decode([Hop(one, (5, 5), first=True)])
        np.testing.assert_array_equal(again[0].pcm, [5, 0, 10, 1])


def test_padding_of_a_hop_is_not_heard() -> None:
    streams = Sums(Counting())
    done = streams.decode([Hop(streams.open(), (1, 2, 3), first=True)])
    assert len(done[0].pcm) == 3 * SAMPLES


def test_warming_captures_every_call_that_speech_can_make() -> None:
    replay = Counting()
    streams = Sums(replay)
    streams.warm()
    warmed = set(replay.keys)
    leases = [streams.open() for _ in range(3)]
    for frames in range(1, max(CALL_FRAMES) + 1):
        for count in range(1, 4):
            streams.decode([Hop(lease, (1.0,) * frames, first=True) for lease in leases[:count]])
    assert set(replay.keys) == warmed


def test_no_more_streams_than_slots_and_a_slot_is_free_once_its_lease_is_gone() -> None:
    streams = Sums()
    leases = [streams.open() for _ in range(3)]
    with pytest.raises(EngineError, match="more streams"):
        streams.open()
    leases.pop()
    assert streams.open().index != SPARE


def test_frames_beyond_the_longest_captured_call_are_one_call_of_their_own() -> None:
    assert [call_frames(frames) for frames in (1, 3, 8, 9)] == [1, 4, 8, 9]
