"""Twice the load that an engine keeps playing, on a simulated clock: hardly a stream under way has a gap."""

import heapq
from dataclasses import dataclass, field
from itertools import count

import pytest

from polyvox.service.pace import PLAYING, Pace

CHUNK, CHUNKS = 2.0, 12
"""Seconds of audio in a chunk, and chunks in a stream."""
WARM_UP = 60.0
"""Seconds in which the pace is learned."""
END = 2_400.0
SHARE = 0.1
"""Of the streams, those that may have a gap: when it is tried whether the engine can do one more."""


@dataclass(order=True)
class Stream:
    due: float
    number: int
    began: float = field(compare=False)
    asked: float = field(compare=False)
    work: float = field(compare=False)
    made: int = field(compare=False, default=0)
    gaps: int = field(compare=False, default=0)


def played(capacity: float, pace: Pace, most: int) -> list[Stream]:
    """Streams that an engine speaks one chunk at a time, the one due first first; somebody always waits for a slot."""
    now, work, numbers = 0.0, 0.0, count()
    running: list[Stream] = []
    ended: list[Stream] = []
    while now < END:
        while len(running) < min(most, pace.limit):
            heapq.heappush(running, Stream(now, next(numbers), now, now, work))
        now += CHUNK / capacity
        work += len(running) * CHUNK / capacity
        stream = heapq.heappop(running)
        stream.gaps += stream.made > 0 and now > stream.due + 1e-6
        pace.chunk(CHUNK, now - stream.asked, (work - stream.work) / (now - stream.asked))
        stream.due, stream.asked, stream.work = max(now, stream.due) + CHUNK, now, work
        stream.made += 1
        if stream.made < CHUNKS:
            heapq.heappush(running, stream)
        else:
            ended.append(stream)
    return [stream for stream in ended if stream.began >= WARM_UP]


@pytest.mark.parametrize("capacity", [1.3, 2.5, 3.7, 7.5])
def test_streams_under_way_have_gaps_only_where_one_more_is_tried(capacity: float) -> None:
    most = round(2 * capacity / PLAYING) + 1
    streams = played(capacity, Pace(most), most)
    assert sum(stream.gaps > 0 for stream in streams) <= SHARE * len(streams)
    unlimited = played(capacity, Pace(most, adaptive=False), most)
    assert all(stream.gaps for stream in unlimited)
