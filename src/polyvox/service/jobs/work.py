"""The work on one job: speak what is not spoken yet, bind the files, and store how far it is."""

import asyncio
import hashlib
import shutil
import time
from collections.abc import Callable, Coroutine
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog
from structlog.contextvars import bound_contextvars

from polyvox.audio.encode import parse_format
from polyvox.books.narration.narration import Narration, Speak
from polyvox.books.narration.options import BookFormat, BookFormats, BoundFile, NarrationOptions, NarrationProgress
from polyvox.config import Settings
from polyvox.errors import (
    DeadlineError,
    DiskFullError,
    EngineError,
    InvalidRequestError,
    JobTooLargeError,
    OverloadedError,
    PolyvoxError,
    QuotaError,
    UnavailableError,
    status_of,
)
from polyvox.provenance.book_marks import book_tags
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.jobs.record import (
    ACTIVE,
    JobError,
    JobFile,
    JobOutput,
    JobProgress,
    JobRecord,
    JobStatus,
    JobWait,
)
from polyvox.service.jobs.store import JobStore
from polyvox.service.telemetry.metrics import Metrics
from polyvox.text.captions import CaptionFormat
from polyvox.voices.storage.reserve import is_full

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

NARRATION, FILES = "narration", "files"
"""Folders of a job: of its speech while it is made, and of what was made of it."""

_SPEAKING_PERCENT = 95.0
"""Share of a job's progress that is its speech; the rest is binding."""
_STORE_SECONDS = 1.0
_MEASURE_SECONDS = 5.0
_SHORTEST_WAIT_SECONDS = 1.0
_WORKING = (JobStatus.RUNNING, JobStatus.BINDING)

T = TypeVar("T")

SpeakFor = Callable[[JobRecord, NarrationOptions], Speak]
"""Makes what speaks the passages of a job."""


class TryAgainError(Exception):
    """The work broke off for a reason that may pass by itself."""

    def __init__(self, cause: PolyvoxError) -> None:
        super().__init__(cause.message)
        self.cause = cause


class JobWork:
    """One job under way in this process. Whoever runs it holds the lock of the job's folder."""

    def __init__(
        self,
        record: JobRecord,
        store: JobStore,
        settings: Settings,
        speak_for: SpeakFor,
        executor: DeviceExecutor,
        metrics: Metrics,
        on_progress: Callable[[], None] = lambda: None,
    ) -> None:
        self.progress = record.progress
        self.began = time.monotonic()
        self._record = record
        self._store = store
        self._settings = settings
        self._speak_for = speak_for
        self._executor = executor
        self._metrics = metrics
        self._notify = on_progress
        self._folder = store.folder(record.id)
        self._speaking: Narration | None = None

    async def run(self) -> None:
        """Do what is left, and store what came of it; `TryAgainError` where a later attempt may succeed.

        Cancelling it leaves the job as it is: to be gone on with.
        """
        with bound_contextvars(job=self._record.id):
            try:
                files = await self._guarded(self._speak_and_bind())
            except PolyvoxError as error:
                await self._broken_off(error)
            except Exception as error:
                if not is_full(error):
                    log.exception("job failed")
                await self._broken_off(_disk_full() if is_full(error) else self._unexpected())
            else:
                await self._end(JobStatus.DONE, files=files)
                await asyncio.to_thread(shutil.rmtree, self._folder / NARRATION, ignore_errors=True)

    async def _speak_and_bind(self) -> tuple[JobFile, ...]:
        narration = await asyncio.to_thread(Narration.open, self._folder / NARRATION)
        self._told(narration.progress)
        log.info("job runs", sentences=self.progress.sentences, sentences_done=self.progress.sentences_done)
        self._speaking = narration
        await narration.narrate(self._speak_for(self._record, narration.plan.options), self._spoken)
        self._speaking = None
        await asyncio.to_thread(self._store.change, self._record.id, _WORKING, _to(JobStatus.BINDING))
        log.info("job is bound", seconds_spoken=round(self.progress.seconds_spoken, 1))
        self._notify()
        formats = replace(book_formats(self._record.output), provenance=book_tags(narration, self._settings))
        bound = await narration.bind(formats, self._executor, self._bound)
        return await self._executor.run(partial(_kept, bound, self._folder / FILES))

    async def _guarded(self, work: Coroutine[object, object, T]) -> T:
        """The result of the work, which ends where the disk has no room for it; its progress is stored meanwhile."""
        working, watching = asyncio.create_task(work), asyncio.create_task(self._watch())
        try:
            await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                watching.result()
            return await working
        finally:
            working.cancel()
            watching.cancel()
            await asyncio.wait({working, watching})

    async def _watch(self) -> None:
        """Store the progress every second, and look after the disk; raises where the job has to make room."""
        stored, measured = self.progress, 0.0
        while True:
            if time.monotonic() >= measured + _MEASURE_SECONDS:
                await asyncio.to_thread(self._check_disk)
                measured = time.monotonic()
            await asyncio.sleep(_STORE_SECONDS)
            if self.progress != stored:
                stored = self.progress
                edit = partial(replace, progress=stored)
                await asyncio.to_thread(self._store.change, self._record.id, _WORKING, edit)

    def _check_disk(self) -> None:
        if shutil.disk_usage(self._folder).free < self._settings.job_min_free_bytes:
            raise _disk_full()
        limit = self._settings.max_job_bytes
        if _size_of(self._folder) > limit:
            raise JobTooLargeError(
                f"The job takes more than {limit:,} bytes on the server's disk, the most that one may; send the text "
                "in parts, or raise the setting max_job_bytes."
            )

    def _spoken(self, progress: NarrationProgress) -> None:
        self._metrics.job_sentences(progress.sentences_done - self.progress.sentences_done)
        before = asdict(self.progress.checks)
        for event, count in asdict(progress.checks).items():
            self._metrics.job_checks(event, count - before[event])
        self._told(progress)

    def _told(self, progress: NarrationProgress) -> None:
        self.progress = shown_progress(progress)
        self._notify()

    def _bound(self, share: float) -> None:
        rest = 100.0 - _SPEAKING_PERCENT
        self.progress = replace(self.progress, percent=min(99.9, _SPEAKING_PERCENT + rest * share))
        self._notify()

    def _unexpected(self) -> PolyvoxError:
        return EngineError(f"The job failed; the server's log has the cause under {self._record.id}.")

    async def _broken_off(self, error: PolyvoxError) -> None:
        if isinstance(error, QuotaError):
            await self._set_aside(error)
            return
        if _may_pass(error):
            raise TryAgainError(error)
        full = isinstance(error, DiskFullError)
        await self._end(JobStatus.PAUSED if full else JobStatus.FAILED, error=self._reason(error))

    def _reason(self, error: PolyvoxError) -> JobError:
        """The reason of an end, with the sentence where it is one that its owner can correct."""
        reason = JobError.of(error)
        passage = None if self._speaking is None else self._speaking.next_passage
        if passage is None or not isinstance(error, InvalidRequestError | EngineError):
            return reason
        return replace(reason, sentence=passage.index + 1, text=passage.text)

    async def _set_aside(self, error: QuotaError) -> None:
        """Let the job wait for its owner's quota, and others have its place meanwhile."""
        wait = JobWait(time.time() + max(_SHORTEST_WAIT_SECONDS, error.retry_after), error.resource, error.limit)
        reason = JobError(
            status_of(error).code,
            f"The job's key may have {error.limit:,} {error.resource.replace('-', ' ')} a day, of which too few are "
            "left; it goes on by itself when the day ends in UTC, or when the limit is raised.",
        )
        edit = _to(JobStatus.QUEUED, error=reason, wait=wait, progress=self.progress)
        await asyncio.to_thread(self._store.change, self._record.id, ACTIVE, edit)
        log.info("job set aside", resource=error.resource, limit=error.limit, seconds=round(error.retry_after))
        self._notify()

    async def _end(self, status: JobStatus, *, error: JobError | None = None, files: tuple[JobFile, ...] = ()) -> None:
        """Store the end, unless the owner was faster to pause, cancel or delete the job."""
        if status is JobStatus.DONE:
            self.progress = replace(self.progress, percent=100.0)
        untold = status is not JobStatus.PAUSED and self._record.webhook is not None
        edit = _to(status, error=error, files=files, progress=self.progress, untold=untold)
        if await asyncio.to_thread(self._store.change, self._record.id, ACTIVE, edit) is not None:
            self._metrics.job_ended(status)
            reason = None if error is None else error.message
            log.info("job ends", status=str(status), reason=reason, files=len(files))
        self._notify()


def book_formats(output: JobOutput) -> BookFormats:
    """The formats that a job is bound into."""
    chapters = None if output.chapters is None else parse_format(output.chapters)
    captions = tuple(CaptionFormat(name) for name in output.captions)
    return BookFormats(tuple(BookFormat(name) for name in output.books), chapters, captions)


def shown_progress(progress: NarrationProgress) -> JobProgress:
    """The progress of a narration as that of its job, which ends with the binding."""
    return JobProgress(
        sentences_done=progress.sentences_done,
        sentences=progress.sentences,
        chapter=progress.chapter,
        chapters=progress.chapters,
        seconds_spoken=progress.seconds_spoken,
        percent=progress.percent * _SPEAKING_PERCENT / 100.0,
        checks=progress.checks,
    )


def _to(status: JobStatus, **changes: object) -> Callable[[JobRecord], JobRecord]:
    return lambda record: replace(record, status=status, **changes)  # type: ignore[arg-type]


def _may_pass(error: PolyvoxError) -> bool:
    """Return whether the same work may succeed a little later without anybody's doing."""
    if isinstance(error, DiskFullError):
        return False
    if isinstance(error, UnavailableError):
        return error.retry is not False
    return isinstance(error, OverloadedError | DeadlineError)


def _disk_full() -> DiskFullError:
    return DiskFullError("The server's disk is nearly full; free space, then resume the job.")


def _size_of(folder: Path) -> int:
    sizes = 0
    for path in folder.rglob("*"):
        try:
            sizes += path.stat().st_size
        except FileNotFoundError:  # a part that was renamed meanwhile
            continue
    return sizes


def _kept(bound: tuple[BoundFile, ...], folder: Path) -> tuple[JobFile, ...]:
    """Move finished files to their folder, and describe them. Blocks."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    return tuple(_moved(file, folder / file.name) for file in bound)


def _moved(file: BoundFile, path: Path) -> JobFile:
    with file.path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    file.path.replace(path)
    seconds = None if file.seconds is None else round(file.seconds, 3)
    return JobFile(file.name, file.media_type, path.stat().st_size, str(file.kind), file.chapter, digest, seconds)
