"""FailedContexts: the contexts of a socket that failed while their client was still sending."""

from polyvox.api.dialects.cartesia.events import Event

_MAX_KEPT = 256


class FailedContexts:
    """Remembers how contexts failed until their clients end them.

    What a client sent before it heard of the failure would otherwise open the context anew and be spoken from the
    middle of the text.
    """

    def __init__(self) -> None:
        self._errors: dict[str, Event] = {}

    def add(self, context_id: str, error: Event) -> None:
        """Remember a failure; the oldest of very many is forgotten."""
        self._errors[context_id] = error
        if len(self._errors) > _MAX_KEPT:
            del self._errors[next(iter(self._errors))]

    def answer(self, context_id: str, *, goes_on: bool) -> Event | None:
        """The error to answer a message with; None for a context that has not failed, or that this message ends."""
        if goes_on:
            return self._errors.get(context_id)
        self._errors.pop(context_id, None)
        return None
