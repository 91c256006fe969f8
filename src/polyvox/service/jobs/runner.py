"""The runner of a server process: takes up jobs as there is room, and clears away those that are over."""

import asyncio
import json
import shutil
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

import structlog

from polyvox.config import Settings
from polyvox.errors import PolyvoxError
from polyvox.service.jobs.record import ACTIVE, JobError, JobProgress, JobRecord, JobStatus
from polyvox.service.jobs.store import JobStore
from polyvox.service.jobs.webhook import Webhooks
from polyvox.service.jobs.work import NARRATION, JobWork, TryAgainError
from polyvox.service.telemetry.metrics import Metrics
from polyvox.voices.storage.folder_lock import FolderLock

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_POLL_SECONDS = 1.0
"""Interval at which other processes' changes are looked for."""
_SWEEP_SECONDS = 30.0
_RETRY_SECONDS = (2.0, 60.0)
_MOST_ATTEMPTS = 8
"""Failures in a row, without a sentence spoken between them, after which a job has failed."""
_MOST_TOLD = 8
_TURN_SECONDS = 300.0
"""Time for which a job is spoken before it makes way for one of an owner with fewer running."""
_MOST_OWNERS = 10_000
"""Owners whose last turn is remembered."""

MakeWork = Callable[[JobRecord], JobWork]
LimitOf = Callable[[str, str], int | None]
"""The amount of a resource that an owner may have a day, 0 for any amount; None where its key was revoked."""


@dataclass(slots=True)
class _Setback:
    """Failures of a job in a row, and when to try again."""

    sentences_done: int
    attempts: int = 0
    until: float = 0.0


class JobRunner:
    """Runs up to `max_jobs` jobs of a store at once, of all owners in turn.

    Several processes may each have a runner: a job's lock decides who runs it, and the job of a process that was killed
    is gone on with by whoever comes first.
    """

    def __init__(
        self,
        settings: Settings,
        store: JobStore,
        make_work: MakeWork,
        limit_of: LimitOf,
        webhooks: Webhooks,
        metrics: Metrics,
    ) -> None:
        self._settings = settings
        self._store = store
        self._make_work = make_work
        self._limit_of = limit_of
        self._webhooks = webhooks
        self._metrics = metrics
        self._work: dict[str, JobWork] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._telling: dict[str, asyncio.Task[None]] = {}
        self._setbacks: dict[str, _Setback] = {}
        self._turns = count(1)
        self._last_turns: OrderedDict[str, int] = OrderedDict()
        self._woken = asyncio.Event()
        self._swept = 0.0
        # Not in the context of the request that happens to open the store: its ids would be in all later logs.
        self._loop = asyncio.create_task(self._run(), name="jobs", context=Context())

    def wake(self) -> None:
        """Look for what is to be done now."""
        self._woken.set()

    def progress(self, job_id: str) -> JobProgress | None:
        """Progress of a job that runs in this process."""
        work = self._work.get(job_id)
        return None if work is None else work.progress

    async def close(self) -> None:
        """Leave all jobs where they are; they are gone on with by the next runner."""
        await _ended([self._loop])
        running = {job_id: work.progress for job_id, work in self._work.items()}
        await _ended([*self._tasks.values(), *self._telling.values()])
        for job_id, progress in running.items():
            with suppress(PolyvoxError):  # a store that cannot be written to has the job as running, which does as well
                await self._park(job_id, progress)

    async def stop(self, job_id: str) -> None:
        """Stop working on a job, and telling of it; it has been paused, cancelled or deleted."""
        await _ended([found[job_id] for found in (self._tasks, self._telling) if job_id in found])

    async def _park(self, job_id: str, progress: JobProgress) -> None:
        """Queue a job that nobody works on any more."""
        edit = partial(replace, status=JobStatus.QUEUED, progress=progress)
        await asyncio.to_thread(self._store.change, job_id, ACTIVE, edit)
        log.info("job parked", job=job_id)

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self._tick()
            except PolyvoxError as error:
                log.warning("jobs cannot be looked after", reason=error.message)
            with suppress(TimeoutError):
                async with asyncio.timeout(_POLL_SECONDS):
                    await self._woken.wait()

    async def _tick(self) -> None:
        active = {record.id: record for record in await asyncio.to_thread(self._store.among, ACTIVE)}
        for job_id in [job_id for job_id in self._tasks if job_id not in active]:
            await self.stop(job_id)
        waiting = self._in_turn(active.values())
        for record in waiting:
            if len(self._tasks) >= self._settings.max_jobs:
                await self._make_way(waiting, active)
                await self._requeue(waiting)
                break
            await self._take_up(record)
        await self._tell()
        if time.monotonic() >= self._swept + _SWEEP_SECONDS:
            await asyncio.to_thread(self._sweep)
            self._swept = time.monotonic()
        self._metrics.job_counts(await asyncio.to_thread(self._store.counts))

    def _in_turn(self, records: Iterable[JobRecord]) -> list[JobRecord]:
        """Those that can be taken up: of owners with the fewest running first, then of those whose turn is longest ago.

        Of one owner the oldest comes first.
        """
        records = list(records)
        running = Counter(record.owner for record in records if record.id in self._tasks)
        ranked: list[tuple[int, int, JobRecord]] = []
        for record in records:
            if record.id not in self._tasks and not self._waits(record):
                ranked.append((running[record.owner], self._last_turns.get(record.owner, 0), record))
                running[record.owner] += 1
        return [record for *_, record in sorted(ranked, key=lambda each: each[:2])]

    def _waits(self, record: JobRecord) -> bool:
        """Tell whether it is too early to try a job again; a limit that has changed is worth an attempt."""
        wait, setback = record.wait, self._setbacks.get(record.id)
        if wait is not None and time.time() < wait.until:
            return self._limit_of(record.owner, wait.resource) == wait.limit
        return setback is not None and time.monotonic() < setback.until

    async def _make_way(self, waiting: Iterable[JobRecord], active: Mapping[str, JobRecord]) -> None:
        """Park a job that had its turn, if its owner has more running than the next one who waits."""
        # One that is not queued may be spoken by another process.
        queued = (each for each in waiting if each.status is JobStatus.QUEUED and each.id not in self._tasks)
        if (following := next(queued, None)) is None:
            return
        running = Counter(active[job_id].owner for job_id in self._tasks)
        had_turn = [
            job_id
            for job_id, work in self._work.items()
            if time.monotonic() >= work.began + _TURN_SECONDS
            and active[job_id].status is JobStatus.RUNNING
            and running[active[job_id].owner] > running[following.owner]
        ]
        if had_turn:
            parked = min(had_turn, key=lambda job_id: self._work[job_id].began)
            progress = self._work[parked].progress
            await self.stop(parked)
            await self._park(parked, progress)

    async def _requeue(self, waiting: Iterable[JobRecord]) -> None:
        """Say of jobs that a killed process was speaking that they wait, where others go first."""
        for record in waiting:
            if record.status is JobStatus.QUEUED or record.id in self._tasks:
                continue
            lock = await asyncio.to_thread(self._store.lock, record.id)
            if lock is not None:
                await self._park(record.id, record.progress)
                lock.close()

    async def _take_up(self, record: JobRecord) -> None:
        lock = await asyncio.to_thread(self._store.lock, record.id)
        if lock is None:
            return
        running = partial(replace, status=JobStatus.RUNNING, error=None, wait=None)
        taken = await asyncio.to_thread(self._store.change, record.id, ACTIVE, running)
        if taken is None:
            lock.close()
            return
        self._note_turn(taken.owner)
        work = self._work[record.id] = self._make_work(taken)
        self._start(self._tasks, record.id, self._worked(taken, work), lock)

    def _note_turn(self, owner: str) -> None:
        self._last_turns[owner] = next(self._turns)
        self._last_turns.move_to_end(owner)
        if len(self._last_turns) > _MOST_OWNERS:
            self._last_turns.popitem(last=False)

    def _start(
        self,
        group: "dict[str, asyncio.Task[None]]",
        job_id: str,
        work: Coroutine[object, object, None],
        lock: FolderLock,
    ) -> None:
        """Run something that needs the job's lock."""
        task = group[job_id] = asyncio.create_task(work, name=job_id)

        def ended(_: asyncio.Task[None]) -> None:
            lock.close()
            group.pop(job_id, None)
            if group is self._tasks:
                self._work.pop(job_id, None)
            self.wake()

        task.add_done_callback(ended)

    async def _worked(self, record: JobRecord, work: JobWork) -> None:
        try:
            await work.run()
        except TryAgainError as error:
            await self._broken_off(record, work, error.cause)
        except PolyvoxError as error:
            self._set_back(record, work)
            log.warning("the end of a job cannot be stored", job=record.id, reason=error.message)
        else:
            self._setbacks.pop(record.id, None)

    def _set_back(self, record: JobRecord, work: JobWork) -> int:
        """Let a job wait a little, longer each time; how often in a row it has been."""
        setback = self._setbacks.get(record.id)
        if setback is None or setback.sentences_done != work.progress.sentences_done:
            setback = self._setbacks[record.id] = _Setback(work.progress.sentences_done)
        shortest, longest = _RETRY_SECONDS
        setback.until = time.monotonic() + min(longest, shortest * 2**setback.attempts)
        setback.attempts += 1
        return setback.attempts

    async def _broken_off(self, record: JobRecord, work: JobWork, error: PolyvoxError) -> None:
        """Try again later; too many failures in a row end the job."""
        attempts = self._set_back(record, work)
        over = attempts >= _MOST_ATTEMPTS
        log.warning("job broken off", job=record.id, reason=error.message, attempts=attempts, over=over)
        status = JobStatus.FAILED if over else JobStatus.QUEUED
        told = over and record.webhook is not None
        edit = partial(replace, status=status, error=JobError.of(error), progress=work.progress, untold=told)
        await asyncio.to_thread(self._store.change, record.id, ACTIVE, edit)
        if over:
            self._setbacks.pop(record.id, None)
            self._metrics.job_ended(status)

    async def _tell(self) -> None:
        """Tell the webhooks of jobs that have ended."""
        for record in await asyncio.to_thread(self._store.untold):
            if len(self._telling) >= _MOST_TOLD:
                return
            if record.id in self._telling or record.status.hidden:
                continue
            lock = await asyncio.to_thread(self._store.lock, record.id)
            if lock is not None:
                self._start(self._telling, record.id, self._told(record), lock)

    async def _told(self, record: JobRecord) -> None:
        assert record.webhook is not None
        body = json.dumps(record.public(), ensure_ascii=False).encode()
        await self._webhooks.deliver(record.webhook, body, record.id)
        edit = partial(replace, untold=False)
        await asyncio.to_thread(self._store.change, record.id, tuple(JobStatus), edit)

    def _sweep(self) -> None:
        """Delete jobs whose time is over, what is left of deleted ones, and speech that is not needed any more."""
        for record in self._store.expired():
            deleted = partial(replace, status=JobStatus.DELETED)
            if self._store.change(record.id, (record.status,), deleted) is not None:
                log.info("job expired", job=record.id)
        for record in self._store.among((JobStatus.CREATING, JobStatus.DELETED)):
            self._store.remove(record.id)
        for record in self._store.among((JobStatus.DONE, JobStatus.CANCELLED)):
            clear_speech(self._store, record.id)


def clear_speech(store: JobStore, job_id: str) -> None:
    """Delete the speech of a job that needs it no more, unless somebody works on the job. Blocks."""
    speech = store.folder(job_id) / NARRATION
    if not speech.exists() or (lock := store.lock(job_id)) is None:
        return
    try:
        shutil.rmtree(speech, ignore_errors=True)
    finally:
        lock.close()


async def _ended(tasks: "list[asyncio.Task[None]]") -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
