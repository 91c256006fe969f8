"""Jobs under any order of events: none that was acknowledged is lost, none waits for ever, and what is over stays over.

The server's own service, store, runner and narration in a folder, on a virtual clock, with an engine, quotas and keys
that the trial turns off and on. A killed process is a copy of its folder at that moment, which the next one opens.
"""

import asyncio
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from benchmarks.virtual_time import VirtualTimeLoop
from helpers.examples import runs
from helpers.fakes import tone_settings
from polyvox.books.manuscript import Chapter, Manuscript
from polyvox.books.narration.narration import AHEAD, Speak
from polyvox.books.narration.options import NarrationOptions
from polyvox.books.narration.plan import Passage
from polyvox.errors import AuthenticationError, JobStateError, NotFoundError, QuotaError, UnavailableError
from polyvox.service.jobs import runner, service, work
from polyvox.service.jobs.record import ACTIVE, JobOutput, JobRecord, JobStatus
from polyvox.service.jobs.runner import JobRunner
from polyvox.service.jobs.service import JobService, NewJob
from polyvox.service.jobs.store import JobStore
from polyvox.service.keys.operations import Operation
from polyvox.service.telemetry.metrics import Metrics
from polyvox.types import AudioChunk

T = TypeVar("T")

OWNERS = ("anna", "ben", "cleo")
DAY = 86_400.0
RATE = 8_000
QUOTA = 30
SENTENCE_SECONDS, LONG_SENTENCE_SECONDS = 0.4, 90.0
SENTENCES = {False: 2, True: 16}
"""Of a short job, and of one that has to make way for others before its end."""
POLL_SECONDS = 20.0
"""A runner looks for work at least so often; as often as a real one does would take the trial too long."""
TURN_SECONDS = 100.0
LONGEST_WAIT = (len(OWNERS) - 1) * (TURN_SECONDS + 2 * POLL_SECONDS)
"""Seconds within which an owner with nothing running has its turn: the others have one each before."""
LONGEST_WORK = 20_000.0
STOPPED = (JobStatus.PAUSED, JobStatus.CANCELLED, JobStatus.DELETED)
ENDS_AT_REST = (JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED)
METRICS = Metrics()


class JobLoop(VirtualTimeLoop):
    """Runs at once what others run on threads, so that a trial always goes the same way."""

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> "asyncio.Future[T]":
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to who waits for it
            future.set_exception(error)
        return future


@dataclass
class Process:
    """A server process: its loop, and the time at which it began."""

    loop: JobLoop
    began: float

    def time(self) -> float:
        return self.began + self.loop.time()

    monotonic = time


@dataclass
class Known:
    """What the owner of a job was told of it."""

    owner: str
    status: JobStatus = JobStatus.QUEUED


class KeyDoor:
    """Lets in all keys but those that were revoked."""

    def __init__(self) -> None:
        self.revoked: set[str] = set()

    def require(self, operation: Operation, owner: str) -> None:
        if owner in self.revoked:
            raise AuthenticationError("This key was revoked.")

    def allows(self, operation: Operation, owner: str) -> bool:
        return owner not in self.revoked


class WatchedRunner(JobRunner):
    """Holds each turn against those of the others who wait."""

    on_turn: Callable[[JobRunner, str], None]

    def _note_turn(self, owner: str) -> None:
        super()._note_turn(owner)
        self.on_turn(self, owner)


class JobMachine(RuleBasedStateMachine):
    """Jobs of three owners."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.door = KeyDoor()
        self.quota = dict.fromkeys(OWNERS, QUOTA)
        self.limit = dict.fromkeys(OWNERS, QUOTA)
        self.broken = False
        self.known: dict[str, Known] = {}
        self.refusals: Counter[str] = Counter()
        self.violations: list[str] = []
        """Seen within tasks of the runner, where nobody would hear of an assertion."""
        self.lives = 0
        self.patches = (
            patch.multiple(service, time=self, JobRunner=self._watched),
            patch.multiple(runner, time=self, _POLL_SECONDS=POLL_SECONDS, _TURN_SECONDS=TURN_SECONDS),
            patch.multiple(work, time=self, _STORE_SECONDS=POLL_SECONDS, _MEASURE_SECONDS=POLL_SECONDS),
        )
        for each in self.patches:
            each.start()
        self.folder = self.root / "0"
        self.process = Process(JobLoop(), 1_000_000.0)

    def time(self) -> float:
        return self.process.time()

    monotonic = time

    @initialize(max_jobs=st.sampled_from((1, 1, 2)))
    def start(self, max_jobs: int) -> None:
        self.settings = tone_settings(max_jobs=max_jobs, job_min_free_bytes=0, job_expiry_seconds=100 * DAY)
        self._open()

    @rule(owner=st.sampled_from(OWNERS), long=st.booleans())
    def submit(self, owner: str, long: bool) -> None:
        if self._refused(owner):
            return
        record = self._run(self._submitted(owner, long=long))
        self.known[record.id] = Known(owner)

    @rule(owner=st.sampled_from(OWNERS), steps=st.integers(0, 12))
    def submit_and_be_killed(self, owner: str, steps: int) -> None:
        """The process is gone before it could answer, or just then."""
        if self._refused(owner):
            return
        task = self.process.loop.create_task(self._submitted(owner))
        for _ in range(steps):
            self.process.loop.call_soon(self.process.loop.stop)
            self.process.loop.run_forever()
        if task.done():
            self.known[task.result().id] = Known(owner)
        self.kill()
        for record in self._run(self.service.jobs(owner)):
            self.known.setdefault(record.id, Known(owner))

    @rule(place=st.integers(0, 3))
    @precondition(lambda self: self.known)
    def pause(self, place: int) -> None:
        self._ask(place, "pause", JobStatus.PAUSED, ACTIVE)

    @rule(place=st.integers(0, 3))
    @precondition(lambda self: self.known)
    def resume(self, place: int) -> None:
        self._ask(place, "resume", JobStatus.QUEUED, (JobStatus.PAUSED, JobStatus.FAILED))

    @rule(place=st.integers(0, 3))
    @precondition(lambda self: self.known)
    def cancel(self, place: int) -> None:
        self._ask(place, "cancel", JobStatus.CANCELLED, (*ACTIVE, JobStatus.PAUSED, JobStatus.FAILED))

    @rule(place=st.integers(0, 3))
    @precondition(lambda self: self.known)
    def delete(self, place: int) -> None:
        self._ask(place, "delete", JobStatus.DELETED, tuple(JobStatus))

    @rule(seconds=st.sampled_from((0.5, 30.0, 130.0, 400.0)))
    def pass_time(self, seconds: float) -> None:
        self._run(asyncio.sleep(seconds))

    @rule(owner=st.sampled_from(OWNERS), left=st.sampled_from((0, 1, QUOTA)))
    def spend_or_renew_quota(self, owner: str, left: int) -> None:
        self.quota[owner] = left

    @rule(owner=st.sampled_from(OWNERS))
    def raise_limit(self, owner: str) -> None:
        self.limit[owner] += QUOTA
        self.quota[owner] += QUOTA
        self.refusals.clear()

    @rule(owner=st.sampled_from(OWNERS))
    @precondition(lambda self: len(self.door.revoked) < 2)
    def revoke(self, owner: str) -> None:
        self.door.revoked.add(owner)

    @rule()
    def break_or_mend_the_engine(self) -> None:
        self.broken = not self.broken

    @rule()
    def kill(self) -> None:
        """The process is gone: what it had on disk at this moment is all there is."""
        self.lives += 1
        copy = self.root / str(self.lives)
        shutil.copytree(self.folder, copy)
        gone, self.folder = self.service, copy
        self._end(gone)
        self._open()

    @rule()
    def restart(self) -> None:
        self._end(self.service)
        self._open()

    @invariant()
    def nothing_is_lost_and_what_is_over_stays_over(self) -> None:
        if not hasattr(self, "settings"):
            return
        store = self._store()
        for job_id, known in list(self.known.items()):
            record = store.find(job_id)
            if known.status is JobStatus.DELETED:
                assert record is None or record.status is JobStatus.DELETED
                continue
            assert record is not None, "a job that was acknowledged is lost"
            if known.status in (JobStatus.DONE, *STOPPED):
                assert record.status is known.status, f"{known.status} became {record.status}"
            if record.status in ENDS_AT_REST:
                known.status = record.status
            elif record.status is JobStatus.QUEUED:
                assert record.public()["waits"]["for"] in ("turn", "retry", "quota")
            if record.status in (JobStatus.FAILED, JobStatus.PAUSED):
                assert (record.error is None) is (record.status is JobStatus.PAUSED)
            if record.status in (JobStatus.RUNNING, JobStatus.BINDING):
                assert job_id in self.service._runner._tasks, "a job is said to run, and waits"  # type: ignore[union-attr]
            assert (store.folder(job_id) / "files").exists() >= (record.status is JobStatus.DONE)
        tasks = set(self.service._runner._tasks)  # type: ignore[union-attr]
        assert len(tasks) <= self.settings.max_jobs
        assert tasks == set(self.service._runner._work)  # type: ignore[union-attr]
        self._watch_waits(store)
        assert not self.violations

    def teardown(self) -> None:
        """With quotas, an engine and time, each job ends, and holds nothing any more."""
        if hasattr(self, "settings"):
            self.broken, store = False, self._store()
            self.quota = dict.fromkeys(OWNERS, 1_000)
            self.limit = {owner: limit + 1 for owner, limit in self.limit.items()}
            until = self.time() + LONGEST_WORK
            while store.among(ACTIVE) and self.time() < until:
                self._run(asyncio.sleep(3 * POLL_SECONDS))
            for job_id in self.known:
                if (record := store.find(job_id)) is not None and not record.status.hidden:
                    assert record.status in (*ENDS_AT_REST, JobStatus.PAUSED), f"{record.status}: {record.error}"
                    lock = store.lock(job_id)
                    assert lock is not None, "somebody still holds a job that is at rest"
                    lock.close()
            assert not self.service._runner._tasks  # type: ignore[union-attr]
            assert not self.violations
            kept = {job_id for job_id in self.known if store.find(job_id) is not None}
            assert {path.name for path in self.folder.glob("job_*")} == kept, "folders that nobody knows"
            self._end(self.service)
        for each in self.patches:
            each.stop()
        self.process.loop.close()
        shutil.rmtree(self.root)

    def _open(self) -> None:
        self.process = Process(JobLoop(), self.process.time())
        self.turns: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.waits_since: dict[str, float] = {}
        self._run(self._opened())

    async def _opened(self) -> None:
        with patch.object(service, "JobStore", partial(JobStore, clock=self.time)):
            settings = self.settings.model_copy(update={"jobs_folder": self.folder})
            self.service = JobService(settings, METRICS, self.door, self._speak_for, self._limit_of)
            await self.service._opened()

    def _end(self, running: JobService) -> None:
        self._run(running.close())
        self.process.loop.close()

    def _store(self) -> JobStore:
        assert self.service._store is not None
        return self.service._store

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        async def run() -> T:
            result = await work
            for _ in range(30):  # whatever that set going has its turn
                await asyncio.sleep(0)
            return result

        return self.process.loop.run_until_complete(run())

    async def _submitted(self, owner: str, *, long: bool = False) -> JobRecord:
        text = " ".join(["A long one." if long else "A short one."] * SENTENCES[long])
        manuscript = Manuscript("", "", "en", None, (Chapter("", (text,)),))
        return await self.service.submit(NewJob(manuscript, NarrationOptions(), JobOutput((), "wav")), owner)

    def _ask(self, place: int, verb: str, becomes: JobStatus, among: tuple[JobStatus, ...]) -> None:
        """The owner moves a job, and somebody else tries to."""
        job_id = list(self.known)[place % len(self.known)]
        known, asked = self.known[job_id], getattr(self.service, verb)
        stranger = OWNERS[(OWNERS.index(known.owner) + 1) % len(OWNERS)]
        with pytest.raises((NotFoundError, AuthenticationError)):
            self._run(asked(job_id, stranger))
        if known.owner in self.door.revoked:
            with pytest.raises(AuthenticationError):
                self._run(asked(job_id, known.owner))
            return
        before = self._store().find(job_id)
        if before is None or before.status is JobStatus.DELETED:
            with pytest.raises(NotFoundError):
                self._run(asked(job_id, known.owner))
        elif before.status in among:
            known.status = becomes
            self.refusals.pop(job_id, None)
            self.waits_since.pop(job_id, None)
            self.turns.pop(known.owner, None)
            self._run(asked(job_id, known.owner))
        elif before.status not in (becomes, *(ACTIVE if verb == "resume" else ())):
            with pytest.raises(JobStateError):
                self._run(asked(job_id, known.owner))

    def _refused(self, owner: str) -> bool:
        if owner in self.door.revoked:
            with pytest.raises(AuthenticationError):
                self._run(self._submitted(owner))
        return owner in self.door.revoked

    def _speak_for(self, record: JobRecord, options: NarrationOptions) -> Speak:
        async def speak(passage: Passage) -> AsyncIterator[AudioChunk]:
            known = self.known.get(record.id)
            if known is not None and known.status in (JobStatus.DONE, *STOPPED):
                self.violations.append(f"a job that is {known.status} is spoken")
            await asyncio.sleep(LONG_SENTENCE_SECONDS if "long" in passage.text else SENTENCE_SECONDS)
            if record.owner in self.door.revoked:
                raise AuthenticationError("This key was revoked.")
            if self.broken:
                raise UnavailableError("The engine is away.", retry=True)
            if not self.quota[record.owner]:
                limit = self.limit[record.owner]
                self.refusals[record.id] += 1
                if self.refusals[record.id] > 2 * AHEAD:
                    self.violations.append("a job without quota is tried again and again")
                raise QuotaError("No characters are left.", retry_after=DAY, resource="characters", limit=limit)
            self.quota[record.owner] -= 1
            yield AudioChunk(np.full(RATE // 20, 0.1, np.float32), RATE, 0, 0, passage.text)

        return speak

    def _limit_of(self, owner: str, resource: str) -> int | None:
        return None if owner in self.door.revoked else self.limit[owner]

    def _watched(self, *parts: Any) -> WatchedRunner:
        watched = WatchedRunner(*parts)
        watched.on_turn = self._turn
        return watched

    def _idle_owners(self, running: JobRunner, store: JobStore) -> dict[str, str]:
        """Owners who have nothing running and a job that could be, and that job."""
        records = store.among(ACTIVE)
        at_work = {record.owner for record in records if record.id in running._tasks}
        ready = [record for record in records if record.id not in running._tasks and not running._waits(record)]
        return {record.owner: record.id for record in reversed(ready) if record.owner not in at_work}

    def _turn(self, running: JobRunner, owner: str) -> None:
        self.turns.pop(owner, None)
        self.waits_since = {
            job_id: since for job_id, since in self.waits_since.items() if self.known[job_id].owner != owner
        }
        for other in self._idle_owners(running, running._store).keys() - {owner}:
            self.turns[other][owner] += 1
            if self.turns[other][owner] > 1:
                self.violations.append(f"{owner} has a second turn while {other} waits for the first")

    def _watch_waits(self, store: JobStore) -> None:
        idle = self._idle_owners(self.service._runner, store)  # type: ignore[arg-type]
        self.waits_since = {job_id: self.waits_since.get(job_id, self.time()) for job_id in idle.values()}
        for job_id, since in self.waits_since.items():
            assert self.time() - since <= LONGEST_WAIT, f"{job_id} waits for its turn for ever"


@pytest.mark.hypothesis
@pytest.mark.long
def test_no_order_of_events_loses_a_job_or_opens_what_is_closed() -> None:
    options = runs(stateful_step_count=15, suppress_health_check=[HealthCheck.too_slow])
    run_state_machine_as_test(JobMachine, settings=options)  # type: ignore[no-untyped-call]
