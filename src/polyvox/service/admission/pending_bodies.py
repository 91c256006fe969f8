"""One memory budget for all request bodies that are being received or wait for their answer."""

from collections import Counter

from polyvox.errors import OverloadedError
from polyvox.service.telemetry.metrics import Metrics

FREE_BYTES = 65_536
"""Of any body: never refused, so that a flood of recordings does not keep texts out. The limit on connections bounds
what that may come to."""
PIECE_BYTES = 64
"""Memory that each piece of a body takes besides its bytes."""

_SHARE = 2  # one address may have half
_RETRY_SECONDS = 5.0


class PendingBodies:
    """The budget of one server; no client address may take more than half of it."""

    def __init__(self, limit: int, metrics: Metrics) -> None:
        self._limit = limit
        self._metrics = metrics
        self._used = 0
        self._by_client: Counter[str] = Counter()
        metrics.watch_bodies(lambda: self._used)

    @property
    def used(self) -> int:
        """Bytes held now."""
        return self._used

    def open(self, client: str | None) -> "PendingBody":
        """A body that begins to arrive; `client` is the address to count it under, if any."""
        return PendingBody(self, client)

    def change(self, client: str | None, held: int, wanted: int) -> None:
        """Let a body hold `wanted` bytes in place of `held`; OverloadedError where there is no room."""
        more = wanted - held
        if more > 0 and wanted > FREE_BYTES:
            self._check(client, more)
        self._used += more
        if client is not None:
            self._by_client[client] += more
            if not self._by_client[client]:
                del self._by_client[client]

    def count_refusal(self, limit: str) -> None:
        """Count a body that is refused because of a limit."""
        self._metrics.body_refused(limit)

    def _check(self, client: str | None, more: int) -> None:
        if client is not None and self._by_client[client] + more > self._limit // _SHARE:
            self.count_refusal("address")
            raise OverloadedError(
                "Too many large requests from your address are under way; send fewer at a time.",
                retry_after=_RETRY_SECONDS,
            )
        if self._used + more > self._limit:
            self.count_refusal("total")
            raise OverloadedError(
                "The server is receiving too many large requests; try again in a moment.", retry_after=_RETRY_SECONDS
            )


class PendingBody:
    """The memory of one body."""

    def __init__(self, bodies: PendingBodies, client: str | None) -> None:
        self._bodies = bodies
        self._client = client
        self.held = 0

    def hold(self, size: int) -> None:
        """Have this many bytes in memory from now on; OverloadedError where there is no room for them."""
        self._bodies.change(self._client, self.held, size)
        self.held = size

    def count_refusal(self, limit: str) -> None:
        """Count this body as refused because of a limit."""
        self._bodies.count_refusal(limit)

    def close(self) -> None:
        """Give back what it holds."""
        self.hold(0)
