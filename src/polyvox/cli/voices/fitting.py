"""`polyvox voices fit`: fit a voice to a recording and show the progress."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from polyvox.cli.voices.registered_voices import read_recording
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.local_service import build_service
from polyvox.service.voices.fitting import FitJob, FittingService
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.records import VoiceDetails, VoiceRecord
from polyvox.voices.references import InlineVoice


def fit(settings: Settings, file: Path, details: VoiceDetails, owner: str, seed: int) -> VoiceRecord:
    """Fit a voice as a server would, and wait for it; an interrupted fit leaves nothing behind."""
    data = read_recording(file, settings.prompt_max_bytes)

    async def fitted() -> VoiceRecord:
        voices = VoiceService.for_service(build_service(settings, Catalog.installed().factories), OperatorAccess())
        fits = FittingService(settings, voices)
        try:
            job = await fits.start(InlineVoice(data), details, owner, seed=seed)
            with _shown_progress() as show:
                return await fits.finished(job, show)
        finally:
            await fits.close()
            await voices.close()

    return asyncio.run(fitted())


@contextmanager
def _shown_progress() -> Iterator[Callable[[FitJob], None]]:
    """A bar on a terminal; lines where standard error is a file or a log, so that a long fit shows that it moves."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _ProgressLines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _ProgressBar(progress)


class _ProgressBar:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("loading", total=None)

    def __call__(self, job: FitJob) -> None:
        what = "loading" if job.similarity is None else f"similarity {job.similarity:.2f}"
        self._progress.update(self._task, total=job.steps or None, completed=job.step, description=what)


class _ProgressLines:
    """One line when loading begins, and one for every tenth of the steps."""

    def __init__(self) -> None:
        self._tenth: int | None = None

    def __call__(self, job: FitJob) -> None:
        tenth = 10 * job.step // job.steps if job.steps else 0
        if tenth != self._tenth:
            self._tenth = tenth
            similarity = "" if job.similarity is None else f", similarity {job.similarity:.2f}"
            where = f"step {job.step} of {job.steps}{similarity}" if job.step else "loading"
            print(f"fit: {where}", file=sys.stderr, flush=True)
