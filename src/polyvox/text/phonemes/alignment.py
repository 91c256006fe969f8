"""Alignment of a clause's phonemes to its words, where words were joined."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_MOST_GROUPS: Final = 12


def align_to_words(groups: Sequence[str], alone: Sequence[Sequence[str]]) -> list[str]:
    """Assign the phoneme groups of a clause to its words, in order, with the least edit distance.

    `alone` holds the phonemes of each word by itself. A word may get several groups, or none.
    """
    best: list[list[tuple[float, int]]] = [
        [(0.0 if not place else float("inf"), 0) for place in range(len(groups) + 1)]
    ]
    for sounds in alone:
        wanted, row = "".join(sounds), []
        for end in range(len(groups) + 1):
            starts = range(max(0, end - max(_MOST_GROUPS, len(sounds) + 2)), end + 1)
            row.append(
                min((best[-1][start][0] + _distance("".join(groups[start:end]), wanted), start) for start in starts)
            )
        best.append(row)
    shares: list[str] = []
    end = len(groups)
    for row in reversed(best[1:]):
        start = row[end][1]
        shares.append(" ".join(groups[start:end]))
        end = start
    return shares[::-1]


@lru_cache(4096)
def _distance(left: str, right: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(right) + 1))
    for index, symbol in enumerate(left, start=1):
        previous, row = row, [index]
        for place, other in enumerate(right, start=1):
            row.append(min(previous[place] + 1, row[-1] + 1, previous[place - 1] + (symbol != other)))
    return row[-1]
