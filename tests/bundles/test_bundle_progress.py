import io

import pytest
from rich.console import Console

from polyvox.bundles.progress import RichProgress


@pytest.fixture
def screen() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def progress(screen: io.StringIO) -> RichProgress:
    return RichProgress(Console(file=screen, width=100, force_terminal=False))


def test_a_finished_task_shows_its_name_and_its_bytes(progress, screen):
    with progress.task("Fetching kokoro", 2_000_000) as advance:
        advance(500_000)
        advance(1_500_000)
    shown = screen.getvalue()
    assert "Fetching kokoro" in shown
    assert "2.0/2.0 MB" in shown


def test_a_task_that_needed_fewer_bytes_than_feared_ends_full(progress, screen):
    with progress.task("Fetching kokoro", 2_000_000) as advance:
        advance(1_000_000)
    assert "2.0/2.0 MB" in screen.getvalue()


def test_a_task_that_failed_leaves_no_bar(screen):
    progress = RichProgress(Console(file=screen, width=100, force_terminal=True))

    def fail() -> None:
        with progress.task("Fetching kokoro", 2_000_000) as advance:
            advance(1_000_000)
            raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        fail()
    last_line = screen.getvalue().rstrip().rsplit("\n", 1)[-1]
    assert last_line.endswith("\x1b[2K")


def test_a_long_name_is_cut_and_the_numbers_stay_whole(screen):
    progress = RichProgress(Console(file=screen, width=80, force_terminal=False))
    with progress.task("Fetching npm @somebody-with-a-long-name/and-a-long-package@10.20.30", 114_200_000) as advance:
        advance(114_200_000)
    assert "114.2/114.2 MB" in screen.getvalue()


def test_text_in_square_brackets_is_shown_as_it_is(progress, screen):
    with progress.task("Reading /models/[old]", 10) as advance:
        advance(10)
    assert "[old]" in screen.getvalue()
