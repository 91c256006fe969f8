"""A narration: a book being spoken into a folder, which holds all of its state."""

import asyncio
import fcntl
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import structlog

from polyvox.books.manuscript import Manuscript
from polyvox.books.narration.binder import bind_steps
from polyvox.books.narration.journal import ChapterJournal, JournalEntry, SpokenPassage
from polyvox.books.narration.options import BookFormats, BoundFile, NarrationOptions, NarrationProgress
from polyvox.books.narration.passage_check import NO_CHECKS, CheckCounts, PassageCheck
from polyvox.books.narration.plan import CheckPassage, Passage, check_passages, corrected
from polyvox.books.narration.plan_file import PLAN, NarrationPlan, make_plan, read_plan, write_plan
from polyvox.books.narration.trimming import joined_passage
from polyvox.errors import ConflictError, InvalidRequestError, SilentTextError
from polyvox.types import AudioChunk

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")

Speak = Callable[[Passage], AsyncIterator[AudioChunk | PassageCheck]]
"""Speaks one passage, and says what was heard of it where it was checked; the same passage gives the same audio."""

AHEAD = 4
"""Passages that are spoken at once."""


class Executor(Protocol):
    """Runs blocking calls off the event loop."""

    async def run(self, fn: Callable[[], T]) -> T: ...


@dataclass(slots=True)
class _Position:
    """The end of what is spoken: the chapter, counted from 0, its last entry, and the length of its journal."""

    chapter: int = 0
    last: JournalEntry | None = None
    journal_end: int = 0
    in_chapter: int = 0
    done: int = 0
    chars: int = 0
    seconds: float = 0.0
    sample_rate: int | None = None
    channels: int | None = None
    checks: CheckCounts = NO_CHECKS


class Narration:
    """A book being spoken. A narration that was killed goes on behind the last sentence that is on disk.

    One process at a time may narrate a folder; others may open it and look at its progress.
    """

    def __init__(self, folder: Path, plan: NarrationPlan) -> None:
        self.folder = folder
        self.plan = plan
        self._sentences = plan.sentences
        self._chars = plan.chars
        self._position = self._found()

    @classmethod
    def create(
        cls, folder: Path, manuscript: Manuscript, options: NarrationOptions, check: CheckPassage = lambda _: None
    ) -> "Narration":
        """Plan a narration in a folder, which is made; ConflictError where there is one already. Blocks.

        `check` raises an InvalidRequestError for a passage that will not be spoken.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / PLAN).exists():
            raise ConflictError(f"{folder} already holds a narration; open it, or use another folder.")
        plan = make_plan(manuscript, options)
        check_passages(plan.chapters, check)
        write_plan(folder, plan, manuscript.cover)
        return cls(folder, plan)

    @classmethod
    def open(cls, folder: Path) -> "Narration":
        """The narration in a folder; NotFoundError where there is none. Blocks."""
        return cls(folder, read_plan(folder))

    @property
    def created(self) -> float:
        """The time at which it was planned, in seconds since the epoch."""
        return (self.folder / PLAN).stat().st_mtime

    @property
    def progress(self) -> NarrationProgress:
        """The part of it that is spoken and on disk."""
        at = self._position
        return NarrationProgress(
            sentences_done=at.done,
            sentences=self._sentences,
            chapter=min(at.chapter + 1, len(self.plan.chapters)),
            chapters=len(self.plan.chapters),
            seconds_spoken=at.seconds,
            chars_done=at.chars,
            chars=self._chars,
            checks=at.checks,
        )

    @property
    def next_passage(self) -> Passage | None:
        """The first passage that is not spoken yet; None at the end."""
        return next(self._remaining(), None)

    def correct(self, index: int, text: str, check: CheckPassage = lambda _: None) -> None:
        """Put another text in place of a passage that is not spoken yet; what is spoken stays. Blocks."""
        with self._locked():
            self._position = self._found()
            if not 0 <= index < self._sentences:
                raise InvalidRequestError(f"The sentences are 1 to {self._sentences}.", field="sentence")
            if index < self._position.done:
                raise InvalidRequestError(
                    f"Sentence {index + 1} is spoken already; {self._position.done + 1} is the first that is not.",
                    field="sentence",
                )
            plan = replace(self.plan, chapters=corrected(self.plan.chapters, index, text, self.plan.options))
            check_passages(plan.chapters, check)
            write_plan(self.folder, plan, None)
            self.plan, self._sentences, self._chars = plan, plan.sentences, plan.chars

    async def narrate(
        self,
        speak: Speak,
        on_progress: Callable[[NarrationProgress], None] | None = None,
        *,
        ahead: int = AHEAD,
    ) -> None:
        """Speak what is not spoken yet; a cancelled or failed call can be made again.

        Up to `ahead` passages are spoken at once; they are kept in their order.
        """
        with self._locked():
            self._position = await asyncio.to_thread(self._found)
            waiting = self._remaining()
            speaking: deque[tuple[Passage, asyncio.Task[SpokenPassage | None]]] = deque()
            try:
                while True:
                    while len(speaking) < ahead and (passage := next(waiting, None)) is not None:
                        speaking.append((passage, asyncio.create_task(_spoken(speak, passage))))
                    if not speaking:
                        return
                    passage, task = speaking[0]
                    spoken = await task
                    speaking.popleft()
                    await _unbroken(asyncio.to_thread(self._keep, passage, spoken))
                    if on_progress is not None:
                        on_progress(self.progress)
            finally:
                await _cancelled([task for _, task in speaking])

    async def bind(
        self,
        formats: BookFormats,
        executor: Executor,
        on_progress: Callable[[float], None] | None = None,
    ) -> tuple[BoundFile, ...]:
        """Make the files of a finished narration, in its folder `bound`; `on_progress` is told the share that is done.

        The same narration and formats always give the same bytes.
        """
        if not self.progress.done:
            raise ConflictError("The book is not spoken to its end yet; narrate it first.")
        steps = bind_steps(self.folder, self.plan, formats)
        try:
            while True:
                step = await _unbroken(executor.run(lambda: next(steps, None)))
                if step is None:
                    return ()
                if step.files is not None:
                    return step.files
                if on_progress is not None:
                    on_progress(step.share)
        finally:
            await _unbroken(executor.run(steps.close))

    def _remaining(self) -> Iterator[Passage]:
        at, first = self._position, self._position.in_chapter
        for chapter in self.plan.chapters[at.chapter :]:
            yield from chapter.passages[first:]
            first = 0

    def _journal(self, chapter: int) -> ChapterJournal:
        return ChapterJournal(self.folder, chapter + 1)

    def _found(self) -> _Position:
        """The position at which the journals end; what stands behind a gap in them does not count."""
        at = _Position()
        for number, chapter in enumerate(self.plan.chapters):
            at.chapter, at.last, at.journal_end, at.in_chapter = number, None, 0, 0
            for entry, journal_end in self._journal(number).scan():
                if at.in_chapter == len(chapter.passages) or entry.index != at.done:
                    break
                self._pass(at, entry, len(chapter.passages[at.in_chapter].text), journal_end)
            if at.in_chapter < len(chapter.passages):
                return at
        at.chapter = len(self.plan.chapters)
        return at

    def _pass(self, at: _Position, entry: JournalEntry, chars: int, journal_end: int) -> None:
        at.last, at.journal_end = entry, journal_end
        at.in_chapter += 1
        at.done += 1
        at.chars += chars
        at.seconds += entry.seconds
        if at.sample_rate is None and entry.samples:
            at.sample_rate, at.channels = entry.sample_rate, entry.channels
        if entry.check is not None:
            at.checks = at.checks.adding(entry.check)

    def _keep(self, passage: Passage, spoken: SpokenPassage | None) -> None:
        """Put a passage on disk; the whole book has the layout of its first one."""
        at = self._position
        fitting = (spoken or SpokenPassage.silent()).fitted(at.sample_rate, at.channels)
        entry, journal_end = self._journal(at.chapter).append(passage.index, fitting, at.last, at.journal_end)
        self._pass(at, entry, len(passage.text), journal_end)
        if at.in_chapter == len(self.plan.chapters[at.chapter].passages):
            at.chapter += 1
            at.last, at.journal_end, at.in_chapter = None, 0, 0

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.folder / "lock").open("wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConflictError(f"{self.folder} is being narrated by another process; wait for it.") from None
            yield


async def _spoken(speak: Speak, passage: Passage) -> SpokenPassage | None:
    """The audio of a passage; None where nothing in it can be spoken after all."""
    chunks: list[AudioChunk] = []
    check: PassageCheck | None = None
    try:
        async with aclosing(speak(passage)) as speech:  # type: ignore[type-var]
            async for part in speech:
                if isinstance(part, PassageCheck):
                    check = part
                else:
                    chunks.append(part)
    except SilentTextError:
        log.warning("passage without words", index=passage.index)
        return None
    return replace(joined_passage(chunks, passage.text), check=check)


async def _unbroken(work: Coroutine[Any, Any, T]) -> T:
    """Wait for work that must not be abandoned; a caller that is cancelled meanwhile is so when it has ended."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def _cancelled(tasks: "list[asyncio.Task[SpokenPassage | None]]") -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.exception()
