"""A process of doors as the process of the engines knows it, and what it tells and asks."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any

import structlog
from prometheus_client import Metric

from polyvox.api.app import route_operations
from polyvox.api.doors import DOORS
from polyvox.api.paths import PathTable
from polyvox.deploy.merged_metrics import families_in
from polyvox.deploy.messages import ErrorMessage
from polyvox.deploy.workers.wire import Channel
from polyvox.errors import PolyvoxError
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.jobs.downloads import Downloads
from polyvox.service.keys.counters import Level, Reservation
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService

_ANSWER_SECONDS = 2.0

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class Shared:
    """Counts and files that the processes of one server have together."""

    def __init__(self, service: SpeechService, admission: AdmissionController, downloads: Downloads) -> None:
        self.counters = service.accounts.counters
        self._ledger = service.accounts.ledger
        self._admission = admission
        self._downloads = downloads
        rows = [row.partition(" ") for row, each in route_operations(DOORS).items() if each is Operation.READ_DOWNLOADS]
        self._download_paths = PathTable([(path, True) for _, _, path in rows], default=False)

    def reads_downloads(self, scope: Mapping[str, Any]) -> bool:
        """Return whether a request names a file that another process may just have made."""
        return bool(self._download_paths[scope["path"]])

    def used(self, name: str, requests: int, characters: int, audio_seconds: float, refused: int) -> None:
        self._ledger.add(name, requests=requests, characters=characters, audio_seconds=audio_seconds, refused=refused)

    def completed(self, model: str, audio: float, busy_seconds: float) -> None:
        self._admission.completed(model, audio, busy_seconds)

    def download(self, name: str, owner: str, media_type: str, data: bytes) -> None:
        if self._downloads.grow(len(data)):
            self._downloads.add(name, owner, media_type, data)


class Peer:
    """One process of doors, until its connection ends: then the streams that it had open are released."""

    def __init__(self, connection: Channel, shared: Shared) -> None:
        self._connection = connection
        self._shared = shared
        self._streams: Counter[tuple[str, str]] = Counter()
        self._replies: dict[int, asyncio.Future[bytes]] = {}
        self._numbers = count()
        self._answering: set[asyncio.Task[None]] = set()
        self._closed = False
        self._exposition = b""

    @property
    def families(self) -> dict[str, Metric]:
        """Its metrics as they were last read."""
        return families_in(self._exposition)

    def write(self, kind: str, content: object) -> None:
        """Tell it something."""
        self._connection.write([kind, content])

    async def ask(self, what: str) -> bytes:
        """Its answer; TimeoutError or OSError where there is none."""
        number = next(self._numbers)
        reply: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._connection.send([what, number])
                return await reply
        finally:
            del self._replies[number]

    async def read_metrics(self) -> None:
        """Read its metrics; where it does not answer, those read before count."""
        try:
            self._exposition = await self.ask("exposition")
        except (OSError, TimeoutError, asyncio.CancelledError) as error:
            log.warning("doors do not tell their metrics", reason=repr(error))

    def take(self, kind: str, *rest: Any) -> None:  # noqa: ANN401 - of many kinds
        """Take what it says."""
        if kind == "ask":
            task = asyncio.create_task(self._answer(*rest))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        elif kind == "tell":
            for what, *arguments in rest[0]:
                self._told(what, *arguments)
        elif kind == "reply" and (waiting := self._replies.get(rest[0])) is not None and not waiting.done():
            waiting.set_result(rest[1])

    def close(self) -> None:
        """Free what it held."""
        self._closed = True
        for holder, stream in self._streams:
            self._shared.counters.release(holder, stream)
        for waiting in self._replies.values():
            waiting.cancel()

    async def _answer(self, number: int, what: str, arguments: Any) -> None:  # noqa: ANN401 - of many kinds
        answer: Level | tuple[Level, ...] | ErrorMessage
        try:
            answer = await (self._reserve(*arguments) if what == "reserve" else self._request(*arguments))
        except PolyvoxError as error:
            answer = ErrorMessage.of(error)
        self._connection.write(["answer", number, answer])

    async def _request(self, holder: str, limit: int) -> Level:
        return await self._shared.counters.request(holder, limit)

    async def _reserve(self, asked: Reservation) -> tuple[Level, ...]:
        levels = await self._shared.counters.reserve(asked)
        if asked.stream and not any(level.refused for level in levels):
            if self._closed:
                self._shared.counters.release(asked.holder, asked.stream)
            self._streams[asked.holder, asked.stream] += 1
        return levels

    def _told(self, what: str, *arguments: Any) -> None:  # noqa: ANN401 - of many kinds
        if what == "release":
            self._streams.pop((arguments[0], arguments[1]), None)
            self._shared.counters.release(*arguments)
        elif what == "spend":
            self._shared.counters.spend(*arguments)
        elif what in ("used", "completed", "download"):
            getattr(self._shared, what)(*arguments)
