"""Capitals that are called letter by letter although they look like a word, and words that look like initials."""

from collections.abc import Mapping, Sequence
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPELLED: Final = _words(
    "ACH ADU AFT AOA APT ARB ASIO ASP BAA BIS CATIE COE COI CVICU DAO DEF DEI DOA DOT DUA EOIR EOB ERA ERG FIO FOB HAI "
    "IOI ISEE LOA LOB LOE LOI MAE MIL MOA NIL NIT OBGYN OEE OTA PCAOB PHI PIA PIP POA POD PSI ROE SEM SIL SOE SOP SOPS "
    "SOW SPA TIA TOD UAE UCI UNFCCC USAA USCIRF USCIS USMCA USPTO USTA VOA"
)
"""Those that have a sound in a dictionary, or could be taken for a name."""

_PATIENT: Final = _words(
    "patient patients htn hypertension copd chf dm diabetes stent stents bypass history hx angina pvd ckd coronary "
    "artery disease cardiac diagnosed hyperlipidemia stroke statin pneumonia"
)
# Capitals that are a word in one place and initials in another: words near by that ask for the letters.
_LETTERS_NEAR: Final[Mapping[str, frozenset[str]]] = {
    "CAD": _PATIENT,
    "PAD": _PATIENT,
    "CAP": _PATIENT,
    "HA": _PATIENT | _words("complains fever nausea photophobia migraine"),
    "ICE": _words(
        "vehicle vehicles car cars engine engines ev evs hybrid hybrids powertrain deutsche bahn berlin munich"
    ),
}
_WORDS: Final = _words("ICE ACE CAP CAPS")
"""Those that are said as a word although the dictionary spells them."""
_NEAR: Final = 8
_OWNERS: Final = _words("the an main hybrid each every this")


def is_spelled(word: str, words: Sequence[str], index: int) -> bool | None:
    """Return whether capitals are called by their letters; None where the dictionary may decide."""
    if word in SPELLED:
        return True
    near = _LETTERS_NEAR.get(word)
    if near is not None and not near.isdisjoint(words[max(0, index - _NEAR) : index + _NEAR]):
        return True
    before = words[index - 1] if index else ""
    if word == "OR":
        return before in _OWNERS
    if word == "AM" and (before in ("in", "the", "this", "every")):
        return True
    return False if word in _WORDS else None
