"""The servers side by side, with an engine that costs nothing: uvicorn and granian over HTTP, and gRPC."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import grpc
from rich.table import Table

from polyvox.api.grpc.schema import COSYVOICE, message_type
from polyvox.bench.engine import SETTLE_SECONDS
from polyvox.bench.process import ServerProcess, server_process
from polyvox.bench.texts import PARAGRAPH
from polyvox.bench.wire import SAMPLE_RATE, TIMEOUT, Heard, ask, line_to
from polyvox.errors import PolyvoxError

CALLERS = 8
STREAMS = 50
_ASKS_PER_STREAM = 4
_TAG_BYTES = 4
"""What a message of `Response` holds besides its samples."""

Ask = Callable[[], Heard]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A server, and a way to ask it."""

    name: str
    server: ServerProcess
    connect: Callable[[], AbstractContextManager[Ask]]


@dataclass(frozen=True, slots=True)
class Round:
    """One server in one round: seconds to the first audio of each request, requests a second, CPU seconds of each."""

    firsts: tuple[float, ...]
    rate: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Figures:
    """One server in all rounds."""

    name: str
    rounds: tuple[Round, ...]

    @property
    def first_ms(self) -> float:
        return 1000 * statistics.median(first for found in self.rounds for first in found.firsts)

    @property
    def first_ms_95(self) -> float:
        firsts = [first for found in self.rounds for first in found.firsts]
        return 1000 * statistics.quantiles(firsts, n=20)[-1]

    @property
    def rate(self) -> float:
        return statistics.median(found.rate for found in self.rounds)

    @property
    def cpu_ms(self) -> float:
        return 1000 * statistics.median(found.cpu for found in self.rounds)

    def as_json(self) -> dict[str, object]:
        """Everything measured."""
        rounds = [
            {"first_seconds": found.firsts, "requests_per_second": found.rate, "cpu_seconds": found.cpu}
            for found in self.rounds
        ]
        return {
            "name": self.name,
            "first_ms": self.first_ms,
            "first_ms_95": self.first_ms_95,
            "requests_per_second": self.rate,
            "cpu_ms": self.cpu_ms,
            "rounds": rounds,
        }


def bench_servers(rounds: int, requests: int, progress: Callable[[str], None]) -> list[Figures]:
    """All servers by turns, so that a machine that slows down slows all of them."""
    progress("starting the servers")
    with ExitStack() as stack:
        contestants = _contestants(stack)
        for contestant in contestants:
            _measured(contestant, max(10, requests // 10))
        found: dict[str, list[Round]] = {contestant.name: [] for contestant in contestants}
        for turn in range(rounds):
            for contestant in contestants:
                progress(f"round {turn + 1} of {rounds}: {contestant.name}")
                found[contestant.name].append(_measured(contestant, requests))
    return [Figures(name, tuple(measured)) for name, measured in found.items()]


def _contestants(stack: ExitStack) -> list[Contestant]:
    arguments = ["bench", "null-server", "--grpc-port", "0", "--server"]
    uvicorn = stack.enter_context(server_process([*arguments, "uvicorn"]))
    granian = stack.enter_context(server_process([*arguments, "granian"]))
    return [
        Contestant("uvicorn, HTTP", uvicorn, partial(http_line, uvicorn.url)),
        Contestant("granian, HTTP", granian, partial(http_line, granian.url)),
        Contestant("gRPC", uvicorn, partial(grpc_line, uvicorn.grpc, inference_request())),
    ]


def _measured(contestant: Contestant, requests: int) -> Round:
    with contestant.connect() as line:
        firsts = tuple(line().first for _ in range(requests))
    each = max(1, requests // CALLERS)
    began = time.perf_counter()
    _at_once(contestant, CALLERS, each)
    rate = CALLERS * each / (time.perf_counter() - began)
    cpu_before = contestant.server.cpu_seconds()
    _at_once(contestant, STREAMS, _ASKS_PER_STREAM)
    time.sleep(SETTLE_SECONDS)
    cpu = (contestant.server.cpu_seconds() - cpu_before) / (STREAMS * _ASKS_PER_STREAM)
    return Round(firsts, rate, cpu)


def _at_once(contestant: Contestant, callers: int, each: int) -> None:
    """Callers on lines of their own, each of whom asks again when the answer is there."""

    def call(_: int) -> None:
        with contestant.connect() as line:
            for _ in range(each):
                line()

    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(call, range(callers)))


@contextmanager
def http_line(url: str) -> Iterator[Ask]:
    """A connection over which a paragraph is spoken as often as it is called."""
    with line_to(url) as line:
        yield partial(ask, line, PARAGRAPH, voice="null", model="null")


def inference_request() -> bytes:
    """A paragraph for CosyVoice's service."""
    sft = message_type("cosyvoice.sftRequest")(tts_text=PARAGRAPH)
    request: bytes = message_type("cosyvoice.Request")(sft_request=sft).SerializeToString()
    return request


@contextmanager
def grpc_line(address: str, request: bytes) -> Iterator[Ask]:
    """The same over gRPC, in the service of CosyVoice's clients; the answers are counted, not parsed."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    with grpc.insecure_channel(address, options) as channel:
        method = channel.unary_stream(f"/{COSYVOICE}/Inference")

        def once() -> Heard:
            began = time.perf_counter()
            first, received = 0.0, 0
            try:
                for message in method(request, timeout=TIMEOUT):
                    first = first or time.perf_counter() - began
                    received += len(message) - _TAG_BYTES
            except grpc.RpcError as error:
                raise PolyvoxError(f"The server answered {error.code().name}: {error.details()}") from error
            return Heard(first, time.perf_counter() - began, received / (2 * SAMPLE_RATE))

        yield once


def as_table(figures: Sequence[Figures]) -> Table:
    """The servers for a reader at a terminal."""
    table = Table()
    table.add_column("", no_wrap=True)
    for name in ("first audio", "95th percentile", "requests/s", f"CPU/request at {STREAMS} streams"):
        table.add_column(name, justify="right")
    for found in figures:
        times = f"{found.first_ms:.2f} ms", f"{found.first_ms_95:.2f} ms"
        table.add_row(found.name, *times, f"{found.rate:.0f}", f"{found.cpu_ms:.2f} ms")
    return table
