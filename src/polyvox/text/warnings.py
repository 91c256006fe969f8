"""Warnings of what was done otherwise than a caller asked: collected on the way down, sent back by every door."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

DROPPED: Final = "dropped-markup"
"""Markup that nothing here obeys; the words around it are spoken."""
SPOKEN: Final = "spoken-as-words"
"""Bracketed words that are no tag of the model; they are spoken without their brackets."""
IGNORED: Final = "ignored-markup"
"""Markup that is known, with a value that cannot be followed."""
UNPRONOUNCED: Final = "phonemes-not-used"
"""Entries of a dictionary whose phonemes the model cannot take; their words are spoken as usual."""
SILENT: Final = "nothing-to-speak"
"""Passages of a text in which the model found no words; they are left out."""
SLOW: Final = "slow-patterns"
"""Regular expressions of a dictionary that take too long, and were left out."""

MAX_ITEMS: Final = 8
MAX_ITEM_CHARS: Final = 40
_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")


class Warnings:
    """The warnings of one request: sentences, and markup counted by what happened to it.

    However much a text holds, the number of items and their length are bounded, and all is printable ASCII.
    """

    def __init__(self, sentences: Iterable[str] = ()) -> None:
        self._sentences = list(sentences)
        self._markup: dict[str, Counter[str]] = {}

    def add(self, sentence: str) -> None:
        """Add a sentence, unless it was said already."""
        if sentence not in self._sentences:
            self._sentences.append(sentence)

    def count(self, kind: str, markup: str) -> None:
        """Count a piece of markup under `DROPPED`, `SPOKEN` or `IGNORED`."""
        counts = self._markup.setdefault(kind, Counter())
        shown = _shown(markup)
        if shown in counts or len(counts) < MAX_ITEMS:
            counts[shown] += 1
        else:
            counts[""] += 1

    def extend(self, others: "Warnings") -> None:
        """Take over those of another part of the request."""
        for sentence in others._sentences:
            self.add(sentence)
        for kind, counts in others._markup.items():
            self._markup.setdefault(kind, Counter()).update(counts)

    def __bool__(self) -> bool:
        return bool(self._sentences or self._markup)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them, in order, such as `dropped-markup: <b> x2, </b>`."""
        return (*self._sentences, *(f"{kind}: {_listed(counts)}" for kind, counts in self._markup.items()))


def one_line(sentences: Iterable[str]) -> str:
    """Warnings as the value of a header or of metadata: one line of printable ASCII."""
    return _UNPRINTABLE.sub("?", " ".join("; ".join(sentences).split()))


def _shown(markup: str) -> str:
    line = _UNPRINTABLE.sub("?", " ".join(markup[: 2 * MAX_ITEM_CHARS].split()))
    return line if len(line) <= MAX_ITEM_CHARS else line[: MAX_ITEM_CHARS - 3] + "..."


def _listed(counts: Counter[str]) -> str:
    items = [item if count == 1 else f"{item} x{count}" for item, count in counts.items() if item]
    return ", ".join([*items, f"and {counts['']} more"] if counts[""] else items)
