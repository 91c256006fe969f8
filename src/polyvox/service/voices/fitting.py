"""Fit voices to recordings as jobs: one at a time, each in a worker process that can be killed at any moment."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from uuid import uuid4

import structlog

from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.errors import (
    EngineError,
    NotFoundError,
    NotServedError,
    OverloadedError,
    PolyvoxError,
)
from polyvox.extras import TORCH, install_hint
from polyvox.service.keys.operations import Operation
from polyvox.service.voices.fit_worker import FitStep, fit_in_process, installed_fitting
from polyvox.service.voices.voices import Transcribe, VoiceService
from polyvox.types import Pcm
from polyvox.voices.fitted import FittedStyle
from polyvox.voices.records import VoiceDetails, VoiceRecord
from polyvox.voices.references import InlineVoice, UrlVoice

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_RETRY_SECONDS = 60.0
_KEPT_JOBS = 100


def check_possible(settings: Settings) -> None:
    """Raise the typed error where this installation cannot fit voices at all."""
    if not TORCH.installed:
        raise NotServedError(f"Fitting a voice needs PyTorch; install it with: {install_hint('torch')}")
    for name in installed_fitting().bundles:
        open_bundle(name, settings.models_dir)


class FitState(StrEnum):
    """The state of a fit. The last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(slots=True)
class FitJob:
    """One fit. `similarity` is that of the last step's sentences, and at the end that of held-out sentences.

    `steps` is 0 until the worker has started and knows how many there will be.
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
    """Number of tenths of the steps that are done: the log has a line for each."""
    return 10 * progress.step // progress.steps if progress.steps else 0


class FitRunner(Protocol):
    """Fits a style to a recording: yields its steps, and last the style. `fit_worker.fit_in_process` is one."""

    def __call__(self, settings: Settings, pcm: Pcm, rate: int, seed: int) -> AsyncGenerator[FitStep | FittedStyle]: ...


class FittingService:
    """The fits of one server. They live in memory: a server that stops drops its unfinished fits."""

    def __init__(
        self,
        settings: Settings,
        voices: VoiceService,
        run: FitRunner = fit_in_process,
        check: Callable[[Settings], None] = check_possible,
    ) -> None:
        self._settings = settings
        self._voices = voices
        self._run_fit = run
        self._check = check
        self._jobs: dict[str, FitJob] = {}
        self._running = asyncio.Lock()

    async def close(self) -> None:
        """Cancel all unfinished fits."""
        for job in list(self._jobs.values()):
            await self._cancel(job)

    async def start(
        self, reference: InlineVoice | UrlVoice, details: VoiceDetails, owner: str, *, seed: int = 0
    ) -> FitJob:
        """Check a recording and queue its fit; raises whatever can be refused before it runs."""
        self._voices.access.require(Operation.FIT_VOICES, owner)
        details = self._voices.consent.checked(details, always=True)
        await asyncio.to_thread(self._check, self._settings)
        self._check_queue()
        taken = await self._voices.take(reference, details, owner)
        self._check_queue()
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
        self._voices.access.require(Operation.READ_FITS, owner)
        job = self._jobs.get(job_id)
        if job is None or job.owner != owner:
            raise NotFoundError("There is no fit of this id; old ones are forgotten.", field="id")
        return job

    def jobs(self, owner: str) -> list[FitJob]:
        """All fits of this owner's, the newest first."""
        self._voices.access.require(Operation.READ_FITS, owner)
        return [job for job in reversed(self._jobs.values()) if job.owner == owner]

    async def cancel(self, job_id: str, owner: str) -> FitJob:
        """Cancel a fit at once; nothing of it is kept. A finished one stays as it is."""
        self._voices.access.require(Operation.FIT_VOICES, owner)
        job = self.get(job_id, owner)
        await self._cancel(job)
        return job

    async def finished(self, job: FitJob, on_progress: Callable[[FitJob], None], every: float = 0.2) -> VoiceRecord:
        """Wait for a fit, and call back every so many seconds; raises the fit's error where it fails."""
        assert job.task is not None
        while not job.over:
            on_progress(job)
            await asyncio.wait([job.task], timeout=every)
        on_progress(job)
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
            async with self._running:
                job.state = FitState.RUNNING
                log.info("fit started", fit=job.id, recording_seconds=round(len(pcm) / rate, 1))
                style = await self._fit(job, pcm, rate, seed)
            registered = await self._voices.register(
                reference, details, job.owner, transcribe=Transcribe.NONE, fitted=style
            )
            job.voice, job.warnings = registered.record, registered.warnings
            job.similarity = style.similarity
            job.state = FitState.DONE
            log.info("fit done", fit=job.id, seconds=round(time.monotonic() - began, 1), similarity=style.similarity)
        except asyncio.CancelledError:
            job.state = FitState.CANCELLED
            log.info("fit cancelled", fit=job.id, step=job.step)
            raise
        except PolyvoxError as error:
            job.error, job.state = error, FitState.FAILED
            log.warning("fit failed", fit=job.id, reason=error.message)
        except Exception:
            job.error = EngineError(f"The fit failed; the server's log has the cause under {job.id}.")
            job.state = FitState.FAILED
            log.exception("fit failed", fit=job.id)

    async def _fit(self, job: FitJob, pcm: Pcm, rate: int, seed: int) -> FittedStyle:
        async with aclosing(self._run_fit(self._settings, pcm, rate, seed)) as progress:
            async for event in progress:
                if isinstance(event, FittedStyle):
                    return event
                if _tenth(event) > _tenth(job):
                    log.info("fitting", fit=job.id, step=event.step, steps=event.steps, similarity=event.similarity)
                job.step, job.steps, job.similarity = event.step, event.steps, event.similarity
        raise EngineError("The fit ended without a result; the server's log has the cause.")

    async def _cancel(self, job: FitJob) -> None:
        if job.over or job.task is None:
            return
        job.task.cancel()
        await asyncio.gather(job.task, return_exceptions=True)
        if not job.over:  # it was cancelled before it had begun
            job.state = FitState.CANCELLED

    def _check_queue(self) -> None:
        if sum(not job.over for job in self._jobs.values()) >= self._settings.max_fits:
            raise OverloadedError("The queue of fits is full; try again later.", retry_after=_RETRY_SECONDS)

    def _forget_oldest(self) -> None:
        over = [job.id for job in self._jobs.values() if job.over]
        for job_id in over[: max(0, len(self._jobs) - _KEPT_JOBS)]:
            del self._jobs[job_id]
