"""Words in capitals and words in mixed case."""

import re
from typing import Final

from polyvox.text.phonemes.english.lexicon import Lexicon
from polyvox.text.phonemes.english.stress import last_strongest

_CAMEL: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_CLUSTER: Final = re.compile(
    r"[BCDFGKPQTVXZ][BDFGKPQTVXZ][BCDFGKPQSTVXZ]|[^AEIOUY]{4}|^[^AEIOUY]{3}|[AEIOUY]{4}|(.)\1\1"
)
_WORD_FROM: Final = 5
_LETTERS_IN_A_ROW: Final = 8
_ONSET: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{2,4}")
_ONSETS: Final = frozenset(
    "bl br ch chl chr cl cr dr dw fl fr gh gl gn gr gw kh kl kn kr kw ll mc mn ph phr phl pl pr ps pn pt rh sc "
    "sch scr sh shr sk skr sl sm sn sp sph spl spr sr st str sv sw th thr thw tr ts tw wh wr zh sq schl schm schn "
    "schr schw shm shl shn shw vl vr zl zw cz sz dj tch tsch bh dh kv gy".split()
)

# Capitals that are an acronym to the dictionary, but far more often a word that is stressed.
EMPHATIC: Final = frozenset("HI OH AH HM HMM MM HE ME OR IS AS BE IN ADD ETC AM".split())


def spelled(letters: str, lexicon: Lexicon) -> str:
    """Letters called one by one; a long row is cut, so that each group has its beat."""
    names = [lexicon.letter(letter) for letter in letters if letter.isalpha()]
    groups = [names[start : start + _LETTERS_IN_A_ROW] for start in range(0, len(names), _LETTERS_IN_A_ROW)]
    return " ".join(last_strongest(group) for group in groups)


def is_unsayable(word: str) -> bool:
    """Return whether a word in small letters begins as none does that is said: `jdoe`, `tsconfig`, but not `strata`."""
    onset = _ONSET.match(word)
    return onset is not None and onset.group() not in _ONSETS


def camel_parts(word: str) -> list[str]:
    """A word cut where its case turns: OpenAI is Open and AI."""
    return _CAMEL.findall(word)


def is_pronounceable(capitals: str) -> bool:
    """Return whether unknown capitals look like a name in capitals rather than initials."""
    vowels = sum(letter in "AEIOUY" for letter in capitals)
    return len(capitals) >= _WORD_FROM and vowels >= 2 and not _CLUSTER.search(capitals)
