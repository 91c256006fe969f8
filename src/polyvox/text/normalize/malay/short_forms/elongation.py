"""Elongated words, such as "sedihhh", in their normal spelling."""

import re
from itertools import product
from typing import Final

from polyvox.text.tracked import TrackedText

_WORD: Final = re.compile(r"(?<![^\W_])[A-Za-z]{3,}(?![^\W\d_])")
_RUN: Final = re.compile(r"([A-Za-z])\1{2,}", re.IGNORECASE)
_MOST_RUNS: Final = 4
_ROMAN: Final = frozenset("IVXLCDM")
# Words that keep a double letter when they are drawn out.
_WITH_DOUBLE: Final = frozenset(
    (
        "aa boo boom book cool feel food foot free good goodbye goods hmm ii keep look moo mood need noob "
        "oo room school see sleep smooth soon speed sweet too tool uu week woo wood zoom zoo boss kiss less miss pass "
        "all bell call fall full hall hell kill pull sell small still tell wall well will add odd off stuff "
        "happy hello sorry yummy really pizza buffet coffee success bless "
        "maaf saat taat jumaat manfaat syaaban keenam koop "
        "bangga tunggu tinggi tinggal minggu anggap panggil singgah tangga menunggu enggak "
        "kerajaan keadaan perasaan kenyataan pekerjaan permintaan kesihatan peperiksaan perbezaan pertanyaan"
    ).split()
)


def read(text: TrackedText) -> TrackedText:
    """ "sediiiih" becomes "sedih", "cooool" becomes "cool"."""
    return text.sub(_WORD, _plain)


def _plain(match: re.Match[str]) -> str | None:
    word = match.group()
    runs = list(_RUN.finditer(word))
    if not runs or word.lower() == "www" or (word.isupper() and _is_code(word)):
        return None
    for lengths in product((1, 2), repeat=len(runs)) if len(runs) <= _MOST_RUNS else ():
        variant = _with_runs(word, runs, lengths)
        if variant.lower() in _WITH_DOUBLE:
            return variant
    return _with_runs(word, runs, tuple(_usual_length(word, run) for run in runs))


def _is_code(word: str) -> bool:
    """Return whether capitals are a numeral or one letter only, as in VIII and AAA."""
    return set(word) <= _ROMAN or len(set(word)) == 1


def _with_runs(word: str, runs: list[re.Match[str]], lengths: tuple[int, ...]) -> str:
    parts: list[str] = []
    done = 0
    for run, length in zip(runs, lengths, strict=True):
        parts += (word[done : run.start()], run.group()[:length])
        done = run.end()
    return "".join([*parts, word[done:]])


def _usual_length(word: str, run: re.Match[str]) -> int:
    """One letter; two of a g between n and a vowel ("tunggu"), and two where the whole word is one letter."""
    letter = run.group()[0].lower()
    between = word[: run.start()].lower().endswith("n") and word[run.end() : run.end() + 1].lower() in tuple("aeiou")
    return 2 if (letter == "g" and between) or run.span() == (0, len(word)) else 1
