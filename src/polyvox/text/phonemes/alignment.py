"""Alignment of a clause's phonemes to its words, where words were joined."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

_MOST_GROUPS: Final = 12
_MOST_PHONEMES: Final = 400
_NONE: Final = float("inf")


def align_to_words(groups: Sequence[str], alone: Sequence[Sequence[str]]) -> list[str]:
    """Assign the phoneme groups of a clause to its words, in order, with the least edit distance.

    `alone` holds the phonemes of each word by itself. A word may get several groups, or none. Where the search would
    be long, as for figures without end, every word keeps the phonemes it has by itself.
    """
    if sum(map(len, groups)) > _MOST_PHONEMES:
        return [" ".join(sounds) for sounds in alone]
    ends = list(accumulate(map(len, groups), initial=0))
    best: list[list[tuple[float, int]]] = [[(0.0 if not place else _NONE, 0) for place in range(len(groups) + 1)]]
    for sounds in alone:
        wanted, row = "".join(sounds), []
        for end in range(len(groups) + 1):
            found = (_NONE, end)
            for start in range(end, max(0, end - max(_MOST_GROUPS, len(sounds) + 2)) - 1, -1):
                before = best[-1][start][0]
                if before + abs(ends[end] - ends[start] - len(wanted)) > found[0]:  # a distance is at least this
                    continue
                distance = _distance("".join(groups[start:end]), wanted) if before < _NONE else 0
                found = min(found, (before + distance, start))
            row.append(found)
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
