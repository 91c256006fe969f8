"""A voice that a request brings along."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from polyvox.engines.base import Engine
from polyvox.types import PreparedVoice


@dataclass(frozen=True, slots=True)
class Clone:
    """A voice that is known but not yet prepared; `label` is what logs call it.

    `prepare` is called when the request's turn has come, with the engine that will speak. A `styled` voice was fitted
    for that engine, which need not clone any other.
    """

    label: str
    prepare: Callable[[Engine], Awaitable[PreparedVoice]]
    styled: bool = False
