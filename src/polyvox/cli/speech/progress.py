"""What somebody at a terminal sees of a speech that is made. Rich is loaded where it is shown, and nowhere else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
