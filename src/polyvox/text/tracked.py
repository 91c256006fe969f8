"""Text that keeps, for each of its characters, the span of the raw text it stands for."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from polyvox.types import Span

Replacement = str | Callable[[re.Match[str]], str | None]


class Finder(Protocol):
    """A pattern, or what finds its matches in another way: from left to right, none over another."""

    def finditer(self, string: str, /) -> Iterator[re.Match[str]]: ...


@dataclass(frozen=True, slots=True)
class TrackedText:
    """A string under rewriting, and for every character the span of the original text that it stands for.

    Normalisers rewrite with `sub`; whatever a match becomes, its characters point at the whole match, so a word timing
    computed on the spoken form lands on what the caller wrote. The spans run in the order of the original text.
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

    def __add__(self, other: "TrackedText") -> "TrackedText":
        return TrackedText(self.text + other.text, self.starts + other.starts, self.ends + other.ends)

    def appended(self, text: str, source: Span) -> "TrackedText":
        """With more characters behind it, which all stand for the span `source` of the original text."""
        count = len(text)
        return self + TrackedText(text, (source.start,) * count, (source.end,) * count)

    def span(self, start: int, end: int) -> Span:
        """The original span behind characters `start` to `end` of the current text; they must not be empty."""
        return Span(min(self.starts[start:end]), max(self.ends[start:end]))

    def strip(self) -> "TrackedText":
        """Without the white space at both ends."""
        start = len(self.text) - len(self.text.lstrip())
        return self[start : max(start, len(self.text.rstrip()))]

    def sub(self, pattern: Finder, replacement: Replacement) -> "TrackedText":
        """Replace every match, as `re.sub` does. A callable may return None to leave its match as it is."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        done = 0
        for match in pattern.finditer(self.text):
            if match.start() == match.end():
                continue
            new = _replaced(match, replacement)
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

    def keep(self, pattern: re.Pattern[str], group: str) -> "TrackedText":
        """Reduce every match to one of its groups, whose characters keep their own spans."""
        kept: list[slice] = []
        done = 0
        for match in pattern.finditer(self.text):
            kept += (slice(done, match.start()), slice(*match.span(group)))
            done = match.end()
        if not kept:
            return self
        kept.append(slice(done, len(self.text)))
        return TrackedText(
            "".join(self.text[part] for part in kept),
            tuple(start for part in kept for start in self.starts[part]),
            tuple(end for part in kept for end in self.ends[part]),
        )


def _replaced(match: re.Match[str], replacement: Replacement) -> str | None:
    if callable(replacement):
        return replacement(match)
    return match.expand(replacement) if "\\" in replacement else replacement
