"""Fractions, scores, ranges, versions and signs."""

import re
from typing import Final

from polyvox.text.normalize.japanese.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, number
from polyvox.text.tracked import TrackedText

_FRACTION: Final = re.compile(r"(?<![\d./])(?P<top>\d{1,4})/(?P<bottom>\d{1,4})(?![\d/]|\.\d)")
_PRESSURE: Final = re.compile(r"(?<=血圧)(?P<gap>[はが:： ]{0,2})(?P<high>\d{2,3})/(?P<low>\d{2,3})(?![\d/])")
_FEVER: Final = re.compile(r"(?<=\d度)(\d)分(?![の間])")
_TYPE: Final = re.compile("(?<=[A-Za-z])型")
_SCORE: Final = re.compile(
    rf"{NUMBER_START}(\d{{1,3}})[-–:](\d{{1,3}}){NUMBER_END}(?=で|の(?:勝|敗|接戦|逆転|スコア|同点)|と)"
)
_RATIO: Final = re.compile(rf"{NUMBER_START}{NUMBER}(?::{NUMBER})++{NUMBER_END}")
_VERSION: Final = re.compile(r"(?<![\d.])\d++(?:\.\d++){2,}+(?!\d)")
_RANGE: Final = re.compile(rf"{NUMBER_START}({NUMBER}){DASH}({NUMBER}){NUMBER_END}")
_NEGATIVE: Final = re.compile(r"(?<![\dA-Za-z)])[-−](?=\d)")
_NUMBER_SIGN: Final = re.compile(r"(?:(?<![A-Za-z])No\.?|№) ?(?=\d)")
_GENERATION: Final = re.compile(r"(?<![\dA-Za-z])(?P<figure>[2-6])(?P<letter>[GD])(?![A-Za-z\d])")
_ENGLISH: Final = {"2": "ツー", "3": "スリー", "4": "フォー", "5": "ファイブ", "6": "シックス"}
_LETTERS: Final = {"G": "ジー", "D": "ディー"}
_LATIN: Final = re.compile(r"(?<=[A-Za-z])-?(?P<behind>\d{1,4})(?![\dA-Za-z]|\.\d)")
_NUMBER: Final = re.compile(rf"{NUMBER_START}{NUMBER}{NUMBER_END}")
_FIRMS: Final = re.compile(r"\((?P<kind>[株有])\)|(?P<square>[㈱㈲])")
_FIRM_NAMES: Final = {"株": "株式会社", "㈱": "株式会社", "有": "有限会社", "㈲": "有限会社"}
_SIGNS: Final = {
    "+": "プラス",
    "=": "イコール",
    "×": "かける",
    "÷": "わる",
    "±": "プラスマイナス",
    "≒": "ほぼ等しい",
    "≠": "等しくない",
    "≤": "以下",
    "≥": "以上",
    "&": "アンド",
    "@": "アットマーク",
    "#": "シャープ",
    "%": "パーセント",
    "∞": "無限大",
    "π": "パイ",
}
_MINUS: Final = re.compile(r"(?<=[\d)]) ?[-−] ?(?=\d[\d.]{0,12} ?=)")
_SIGN: Final = re.compile(" ?([" + "".join(re.escape(sign) for sign in _SIGNS) + "]) ?")


def read_firms(text: TrackedText) -> TrackedText:
    """Firms by the short forms of their kinds."""
    return text.sub(_FIRMS, lambda match: _FIRM_NAMES[match["kind"] or match["square"]])


def read(text: TrackedText) -> TrackedText:
    """Every figure that is left, without its commas."""
    text = text.sub(_NUMBER_SIGN, "ナンバー").sub(_GENERATION, _generation)
    text = text.sub(_PRESSURE, r"\g<gap>\g<high>の\g<low>").sub(_TYPE, "がた").sub(_FEVER, r"\1ブ")
    text = text.sub(_FRACTION, lambda match: f"{match['bottom']}分の{match['top']}")
    text = text.sub(_SCORE, r"\1対\2").sub(_RATIO, lambda match: "対".join(map(number, match.group().split(":"))))
    text = text.sub(_MINUS, "引く").sub(_RANGE, lambda match: f"{number(match[1])}から{number(match[2])}")
    text = text.sub(_NEGATIVE, "マイナス").sub(_VERSION, lambda match: "点".join(match.group().split(".")))
    text = text.sub(_NUMBER, lambda match: number(match.group()))
    return text.sub(_LATIN, lambda match: f" {match['behind']}")


def read_signs(text: TrackedText) -> TrackedText:
    """Signs of arithmetic and of the keyboard as words."""
    return text.sub(_SIGN, lambda match: _SIGNS[match[1]])


def _generation(match: re.Match[str]) -> str:
    return _ENGLISH[match["figure"]] + _LETTERS[match["letter"]]
