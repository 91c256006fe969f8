"""Progress reporting of long work on files."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as RichBar
from rich.table import Column

_BAR_WIDTH = 20

Advance = Callable[[int], None]
"""Called with the bytes done since the last call; a negative number takes back what has to be done again."""


class Progress(Protocol):
    """Shows the progress of tasks."""

    def task(self, label: str, total: int) -> AbstractContextManager[Advance]:
        """Begin a task of `total` bytes."""


class RichProgress:
    """A bar with bytes, speed and time left; where there is no terminal, one line when a task is done."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)

    @contextmanager
    def task(self, label: str, total: int) -> Iterator[Advance]:
        label_column = Column(ratio=1, no_wrap=True, overflow="ellipsis")
        columns = (
            TextColumn("{task.description}", markup=False, table_column=label_column),
            BarColumn(bar_width=_BAR_WIDTH),
            DownloadColumn(table_column=Column(no_wrap=True)),
            TransferSpeedColumn(table_column=Column(no_wrap=True)),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
        )
        with RichBar(*columns, console=self._console, expand=True) as bar:
            task = bar.add_task(label, total=total)
            try:
                yield lambda count: bar.advance(task, count)
                bar.update(task, completed=total)
            except BaseException:
                bar.live.transient = True  # what failed leaves no half-filled bar behind
                raise
