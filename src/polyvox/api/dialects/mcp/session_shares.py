"""SessionShares: the MCP sessions and calls of each client, of which none may have more than its share."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from starlette.types import Message, Send

from polyvox.errors import OverloadedError, RefusalReason

_SESSION_ID = b"mcp-session-id"
_REFUSED = 400
_RETRY_SECONDS = 1.0


@dataclass(slots=True)
class _Session:
    """A session that is open as far as its requests tell; `requests` are those under way."""

    client: str
    used: float
    requests: int = 0


class SessionShares:
    """Counts what clients have open, by their requests: the protocol's library tells of no session that ends.

    A client is a key, or an address where there are no keys. It may have `sessions` at once and `calls` at once. A
    session that had no request under way for `idle_seconds` has been ended by the library.
    """

    def __init__(
        self, sessions: int, calls: int, idle_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most_sessions = sessions
        self._most_calls = calls
        self._idle_seconds = idle_seconds
        self._clock = clock
        self._sessions: dict[str, _Session] = {}
        self._opening: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()

    @contextmanager
    def opening(self, client: str, send: Send) -> Iterator[Send]:
        """Count the session that a request opens, as its answer tells; `OverloadedError` above the client's share."""
        self._forget_ended()
        open_now = sum(session.client == client for session in self._sessions.values()) + self._opening[client]
        if open_now >= self._most_sessions:
            raise _over_share(f"You have {open_now} MCP sessions open, your share of this server's; end some.")

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < _REFUSED:
                for name, value in message["headers"]:
                    if name.lower() == _SESSION_ID:
                        self._sessions[value.decode("latin-1")] = _Session(client, self._clock())
                        counted.close()
            await send(message)

        with ExitStack() as counted:
            counted.enter_context(_counted(self._opening, client))
            yield noting

    @contextmanager
    def using(self, session_id: str, client: str) -> Iterator[None]:
        """Count a request of a session, which is not idle meanwhile."""
        session = self._sessions.get(session_id)
        if session is None or session.client != client:
            yield
            return
        session.requests += 1
        try:
            yield
        finally:
            session.requests -= 1
            session.used = self._clock()

    def ended(self, session_id: str, client: str) -> None:
        """Forget a session that its client has ended."""
        session = self._sessions.get(session_id)
        if session is not None and session.client == client:
            del self._sessions[session_id]

    @contextmanager
    def calling(self, client: str) -> Iterator[None]:
        """Count a call until it is answered; `OverloadedError` above the client's share."""
        if self._calls[client] >= self._most_calls:
            raise _over_share(f"You have {self._calls[client]} calls under way, your share of this server's; wait.")
        with _counted(self._calls, client):
            yield

    def _forget_ended(self) -> None:
        until = self._clock() - self._idle_seconds
        for session_id in [each for each, session in self._sessions.items() if not session.requests]:
            if self._sessions[session_id].used <= until:
                del self._sessions[session_id]


@contextmanager
def _counted(counts: Counter[str], client: str) -> Iterator[None]:
    counts[client] += 1
    try:
        yield
    finally:
        counts[client] -= 1
        if not counts[client]:
            del counts[client]


def _over_share(message: str) -> OverloadedError:
    return OverloadedError(message, retry_after=_RETRY_SECONDS, reason=RefusalReason.SHARE)
