"""Progress of commands where nobody looks: lines on standard error, and none for quick work."""

import pytest

from polyvox.cli import progress


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_long_work_says_how_far_it_is_every_two_seconds(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.counted_progress("Evaluating", 5) as advance:
        for _ in range(5):
            clock.now += 1.0
            advance()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == ["Evaluating: 2 of 5", "Evaluating: 4 of 5"]


def test_quick_work_says_nothing(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.counted_progress("Evaluating", 1000) as advance:
        for _ in range(1000):
            clock.now += 0.001
            advance()
    assert capsys.readouterr().err == ""


def test_what_is_loaded_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.loading_notice("Loading wren"):
        assert capsys.readouterr().err == "Loading wren ...\n"


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with progress.counted_progress("Evaluating", 3) as advance:
        advance()
    assert "Evaluating" in capsys.readouterr().err
