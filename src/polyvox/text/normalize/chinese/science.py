"""Functions of mathematics, chemical formulas, and the short words of works and volumes."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import cardinal
from polyvox.text.normalize.english.technical.formulas import COMPOUNDS_WITHOUT_FIGURES, ELEMENTS
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
_SUBSCRIPT: Final = re.compile("[₀-₉ₙₘᵢⱼₖ₊₋]")
# A letter and its index, which no formula of chemistry has.
_INDEX: Final = re.compile("(?<![A-Za-z])(?P<letter>[a-zSTVFPRWQ])(?P<index>[₀-₉]{1,3}|[ₙₘᵢⱼₖ](?:[₊₋][₀-₉])?)")
_INDEX_LETTERS: Final = str.maketrans("ₙₘᵢⱼₖ₊₋₀₁₂₃₄₅₆₇₈₉", "nmijk加减零一二三四五六七八九")
_IONS: Final = {
    "Na⁺": "钠", "K⁺": "钾", "Li⁺": "锂", "Ag⁺": "银", "H⁺": "氢", "NH₄⁺": "铵根", "Ca²⁺": "钙", "Mg²⁺": "镁",
    "Zn²⁺": "锌", "Cu²⁺": "铜", "Ba²⁺": "钡", "Fe²⁺": "亚铁", "Fe³⁺": "铁", "Al³⁺": "铝", "Cl⁻": "氯", "OH⁻": "氢氧根",
    "NO₃⁻": "硝酸根", "HCO₃⁻": "碳酸氢根", "CO₃²⁻": "碳酸根", "SO₄²⁻": "硫酸根", "PO₄³⁻": "磷酸根", "Br⁻": "溴",
    "I⁻": "碘", "S²⁻": "硫", "Pb²⁺": "铅", "Hg²⁺": "汞", "Mn²⁺": "锰", "F⁻": "氟",
}  # fmt: skip
_ION: Final = re.compile(f"(?<![A-Za-z₀-₉])({'|'.join(_IONS)})")
# Weeks and days of a pregnancy: 36⁺³周.
_WEEKS_AND_DAYS: Final = re.compile("(?P<weeks>\\d{1,2})⁺(?P<days>[¹²³⁴-⁶])(?=周)")
_RAISED: Final = str.maketrans("¹²³⁴⁵⁶", "123456")
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
    rf"|{_MOLECULE}{{1,4}}\({_MOLECULE}{{1,4}}\)\d)(?![A-Za-z0-9@_]|\.\d)"
)
_UNIT: Final = re.compile(r"([A-Z][a-z]?)|(\d+)")
_CERTAIN: Final = re.compile("O|[A-Z][a-z]")

# Two letters that are multiplied, of which English would make a word, and the symbols of elements alone: ax², Fe.
_FACTORS: Final = re.compile(
    r"(?=[A-Za-z][a-z])(?:(?<=[=+×(½π\d])|(?<![A-Za-z]))"
    r"(?:[abckmnp][xyz]|xyz?|abc|[a-d]{2}|m[acv]|F[sdx]|[gva]t|[abg]h)(?:(?=[²³^=+])|(?<=[=+×(½π\d][A-Za-z][a-z])(?![A-Za-z]))"
)
_ELEMENT: Final = re.compile(
    r"(?=[A-Z][a-z](?![A-Za-z]))(?:(?<![A-Za-z0-9.@/_-])(?<![A-Za-z] )|(?<=[成=+→两二三四五六])"
    r"|(?<=\d)(?<![A-Za-z0-9.@/_-]\d)(?=[A-Z][a-z] ?[+=→生]))"
    r"(?:Fe|Cu|Zn|Mg|Al|Na|Ca|Ag|Ba|Mn|Cl|Hg|Pb|Sn|Ni|Cr|Ti|Si|Li|Br|Au|Pt|Cd|Sr|Cs|Ra|Pu|Ne|Ar|Kr|Xe)"
    r"(?=[\u4e00-\u9fff+=,，。、)]|\Z| ?[→↑↓])"
)
_PAIRED: Final = re.compile(r"(?<![A-Za-z])(?<![A-Za-z]\d)(?:Cl|Br)(?=2(?: ?[+=→↑]|生成|有毒|气))")
_DOT_PRODUCT: Final = re.compile(r"(?<=(?<![A-Za-z])[a-z])[·⋅](?=[a-z](?![A-Za-z]))")

_DERIVATIVE: Final = re.compile("(?<![A-Za-z])([fgyF])['′](?=[(= ])")
# Points of a figure, of which English would make a word: △DEF.
_POINTS: Final = re.compile(
    "(?=[A-Z]{2})(?:(?<=[△∠∥⊥≌∽⊙])|(?<=[边角矩菱梯]形)|(?<=线段)|(?<=[直射]线)|(?<=平面))[A-Z]{2,4}(?![A-Za-z])"
)
_DRAWN: Final = re.compile("[△∠∥⊥≌∽⊙形线段面][A-Z]")
_EQUATED: Final = re.compile("[=²³^]")
_YIELDS: Final = re.compile(r"(?<=[A-Za-z0-9)↑↓]) ?→ ?(?=\d?[A-Z])")
# One search each for what any of the readers needs, which most texts do not have.
_FUNCTION_NAME: Final = re.compile("sin|cos|tan|cot|l[ngi]")
_STOP: Final = re.compile(r"[A-Za-z]\.")
_FORMULA: Final = re.compile(rf"[A-Za-z)]\d|{'|'.join(sorted(COMPOUNDS_WITHOUT_FIGURES))}")


def read_logarithms(text: TrackedText) -> TrackedText:
    """ "log2(8)" and "x₁", before figures that stand below the line become plain ones."""
    if "log" in text.text:
        text = text.sub(_LOGARITHM, _logarithm)
    if "⁺" in text.text or "⁻" in text.text:
        text = text.sub(_ION, lambda match: _IONS[match[1]] + "离子").sub(_WEEKS_AND_DAYS, _weeks_and_days)
    return text.sub(_INDEX, _index) if _SUBSCRIPT.search(text.text) else text


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
    """Chemical formulas, symbols of elements and factors letter by letter."""
    if "'" in text.text or "′" in text.text:
        text = text.sub(_DERIVATIVE, r"\1 撇 ")
    if _FORMULA.search(text.text):
        if "→" in text.text and "+" in text.text:
            text = text.sub(_YIELDS, "生成")
        text = text.sub(_COMPOUND, _compound)
    if "·" in text.text or "⋅" in text.text:
        text = text.sub(_DOT_PRODUCT, "点乘")
    if _DRAWN.search(text.text):
        text = text.sub(_POINTS, _apart)
    return (
        (text.sub(_FACTORS, _apart) if _EQUATED.search(text.text) else text).sub(_ELEMENT, _apart).sub(_PAIRED, _apart)
    )


def _apart(match: re.Match[str]) -> str:
    return " ".join(match.group()).upper()


def _function(match: re.Match[str]) -> str:
    return ("反" if match["arc"] else "") + _FUNCTIONS[match["name"]] + _POWERS.get(match["power"] or "", "")


def _logarithm(match: re.Match[str]) -> str:
    base, of = (_said(part) for part in (match["base"].translate(_SUBSCRIPTS), match["of"] or match["figure"]))
    return f"以{base}为底{of}的对数"


def _weeks_and_days(match: re.Match[str]) -> str:
    return f"{match['weeks']}加{match['days'].translate(_RAISED)}"


def _index(match: re.Match[str]) -> str:
    index = match["index"]
    said = index.translate(_INDEX_LETTERS) if index[0] > "₉" else cardinal(index.translate(_SUBSCRIPTS))
    return f"{match['letter']} {said} "


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
