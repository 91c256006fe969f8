"""Alignment of a clause's phonemes to its words, where words were joined."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

_MOST_PHONEMES: Final = 400
_NEVER: Final = 1 << 20

_Costs = npt.NDArray[np.int64]


def align_to_words(groups: Sequence[str], alone: Sequence[Sequence[str]]) -> list[str]:
    """Assign the phoneme groups of a clause to its words, in order, with the least edit distance.

    `alone` holds the phonemes of each word by itself. A word may get several groups, or none. Where the search would
    be long, as for figures without end, every word keeps the phonemes it has by itself.
    """
    words = ["".join(sounds) for sounds in alone]
    if max(sum(map(len, groups)), sum(map(len, words))) > _MOST_PHONEMES:
        return [" ".join(sounds) for sounds in alone]
    spoken = _codes("".join(groups))
    ends = list(accumulate(map(len, groups), initial=0))
    reached = np.full(len(spoken) + 1, _NEVER)
    reached[0] = 0
    tables = []
    for word in words:
        tables.append(_table(reached, spoken, word))
        reached = np.full(len(spoken) + 1, _NEVER)
        reached[ends] = tables[-1][-1][ends]  # words meet between two groups only
    return _shares(groups, ends, tables, spoken, words)


def _table(reached: _Costs, spoken: _Costs, word: str) -> list[_Costs]:
    """Levenshtein's rows of one word: the least cost of having used so many of its phonemes and of the clause's."""
    places = np.arange(len(reached))
    rows = [np.minimum.accumulate(reached - places) + places]
    for symbol in _codes(word):
        row = rows[-1] + 1
        row[1:] = np.minimum(row[1:], rows[-1][:-1] + (spoken != symbol))
        rows.append(np.minimum.accumulate(row - places) + places)
    return rows


def _shares(
    groups: Sequence[str], ends: Sequence[int], tables: Sequence[list[_Costs]], spoken: _Costs, words: Sequence[str]
) -> list[str]:
    """The groups of each word, found by walking from the last word's end back to the first one's start."""
    shares: list[str] = []
    end = len(groups)
    for index in range(len(words) - 1, -1, -1):
        before = tables[index - 1][-1] if index else None
        start = _start(tables[index], spoken, _codes(words[index]), ends, end, before)
        shares.append(" ".join(groups[start:end]))
        end = start
    return shares[::-1]


def _start(
    rows: Sequence[_Costs], spoken: _Costs, word: _Costs, ends: Sequence[int], end: int, before: _Costs | None
) -> int:
    """The group at which a word begins that ends before group `end`."""
    place, used = ends[end], len(word)
    while used:
        cost = rows[used][place]
        if place and rows[used - 1][place - 1] + (spoken[place - 1] != word[used - 1]) == cost:
            place, used = place - 1, used - 1
        elif rows[used - 1][place] + 1 == cost:
            used -= 1
        else:
            place -= 1
    cost = rows[0][place]
    known = {at: group for group, at in enumerate(ends) if at <= place}
    for at in sorted(known):
        if (before[at] if before is not None else (0 if at == 0 else _NEVER)) + place - at == cost:
            return known[at]
    raise AssertionError("a word begins where a group does")


def _codes(text: str) -> _Costs:
    return np.array([ord(char) for char in text], dtype=np.int64)
