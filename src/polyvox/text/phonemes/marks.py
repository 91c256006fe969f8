"""Punctuation and other signs: which the model knows, which are read as words, which are silent."""

from collections.abc import Mapping
from typing import Final

from polyvox.text.phonemes.alphabet import PUNCTUATION

_AS: Final[Mapping[str, str]] = {
    "–": "—", "―": "—", "‒": "—", "⋯": "…", "、": ",", "，": ",", "。": ".", "．": ".", "｡": ".", "！": "!", "？": "?",
    "；": ";", "：": ":", "„": "“", "‟": "“", "«": "“", "»": "”", "「": "“", "」": "”", "『": "“", "』": "”",
    "《": "“", "》": "”", "〈": "“", "〉": "”", "＂": '"', "[": "(", "]": ")", "{": "(", "}": ")", "【": "(", "】": ")",
    "（": "(", "）": ")", "〔": "(", "〕": ")", "।": ".", "؟": "?", "،": ",", "؛": ";", "‼": "!", "⁇": "?", "⁈": "?",
}  # fmt: skip
WORDS: Final[Mapping[str, str]] = {
    "&": "and", "＆": "and", "%": "percent", "％": "percent", "@": "at", "＠": "at", "+": "plus", "＋": "plus",
    "=": "equals", "＝": "equals", "#": "hash", "$": "dollar", "£": "pound", "€": "euro", "¥": "yen", "￥": "yen",
    "¢": "cent", "₹": "rupee", "₽": "ruble", "₩": "won", "₿": "bitcoin", "°": "degrees", "×": "times",
    "÷": "divided by", "±": "plus or minus", "−": "minus", "§": "section", "№": "number", "™": "trademark",
    "©": "copyright", "®": "registered", "‰": "per mille", "≈": "about", "≠": "not equal to", "≤": "at most",
    "≥": "at least", "∞": "infinity", "√": "root", "∑": "sum", "µ": "micro", "²": "squared", "³": "cubed",
    "½": "one half", "¼": "one quarter", "¾": "three quarters", "→": "to", "<": "less than", ">": "greater than",
}  # fmt: skip


def punctuation(mark: str, before: str, after: str) -> str:
    """The model's symbol for a mark between two characters of text, or nothing where it has none."""
    if mark[0] == '"':
        return "“" if not before or before.isspace() or before in "([{—" else "”"
    if mark[0] == ".":
        return "…" if len(mark) > 1 else "."
    if mark[0] == "-":
        apart = (not before or before.isspace()) and (not after or after.isspace())
        return "—" if len(mark) > 1 or apart else ""
    sound = _AS.get(mark[0], mark[0])
    return sound if sound in PUNCTUATION else ""


def spoken_sign(mark: str, before: str, after: str) -> str:
    """The words for a sign that is read out, or nothing."""
    if mark == "." and (after.islower() or after.isdigit() if before.isalnum() else after.isalpha()):
        return "dot"
    return WORDS.get(mark[0], "")
