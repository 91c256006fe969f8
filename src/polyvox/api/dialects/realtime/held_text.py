"""Memory that the contexts of one socket take, counted with the bodies of requests that are not yet answered."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from polyvox.api.dialects.realtime.messages import Start
from polyvox.service.admission.pending_bodies import PendingBody

_CONTEXT_BYTES = 8_192
"""Of a context without text."""
_FRAGMENT_BYTES = 128
_CHAR_BYTES = 2
_FLUSH_BYTES = 2_048


class HeldText:
    """The text that all open contexts of a socket hold; `OverloadedError` where the server has no room for more.

    Each block adds what it is named for, and takes it back where the block fails.
    """

    def __init__(self, body: PendingBody) -> None:
        self._body = body
        self._sizes: Counter[str] = Counter()

    @contextmanager
    def context(self, start: Start) -> Iterator[None]:
        """A new context, with the recording that its voice may be."""
        given = (start.voice, start.prompt_text, start.instructions)
        with self._held(start.context, _CONTEXT_BYTES + sum(len(text) for text in given if text is not None)):
            yield

    @contextmanager
    def text(self, context: str, text: str) -> Iterator[None]:
        with self._held(context, _FRAGMENT_BYTES + _CHAR_BYTES * len(text)):
            yield

    @contextmanager
    def flush(self, context: str) -> Iterator[None]:
        with self._held(context, _FLUSH_BYTES):
            yield

    def flushed(self, context: str) -> None:
        """A flush has been answered."""
        self._add(context, -_FLUSH_BYTES)

    def forget(self, context: str) -> None:
        """The context has ended."""
        del self._sizes[context]
        self._body.hold(self._sizes.total())

    def close(self) -> None:
        """The socket is closed."""
        self._body.close()

    @contextmanager
    def _held(self, context: str, size: int) -> Iterator[None]:
        self._add(context, size)
        try:
            yield
        except BaseException:
            self._add(context, -size)
            raise

    def _add(self, context: str, size: int) -> None:
        self._body.hold(self._sizes.total() + size)
        self._sizes[context] += size
