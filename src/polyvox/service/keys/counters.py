"""Counters of limits: requests of a minute, streams at once, and what was used today."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from polyvox.service.keys.record import Limits

MINUTE = 60.0
_MOST_HOLDERS = 65_536
"""Keys and addresses that are remembered; beyond that those seen longest ago are forgotten."""
_STREAM_RETRY_SECONDS = 1.0


class Resource(StrEnum):
    """A limited resource."""

    REQUESTS = "requests"
    STREAMS = "streams"
    CHARACTERS = "characters"
    AUDIO_SECONDS = "audio-seconds"


@dataclass(frozen=True, slots=True)
class Level:
    """A holder's level of one limit: `remaining` of `limit`, all of it back in `reset` seconds.

    Where it is `refused`, `retry_after` says in how many seconds to try again.
    """

    resource: Resource
    limit: int
    remaining: int
    reset: float
    refused: bool = False
    retry_after: float = 0.0


@dataclass(frozen=True, slots=True)
class Reservation:
    """The demand of a stream: a place among its holder's streams, and characters.

    `day_left` is how many seconds the day has left. `used_characters` and `used_audio_seconds` are what the holder is
    known to have used today at least. `stream` is the stream's id; empty where it takes no place.
    """

    holder: str
    limits: Limits
    stream: str
    characters: int
    day: str
    day_left: float
    used_characters: int = 0
    used_audio_seconds: float = 0.0


class Counters(Protocol):
    """Counters of the use that limits bound."""

    async def request(self, holder: str, limit: int) -> Level:
        """Count a request of at most `limit` a minute."""

    async def reserve(self, asked: Reservation) -> tuple[Level, ...]:
        """Take what is asked for, unless a level in the answer is refused: then nothing is taken."""

    def spend(self, holder: str, day: str, characters: int, audio_seconds: float) -> None:
        """Count what was used besides, or give back."""

    def release(self, holder: str, stream: str) -> None:
        """Free the place of a stream."""

    async def flush(self) -> None:
        """Send on what is held back, and keep open streams alive."""

    async def close(self) -> None: ...


def request_level(limit: int, until_full: float) -> Level:
    """The level after a request, where all requests are back after `until_full` seconds; refused above a minute.

    Requests come back one by one, at an even pace; a whole minute's may be sent at once.
    """
    each = MINUTE / limit
    if until_full > MINUTE + 1e-6:
        wait = until_full - MINUTE
        return Level(Resource.REQUESTS, limit, 0, until_full - each, refused=True, retry_after=wait)
    return Level(Resource.REQUESTS, limit, math.floor((MINUTE - until_full) / each + 1e-6), until_full)


def reserve_levels(asked: Reservation, streams: int, characters: int, audio_seconds: float) -> tuple[Level, ...]:
    """The levels after a reservation, from what was used before it."""
    limits, left, levels = asked.limits, asked.day_left, []
    if limits.streams and asked.stream:
        free, reset = limits.streams - streams, _STREAM_RETRY_SECONDS
        levels.append(_level(Resource.STREAMS, limits.streams, free - 1, reset, refused=free < 1))
    if limits.characters_a_day:
        rest = limits.characters_a_day - characters
        refused = rest < max(1, asked.characters)
        levels.append(
            _level(
                Resource.CHARACTERS,
                limits.characters_a_day,
                rest if refused else rest - asked.characters,
                left,
                refused,
            )
        )
    if limits.audio_seconds_a_day:
        over = limits.audio_seconds_a_day - audio_seconds
        levels.append(_level(Resource.AUDIO_SECONDS, limits.audio_seconds_a_day, int(over), left, refused=over <= 0))
    return tuple(levels)


def _level(resource: Resource, limit: int, remaining: int, reset: float, refused: bool) -> Level:
    return Level(resource, limit, max(0, remaining), reset, refused, reset if refused else 0.0)


@dataclass(slots=True)
class _Spent:
    """Use of a holder on a day."""

    day: str
    characters: int = 0
    audio_seconds: float = 0.0


class MemoryCounters:
    """Counters of one process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: OrderedDict[str, float] = OrderedDict()
        """The time at which all requests of a holder are back."""
        self._spent: OrderedDict[str, _Spent] = OrderedDict()
        self._streams: dict[str, set[str]] = {}

    async def request(self, holder: str, limit: int) -> Level:
        now = self._clock()
        until = max(self._full_at.get(holder, now), now) + MINUTE / limit - now
        level = request_level(limit, until)
        if not level.refused:
            self._full_at[holder] = now + until
            _trim(self._full_at, holder)
        return level

    async def reserve(self, asked: Reservation) -> tuple[Level, ...]:
        spent = self._spent_on(asked.holder, asked.day)
        spent.characters = max(spent.characters, asked.used_characters)
        spent.audio_seconds = max(spent.audio_seconds, asked.used_audio_seconds)
        streams = self._streams.get(asked.holder, set())
        levels = reserve_levels(asked, len(streams), spent.characters, spent.audio_seconds)
        if not any(level.refused for level in levels):
            spent.characters += asked.characters
            if asked.stream:
                self._streams.setdefault(asked.holder, set()).add(asked.stream)
        return levels

    def spend(self, holder: str, day: str, characters: int, audio_seconds: float) -> None:
        spent = self._spent_on(holder, day)
        spent.characters += characters
        spent.audio_seconds += audio_seconds

    def release(self, holder: str, stream: str) -> None:
        streams = self._streams.get(holder, set())
        streams.discard(stream)
        if not streams:
            self._streams.pop(holder, None)

    async def flush(self) -> None:
        """Nothing is held back."""

    async def close(self) -> None: ...

    def _spent_on(self, holder: str, day: str) -> _Spent:
        spent = self._spent.get(holder)
        if spent is None or spent.day < day:
            spent = self._spent[holder] = _Spent(day)
        _trim(self._spent, holder)
        return spent


def _trim(table: "OrderedDict[str, float] | OrderedDict[str, _Spent]", latest: str) -> None:
    table.move_to_end(latest)
    while len(table) > _MOST_HOLDERS:
        table.popitem(last=False)
