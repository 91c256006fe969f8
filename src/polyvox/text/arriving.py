"""Text that arrives piece by piece, cut into sentences as soon as they are known to be complete."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyvox.text.split import clauses, sentences, settled_end
from polyvox.text.tracked import TrackedText

LONGEST: Final = 400
"""Characters after which a sentence is cut at a clause or a word."""
_CERTAIN: Final = 64
"""Characters behind a mark that leave no doubt whether it ends a sentence."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the text without the white space around it, and where it stands in the whole."""

    text: str
    start: int


class ArrivingText:
    """What has arrived and is not cut yet. Where cuts fall depends on the whole text, never on its pieces."""

    def __init__(self) -> None:
        self._rest = ""
        self._done = 0

    def push(self, piece: str) -> Iterator[Part]:
        """The sentences that this piece completes; read all of them before the next."""
        self._rest += piece
        while (end := _next_end(self._rest)) is not None:
            yield from self._taken(end)

    def finish(self) -> Iterator[Part]:
        """What is left, now that no more will come."""
        for sentence in sentences(TrackedText.of(self._rest)):
            yield from self._taken(len(sentence))

    def _taken(self, end: int) -> Iterator[Part]:
        """The next `end` characters, if there is anything in them."""
        raw, self._rest = self._rest[:end], self._rest[end:]
        before = len(raw) - len(raw.lstrip())
        part = Part(raw.strip(), self._done + before)
        self._done += end
        if part.text:
            yield part


def _next_end(text: str) -> int | None:
    """Where the text is to be cut next, if that is certain by now."""
    end = settled_end(text[: LONGEST + _CERTAIN])
    if end is not None and end <= LONGEST:
        return end
    if len(text) < LONGEST + _CERTAIN:
        return None
    *before, last = clauses(TrackedText.of(text[:LONGEST]))
    if before:
        return LONGEST - len(last)
    return text.rfind(" ", 1, LONGEST) + 1 or LONGEST
