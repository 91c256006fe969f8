"""Which word a phoneme group belongs to, where espeak-ng joins words: the least edit distance, found soon."""

import random
import time
from itertools import combinations_with_replacement, pairwise

from helpers.tables import each_row
from polyvox.text.phonemes.alignment import align_to_words

_LETTERS = "aeioptk"


def distance(left, right):
    row = list(range(len(right) + 1))
    for index, symbol in enumerate(left, start=1):
        previous, row = row, [index]
        for place, other in enumerate(right, start=1):
            row.append(min(previous[place] + 1, row[-1] + 1, previous[place - 1] + (symbol != other)))
    return row[-1]


def cost(shares, alone):
    return sum(distance(share.replace(" ", ""), "".join(word)) for share, word in zip(shares, alone, strict=True))


def least_cost(groups, alone):
    """By trying every way to part the groups among the words."""
    cuts = combinations_with_replacement(range(len(groups) + 1), len(alone) - 1)
    parted = ([" ".join(groups[a:b]) for a, b in pairwise((0, *cut, len(groups)))] for cut in cuts)
    return min(cost(shares, alone) for shares in parted)


@each_row("seed", range(40))
def test_the_words_share_all_groups_at_the_least_cost(seed):
    rng = random.Random(seed)
    alone = [["".join(rng.choices(_LETTERS, k=rng.randint(1, 4)))] for _ in range(rng.randint(1, 5))]
    groups = []
    for (sound,) in alone:
        heard = "".join(symbol if rng.random() < 0.8 else rng.choice(_LETTERS) for symbol in sound)
        if groups and rng.random() < 0.3:
            groups[-1] += heard
        else:
            groups.append(heard)
    shares = align_to_words(groups, alone)
    assert " ".join(filter(None, shares)).split() == groups
    assert cost(shares, alone) == least_cost(groups, alone)


def test_figures_without_end_take_little_time():
    rng = random.Random(0)
    groups = ["".join(rng.choices(_LETTERS, k=2)) for _ in range(190)]
    alone = [["".join(rng.choices(_LETTERS, k=2)) for _ in range(10)] for _ in range(19)]
    began = time.process_time()
    shares = align_to_words(groups, alone)
    assert time.process_time() - began < 2.0, "a search of every share took a minute"
    assert " ".join(filter(None, shares)).split() == groups
