"""Narrates a book in this process, with a progress bar; what is spoken stays on disk until the book is complete."""

import shutil
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from polyvox.books.manuscript import Manuscript
from polyvox.books.narration.narration import Narration, Speak
from polyvox.books.narration.options import NarrationOptions, NarrationProgress
from polyvox.books.narration.passage_check import CheckCounts
from polyvox.books.narration.plan_file import NarrationPlan, make_plan
from polyvox.cli.book.files import BookOutput
from polyvox.cli.speech.nearest_voice import offering_nearest
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.errors import ConflictError, NotFoundError
from polyvox.provenance.book_marks import book_tags
from polyvox.service.jobs.checked_narrator import CheckedNarrator
from polyvox.service.jobs.narrator import Narrator
from polyvox.service.jobs.proofreader import Proofreader
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.local_service import running_service
from polyvox.service.speech import SpeechService
from polyvox.service.voices.early_check import check_voice
from polyvox.service.voices.voices import VoiceService
from polyvox.voices.records import SHARED_OWNER

_MINUTE = 60


@dataclass(frozen=True, slots=True)
class BookJob:
    """A book to be narrated."""

    manuscript: Manuscript
    options: NarrationOptions
    output: BookOutput
    restart: bool = False


async def narrate_book(job: BookJob, settings: Settings) -> None:
    """Narrate and bind a book, or what is left of it."""
    console = Console(stderr=True)
    model = job.options.model or settings.default_model
    await check_voice(job.options.voice, SHARED_OWNER, model, Catalog.installed(), settings)
    async with AsyncExitStack() as stack:
        with console.status(f"Loading {model}") if console.is_terminal else nullcontext():
            service = await stack.enter_async_context(running_service(settings, hd=job.options.verify))
        voices = VoiceService.for_service(service, OperatorAccess())
        try:
            await _narrate(job, service, voices, console)
        finally:
            await voices.close()


async def _narrate(job: BookJob, service: SpeechService, voices: VoiceService, console: Console) -> None:
    narrator = Narrator(service, voices.resolver, job.options, owner=SHARED_OWNER, client="book", door="cli")
    if not job.options.voice and (fitting := narrator.default_voice(job.manuscript.language)):
        job = replace(job, options=replace(job.options, voice=fitting))
        narrator = Narrator(service, voices.resolver, job.options, owner=SHARED_OWNER, client="book", door="cli")
        console.print(f"The book is in {job.manuscript.language}, so {fitting} reads it.", highlight=False)
    plan = make_plan(job.manuscript, job.options)
    for voice in plan.voices:
        with offering_nearest(service, job.options.model, voice or job.options.voice):
            await narrator.check(voice)
    narration = _opened(job, plan)
    async with _speaking(plan, narrator, service) as speak:
        with _Display(console, narration) as display:
            await narration.narrate(speak, display.spoken)
            narrator_name = job.options.voice or service.registry.default_voice(
                service.registry.resolve(job.options.model)
            )
            provenance = book_tags(narration, service.settings)
            formats = replace(job.output.formats, narrator=narrator_name, provenance=provenance)
            files = await narration.bind(formats, service.executor, display.bound)
    for path in job.output.deliver(files):
        console.print(f"{path}", markup=False, highlight=False)
    if job.options.verify:
        console.print(checked(narration.progress.checks), highlight=False)
    shutil.rmtree(job.output.state)


@asynccontextmanager
async def _speaking(plan: NarrationPlan, narrator: Narrator, service: SpeechService) -> AsyncIterator[Speak]:
    """The `speak` of a narration; where it is verified, a language that no recogniser hears is refused first."""
    if not plan.options.verify:
        yield narrator.speak
        return
    proofreader = Proofreader.for_service(service)
    try:
        text = " ".join(passage.text for passage in plan.chapters[0].passages)
        for voice in plan.voices:
            await proofreader.check_language(narrator.language(voice, text))
        yield CheckedNarrator(narrator, proofreader).speak
    finally:
        await proofreader.close()


def _opened(job: BookJob, plan: NarrationPlan) -> Narration:
    """The narration of an interrupted run, or a new one; ConflictError where the former is of another book."""
    state = job.output.state
    try:
        narration = Narration.open(state)
    except NotFoundError:
        return Narration.create(state, job.manuscript, job.options)
    if narration.plan == plan and not job.restart:
        return narration
    if narration.progress.sentences_done and not job.restart:
        raise ConflictError(
            f"{state} holds a run with another text or other options; give the same ones, or add --restart."
        )
    shutil.rmtree(state)
    return Narration.create(state, job.manuscript, job.options)


class _Display:
    """The progress bar: percent, chapter, time left, and how much faster than real time the book is made."""

    def __init__(self, console: Console, narration: Narration) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[pace]}"),
        )
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._narration = narration
        self._began = time.monotonic()
        self._first = narration.progress
        self._task = self._progress.add_task(_chapter(narration, self._first), total=100.0, pace="")
        if self._first.sentences_done:
            console.print(f"Goes on at {self._first.percent:.1f} %.", highlight=False)

    def __enter__(self) -> "_Display":
        self._progress.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._progress.stop()

    def spoken(self, progress: NarrationProgress) -> None:
        """A sentence is spoken."""
        self._progress.update(
            self._task,
            completed=progress.percent,
            description=_chapter(self._narration, progress),
            pace=pace(self._first, progress, time.monotonic() - self._began),
            refresh=True,
        )

    def bound(self, share: float) -> None:
        """A share of the files is written."""
        self._progress.update(self._task, completed=100 * share, description="Binding", pace="")


def _chapter(narration: Narration, progress: NarrationProgress) -> str:
    title = narration.plan.chapters[progress.chapter - 1].title[:40].replace("[", "(")
    return f"{progress.chapter} of {progress.chapters} {title}".rstrip()


def checked(counts: CheckCounts) -> str:
    """The outcome of the checks in a sentence."""
    told = f"{counts.checked:,} sentences checked, {counts.respoken:,} respoken, {counts.remaining:,} still not right"
    return f"{told}, {counts.unchecked:,} not checked." if counts.unchecked else f"{told}."


def pace(first: NarrationProgress, now: NarrationProgress, seconds: float) -> str:
    """The speed at which the book is made, and the time that it will still take; `first` is where this run began."""
    done = now.chars_done - first.chars_done
    if not done or seconds <= 0:
        return ""
    left = seconds * (now.chars - now.chars_done) / done
    factor = (now.seconds_spoken - first.seconds_spoken) / seconds
    hours, minutes = divmod(round(left / _MINUTE), _MINUTE)
    remaining = f"{hours} h {minutes:02} min" if hours else f"{minutes} min" if minutes else f"{left:.0f} s"
    return f"{factor:.1f}x real time, {remaining} left"
