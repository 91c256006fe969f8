"""Counters in Redis, shared by servers; where it does not answer, each server counts for itself."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import structlog

from polyvox.extras import REDIS
from polyvox.service.keys.counters import MINUTE, Level, MemoryCounters, Reservation, request_level, reserve_levels

_TIMEOUT_SECONDS = 0.5
"""Longest wait for an answer. A request waits for it once in a while only: after a failure Redis is left alone."""
_RETRY_SECONDS = 2.0
_MOST_CONNECTIONS = 8
_LEASE_SECONDS = 30.0
"""Time for which the streams of a server that died still count."""
_DAY_SECONDS = 2 * 86_400
_MOST_PENDING = 65_536
"""Keys and addresses whose use is held back while Redis is lost."""

# The time until all requests are back, in Redis' own time. One that is more than a minute off says that its clock was
# set back, and is a minute.
_REQUEST = """
local time = redis.call('TIME')
local now, each, minute = time[1] + time[2] / 1e6, tonumber(ARGV[1]), tonumber(ARGV[2])
local left = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or '0') - now, 0), minute)
local after = left + each
if after <= minute + 1e-6 then
  redis.call('SET', KEYS[1], string.format('%.6f', now + after), 'PX', math.ceil(after * 1000) + 1000)
end
return string.format('%.6f', after)
"""

# Used so far (characters, audio), streams open before; takes what is asked where nothing is over its limit.
_RESERVE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local asked, lease = tonumber(ARGV[1]), tonumber(ARGV[2])
local most_streams, most_characters, most_audio = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local characters = tonumber(redis.call('HINCRBY', KEYS[1], 'characters', ARGV[6]))
local audio = tonumber(redis.call('HINCRBYFLOAT', KEYS[1], 'audio', ARGV[7]))
if characters < tonumber(ARGV[8]) then
  characters = tonumber(ARGV[8])
  redis.call('HSET', KEYS[1], 'characters', ARGV[8])
end
if audio < tonumber(ARGV[9]) then
  audio = tonumber(ARGV[9])
  redis.call('HSET', KEYS[1], 'audio', ARGV[9])
end
redis.call('EXPIRE', KEYS[1], ARGV[10])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local streams, stream = redis.call('ZCARD', KEYS[2]), ARGV[11]
local over = (most_streams > 0 and stream ~= '' and streams >= most_streams)
  or (most_characters > 0 and most_characters - characters < math.max(1, asked))
  or (most_audio > 0 and audio >= most_audio)
if not over then
  redis.call('HINCRBY', KEYS[1], 'characters', asked)
  if stream ~= '' then
    redis.call('ZADD', KEYS[2], now + lease, stream)
    redis.call('EXPIRE', KEYS[2], lease * 2)
  end
end
return {tostring(streams), tostring(characters), tostring(audio)}
"""

# Keeps the places of streams that go on.
_RENEW = """
local time = redis.call('TIME')
local ends = time[1] + time[2] / 1e6 + tonumber(ARGV[1])
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], 'XX', ends, ARGV[index]) end
redis.call('EXPIRE', KEYS[1], ARGV[1] * 2)
return 1
"""

Answer = TypeVar("Answer")

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class RedisCounters:
    """Counts in Redis in one round trip each, and in memory besides, to go on from there while Redis is lost.

    `on_failure` is told of every answer that did not come.
    """

    def __init__(self, url: str, on_failure: Callable[[], None], prefix: str = "polyvox") -> None:
        self._client = _client(url)
        self._on_failure = on_failure
        self._prefix = prefix
        self._memory = MemoryCounters()
        self._request_script = self._client.register_script(_REQUEST)
        self._reserve_script = self._client.register_script(_RESERVE)
        self._renew_script = self._client.register_script(_RENEW)
        self._pending: dict[tuple[str, str], tuple[int, float]] = {}
        self._streams: dict[str, set[str]] = {}
        self._released: list[tuple[str, str]] = []
        self._lost_until = 0.0
        self._sending: asyncio.Task[None] | None = None

    async def request(self, holder: str, limit: int) -> Level:
        own = await self._memory.request(holder, limit)
        each = MINUTE / limit
        after = await self._ask(lambda: self._request_script(keys=[self._key("rate", holder)], args=[each, MINUTE]))
        return own if after is None else request_level(limit, float(after))

    async def reserve(self, asked: Reservation) -> tuple[Level, ...]:
        characters, audio = self._pending.pop((asked.holder, asked.day), (0, 0.0))
        limits = asked.limits
        keys = [self._key("day", asked.holder, asked.day), self._key("streams", asked.holder)]
        most = (limits.streams, limits.characters_a_day, limits.audio_seconds_a_day)
        known = (asked.used_characters, asked.used_audio_seconds)
        args = [asked.characters, _LEASE_SECONDS, *most, characters, audio, *known, _DAY_SECONDS, asked.stream]
        before = await self._ask(lambda: self._reserve_script(keys=keys, args=args))
        if before is None:
            self._hold_back(asked.holder, asked.day, characters, audio)
            return await self._memory.reserve(asked)
        streams, used, spoken = (float(value) for value in before)
        levels = reserve_levels(asked, int(streams), int(used), spoken)
        if not any(level.refused for level in levels):
            await self._memory.reserve(asked)
            if asked.stream:
                self._streams.setdefault(asked.holder, set()).add(asked.stream)
        return levels

    def spend(self, holder: str, day: str, characters: int, audio_seconds: float) -> None:
        self._memory.spend(holder, day, characters, audio_seconds)
        self._hold_back(holder, day, characters, audio_seconds)

    def release(self, holder: str, stream: str) -> None:
        self._memory.release(holder, stream)
        streams = self._streams.get(holder, set())
        if stream not in streams:
            return
        streams.discard(stream)
        if not streams:
            del self._streams[holder]
        self._released.append((holder, stream))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_released(), name="release streams")

    async def flush(self) -> None:
        await self._send_released()
        for (holder, day), (characters, audio) in list(self._pending.items()):
            del self._pending[holder, day]
            if await self._ask(partial(self._added, self._key("day", holder, day), characters, audio)) is None:
                self._hold_back(holder, day, characters, audio)
        for holder, streams in list(self._streams.items()):
            keys, args = [self._key("streams", holder)], [_LEASE_SECONDS, *streams]
            await self._ask(partial(self._renew_script, keys=keys, args=args))

    async def close(self) -> None:
        """Send what is held back, and leave."""
        await self.flush()
        await self._client.aclose()

    async def _added(self, key: str, characters: int, audio: float) -> Any:  # noqa: ANN401 - Redis' own
        async with self._client.pipeline(transaction=True) as pipeline:
            pipeline.hincrby(key, "characters", characters)
            pipeline.hincrbyfloat(key, "audio", audio)
            pipeline.expire(key, _DAY_SECONDS)
            return await pipeline.execute()

    async def _send_released(self) -> None:
        while self._released:
            holder, stream = self._released.pop()
            await self._ask(partial(self._client.zrem, self._key("streams", holder), stream))

    async def _ask(self, call: Callable[[], Awaitable[Answer]]) -> Answer | None:
        """Redis' answer; None where it is lost, which is then so for a while."""
        from redis.exceptions import RedisError

        if time.monotonic() < self._lost_until:
            return None
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                answer = await call()
        except (RedisError, OSError, TimeoutError) as error:
            self._on_failure()
            if not self._lost_until:
                log.error("limits are counted by each server for itself: Redis does not answer", problem=str(error))
            self._lost_until = time.monotonic() + _RETRY_SECONDS
            return None
        if self._lost_until:
            log.info("Redis answers again; limits are counted by all servers together")
            self._lost_until = 0.0
        return answer

    def _hold_back(self, holder: str, day: str, characters: int, audio: float) -> None:
        before = self._pending.get((holder, day), (0, 0.0))
        if (characters or audio) and len(self._pending) < _MOST_PENDING:
            self._pending[holder, day] = before[0] + characters, before[1] + audio

    def _key(self, kind: str, holder: str, *rest: str) -> str:
        """Names of one holder share a hash tag, so that they lie on one node of a cluster."""
        return ":".join((self._prefix, f"{{{holder}}}", kind, *rest))


def _client(url: str) -> Any:  # noqa: ANN401 - its types are of an optional package
    REDIS.check()
    from redis.asyncio import BlockingConnectionPool, Redis

    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=_MOST_CONNECTIONS,
        timeout=_TIMEOUT_SECONDS,
        socket_timeout=_TIMEOUT_SECONDS,
        socket_connect_timeout=_TIMEOUT_SECONDS,
        decode_responses=True,
    )
    return Redis.from_pool(pool)
