"""FailedContexts: the contexts of a socket that failed while their client was still sending."""

import time
from collections.abc import Callable

from polyvox.api.dialects.cartesia.events import Event

_MAX_KEPT = 256
_SECONDS = 5.0
"""Time after which a message comes from a client that has heard of the failure, and means a context anew."""


class FailedContexts:
    """Remembers how contexts failed until their clients end or cancel them, for a few seconds at most.

    What a client sent before it heard of the failure would otherwise open the context anew and be spoken from the
    middle of the text.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._errors: dict[str, tuple[Event, float]] = {}

    def add(self, context_id: str, error: Event) -> None:
        """Remember a failure; the oldest of very many is forgotten."""
        self._errors.pop(context_id, None)
        self._errors[context_id] = error, self._clock() + _SECONDS
        if len(self._errors) > _MAX_KEPT:
            del self._errors[next(iter(self._errors))]

    def forget(self, context_id: str) -> None:
        """Let the context be opened anew."""
        self._errors.pop(context_id, None)

    def answer(self, context_id: str, *, goes_on: bool) -> Event | None:
        """The error to answer a message with; None for a context that has not failed, or that this message ends."""
        error, until = self._errors.get(context_id, (None, 0.0))
        if goes_on and error is not None and self._clock() < until:
            return error
        self.forget(context_id)
        return None
