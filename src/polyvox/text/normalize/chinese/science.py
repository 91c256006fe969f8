"""Functions of mathematics, chemical formulas, and the short words of works and volumes."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import cardinal
from polyvox.text.normalize.english.formulas import COMPOUNDS_WITHOUT_FIGURES, ELEMENTS
from polyvox.text.tracked import TrackedText

_FUNCTION: Final = re.compile(
    r"(?<![A-Za-z.])(?<!点 )(?P<arc>arc)?(?P<name>sin|cos|tan|cot)(?P<power>[²³])?"
    r" ?(?=[\dα-ωπ]|\([^)]|[A-Zxyt](?![A-Za-z]))"
)
_FUNCTIONS: Final = {"sin": "正弦", "cos": "余弦", "tan": "正切", "cot": "余切"}
_POWERS: Final = {"²": "平方", "³": "立方"}
_LOGARITHM: Final = re.compile(
    r"(?<![A-Za-z.])log_?(?P<base>\d{1,3}|[₀-₉]{1,3}|[ab](?=\())"
    r"(?:\((?P<of>\d{1,9}|[a-zA-Z])\)|(?<=[₀-₉])(?P<figure>\d{1,9}|[a-zN](?![A-Za-z])))"
)
_SUBSCRIPTS: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_SPELLED: Final = re.compile(r"(?<![A-Za-z.])(?:ln|lg) ?(?=\d|\([\dA-Za-z]|[A-Zxyt](?![A-Za-z]))")
_LIMIT: Final = re.compile(r"(?<![A-Za-z.])lim(?![A-Za-z])")
_APPROACHES: Final = re.compile(r"(?<=[a-z]) ?(?:→|->) ?(?=[\d∞a+-])")
_OPUS: Final = re.compile(r"(?<![A-Za-z])[Oo]p\. ?(?P<work>\d{1,3})(?:[,，]? ?[Nn]o\. ?(?P<piece>\d{1,2}))?(?![\d.])")
_VOLUME: Final = re.compile(r"(?<![A-Za-z])[Vv]ol\. ?(?P<volume>\d{1,4})(?![\d.])")
_AGAINST: Final = re.compile(r"(?<![A-Za-z])(?:vs|VS)\. ?(?=[\u4e00-\u9fff])")
_SHORT: Final = {
    "Dr": "Doctor",
    "Mr": "Mister",
    "Mrs": "Missus",
    "Ms": "Miss",
    "Prof": "Professor",
    "St": "Saint",
    "Inc": "Incorporated",
    "Corp": "Corporation",
    "Ltd": "Limited",
    "Jr": "Junior",
    "feat": "featuring",
    "ft": "featuring",
    "Feat": "Featuring",
}
_SHORTENED: Final = re.compile(rf"(?<![A-Za-z\d])(?<!\d )({'|'.join(_SHORT)})\. ?(?=[\u4e00-\u9fff])")
_NUMBERED: Final = re.compile(r"(?<![A-Za-z])(Fig|Eq|Tab)\. ?(\d{1,4})(?!\d)")
_PARTS: Final = {"Fig": "图", "Eq": "式", "Tab": "表"}
_MOLECULE: Final = r"(?:[A-Z][a-z]?\d{0,2})"
_COMPOUND: Final = re.compile(
    rf"(?<![A-Za-z.@#/_-])(?<![A-Za-z]\d)(?!IP\d)(?P<count>\d{{0,2}})(?P<formula>{_MOLECULE}{{2,12}}"
    rf"|{_MOLECULE}{{1,4}}\({_MOLECULE}{{1,4}}\)\d)(?![A-Za-z0-9@_])"
)
_UNIT: Final = re.compile(r"([A-Z][a-z]?)|(\d+)")
_CERTAIN: Final = re.compile("O|[A-Z][a-z]")

# One search each for what any of the readers needs, which most texts do not have.
_FUNCTION_NAME: Final = re.compile("sin|cos|tan|cot|l[ngi]")
_STOP: Final = re.compile(r"[A-Za-z]\.")
_FORMULA: Final = re.compile(rf"[A-Za-z)]\d|{'|'.join(sorted(COMPOUNDS_WITHOUT_FIGURES))}")


def read_logarithms(text: TrackedText) -> TrackedText:
    """ "log2(8)", before figures that stand below the line become plain ones."""
    return text.sub(_LOGARITHM, _logarithm) if "log" in text.text else text


def read_functions(text: TrackedText) -> TrackedText:
    """ "sin30°", "ln2" and limits."""
    if _FUNCTION_NAME.search(text.text) is None:
        return text
    text = text.sub(_FUNCTION, _function)
    text = text.sub(_SPELLED, lambda match: f"{match.group()[0].upper()} {match.group()[1].upper()} ")
    if _LIMIT.search(text.text):
        text = text.sub(_LIMIT, "极限 ").sub(_APPROACHES, "趋于")
    return text


def read_works(text: TrackedText) -> TrackedText:
    """Numbers of works and volumes, who plays against whom, and titles and firms with a stop before Chinese."""
    if "." not in text.text or _STOP.search(text.text) is None:
        return text
    text = text.sub(_SHORTENED, lambda match: _SHORT[match[1]] + " ").sub(
        _NUMBERED, lambda match: _PARTS[match[1]] + cardinal(match[2])
    )
    return text.sub(_OPUS, _opus).sub(_VOLUME, lambda match: f"第{cardinal(match['volume'])}卷").sub(_AGAINST, "对")


def read_compounds(text: TrackedText) -> TrackedText:
    """Chemical formulas letter by letter."""
    return text.sub(_COMPOUND, _compound) if _FORMULA.search(text.text) else text


def _function(match: re.Match[str]) -> str:
    return ("反" if match["arc"] else "") + _FUNCTIONS[match["name"]] + _POWERS.get(match["power"] or "", "")


def _logarithm(match: re.Match[str]) -> str:
    base, of = (_said(part) for part in (match["base"].translate(_SUBSCRIPTS), match["of"] or match["figure"]))
    return f"以{base}为底{of}的对数"


def _said(written: str) -> str:
    return cardinal(written) if written.isdigit() else f" {written.upper()} "


def _opus(match: re.Match[str]) -> str:
    return f"作品{cardinal(match['work'])}" + (f"之{cardinal(match['piece'])}" if match["piece"] else "号")


def _compound(match: re.Match[str]) -> str | None:
    formula = match["formula"]
    units = _UNIT.findall(formula)
    if any(symbol and symbol not in ELEMENTS for symbol, _ in units):
        return None
    figures = any(digits for _, digits in units) and (not match["count"] or _CERTAIN.search(formula))
    if formula not in COMPOUNDS_WITHOUT_FIGURES and not figures:
        return None
    words = " ".join(
        cardinal(digits) + " " * (digits == "1") if digits else " ".join(symbol.upper()) for symbol, digits in units
    )
    before = match.string[match.start() - 1 : match.start()]
    return (
        ("" if before in ("", " ", "(") else " ") + (cardinal(match["count"]) + " " if match["count"] else "") + words
    )
