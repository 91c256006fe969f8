"""Memory that the texts of one socket take, counted with the bodies of requests that are not yet answered."""

from collections import Counter

from polyvox.service.pending_bodies import PendingBody

CONTEXT_BYTES = 8_192
"""Of a context without text."""
FRAGMENT_BYTES = 128
FLUSH_BYTES = 2_048
_CHAR_BYTES = 2


class HeldText:
    """The texts of all open contexts of a socket; `OverloadedError` where the server has no room for more."""

    def __init__(self, body: PendingBody) -> None:
        self._body = body
        self._sizes: Counter[str] = Counter()

    def add_context(self, context: str) -> None:
        self._add(context, CONTEXT_BYTES)

    def add_text(self, context: str, text: str) -> None:
        self._add(context, FRAGMENT_BYTES + _CHAR_BYTES * len(text))

    def add_flush(self, context: str) -> None:
        self._add(context, FLUSH_BYTES)

    def flushed(self, context: str) -> None:
        """A flush has been answered."""
        self._add(context, -FLUSH_BYTES)

    def forget(self, context: str) -> None:
        """The context has ended."""
        del self._sizes[context]
        self._body.hold(self._sizes.total())

    def close(self) -> None:
        """The socket is closed."""
        self._body.close()

    def _add(self, context: str, size: int) -> None:
        self._body.hold(self._sizes.total() + size)
        self._sizes[context] += size
