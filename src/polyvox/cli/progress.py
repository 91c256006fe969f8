"""Progress of a command on standard error: a bar at a terminal, plain lines in a log.

Rich is loaded where it is shown, and nowhere else.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LINE_SECONDS = 2.0
"""The least time between two lines in a log."""

Report = Callable[[float, int | None], None]
"""Takes the seconds of speech so far, and the characters that are spoken by then, where that is known."""


@contextmanager
def waiting_notice(words: str, *, shown: bool) -> Iterator[None]:
    """Show what is waited for, until the block ends."""
    if not shown:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield


@contextmanager
def speaking_progress(chars: int, *, shown: bool) -> Iterator[Report]:
    """A bar of the characters that are spoken, which the yielded function moves."""
    if not shown:
        yield lambda seconds, spoken_chars: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Speaking", total=None)

        def report(seconds: float, spoken_chars: int | None) -> None:
            progress.update(task, description=f"{seconds:.0f} s of speech")
            if spoken_chars is not None:
                progress.update(task, total=chars, completed=spoken_chars)

        yield report


@contextmanager
def counted_progress(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Progress through so many things, of which each call of the yielded function counts one.

    Where nobody looks there is a line every few seconds.
    """
    if not sys.stderr.isatty():
        yield _ProgressLines(label, total).advance
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)


class _ProgressLines:
    """A line at most every few seconds, so that quick work says nothing."""

    def __init__(self, label: str, total: int) -> None:
        self._label = label
        self._total = total
        self._done = 0
        self._said = time.monotonic()

    def advance(self) -> None:
        self._done += 1
        if time.monotonic() - self._said >= LINE_SECONDS:
            self._said = time.monotonic()
            print(f"{self._label}: {self._done} of {self._total}", file=sys.stderr, flush=True)


@contextmanager
def loading_notice(words: str) -> Iterator[None]:
    """Say what is being loaded: until the block ends at a terminal, as a line in a log."""
    watched = sys.stderr.isatty()
    if not watched:
        print(f"{words} ...", file=sys.stderr, flush=True)
    with waiting_notice(words, shown=watched):
        yield
