"""Precedence of the stream that a task works for over the streams of other clients."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Precedence:
    """One object for all tasks of a stream, so that they learn at once of a change.

    `goes_first` is true until the first audio of a stream whose client has no other, while another client's streams
    fill the engine. `makes_way` tells whether the stream is of a client that has more than its share, and can stand
    still for a moment. Nobody listens to a `background` stream while it is spoken.
    """

    goes_first: bool = False
    background: bool = False
    makes_way: Callable[[], bool] = lambda: False


_current: ContextVar[Precedence | None] = ContextVar("polyvox_precedence", default=None)


def current_precedence() -> Precedence:
    """That of the stream the task works for; outside of one, that of a stream like any other."""
    return _current.get() or Precedence()


def enter_precedence(precedence: Precedence) -> None:
    """Let the task, and all that it starts from now on, work for a stream."""
    _current.set(precedence)
