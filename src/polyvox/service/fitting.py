"""Voices that are fitted to recordings: one at a time, each in a process of its own that can be ended at any moment."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.util import find_spec
from typing import Protocol
from uuid import uuid4

import structlog

from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.errors import (
    EngineError,
    InvalidRequestError,
    NotFoundError,
    OverloadedError,
    PolyvoxError,
    UnavailableError,
    install_hint,
)
from polyvox.service.fit_worker import FitStep, fitted_in_child, installed_fitting
from polyvox.service.voices import Transcribe, VoiceService
from polyvox.types import Pcm
from polyvox.voices.fitted import FittedStyle
from polyvox.voices.records import VoiceDetails, VoiceRecord
from polyvox.voices.references import InlineVoice, UrlVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_RETRY_SECONDS = 60.0
_KEPT_JOBS = 100


def check_possible(settings: Settings) -> None:
    """Raise the typed error if nothing could be fitted here at all."""
    if find_spec("torch") is None:
        raise UnavailableError(f"Fitting a voice needs PyTorch; install it with: {install_hint('torch')}")
    for name in installed_fitting().bundles:
        open_bundle(name, settings.models_dir)


class FitState(StrEnum):
    """Where a fit stands. The last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(slots=True)
class FitJob:
    """One fit. `similarity` is that of the last step's sentences, and at the end that of sentences never fitted to.

    How many `steps` there are is known when it has begun, and until then 0.
    """

    id: str
    owner: str
    name: str
    steps: int = 0
    created: float = field(default_factory=time.time)
    state: FitState = FitState.QUEUED
    step: int = 0
    similarity: float | None = None
    voice: VoiceRecord | None = None
    warnings: tuple[str, ...] = ()
    error: PolyvoxError | None = None
    task: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        return self.state in (FitState.DONE, FitState.FAILED, FitState.CANCELLED)


def _tenth(progress: FitStep | FitJob) -> int:
    """How many tenths of the steps are done: the log has a line for each."""
    return 10 * progress.step // progress.steps if progress.steps else 0


class Fitting(Protocol):
    """Whoever fits a style to a recording, step by step, and ends with it; `fit_worker.fitted_in_child` does."""

    def __call__(self, settings: Settings, pcm: Pcm, rate: int, seed: int) -> AsyncGenerator[FitStep | FittedStyle]: ...


class FittingService:
    """The fits of one server. They live in memory: what a server has not finished when it ends was never there."""

    def __init__(
        self,
        settings: Settings,
        voices: VoiceService,
        fitting: Fitting = fitted_in_child,
        check: Callable[[Settings], None] = check_possible,
    ) -> None:
        self._settings = settings
        self._voices = voices
        self._fitting = fitting
        self._check = check
        self._jobs: dict[str, FitJob] = {}
        self._turn = asyncio.Lock()

    async def close(self) -> None:
        """End what is under way; nothing of it is kept."""
        for job in list(self._jobs.values()):
            await self._end(job)

    async def start(
        self, reference: InlineVoice | UrlVoice, details: VoiceDetails, owner: str, *, seed: int = 0
    ) -> FitJob:
        """Check a recording and queue its fit; whatever can be refused is refused here."""
        if not details.consent:
            raise InvalidRequestError(
                "A voice is fitted only with the speaker's consent; say so with 'consent'.", field="consent"
            )
        await asyncio.to_thread(self._check, self._settings)
        self._check_room()
        taken = await self._voices.take(reference, details, owner)
        self._check_room()
        assert details.name is not None
        job = FitJob(f"fit_{uuid4().hex}", owner, details.name)
        self._jobs[job.id] = job
        self._forget_oldest()
        recording = taken.recording
        job.task = asyncio.create_task(
            self._run(job, recording.pcm, recording.sample_rate, reference, details, seed), name=job.id
        )
        return job

    def get(self, job_id: str, owner: str) -> FitJob:
        """A fit of this owner's."""
        job = self._jobs.get(job_id)
        if job is None or job.owner != owner:
            raise NotFoundError("There is no fit of this id; it may be long over.", field="id")
        return job

    def jobs(self, owner: str) -> list[FitJob]:
        """All fits of this owner's, the newest first."""
        return [job for job in reversed(self._jobs.values()) if job.owner == owner]

    async def cancel(self, job_id: str, owner: str) -> FitJob:
        """End a fit, at once and without a trace; one that is over stays as it is."""
        job = self.get(job_id, owner)
        await self._end(job)
        return job

    async def finished(self, job: FitJob, told: Callable[[FitJob], None], every: float = 0.2) -> VoiceRecord:
        """Wait for a fit, telling of it now and then; its error where it fails."""
        assert job.task is not None
        while not job.over:
            told(job)
            await asyncio.wait([job.task], timeout=every)
        told(job)
        if job.error is not None:
            raise job.error
        if job.voice is None:
            raise EngineError("The fit was cancelled.")
        return job.voice

    async def _run(
        self,
        job: FitJob,
        pcm: Pcm,
        rate: int,
        reference: InlineVoice | UrlVoice,
        details: VoiceDetails,
        seed: int,
    ) -> None:
        began = time.monotonic()
        try:
            async with self._turn:
                job.state = FitState.RUNNING
                style = await self._fitted(job, pcm, rate, seed)
            registered = await self._voices.register(
                reference, details, job.owner, transcribe=Transcribe.NONE, fitted=style
            )
            job.voice, job.warnings = registered.record, registered.warnings
            job.similarity = style.similarity
            job.state = FitState.DONE
            log.info("voice fitted", fit=job.id, seconds=round(time.monotonic() - began, 1), alike=style.similarity)
        except asyncio.CancelledError:
            job.state = FitState.CANCELLED
            raise
        except PolyvoxError as error:
            job.error, job.state = error, FitState.FAILED
            log.warning("voice not fitted", fit=job.id, reason=error.message)
        except Exception:
            job.error = EngineError(f"The fit failed; the server's log has the cause under {job.id}.")
            job.state = FitState.FAILED
            log.exception("voice not fitted", fit=job.id)

    async def _fitted(self, job: FitJob, pcm: Pcm, rate: int, seed: int) -> FittedStyle:
        async with aclosing(self._fitting(self._settings, pcm, rate, seed)) as told:
            async for news in told:
                if isinstance(news, FittedStyle):
                    return news
                if _tenth(news) > _tenth(job):
                    log.info("fitting", fit=job.id, step=news.step, steps=news.steps, similarity=news.similarity)
                job.step, job.steps, job.similarity = news.step, news.steps, news.similarity
        raise EngineError("The fit ended without a result; the server's log has the cause.")

    async def _end(self, job: FitJob) -> None:
        if job.over or job.task is None:
            return
        job.task.cancel()
        await asyncio.gather(job.task, return_exceptions=True)
        if not job.over:  # it was cancelled before it had begun
            job.state = FitState.CANCELLED

    def _check_room(self) -> None:
        if sum(not job.over for job in self._jobs.values()) >= self._settings.max_fits:
            raise OverloadedError("As many fits as may wait do; try again later.", retry_after=_RETRY_SECONDS)

    def _forget_oldest(self) -> None:
        over = [job.id for job in self._jobs.values() if job.over]
        for job_id in over[: max(0, len(self._jobs) - _KEPT_JOBS)]:
            del self._jobs[job_id]
