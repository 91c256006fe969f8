"""Load on a server: closed loop (a fixed number of concurrent clients) or open loop (Poisson arrivals at a rate)."""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus

import numpy as np

from polyvox.bench.dialect import Connection, Dialect, LoadRequest
from polyvox.bench.player import Arrival, play
from polyvox.errors import ApiError, InvalidRequestError, PolyvoxError

MAX_REQUESTS = 100_000
MAX_CONCURRENCY = 1_024


class Outcome(StrEnum):
    """The end of a request. Overload is counted apart from failure: a loaded server should refuse early."""

    OK = "ok"
    OVERLOADED = "overloaded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Load:
    """The requests to send. With a `rate` they arrive as a Poisson process of that many a second, or evenly spaced,
    however long the answers take; without one, `concurrency` clients each send the next request when the last is
    answered."""

    texts: tuple[str, ...]
    voice: str
    model: str
    requests: int
    concurrency: int = 1
    rate: float | None = None
    timeout: float = 120.0
    prebuffer: float = 0.0
    seed: int = 0
    poisson: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.requests <= MAX_REQUESTS:
            raise InvalidRequestError(f"Requests must be from 1 to {MAX_REQUESTS}.", field="requests")
        if not 1 <= self.concurrency <= MAX_CONCURRENCY:
            raise InvalidRequestError(f"Concurrency must be from 1 to {MAX_CONCURRENCY}.", field="concurrency")
        if self.rate is not None and not self.rate > 0:
            raise InvalidRequestError("The rate must be above 0 requests a second.", field="rate")
        if not self.timeout > 0:
            raise InvalidRequestError("The timeout must be above 0 seconds.", field="timeout")
        if not self.prebuffer >= 0:
            raise InvalidRequestError("The pre-buffer must be 0 seconds or more.", field="prebuffer")


@dataclass(frozen=True, slots=True)
class RequestResult:
    """One request as its client saw it.

    `due` is when it was to be sent, in seconds from the start of the run; every other time counts from `due`, so that
    an open-loop request pays for its wait even where the load generator itself fell behind.
    """

    index: int
    chars: int
    due: float
    latency: float
    outcome: Outcome
    first_audio: float | None = None
    audio_seconds: float = 0.0
    underruns: int = 0
    starved: float = 0.0
    error: str = ""

    @property
    def real_time_factor(self) -> float | None:
        """Seconds of waiting for each second of audio; below 1 the whole came faster than it plays."""
        return self.latency / self.audio_seconds if self.audio_seconds else None


@dataclass(frozen=True, slots=True)
class LoadRun:
    """A finished run: the results in the order of the requests, and its duration in seconds."""

    samples: tuple[RequestResult, ...]
    seconds: float


async def run_load(
    load: Load,
    dialect: Dialect,
    url: str,
    *,
    api_key: str | None = None,
    on_sample: Callable[[RequestResult], None] = lambda _: None,
) -> LoadRun:
    """Put the load on the server at `url` and measure each request."""
    async with dialect.connect(url, api_key) as connection:
        driver = _Driver(load, connection, on_sample, time.perf_counter())
        await (driver.closed_loop() if load.rate is None else driver.open_loop(load.rate))
        seconds = driver.now()
    return LoadRun(tuple(sorted(driver.samples, key=lambda sample: sample.index)), seconds)


class _Driver:
    """A run in progress."""

    def __init__(
        self, load: Load, connection: Connection, on_sample: Callable[[RequestResult], None], started: float
    ) -> None:
        self._load = load
        self._connection = connection
        self._on_sample = on_sample
        self._started = started
        self._random = np.random.default_rng(load.seed)
        self.samples: list[RequestResult] = []

    def now(self) -> float:
        return time.perf_counter() - self._started

    def _requests(self) -> Iterator[tuple[int, LoadRequest]]:
        """The requests in order: all texts in an order drawn from the seed, and around again."""
        order = self._random.permutation(len(self._load.texts))
        for index, position in zip(range(self._load.requests), itertools.cycle(order), strict=False):
            yield index, LoadRequest(self._load.texts[position], self._load.voice, self._load.model)

    async def closed_loop(self) -> None:
        requests = self._requests()

        async def one_client() -> None:
            for index, request in requests:
                await self._send(index, request, self.now())

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._load.concurrency, self._load.requests)):
                group.create_task(one_client())

    async def open_loop(self, rate: float) -> None:
        due = 0.0
        async with asyncio.TaskGroup() as group:
            for index, request in self._requests():
                due += self._random.exponential(1 / rate) if self._load.poisson else 1 / rate
                await asyncio.sleep(max(0.0, due - self.now()))
                group.create_task(self._send(index, request, due))

    async def _send(self, index: int, request: LoadRequest, due: float) -> None:
        sample = await self._sample(index, request, due)
        self.samples.append(sample)
        self._on_sample(sample)

    async def _sample(self, index: int, request: LoadRequest, due: float) -> RequestResult:
        arrivals: list[Arrival] = []
        outcome, reason = Outcome.OK, ""
        try:
            async with asyncio.timeout(self._load.timeout):
                async for seconds in self._connection.speak(request):
                    arrivals.append(Arrival(self.now() - due, seconds))
        except TimeoutError:
            outcome, reason = Outcome.FAILED, f"no end within {self._load.timeout:g} s"
        except ApiError as error:
            outcome = Outcome.OVERLOADED if error.status == HTTPStatus.TOO_MANY_REQUESTS else Outcome.FAILED
            reason = f"{error.status}: {error.message}"
        except PolyvoxError as error:
            outcome, reason = Outcome.FAILED, error.message
        latency = self.now() - due
        audio = [arrival for arrival in arrivals if arrival.seconds > 0]
        if not audio:
            if outcome is Outcome.OK:
                outcome, reason = Outcome.FAILED, "the answer held no audio"
            return RequestResult(index, len(request.text), due, latency, outcome, error=reason)
        playback = play(audio, self._load.prebuffer)
        return RequestResult(
            index,
            len(request.text),
            due,
            latency,
            outcome,
            first_audio=audio[0].time,
            audio_seconds=sum(arrival.seconds for arrival in audio),
            underruns=playback.underruns,
            starved=playback.starved,
            error=reason,
        )
