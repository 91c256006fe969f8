"""Text that remembers where each of its characters came from."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from polyvox.types import Span


@dataclass(frozen=True, slots=True)
class TrackedText:
    """A string under rewriting, and for every character the span of the original text that it stands for.

    Normalisers rewrite with `sub`; whatever a match becomes, its characters point at the whole match, so a word timing
    computed on the spoken form lands on what the caller wrote.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, raw: str) -> "TrackedText":
        return cls(raw, tuple(range(len(raw))), tuple(range(1, len(raw) + 1)))

    def __len__(self) -> int:
        return len(self.text)

    def __getitem__(self, part: slice) -> "TrackedText":
        return TrackedText(self.text[part], self.starts[part], self.ends[part])

    def span(self, start: int, end: int) -> Span:
        """The original span behind characters `start` to `end` of the current text; they must not be empty."""
        return Span(min(self.starts[start:end]), max(self.ends[start:end]))

    def sub(self, pattern: re.Pattern[str], replacement: str | Callable[[re.Match[str]], str | None]) -> "TrackedText":
        """Replace every match, as `re.sub` does. A callable may return None to leave its match as it is."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for match in pattern.finditer(self.text):
            if match.start() == match.end():
                continue
            new = replacement(match) if callable(replacement) else match.expand(replacement)
            if new is None or new == match.group():
                continue
            parts += (self.text[done : match.start()], new)
            starts += self.starts[done : match.start()]
            ends += self.ends[done : match.start()]
            source = self.span(match.start(), match.end())
            starts += [source.start] * len(new)
            ends += [source.end] * len(new)
            done = match.end()
        if not parts:
            return self
        parts.append(self.text[done:])
        return TrackedText("".join(parts), (*starts, *self.starts[done:]), (*ends, *self.ends[done:]))
