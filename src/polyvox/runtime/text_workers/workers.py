"""Processes that read texts beside the server's: Python reads one text at a time, and a GPU waits for many."""

import asyncio
import itertools
import pickle
import sys
from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeVar, cast

import structlog

from polyvox.errors import UnavailableError
from polyvox.forked_child import ForkedChild, ForkServer
from polyvox.runtime.text_workers.answering import MOST_BYTES, SIZE, Finish, Forget, Part, Read, packed

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

JobT = TypeVar("JobT")
PartT = TypeVar("PartT")
_ENDING_SECONDS = 1.0
_READ_BYTES = 1 << 20
_MOST_WORKERS = 8
_LEAST_CORES = 4
"""With fewer, there is no core beside the GPU's threads and the event loop."""


class WorkerText(Generic[PartT]):
    """One text that a worker reads, part by part as they are asked for. Closing it ends that."""

    def __init__(self, worker: "_Worker", number: int, job: object) -> None:
        self._worker, self._number, self._job = worker, number, job
        self._ended = self._closed = False
        worker.texts += 1

    async def next(self) -> PartT | None:
        """The next part; None at the end."""
        if self._ended:
            return None
        job, self._job = self._job, None
        try:
            part = cast("PartT | None", await self._worker.ask(Read(self._number, job)))
        except Exception:
            self._end()
            raise
        if part is None:
            self._end()
        return part

    def finish(self, part: int, given: object) -> "asyncio.Future[object]":
        """A part that the worker gave, by its number, and what is given made into something else; once for each.

        It comes also where nobody waits for it any more: until then the worker is at it.
        """
        if self._closed:
            raise UnavailableError("The text has been forgotten; send the request again.")
        return self._worker.ask(Finish(self._number, part, given))

    def close(self) -> None:
        """Have the worker forget the text."""
        if not self._closed:
            self._end()
            self._closed = True
            self._worker.tell(Forget(self._number))

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._worker.texts -= 1


def worker_count(asked: int | None, cores: int, *, on_gpu: bool) -> int:
    """Processes that read texts, unless so many are asked for: a GPU speaks many at once where there are cores."""
    if sys.platform != "linux":
        return 0
    usual = min(_MOST_WORKERS, cores // 2) if on_gpu and cores >= _LEAST_CORES else 0
    return usual if asked is None else asked


class TextWorkers(Generic[JobT, PartT]):
    """Some processes that are forked from one that has loaded what they read with. One event loop may use it.

    `module` is the program of that one, run with `arguments`: it forks children that `answer_parent`. A worker that
    ends fails its texts, and another takes its place.
    """

    def __init__(self, count: int, module: str, *arguments: str, given: object = None) -> None:
        """`given` is what workers make their reader with."""
        self.count, self._given = count, given
        self._server = ForkServer(sys.executable, "-I", "-m", module, *arguments)
        self._workers: list[_Worker] = []
        self._numbers = itertools.count()
        self._warm_up: tuple[JobT, ...] = ()
        self._replacing: asyncio.Task[None] | None = None

    async def start(self, warm_up: Sequence[JobT] = ()) -> None:
        """Start the processes, and have each read some texts; UnavailableError where that fails."""
        self._warm_up = tuple(warm_up)
        try:
            await asyncio.to_thread(self._server.start)
            await self._fill()
        except (OSError, UnavailableError) as error:
            await self.close()
            raise UnavailableError(f"The processes that read texts could not be started: {error}") from error

    def begin(self, job: JobT) -> WorkerText[PartT]:
        """Have a text read by the process that has the fewest, whether or not their parts are asked for yet."""
        alive = [worker for worker in self._workers if not worker.ended]
        if len(alive) < self.count and (self._replacing is None or self._replacing.done()):
            self._replacing = asyncio.create_task(self._replace())
        if not alive:
            raise UnavailableError("The processes that read texts are being started again; send the request again.")
        worker = min(alive, key=lambda each: (each.texts, each.waiting))
        return WorkerText(worker, next(self._numbers), job)

    async def close(self) -> None:
        """End the processes."""
        if self._replacing is not None:
            self._replacing.cancel()
            await asyncio.wait([self._replacing])
        for worker in self._workers:
            await worker.close()
        await asyncio.to_thread(self._server.close)

    async def _fill(self) -> None:
        self._workers = [worker for worker in self._workers if not worker.ended]
        new = [_Worker(await self._server.fork(0)) for _ in range(self.count - len(self._workers))]
        for worker in new:
            worker.tell(self._given)
        self._workers += new
        await asyncio.gather(*(self._read(worker, job) for worker in new for job in self._warm_up))

    async def _read(self, worker: "_Worker", job: JobT) -> None:
        text = WorkerText[PartT](worker, next(self._numbers), job)
        while await text.next() is not None:
            pass
        text.close()

    async def _replace(self) -> None:
        for worker in self._workers:
            if worker.ended:
                log.error("a process that reads texts ended", status=await worker.close())
        try:
            await self._fill()
        except (OSError, UnavailableError) as error:
            log.error("a process that reads texts could not be started", reason=str(error))


async def started(workers: TextWorkers[JobT, PartT], warm_up: Sequence[JobT]) -> TextWorkers[JobT, PartT] | None:
    """The processes once they have read some texts; None, and a warning, where there are none."""
    if not workers.count:
        return None
    try:
        await workers.start(warm_up)
    except UnavailableError as error:
        log.warning("texts are read by the server's own process", reason=error.message)
        return None
    return workers


class _Worker:
    """One process as the event loop sees it: it answers in the order in which it is asked."""

    def __init__(self, child: ForkedChild) -> None:
        self.ended = False
        self.texts = 0
        """Those that have begun and not ended."""
        self._child = child
        self._asked: deque[asyncio.Future[object]] = deque()
        self._listening = asyncio.create_task(self._listen())

    @property
    def waiting(self) -> int:
        """Number of answers that it owes."""
        return len(self._asked)

    def ask(self, message: Read | Finish) -> "asyncio.Future[object]":
        """Its answer; UnavailableError where it ends before."""
        if self.ended:
            raise _ended()
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._asked.append(answer)
        self.tell(message)
        return answer

    def tell(self, message: object) -> None:
        """Send what has no answer."""
        if not self.ended:
            self._child.stdin.write(packed(message))

    async def close(self) -> int | None:
        """End the process; its exit status, where it is known."""
        self._listening.cancel()
        await asyncio.wait([self._listening])
        return await self._child.end(_ENDING_SECONDS)

    async def _listen(self) -> None:
        received = bytearray()
        try:
            while data := await self._child.stdout.read(_READ_BYTES):
                received += data
                for part in taken_off(received):
                    self._answer(part)
        except ConnectionError as error:
            log.debug("a process that reads texts says no more", reason=str(error))
        finally:
            self.ended = True
            while self._asked:
                self._answer(Part(None, _ended()))

    def _answer(self, part: Part) -> None:
        _settle(self._asked.popleft(), part)


def taken_off(received: bytearray) -> list[Part]:
    """The whole messages that were received, taken off what is left."""
    parts, start = list[Part](), 0
    while len(received) - start >= SIZE.size:
        (size,) = SIZE.unpack_from(received, start)
        if size > MOST_BYTES:
            raise ConnectionError("it sends what is no answer")
        end = start + SIZE.size + size
        if end > len(received):
            break
        parts.append(pickle.loads(memoryview(received)[start + SIZE.size : end]))  # noqa: S301 - from a process of ours
        start = end
    del received[:start]
    return parts


def _settle(answer: "asyncio.Future[object]", part: Part) -> None:
    if answer.done():  # whoever asked has gone
        return
    if part.error is not None:
        answer.set_exception(part.error)
    else:
        answer.set_result(part.value)


def _ended() -> UnavailableError:
    return UnavailableError("The process that read this text ended; send the request again.")
