"""Mandarin syllables in the model's alphabet, from pinyin with a tone number."""

import re
from collections.abc import Mapping
from typing import Final

_TONES: Final = {"1": "→", "2": "↗", "3": "↓", "4": "↘", "5": ""}
_INITIALS: Final[Mapping[str, str]] = {
    "b": "p", "p": "pʰ", "m": "m", "f": "f", "d": "t", "t": "tʰ", "n": "n", "l": "l", "g": "k", "k": "kʰ", "h": "x",
    "j": "ʨ", "q": "ʨʰ", "x": "ɕ", "zh": "ꭧ", "ch": "ꭧʰ", "sh": "ʂ", "r": "ɻ", "z": "ʦ", "c": "ʦʰ", "s": "s", "": "",
}  # fmt: skip
# The vowels of each final and, apart, the nasal that follows the tone.
_FINALS: Final[Mapping[str, tuple[str, str]]] = {
    "a": ("a", ""), "o": ("wo", ""), "e": ("ɤ", ""), "ai": ("ai", ""), "ei": ("ei", ""), "ao": ("au", ""),
    "ou": ("ou", ""), "an": ("a", "n"), "en": ("ə", "n"), "ang": ("a", "ŋ"), "eng": ("ə", "ŋ"), "ong": ("ʊ", "ŋ"),
    "er": ("ɚ", ""), "i": ("i", ""), "ia": ("ja", ""), "ie": ("je", ""), "iao": ("jau", ""), "iu": ("jou", ""),
    "ian": ("jɛ", "n"), "in": ("i", "n"), "iang": ("ja", "ŋ"), "ing": ("i", "ŋ"), "iong": ("jʊ", "ŋ"), "u": ("u", ""),
    "ua": ("wa", ""), "uo": ("wo", ""), "uai": ("wai", ""), "ui": ("wei", ""), "uan": ("wa", "n"), "un": ("wə", "n"),
    "uang": ("wa", "ŋ"), "ueng": ("wə", "ŋ"), "v": ("y", ""), "ve": ("ɥe", ""), "van": ("ɥɛ", "n"), "vn": ("y", "n"),
}  # fmt: skip
_INTERJECTIONS: Final = {"o": "ɔ", "m": "m", "n": "n", "ng": "ŋ", "hm": "hm", "hng": "hŋ", "ê": "ɛ"}
_SYLLABLE: Final = re.compile(r"(zh|ch|sh|[bpmfdtnlgkhjqxrzcs]?)([aeiouv]+(?:ng?|r)?)")
# Spellings with y and w, and u for ü, in terms of plain finals; the longest wins.
_WRITTEN_ALONE: Final = (("yu", "v"), ("yi", "i"), ("y", "i"), ("wu", "u"), ("w", "u"))
_CONTRACTED: Final = {"iou": "iu", "uei": "ui", "uen": "un", "io": "o"}


def syllable(pinyin: str) -> str | None:
    """The phonemes of a syllable such as `zhong1`, `lv4` or `ma5`; None for what is not pinyin."""
    plain, tone = (pinyin[:-1], pinyin[-1]) if pinyin[-1:] in _TONES else (pinyin, "5")
    if plain in _INTERJECTIONS:
        return _INTERJECTIONS[plain] + _TONES[tone]
    match = _SYLLABLE.fullmatch(_respelled(plain))
    if match is None or match[2] not in _FINALS:
        return None
    vowels, nasal = _FINALS[match[2]]
    if match[2] == "i" and match[1] in ("z", "c", "s", "zh", "ch", "sh", "r"):
        vowels = "ɨ"
    return f"{_INITIALS[match[1]]}{vowels}{_TONES[tone]}{nasal}"


def _respelled(plain: str) -> str:
    """The syllable with its final in full: `yue` as `ve`, `ju` as `jv`, `you` as `iu`."""
    plain = plain.replace("ü", "v")
    if plain[:2] in ("ju", "qu", "xu"):
        return plain[0] + "v" + plain[2:]
    for written, final in _WRITTEN_ALONE:
        if plain.startswith(written):
            plain = final + plain[len(written) :]
            return _CONTRACTED.get(plain, plain)
    return plain
