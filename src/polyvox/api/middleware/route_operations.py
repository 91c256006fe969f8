"""The operations of routes, as the doors declare them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from starlette.types import Scope

from polyvox.api.paths import PathTable
from polyvox.service.keys.operations import Operation

SOCKET = "WS"
"""In place of a method, for WebSockets."""


class RouteOperations:
    """Operations by method and path. Keys are patterns of `PathTable` behind a method: `GET /v1/voices*`."""

    def __init__(self, rows: Iterable[tuple[str, Operation]]) -> None:
        self._table: PathTable[Operation | None] = PathTable(rows, default=None)

    def of(self, scope: Scope) -> Operation | None:
        """The operation that a request or handshake asks for; None where there is no such route."""
        return self.at(SOCKET if scope["type"] == "websocket" else scope["method"], scope["path"])

    def at(self, method: str, path: str) -> Operation | None:
        """The operation of a method and path."""
        return self._table[f"{'GET' if method == 'HEAD' else method} {path}"]

    def check(self, routes: Sequence[Any]) -> None:
        """Refuse to go on with a route whose operation nobody has declared: anybody with a key could call it."""
        missing = [f"{method} {path}" for method, path in listed(routes) if self.at(method, path) is None]
        if missing:
            raise LookupError(f"routes without an operation in their Door: {', '.join(missing)}")


def listed(routes: Sequence[Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Method and path of every route, also of routers within routers."""
    for route in routes:
        if hasattr(route, "original_router"):  # how FastAPI holds an included router
            yield from listed(route.original_router.routes, prefix + route.include_context.prefix)
        else:
            for method in sorted(getattr(route, "methods", None) or {SOCKET}):
                yield method, prefix + route.path
