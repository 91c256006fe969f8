"""Dynamic batching of one step of a model: single awaits of many sessions in, batches out."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Generic, TypeVar

import structlog

from polyvox.errors import EngineError, UnavailableError
from polyvox.runtime.cancellation import CancelToken, InferenceStoppedError
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.first_streams import FirstStreams
from polyvox.runtime.precedence import Precedence, current_precedence

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class BatchReport:
    """The cost of one batch. `wait_seconds` is the wait of the item that waited longest.

    Where items hold a slot for longer than a batch, `running` of `slots` are in use; a report of size 0 says only that.
    A batch is `stopped` where it ended early because nobody waited for it any more.
    """

    stage: str
    size: int
    wait_seconds: float
    run_seconds: float
    running: int = 0
    slots: int = 0
    stopped: bool = False


Observer = Callable[[BatchReport], None]


@dataclass(slots=True, eq=False)
class _Waiter(Generic[Item, Result]):
    item: Item
    key: Hashable
    due: float
    order: int
    arrived: float
    future: "asyncio.Future[Result]"
    precedence: Precedence
    batch: "_Batch[Item, Result] | None" = None

    @property
    def urgency(self) -> tuple[bool, float, int]:
        return not self.precedence.goes_first, self.due, self.order

    def abandon(self) -> None:
        """The caller is gone."""
        if self.batch is not None:
            self.batch.stop_if_abandoned()


@dataclass(frozen=True, slots=True, eq=False)
class _Batch(Generic[Item, Result]):
    """Items under way together, and the token that ends their run."""

    waiters: list[_Waiter[Item, Result]]
    token: CancelToken

    def stop_if_abandoned(self) -> None:
        """Stop the run where all callers are gone."""
        if all(waiter.future.done() for waiter in self.waiters):
            self.token.cancel()


def _one_group(item: object) -> Hashable:
    return None


class Stage(Generic[Item, Result]):
    """Turns `await stage(item)` from many sessions into `run_batch(items)` on the device's threads.

    A batch starts when a thread is free and some group is full or some item has waited `max_wait`. It is made of the
    item that is due first and of those with the same key, up to `max_batch`, in the order in which they are due; items
    of a stream that `goes_first` come before all others. With `clears_for_first`, those of streams that make way start
    no batch while such a stream is at work, so that it has the cores for itself. With `callers_first`, callers get
    their results and ask again before a thread takes its next batch: else a thread that is free never finds the next
    step of the stream that it worked for, however urgent. `room` gives the largest batch of a key, where that is not
    `max_batch` for all. With `cost`, the items behind the first add up to at most `max_cost`, so that an urgent one
    never waits for a batch that is longer. A batch is told to stop when all of its callers have gone. An item's result
    may be an exception, which its caller gets. With `isolates`, the items of a batch that fails run again one by one,
    so that only those at fault fail; a failed run must then leave its items as they were.
    """

    def __init__(
        self,
        name: str,
        run_batch: Callable[[list[Item]], Sequence[Result | Exception]],
        *,
        executor: DeviceExecutor,
        max_batch: int = 1,
        max_wait: float = 0.0,
        key: Callable[[Item], Hashable] = _one_group,
        room: Callable[[Hashable], int] | None = None,
        cost: Callable[[Item], int] | None = None,
        max_cost: int = 1,
        observer: Observer | None = None,
        isolates: bool = False,
        clears_for_first: bool = False,
        callers_first: bool = False,
    ) -> None:
        assert max_batch >= 1
        self.name = name
        self._run_batch = run_batch
        self._executor = executor
        self._room = room or (lambda _: max_batch)
        self._cost, self._max_cost = cost, max_cost
        self._max_wait = max_wait
        self._key = key
        self._observer = observer
        self._isolates = isolates
        self._clears_for_first = clears_for_first
        self._callers_first = callers_first
        self._first = FirstStreams()
        self._groups: dict[Hashable, dict[int, _Waiter[Item, Result]]] = {}
        self._arrivals = 0
        self._changed = asyncio.Event()
        self._dispatcher: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._closed = False

    def __len__(self) -> int:
        """Number of items that wait for a batch."""
        return sum(len(group) for group in self._groups.values())

    async def __call__(self, item: Item, due: float = 0.0) -> Result:
        """The item's result. `due`: event-loop time at which the caller's player runs dry; 0 is before all others."""
        if self._closed:
            raise self._closed_error()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        precedence = current_precedence()
        waiter = _Waiter(item, self._key(item), due, self._arrivals, loop.time(), future, precedence)
        self._arrivals += 1
        self._groups.setdefault(waiter.key, {})[waiter.order] = waiter
        self._first.began(precedence)
        self._changed.set()
        if self._dispatcher is None or self._dispatcher.done():
            self._dispatcher = loop.create_task(self._dispatch(), name=f"stage {self.name}")
        try:
            return await waiter.future
        except asyncio.CancelledError:
            waiter.abandon()
            raise
        finally:
            self._leave(waiter)
            self._first.ended(precedence, loop.time())
            self._changed.set()

    async def close(self) -> None:
        """Let the running batches finish; refuse the items that still wait, and all later ones."""
        self._closed = True
        self._drop_cancelled()
        for waiter in self._waiting():
            waiter.future.set_exception(self._closed_error())
        if self._dispatcher is not None:
            self._dispatcher.cancel()
            await asyncio.wait([self._dispatcher])
        if self._running:
            await asyncio.wait(self._running)

    async def _dispatch(self) -> None:
        while True:
            await self._batch_due()
            await self._executor.reserve()
            batch = self._take()
            if not batch:
                self._executor.release()
                continue
            task = asyncio.create_task(self._run(batch), name=f"stage {self.name} batch")
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            del batch, task  # an idle stage must not keep the last batch alive

    async def _batch_due(self) -> None:
        """Wait until a batch may start."""
        now = asyncio.get_running_loop().time
        while True:
            startable = self._startable()
            if self._fills_batch(startable):
                return
            begins = min((waiter.arrived + self._max_wait for waiter in startable), default=math.inf)
            if begins <= now():
                return
            look_again = min(begins, self._first.until(now()) or math.inf)
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(None if math.isinf(look_again) else look_again):
                    await self._changed.wait()

    def _fills_batch(self, startable: list[_Waiter[Item, Result]]) -> bool:
        """Return whether there is nothing to wait for: some group is full, or no item is to wait for others."""
        if not self._max_wait:
            return bool(startable)
        sizes = Counter(waiter.key for waiter in startable)
        return any(size >= self._room(key) for key, size in sizes.items())

    def _take(self) -> list[_Waiter[Item, Result]]:
        self._drop_cancelled()
        first = min(self._startable(), key=lambda waiter: waiter.urgency, default=None)
        if first is None:
            return []
        group = sorted(self._groups[first.key].values(), key=lambda waiter: waiter.urgency)
        batch = self._affordable(group[: self._room(first.key)])
        for waiter in batch:
            self._leave(waiter)
        return batch

    def _affordable(self, group: list[_Waiter[Item, Result]]) -> list[_Waiter[Item, Result]]:
        if self._cost is None:
            return group
        costs = accumulate(self._cost(waiter.item) for waiter in group)
        return [
            waiter
            for index, (waiter, cost) in enumerate(zip(group, costs, strict=True))
            if index == 0 or cost <= self._max_cost
        ]

    async def _run(self, batch: list[_Waiter[Item, Result]]) -> None:
        now = asyncio.get_running_loop().time
        started = now()
        items = [waiter.item for waiter in batch]
        token = CancelToken()
        work = partial(self._results, items)
        call = self._executor.start_reserved(work, token, release=not self._callers_first)
        running = _Batch(batch, token)
        for waiter in batch:
            waiter.batch = running
        running.stop_if_abandoned()
        await asyncio.wait([call])
        error = call.exception()
        results = call.result() if error is None else ()
        if error is None and len(results) != len(batch):
            error = EngineError(f"Stage {self.name!r} gave {len(results)} results for {len(batch)} items.")
        for index, waiter in enumerate(batch):
            waiter.batch = None  # each holds the other, and with it an item's memory
            if waiter.future.done():
                continue
            result = error or results[index]
            if isinstance(result, BaseException):
                waiter.future.set_exception(result)
            else:
                waiter.future.set_result(result)
        if self._callers_first:
            await asyncio.sleep(0)
            self._executor.release()
        if self._observer is not None:
            longest = started - min(waiter.arrived for waiter in batch)
            stopped = isinstance(error, InferenceStoppedError)
            self._observer(BatchReport(self.name, len(batch), longest, now() - started, stopped=stopped))

    def _results(self, items: list[Item]) -> Sequence[Result | Exception]:
        """Each item's result, or its error where it also fails alone."""
        try:
            return self._run_batch(items)
        except InferenceStoppedError:
            raise
        except Exception:
            if not self._isolates or len(items) == 1:
                raise
            log.warning("A batch failed, so its items run again one by one.", stage=self.name, size=len(items))
            return [self._alone(item) for item in items]

    def _alone(self, item: Item) -> Result | Exception:
        try:
            return self._run_batch([item])[0]
        except InferenceStoppedError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, its caller gets it
            return error

    def _startable(self) -> list[_Waiter[Item, Result]]:
        """Those that may be the first of a batch."""
        waiting = self._waiting()
        if not self._clears_for_first or self._first.until(asyncio.get_running_loop().time()) is None:
            return waiting
        return [waiter for waiter in waiting if waiter.precedence.goes_first or not waiter.precedence.makes_way()]

    def _waiting(self) -> list[_Waiter[Item, Result]]:
        return [waiter for group in self._groups.values() for waiter in group.values()]

    def _drop_cancelled(self) -> None:
        """Remove waiters that were cancelled in this turn of the loop and have not run since."""
        for waiter in self._waiting():
            if waiter.future.done():
                self._leave(waiter)

    def _leave(self, waiter: _Waiter[Item, Result]) -> None:
        group = self._groups.get(waiter.key)
        if group is not None and group.pop(waiter.order, None) is not None and not group:
            del self._groups[waiter.key]

    def _closed_error(self) -> UnavailableError:
        return UnavailableError(f"Stage {self.name!r} is closed; the engine is shutting down.")
