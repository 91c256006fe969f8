"""Limits that several servers count together in a real Redis, and what becomes of them when it is lost."""

import asyncio
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from helpers.serving import wait_for
from polyvox.service.keys.counters import Reservation
from polyvox.service.keys.record import Limits
from polyvox.service.keys.redis_counters import RedisCounters

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed"),
]

pytest.importorskip("redis")


class Redis:
    """A Redis server of the test's own."""

    def __init__(self, folder: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
        self._command = ["redis-server", "--port", str(self.port), "--save", "", "--dir", folder]
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        wait_for(self._answers, 20.0)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=0.2).close()
        except OSError:
            return False
        return True


@pytest.fixture(scope="module")
def redis(tmp_path_factory) -> Iterator[Redis]:
    server = Redis(str(tmp_path_factory.mktemp("redis")))
    yield server
    server.stop()


class Failures:
    """Counts what a server is told of answers that did not come."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


@pytest.fixture
async def servers(redis: Redis):
    lost = Failures()
    both = [RedisCounters(redis.url, lost, prefix=f"t{time.monotonic_ns()}") for _ in range(2)]
    both[1]._prefix = both[0]._prefix
    both[0].lost = lost
    yield both
    for counters in both:
        await counters.close()


def asked(stream: str, characters: int = 0, used: int = 0, **limits: int) -> Reservation:
    return Reservation("anna", Limits(**limits), stream, characters, "2026-11-16", 60.0, used_characters=used)


async def refused(counters: RedisCounters, reservation: Reservation) -> bool:
    return any(level.refused for level in await counters.reserve(reservation))


async def test_servers_count_requests_together(servers):
    one, other = servers
    levels = [await counters.request("anna", 4) for counters in (one, other, one, other, one)]
    assert [level.remaining for level in levels] == [3, 2, 1, 0, 0]
    assert [level.refused for level in levels] == [False] * 4 + [True]
    assert 13 < levels[4].retry_after <= 15
    assert not (await other.request("bert", 4)).refused
    assert one.lost.count == 0


async def test_requests_that_come_together_never_pass_the_limit(servers):
    levels = await asyncio.gather(*(servers[place % 2].request("anna", 20) for place in range(60)))
    assert sum(not level.refused for level in levels) == 20


async def test_servers_count_streams_and_quotas_together(servers):
    one, other = servers
    limits = {"streams": 2, "characters_a_day": 100, "audio_seconds_a_day": 50}
    assert not await refused(one, asked("a", 60, **limits))
    assert await refused(other, asked("b", 60, **limits))
    assert not await refused(other, asked("b", 40, **limits))
    one.spend("anna", "2026-11-16", -60, 0.0)
    await one.flush()
    assert await refused(other, asked("c", 10, **limits))  # the third stream
    one.release("anna", "a")
    await one.flush()
    assert not await refused(other, asked("c", 10, **limits))
    other.release("anna", "b")
    other.spend("anna", "2026-11-16", 0, 50.0)
    assert await refused(other, asked("d", 10, **limits))  # what was spent goes along
    assert await refused(one, asked("d", 10, **limits))


async def test_a_redis_that_forgot_is_told_what_was_used(servers):
    assert await refused(servers[0], asked("", 10, used=95, characters_a_day=100))


async def test_streams_of_a_server_that_died_stop_counting(servers):
    one, other = servers
    assert not await refused(one, asked("a", streams=1))
    assert await refused(other, asked("b", streams=1))
    (key,) = await one._client.keys(f"{one._prefix}:*:streams")
    ((_, ends),) = await one._client.zrange(key, 0, -1, withscores=True)
    await one.flush()
    ((_, later),) = await one._client.zrange(key, 0, -1, withscores=True)
    assert ends < later < ends + 20  # a server that lives renews its leases
    await one._client.zadd(key, {"a": time.time() - 1})  # one that died does not
    assert not await refused(other, asked("b", streams=1))


@pytest.mark.long
async def test_a_redis_that_hangs_or_dies_delays_one_request_and_limits_go_on_here(servers, redis, monkeypatch):
    monkeypatch.setattr("polyvox.service.keys.redis_counters._RETRY_SECONDS", 0.5)
    one = servers[0]
    await one.request("anna", 3)
    redis.process.send_signal(signal.SIGSTOP)
    levels = [await one.request("anna", 3) for _ in range(3)]
    assert [level.refused for level in levels] == [False, False, True]  # counted here from the first one on
    assert one.lost.count == 1
    assert not await refused(one, asked("a", streams=1))
    assert await refused(one, asked("b", streams=1))
    redis.process.send_signal(signal.SIGCONT)
    redis.stop()
    await asyncio.sleep(0.6)
    await one.request("bert", 3)
    assert one.lost.count == 2
    redis.start()
    await asyncio.sleep(0.6)
    assert (await one.request("carl", 3)).remaining == 2
    assert one.lost.count == 2
