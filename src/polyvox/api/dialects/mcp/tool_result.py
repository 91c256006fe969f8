"""ToolResult: what a tool answers, in the protocol's own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The content of an answer, and the same as data where a program may want it."""

    content: tuple[Mapping[str, str], ...]
    structured: Mapping[str, Any] | None = None
    is_error: bool = False

    @classmethod
    def of(cls, content: Mapping[str, str], words: Sequence[str]) -> Self:
        """An answer with sentences after it."""
        return cls((content, *map(text_content, words)))

    def as_json(self) -> dict[str, Any]:
        """The result as it is sent."""
        structured = {} if self.structured is None else {"structuredContent": self.structured}
        return {"content": list(self.content), **structured, "isError": self.is_error}


def text_content(words: str) -> dict[str, str]:
    """Words as content of an answer."""
    return {"type": "text", "text": words}
