"""URL paths: values by path, by which doors declare what holds for some of theirs, and paths that two dialects have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

Value = TypeVar("Value")

_REST = "*"
_ASKED_PATH = "polyvox.asked_path"


class PathTable(Generic[Value]):
    """A value for every path.

    A pattern is a whole path, or a prefix and `*`. A whole path wins over a prefix, and a longer prefix over a shorter
    one; of two rows with the same pattern the later one counts.
    """

    def __init__(self, rows: Iterable[tuple[str, Value]], default: Value) -> None:
        self._default = default
        self._exact: dict[str, Value] = {}
        prefixes: dict[str, Value] = {}
        for pattern, value in rows:
            if pattern.endswith(_REST):
                prefixes[pattern.removesuffix(_REST)] = value
            else:
                self._exact[pattern] = value
        self._prefixes = sorted(prefixes.items(), key=lambda row: len(row[0]), reverse=True)

    def __getitem__(self, path: str) -> Value:
        if path in self._exact:
            return self._exact[path]
        return next((value for prefix, value in self._prefixes if path.startswith(prefix)), self._default)


@dataclass(frozen=True, slots=True)
class SharedPaths:
    """Paths of another dialect that are this one's where a request has a `header` that only its clients send.

    They are served below `prefix`, so that whatever a door declares for that holds.
    """

    header: str
    paths: Sequence[str]
    prefix: str
    value: str = ""
    """Part of the header's value, where others send the header too."""
    takes_unknown: bool = False
    """True if paths that no dialect has are its own too: what is absent is then refused in its wording."""

    def is_sent(self, headers: Headers) -> bool:
        """True for headers of one of its clients."""
        return self.header in headers and self.value in headers[self.header]


class PathSharing:
    """Middleware that moves a request to the dialect that it is in."""

    def __init__(self, app: ASGIApp, shared: Iterable[SharedPaths], known: Iterable[str]) -> None:
        """`known` are the patterns of all paths that are answered."""
        self._app = app
        self._rows = [(each, PathTable([(path, True) for path in each.paths], default=False)) for each in shared]
        self._known = PathTable([(path, True) for path in known], default=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            headers, path = Headers(scope=scope), scope["path"]
            unknown = not self._known[path]
            rows = (each for each, paths in self._rows if paths[path] or (unknown and each.takes_unknown))
            moved = next((each for each in rows if each.is_sent(headers)), None)
            if moved is not None:
                raw = moved.prefix.encode() + (scope.get("raw_path") or path.encode())
                scope = {**scope, "path": moved.prefix + path, "raw_path": raw, _ASKED_PATH: path}
        await self._app(scope, receive, send)


def asked_path(scope: Scope) -> str:
    """The path of a request as its client wrote it."""
    return str(scope.get(_ASKED_PATH, scope["path"]))
