"""Formulas of chemistry, whose figures are said in English: H2O, CO2, CaCO3."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_DIGITS: Final = dict(zip(map(str, range(2, 13)), "टू थ्री फ़ोर फ़ाइव सिक्स सेवन एट नाइन टेन इलेवन ट्वेल्व".split(), strict=True))
_FIGURE: Final = "(?:1[0-2]|[2-9])"
# Of an element with two letters, which no code has inside capitals.
_METALLIC: Final = "Li|Na|Mg|Al|Si|Cl|Ca|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Br|Ag|Sn|Ba|Pt|Hg|Pb"
_MIXED: Final = (
    rf"(?=[A-Z\d]{{0,8}}(?:{_METALLIC}))(?=[A-Za-z]{{1,8}}\d)"
    rf"(?:(?:{_METALLIC}|[HBCNOFPSKI]){_FIGURE}?){{2,8}}"
)
# Capitals and figures alone may be a model or a road: those that everybody knows, and of carbon with two figures.
_KNOWN: Final = "H2O2?|CO2|O[23]|NO[23]|N2O[45]?|SO[234]|CH4|HNO3|H2S|H2SO[34]|H2CO3|H3PO4|KNO3|K2SO4|P2O5|CO3|HCO3|SF6"
_CARBON: Final = rf"C{_FIGURE}H{_FIGURE}(?:O{_FIGURE}?H?)?|C2H5OH|CH3(?:OH|COOH)"
_FORMULA: Final = re.compile(rf"(?<![A-Za-z\d/-])(?:{_KNOWN}|{_CARBON}|{_MIXED})(?![A-Za-z\d]|-[A-Za-z\d])")
# Also roads and halves of a year, apart from a text of chemistry.
_GAS: Final = re.compile(r"(?<![A-Za-z\d/-])(?:NH3|N2|H2|F2|Cl2)(?![A-Za-z\d]|-[A-Za-z\d])")
_CHEMISTRY: Final = re.compile("गैस|सूत्र|अणु|रासायनिक|अभिक्रिया|हाइड्रोजन|नाइट्रोजन|अमोनिया|फ़्लोरीन|क्लोरीन|यौगिक")
_OXYGEN: Final = re.compile(r"(?<![A-Za-z\d/-])S[pP]O2(?![A-Za-z\d]|-[A-Za-z\d])")
_LETTERS: Final = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "ए बी सी डी ई एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड".split(),
        strict=True,
    )
)
_PIECE: Final = re.compile(r"[A-Z]|\d+")
_FIGURED: Final = re.compile("[A-Za-z][2-9]|[A-Z]1[0-2]")


def read(text: TrackedText) -> TrackedText:
    """The letters one by one, and the figures as words."""
    if _FIGURED.search(text.text) is None:
        return text
    text = text.sub(_OXYGEN, "SpO टू").sub(_FORMULA, _formula)
    return text.sub(_GAS, _formula) if _CHEMISTRY.search(text.text) else text


def _formula(match: re.Match[str]) -> str:
    """Capitals apart from each other; with small letters in Devanagari, since an A by itself is an article."""
    formula = match.group()
    named = {} if formula.isupper() else _LETTERS
    return " ".join(_DIGITS.get(piece) or named.get(piece, piece) for piece in _PIECE.findall(formula.upper()))
