"""Paths that two dialects have: which of them a request means."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from polyvox.api.paths import PathTable


@dataclass(frozen=True, slots=True)
class SharedPaths:
    """Paths of another dialect that are this one's where a request has a `header` that only its clients send.

    They are served below `prefix`, so that whatever a door declares for that holds.
    """

    header: str
    paths: Sequence[str]
    prefix: str
    value: str = ""
    """What the header has to contain, where others send it too."""

    def is_sent(self, headers: Headers) -> bool:
        """Whether one of its clients sent these headers."""
        return self.header in headers and self.value in headers[self.header]


class PathSharing:
    """Middleware that moves a request to the dialect that it is in."""

    def __init__(self, app: ASGIApp, shared: Iterable[SharedPaths]) -> None:
        self._app = app
        self._rows = [(each, PathTable([(path, True) for path in each.paths], default=False)) for each in shared]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            moved = next((each for each, paths in self._rows if paths[scope["path"]] and each.is_sent(headers)), None)
            if moved is not None:
                raw = moved.prefix.encode() + (scope.get("raw_path") or scope["path"].encode())
                scope = {**scope, "path": moved.prefix + scope["path"], "raw_path": raw}
        await self._app(scope, receive, send)
