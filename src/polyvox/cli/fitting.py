"""`polyvox voices fit`: a voice of Kokoro's fitted to a recording, with a bar to watch it by."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from polyvox.cli.local_service import build_service
from polyvox.cli.registered_voices import read_recording
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.service.fitting import FitJob, FittingService
from polyvox.service.voices import VoiceService
from polyvox.voices.records import VoiceDetails, VoiceRecord
from polyvox.voices.references import InlineVoice


def fit(settings: Settings, file: Path, details: VoiceDetails, owner: str, seed: int) -> VoiceRecord:
    """Fit a voice as a server would, and wait for it; whoever interrupts leaves nothing behind."""
    data = read_recording(file, settings.prompt_max_bytes)

    async def fitted() -> VoiceRecord:
        voices = VoiceService.for_service(build_service(settings, Catalog.installed().factories))
        fits = FittingService(settings, voices)
        try:
            job = await fits.start(InlineVoice(data), details, owner, seed=seed)
            with _bar() as bar:
                return await fits.finished(job, bar)
        finally:
            await fits.close()
            await voices.close()

    return asyncio.run(fitted())


class _Bar:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("loading", total=None)

    def __call__(self, job: FitJob) -> None:
        what = "loading" if job.similarity is None else f"similarity {job.similarity:.2f}"
        self._progress.update(self._task, total=job.steps or None, completed=job.step, description=what)


@contextmanager
def _bar() -> Iterator[_Bar]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield _Bar(progress)
