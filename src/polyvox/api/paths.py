"""Values by URL path, which is how doors declare what holds for some of their paths."""

from collections.abc import Iterable
from typing import Generic, TypeVar

Value = TypeVar("Value")

_REST = "*"


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
