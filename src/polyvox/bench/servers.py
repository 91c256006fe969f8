"""uvicorn, granian and gRPC compared, with an engine that costs nothing."""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import grpc
from rich.table import Table

from polyvox.api.dialects.grpc.schema import COSYVOICE, message_type
from polyvox.bench.engine import SETTLE_SECONDS
from polyvox.bench.process import ServerProcess, server_process
from polyvox.bench.raw_http import SAMPLE_RATE, TIMEOUT, RequestTiming, connection_to, timed_request
from polyvox.bench.texts import PARAGRAPH
from polyvox.errors import PolyvoxError

CLIENTS = 8
STREAMS = 50
_CALLS_PER_STREAM = 4
_TAG_BYTES = 4
"""Bytes of a `Response` message besides its samples."""

TimedCall = Callable[[], RequestTiming]


@dataclass(frozen=True, slots=True)
class ServerUnderTest:
    """A server and a protocol to call it with."""

    name: str
    process: ServerProcess
    connect: Callable[[], AbstractContextManager[TimedCall]]


@dataclass(frozen=True, slots=True)
class ServerRound:
    """One server in one round: seconds to first audio of each request, requests a second, CPU seconds a request."""

    firsts: tuple[float, ...]
    rate: float
    cpu: float


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """One server in all rounds."""

    name: str
    rounds: tuple[ServerRound, ...]

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


def bench_servers(rounds: int, requests: int, progress: Callable[[str], None]) -> list[ServerFigures]:
    """All servers by turns, so that a machine that slows down slows all of them."""
    progress("starting the servers")
    with ExitStack() as stack:
        servers = _servers(stack)
        for server in servers:
            _measured(server, max(10, requests // 10))
        found: dict[str, list[ServerRound]] = {server.name: [] for server in servers}
        for turn in range(rounds):
            for server in servers:
                progress(f"round {turn + 1} of {rounds}: {server.name}")
                found[server.name].append(_measured(server, requests))
    return [ServerFigures(name, tuple(measured)) for name, measured in found.items()]


def _servers(stack: ExitStack) -> list[ServerUnderTest]:
    arguments = ["bench", "null-server", "--grpc-port", "0", "--server"]
    uvicorn = stack.enter_context(server_process([*arguments, "uvicorn"]))
    granian = stack.enter_context(server_process([*arguments, "granian"]))
    return [
        ServerUnderTest("uvicorn, HTTP", uvicorn, partial(http_calls, uvicorn.url)),
        ServerUnderTest("granian, HTTP", granian, partial(http_calls, granian.url)),
        ServerUnderTest("gRPC", uvicorn, partial(grpc_calls, uvicorn.grpc, inference_request())),
    ]


def _measured(server: ServerUnderTest, requests: int) -> ServerRound:
    with server.connect() as call:
        firsts = tuple(call().first for _ in range(requests))
    each = max(1, requests // CLIENTS)
    began = time.perf_counter()
    _at_once(server, CLIENTS, each)
    rate = CLIENTS * each / (time.perf_counter() - began)
    cpu_before = server.process.cpu_seconds()
    _at_once(server, STREAMS, _CALLS_PER_STREAM)
    time.sleep(SETTLE_SECONDS)
    cpu = (server.process.cpu_seconds() - cpu_before) / (STREAMS * _CALLS_PER_STREAM)
    return ServerRound(firsts, rate, cpu)


def _at_once(server: ServerUnderTest, clients: int, each: int) -> None:
    """Concurrent clients, each on a connection of its own and with one request at a time."""

    def client(_: int) -> None:
        with server.connect() as call:
            for _ in range(each):
                call()

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(client, range(clients)))


@contextmanager
def http_calls(url: str) -> Iterator[TimedCall]:
    """A connection; each call requests a paragraph over HTTP and times it."""
    with connection_to(url) as connection:
        yield partial(timed_request, connection, PARAGRAPH, voice="null", model="null")


def inference_request() -> bytes:
    """The serialised request for the same paragraph in CosyVoice's gRPC service."""
    sft = message_type("cosyvoice.sftRequest")(tts_text=PARAGRAPH)
    request: bytes = message_type("cosyvoice.Request")(sft_request=sft).SerializeToString()
    return request


@contextmanager
def grpc_calls(address: str, request: bytes) -> Iterator[TimedCall]:
    """The same over gRPC, in CosyVoice's service; the bytes of the answers are counted, not parsed."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    with grpc.insecure_channel(address, options) as channel:
        method = channel.unary_stream(f"/{COSYVOICE}/Inference")

        def once() -> RequestTiming:
            began = time.perf_counter()
            first, received = 0.0, 0
            try:
                for message in method(request, timeout=TIMEOUT):
                    first = first or time.perf_counter() - began
                    received += len(message) - _TAG_BYTES
            except grpc.RpcError as error:
                raise PolyvoxError(f"The server answered {error.code().name}: {error.details()}") from error
            return RequestTiming(first, time.perf_counter() - began, received / (2 * SAMPLE_RATE))

        yield once


def as_table(figures: Sequence[ServerFigures]) -> Table:
    """The servers as a table for a terminal."""
    table = Table()
    table.add_column("", no_wrap=True)
    for name in ("first audio", "95th percentile", "requests/s", f"CPU/request at {STREAMS} streams"):
        table.add_column(name, justify="right")
    for found in figures:
        times = f"{found.first_ms:.2f} ms", f"{found.first_ms_95:.2f} ms"
        table.add_row(found.name, *times, f"{found.rate:.0f}", f"{found.cpu_ms:.2f} ms")
    return table
