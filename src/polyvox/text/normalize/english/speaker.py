"""The speaker's "I" behind a word that may be numbered: "the book I read", "parts I like"."""

import re
from typing import Final

from polyvox.text.normalize.english.context import word_after, word_before

_CLAUSE_VERBS: Final = frozenset(
    (
        "admire admired adore adored agree agreed am applied ate attended believe believed borrowed bought bring "
        "brought built buy called came choose chose cited copied cried deleted deserve deserved didn't disliked do "
        "don't drew drive drove enjoy enjoyed expect expected fear feared feel fell felt find finished forget "
        "forgot found gave get give go got grew hate hated have haven't hear heard held hid hope hoped keep kept "
        "knew know learned learnt left lent like liked live lived looked lost love loved made make mean meant meet "
        "memorized mentioned met miss missed need needed never order ordered own owned paid pay picked play played "
        "prefer preferred put ran reached read really recommend recommended remember remembered returned said sang "
        "sat saw say see sent signed skipped sold speak spoke started stayed stood studied take taught teach tell "
        "think thought told took translated tried try understand understood use used visited waited want wanted "
        "watch watched wear went wish wished wore worked write wrote"
    ).split()
)
_EITHER: Final = frozenset(
    (
        "actually almost already also always at can can't could couldn't cut did even ever finally had hadn't just may "
        "might must "
        "once only set shall should shouldn't still will won't was wasn't would wouldn't"
    ).split()
)
# Of which nobody says "the book one report", as one does say "the phase one trial".
_TOLD: Final = frozenset(
    "act article book books chapter chapters episode mark movement part parts scene scenes season section sections "
    "series table title titles volume volumes".split()
)
_ABOUT_NUMBERS: Final = frozenset(
    "and are as at begins by covers deals ends for from has in into is of on opens or says starts that through to "
    "where which with".split()
)
_DETERMINED: Final = re.compile(
    r"\b(?:the|an?|this|that|these|those|each|every|which|what|any|all|some|no|first|last|next|only|other|another|same"
    r"|one|two|three|(?:long|short|b)er|[a-z]+est|favou?rite|best|worst) \Z",
    re.IGNORECASE,
)
_REACH: Final = 24


def is_speaker(numeral: re.Match[str]) -> bool:
    """Return whether a lone "I" is the speaker and no number: by the verb behind it, and a determiner before its noun.

    A verb that parts and volumes have too ("Part I was long") needs the determiner: "the part I was in".
    """
    following = word_after(numeral)
    if following in _CLAUSE_VERBS:
        return True
    label = word_before(numeral)
    told = label in _TOLD and following[:1].islower() and following not in _ABOUT_NUMBERS
    if not (label.islower() and (told or following in _EITHER)):
        return False
    start = numeral.start() - len(label) - 1
    return _DETERMINED.search(numeral.string, max(0, start - _REACH), start) is not None
