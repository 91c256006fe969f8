"""The jobs of one server: their owners submit, watch, pause, resume, cancel and delete them here."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import structlog

from polyvox.books.manuscript import Manuscript
from polyvox.books.narration.narration import Narration, Speak
from polyvox.books.narration.options import NarrationOptions
from polyvox.books.narration.plan import Passage
from polyvox.config import Settings
from polyvox.errors import (
    DiskFullError,
    ForbiddenError,
    JobStateError,
    NotFoundError,
    NotServedError,
    OverloadedError,
    UnavailableError,
)
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.jobs.checked_narrator import CheckedNarrator
from polyvox.service.jobs.narrator import Narrator
from polyvox.service.jobs.proofreader import Proofreader
from polyvox.service.jobs.record import (
    ACTIVE,
    CANCELLABLE,
    FINAL,
    RESUMABLE,
    JobFile,
    JobOutput,
    JobRecord,
    JobStatus,
)
from polyvox.service.jobs.runner import JobRunner, LimitOf, clear_speech
from polyvox.service.jobs.store import JobStore
from polyvox.service.jobs.webhook import Webhooks
from polyvox.service.jobs.work import FILES, NARRATION, JobWork, SpeakFor, shown_progress
from polyvox.service.keys.access import Access
from polyvox.service.keys.client_names import job_client
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.text_limits import TextLimits
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.storage.reserve import is_full

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

DOOR = "jobs"
"""The name of jobs in logs and metrics."""
_MOST_INTAKES = 8
_READ_AT_ONCE = 2
_RETRY_SECONDS = 10.0
_LOOK_SECONDS = 2.0
"""Interval at which a server without jobs looks whether another process has some."""
_LOOK_AGAIN_SECONDS = 60.0
"""Interval at which it looks where that failed."""
_WATCH_SECONDS = 1.0
_SHORTEST_WATCH_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to be done; `keep_seconds` is how long it is to be kept at its end, at most as the settings say."""

    manuscript: Manuscript
    options: NarrationOptions
    output: JobOutput
    webhook: str | None = None
    keep_seconds: float | None = None


class JobService:
    """The jobs in the folder of the settings, which is made for the first one.

    An owner is a key's fingerprint, or everybody where the server has no keys; the jobs of others do not exist to it.
    """

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        access: Access,
        speak_for: SpeakFor,
        limit_of: LimitOf,
        webhooks: Webhooks | None = None,
        proofreader: Proofreader | None = None,
    ) -> None:
        self._settings = settings
        self._access = access
        self._metrics = metrics
        self._speak_for = speak_for
        self._limit_of = limit_of
        self._limits = TextLimits.of(settings)
        self._webhooks = Webhooks(settings) if webhooks is None else webhooks
        self._proofreader = proofreader
        self._folder = settings.data_dir / "jobs" if settings.jobs_folder is None else settings.jobs_folder
        self._store: JobStore | None = None
        self._runner: JobRunner | None = None
        self._reading = asyncio.Semaphore(_READ_AT_ONCE)
        self._binding = DeviceExecutor("polyvox-binding", 1)
        self._intakes = 0
        self._opening = asyncio.Lock()
        self._changed = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._closed = False

    @classmethod
    def for_service(cls, service: SpeechService, voices: VoiceService) -> "JobService":
        """The jobs that a speech service speaks, with its settings."""
        proofreader = Proofreader.for_service(service)

        def speak_for(record: JobRecord, options: NarrationOptions) -> Speak:
            owner, client = record.owner, job_client(record.owner)
            narrator = Narrator(service, voices.resolver, options, owner=owner, client=client, door=DOOR)
            return CheckedNarrator(narrator, proofreader).speak if options.verify else narrator.speak

        def limit_of(owner: str, resource: str) -> int | None:
            return service.accounts.limiter.daily_limit(job_client(owner), resource)

        access = service.accounts.access
        return cls(service.settings, service.metrics, access, speak_for, limit_of, proofreader=proofreader)

    async def start(self) -> None:
        """Go on with the jobs that there are, now or as soon as another process has made the folder."""
        if self._looking is None and self._settings.max_jobs:
            self._looking = asyncio.create_task(self._look(), name="look for jobs")

    async def close(self) -> None:
        """Park the jobs under way at once; the next server goes on with them."""
        if self._closed:
            return
        self._closed = True
        self._notify()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        async with self._opening:
            if self._runner is not None:
                await self._runner.close()
            if self._store is not None:
                await asyncio.to_thread(self._store.close)
        await asyncio.to_thread(self._binding.close)
        if self._proofreader is not None:
            await self._proofreader.close()

    @asynccontextmanager
    async def intake(self) -> AsyncIterator[None]:
        """Room to read a manuscript; OverloadedError where many wait for it."""
        self._check_open()
        if self._intakes >= _MOST_INTAKES:
            raise OverloadedError(
                f"{_MOST_INTAKES} manuscripts are being read already; try again in {_RETRY_SECONDS:.0f} s.",
                retry_after=_RETRY_SECONDS,
            )
        self._intakes += 1
        try:
            async with self._reading:
                yield
        finally:
            self._intakes -= 1

    def check_new(self, webhook: str | None, owner: str) -> None:
        """Refuse what no job may have, before its manuscript is read."""
        self._access.require(Operation.SUBMIT_JOBS, owner)
        if not self._settings.max_jobs:
            raise ForbiddenError("This server takes no jobs; its setting max_jobs turns them on.")
        self._check_open()
        if webhook is not None:
            self._webhooks.check(webhook)

    async def check_verifiable(self, languages: Iterable[str]) -> None:
        """Refuse to verify speech in a language that no installed recogniser hears; the message names the remedy."""
        for language in languages:
            try:
                if self._proofreader is not None:
                    await self._proofreader.check_language(language)
            except NotServedError as error:
                raise NotServedError(f"{error.message} Or send the job with 'verify' false.", field="verify") from error

    async def submit(self, new: NewJob, owner: str) -> JobRecord:
        """Store a job, to be spoken when its turn comes."""
        self.check_new(new.webhook, owner)
        store = await self._opened()
        longest = self._settings.job_expiry_seconds
        record = JobRecord(
            id=f"job_{secrets.token_hex(16)}",
            owner=owner,
            title=new.manuscript.title,
            created=time.time(),
            keep_seconds=longest if new.keep_seconds is None else min(longest, new.keep_seconds),
            output=new.output,
            webhook=new.webhook,
            verify=new.options.verify,
        )
        created = await asyncio.to_thread(self._create, store, record, new)
        log.info("job submitted", job=record.id, chapters=created.progress.chapters, chars=new.manuscript.chars)
        self._wake()
        return created

    async def jobs(self, owner: str) -> list[JobRecord]:
        """The jobs of an owner, the newest first."""
        self._access.require(Operation.READ_JOBS, owner)
        store = await self._opened_if_any()
        return [] if store is None else list(map(self._live, await asyncio.to_thread(store.owned, owner)))

    async def get(self, job_id: str, owner: str) -> JobRecord:
        """A job of this owner's."""
        self._access.require(Operation.READ_JOBS, owner)
        store = await self._opened_if_any()
        record = None if store is None else await asyncio.to_thread(store.find, job_id)
        if record is None or record.status.hidden or not secrets.compare_digest(record.owner, owner):
            raise NotFoundError("There is no job of this id; GET /v1/jobs lists yours.", field="id")
        return self._live(record)

    async def file(self, job_id: str, name: str, owner: str) -> tuple[JobRecord, JobFile, Path]:
        """A job, a finished file of it, and where that is."""
        record = await self.get(job_id, owner)
        file = record.file(name)
        if file is None or self._store is None:
            raise NotFoundError("The job has no such file; its 'files' lists those that are finished.", field="name")
        return record, file, self._store.folder(record.id) / FILES / file.name

    async def pause(self, job_id: str, owner: str) -> JobRecord:
        """Stop speaking a job; what is spoken stays."""
        edit = partial(replace, status=JobStatus.PAUSED, error=None, wait=None)
        return await self._moved(job_id, owner, ACTIVE, edit, "be paused", unchanged=(JobStatus.PAUSED,))

    async def resume(self, job_id: str, owner: str) -> JobRecord:
        """Go on with a job that was paused or has failed."""
        edit = partial(replace, status=JobStatus.QUEUED, error=None, untold=False)
        return await self._moved(job_id, owner, RESUMABLE, edit, "be resumed", unchanged=ACTIVE)

    async def correct(self, job_id: str, owner: str, text: str, sentence: int | None = None) -> JobRecord:
        """Put another text in place of a sentence that is not spoken yet, counted from 1; by default of the first one.

        The job is paused then, to be resumed by its owner.
        """
        self._access.require(Operation.CHANGE_JOBS, owner)
        record = await self.get(job_id, owner)
        if record.status not in RESUMABLE:
            raise JobStateError(f"A job that is {record.status} cannot be corrected; pause it first.")
        store = await self._opened()
        corrected = await asyncio.to_thread(self._correct, store, record.id, text, sentence)
        log.info("job corrected", job=corrected.id, sentences=corrected.progress.sentences)
        self._notify()
        return corrected

    async def cancel(self, job_id: str, owner: str) -> JobRecord:
        """End a job for good; its speech is deleted."""

        def edit(record: JobRecord) -> JobRecord:
            return replace(record, status=JobStatus.CANCELLED, error=None, untold=record.webhook is not None)

        unchanged = (JobStatus.CANCELLED,)
        record = await self._moved(job_id, owner, CANCELLABLE, edit, "be cancelled", unchanged=unchanged)
        if self._store is not None:
            await asyncio.to_thread(clear_speech, self._store, record.id)
        return record

    async def delete(self, job_id: str, owner: str) -> JobRecord:
        """Delete a job and all its files, whatever its status."""
        visible = tuple(status for status in JobStatus if not status.hidden)
        record = await self._moved(job_id, owner, visible, partial(replace, status=JobStatus.DELETED), "be deleted")
        if self._store is not None:
            # One that another process still works on is deleted by the next sweep.
            await asyncio.to_thread(self._store.remove, record.id)
        return record

    async def watch(self, job_id: str, owner: str) -> AsyncGenerator[JobRecord | None]:
        """The job whenever something about it has changed, until it is at rest; None every second or so without."""
        before: JobRecord | None = None
        while not self._closed:
            changed = self._changed
            record = await self.get(job_id, owner)
            yield None if before is not None and record.public() == before.public() else record
            if record.status not in ACTIVE:
                return
            before = record
            await asyncio.sleep(_SHORTEST_WATCH_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(_WATCH_SECONDS):
                    await changed.wait()

    def _create(self, store: JobStore, record: JobRecord, new: NewJob) -> JobRecord:
        """Put a job on disk; nothing is left of one that cannot be. Blocks."""
        self._check_room(store)
        lock = store.add(record, self._settings.max_jobs_per_owner)
        created: JobRecord | None = None
        try:
            folder, check = store.folder(record.id) / NARRATION, partial(self._check_passage, new.options)
            narration = Narration.create(folder, new.manuscript, new.options, check)
            voices = tuple(voice or new.options.voice for voice in narration.plan.voices)
            progress = shown_progress(narration.progress)
            queued = partial(replace, status=JobStatus.QUEUED, progress=progress, voices=voices)
            created = store.change(record.id, (JobStatus.CREATING,), queued)
        except OSError as error:
            if is_full(error):
                raise _no_room() from error
            raise
        finally:
            lock.close()
            if created is None:
                store.remove(record.id)
        if created is None:
            raise UnavailableError("The job was deleted while it was made; try again.")
        return created

    def _correct(self, store: JobStore, job_id: str, text: str, sentence: int | None) -> JobRecord:
        """Write the plan of a job anew while nobody works on it. Blocks."""
        if (lock := store.lock(job_id)) is None:
            raise JobStateError("The job is still being stopped; try again in a moment.")
        try:
            found = store.find(job_id)
            if found is None or found.status not in RESUMABLE:
                raise JobStateError("The job has changed meanwhile; read it again.")
            narration = Narration.open(store.folder(job_id) / NARRATION)
            index = narration.progress.sentences_done if sentence is None else sentence - 1
            narration.correct(index, text, partial(self._check_passage, narration.plan.options))
            progress = shown_progress(narration.progress)
            edit = partial(replace, status=JobStatus.PAUSED, error=None, untold=False, progress=progress)
            changed = store.change(job_id, RESUMABLE, edit)
        except OSError as error:
            if is_full(error):
                raise _no_room() from error
            raise
        finally:
            lock.close()
        if changed is None:
            raise JobStateError("The job has changed meanwhile; read it again.")
        return changed

    def _check_passage(self, options: NarrationOptions, passage: Passage) -> None:
        """Refuse now what would be refused when it is spoken: a passage of any other kind is within the limits."""
        if "[" in passage.text or len(passage.text) > self._settings.max_input_chars:
            self._limits.check(passage.text, options.speed)

    def _check_room(self, store: JobStore) -> None:
        if store.free_bytes < self._settings.job_min_free_bytes:
            raise _no_room()

    async def _moved(
        self,
        job_id: str,
        owner: str,
        among: Collection[JobStatus],
        edit: Callable[[JobRecord], JobRecord],
        verb: str,
        *,
        unchanged: Collection[JobStatus] = (),
    ) -> JobRecord:
        """Change the status of a job; one that is as it is to be stays so."""
        self._access.require(Operation.CHANGE_JOBS, owner)
        record = await self.get(job_id, owner)
        if record.status in unchanged:
            return record
        store = await self._opened()
        moved = await asyncio.to_thread(store.change, record.id, among, edit)
        if moved is None:
            raise JobStateError(f"A job that is {record.status} cannot {verb}.")
        log.info("job changed", job=moved.id, status=str(moved.status))
        if self._runner is not None and moved.status not in ACTIVE:
            await self._runner.stop(moved.id)
        if moved.status in FINAL:
            self._metrics.job_ended(moved.status)
        self._wake()
        self._notify()
        return moved

    def _live(self, record: JobRecord) -> JobRecord:
        """The record with the progress of the moment, where the job runs in this process."""
        live = None if self._runner is None else self._runner.progress(record.id)
        return record if live is None or record.status not in ACTIVE else replace(record, progress=live)

    def _make_work(self, record: JobRecord) -> JobWork:
        assert self._store is not None
        return JobWork(record, self._store, self._settings, self._speak_for, self._binding, self._metrics, self._notify)

    def _notify(self) -> None:
        """Wake those who watch a job."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _wake(self) -> None:
        if self._runner is not None:
            self._runner.wake()

    async def _look(self) -> None:
        while self._runner is None:
            try:
                await self._opened_if_any()
                seconds = _LOOK_SECONDS
            except (DiskFullError, UnavailableError) as error:
                log.warning("jobs cannot be gone on with", reason=error.message)
                seconds = _LOOK_AGAIN_SECONDS
            await asyncio.sleep(seconds)

    async def _opened_if_any(self) -> JobStore | None:
        """The store, or None as long as there was never a job."""
        if self._store is None and not await asyncio.to_thread(self._folder.exists):
            return None
        return await self._opened()

    async def _opened(self) -> JobStore:
        """The store, with a runner for its jobs."""
        async with self._opening:
            self._check_open()
            if self._store is None:
                self._store = await asyncio.to_thread(JobStore, self._folder)
            if self._runner is None and self._settings.max_jobs:
                self._runner = JobRunner(
                    self._settings, self._store, self._make_work, self._limit_of, self._webhooks, self._metrics
                )
            return self._store

    def _check_open(self) -> None:
        if self._closed:
            raise UnavailableError("The server is shutting down; send the request to another or later.")


def _no_room() -> DiskFullError:
    return DiskFullError("The server's disk is nearly full, so it takes no new jobs; try again later.")
