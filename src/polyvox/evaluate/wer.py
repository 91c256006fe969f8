"""Word error rate: the edit distance between a transcript and its reference, in words."""

import re
import unicodedata
from dataclasses import dataclass

# An apostrophe inside a word belongs to it; a hyphen parts two words.
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True, slots=True)
class WerResult:
    """The fewest substitutions, deletions and insertions that turn the reference into the hypothesis."""

    words: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def errors(self) -> int:
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self) -> float:
        """Errors per word of the reference; against an empty reference, 0 if the hypothesis is empty too, else 1."""
        return self.errors / self.words if self.words else float(self.errors > 0)

    def __add__(self, other: "WerResult") -> "WerResult":
        return WerResult(
            self.words + other.words,
            self.substitutions + other.substitutions,
            self.deletions + other.deletions,
            self.insertions + other.insertions,
        )


def words_of(text: str) -> list[str]:
    """The words of an English text as they are compared: lower case, no punctuation, one kind of apostrophe."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    return _WORD.findall(plain)


def word_error_rate(reference: str, hypothesis: str) -> WerResult:
    """Compare two English texts word by word."""
    expected, found = words_of(reference), words_of(hypothesis)
    # A cell is (errors, substitutions, deletions, insertions) of the best way from the row's start to its column.
    row = [(column, 0, 0, column) for column in range(len(found) + 1)]
    for word in expected:
        above, row = row, [_step(row[0], deletions=1)]
        for column, other in enumerate(found, start=1):
            kept = above[column - 1] if word == other else _step(above[column - 1], substitutions=1)
            row.append(min(kept, _step(above[column], deletions=1), _step(row[-1], insertions=1)))
    _, substitutions, deletions, insertions = row[-1]
    return WerResult(len(expected), substitutions, deletions, insertions)


_Cell = tuple[int, int, int, int]


def _step(cell: _Cell, *, substitutions: int = 0, deletions: int = 0, insertions: int = 0) -> _Cell:
    """One error more."""
    return cell[0] + 1, cell[1] + substitutions, cell[2] + deletions, cell[3] + insertions
