"""Plain figures: fractions, ratios, ranges and how many; and the signs of arithmetic."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import (
    DASH,
    NUMBER,
    NUMBER_END,
    NUMBER_START,
    cardinal,
    counted,
    number,
)
from polyvox.text.tracked import TrackedText

_FRACTION: Final = re.compile(r"(?<![\d./])(?:(?P<whole>\d{1,4})又)?(?P<top>\d{1,4})/(?P<bottom>\d{1,4})(?![\d/]|\.\d)")
_SCORE: Final = re.compile(rf"(?<=[分以了])(\d{{1,3}}){DASH}(\d{{1,3}})(?=[的,，。 ]|$|[领击战胜负落获险惜轻逆大])")
_RATIO: Final = re.compile(rf"{NUMBER_START}{NUMBER}(?::{NUMBER})++{NUMBER_END}")
_RANGE: Final = re.compile(rf"{NUMBER_START}({NUMBER})([%个]?){DASH}({NUMBER}){NUMBER_END}")
_NEGATIVE: Final = re.compile(r"(?<![\dA-Za-z)])-(?=\d)")
_MEASURE_WORD: Final = (
    "(?:[个只位人名条张本天周年次遍种件家部台辆岁点倍块元米斤吨升杯碗瓶座场支片群批对双套头匹棵朵根间所篇首句段页滴颗粒把顶艘架轮届项类"
    "股份秒万亿千]|小时|分钟|星期|公里|公斤|厘米|毫米)"
)
_PAIR: Final = re.compile(rf"(?<![\d.第])(?<!\d,)2(?={_MEASURE_WORD})")
_A_FEW: Final = re.compile(rf"(?<![\d.、第])([1-8])、([2-9])(?={_MEASURE_WORD})")
_COUNTED: Final = re.compile(_MEASURE_WORD)
_NUMBER: Final = re.compile(NUMBER)
_SIGNS: Final = {
    "+": "加",
    "=": "等于",
    "×": "乘以",
    "*": "乘以",
    "÷": "除以",
    "±": "正负",
    "≈": "约等于",
    "≠": "不等于",
    "≤": "小于等于",
    "≥": "大于等于",
    "<": "小于",
    ">": "大于",
    "%": "百分之",
    "‰": "千分之",
    "&": "和",
    "@": "艾特",
    "#": "井号",
    "°": "度",
    "№": "第",
    "√": "根号",
    "∞": "无穷大",
    "π": "派",
    "²": "的平方",
    "³": "的立方",
}
_RANK: Final = re.compile(r"(?<![A-Za-z])[Nn][Oo]\.? ?(?=\d)")
_PRESSURE: Final = re.compile(r"(?<=血压)(?P<gap>[是为:： ]{0,2})(?P<high>\d{2,3})/(?P<low>\d{2,3})(?!\d)")
_EACH: Final = re.compile("(?<=[元块角分令吉仙币镑升克瓶斤A-Za-z])/(?=[\u4e00-\u9fff])")
_MINUS: Final = re.compile(r"(?<=[\d)]) ?[-−] ?(?=\d[\d.]{0,12} ?=)")
_SIGN: Final = re.compile(" ?([" + "".join(re.escape(sign) for sign in _SIGNS) + "]) ?")
_STAR: Final = re.compile(r"(?<!\d)(?<!\d )\*|\*(?! ?\d)")
_SUPERSCRIPT: Final = re.compile("[⁰¹⁴-⁹]")
_SUPERSCRIPTS: Final = str.maketrans("⁰¹⁴⁵⁶⁷⁸⁹", "01456789")


def read_guesses(text: TrackedText) -> TrackedText:
    """Two neighbouring figures before a measure word: "2、3个" is two or three."""
    return text.sub(_A_FEW, _a_few)


def _a_few(match: re.Match[str]) -> str | None:
    return counted(match[1]) + number(match[2]) if int(match[2]) == int(match[1]) + 1 else None


def read(text: TrackedText) -> TrackedText:
    """Every figure that is left."""
    text = text.sub(_RANK, "第").sub(_EACH, "每")
    text = text.sub(_PRESSURE, lambda match: f"{match['gap']}{number(match['high'])}, {number(match['low'])}")
    text = text.sub(_FRACTION, _fraction).sub(_SCORE, lambda match: f"{number(match[1])}比{number(match[2])}")
    text = text.sub(_RATIO, lambda match: "比".join(number(part) for part in match.group().split(":")))
    text = text.sub(_MINUS, "减").sub(_RANGE, _range).sub(_NEGATIVE, "负").sub(_PAIR, "两")
    text = text.sub(_SUPERSCRIPT, lambda match: match.group().translate(_SUPERSCRIPTS))
    return text.sub(_NUMBER, lambda match: number(match.group()))


def read_signs(text: TrackedText) -> TrackedText:
    """Signs of arithmetic and of the keyboard as words."""
    return text.sub(_STAR, " ").sub(_SIGN, lambda match: _SIGNS[match[1]])


def _fraction(match: re.Match[str]) -> str:
    part = f"{cardinal(match['bottom'])}分之{cardinal(match['top'])}"
    return f"{cardinal(match['whole'])}又{part}" if match["whole"] else part


def _range(match: re.Match[str]) -> str:
    first, unit, last = match.groups()
    upper = counted(last) if _COUNTED.match(match.string, match.end()) else number(last)
    return f"{counted(first) if unit else number(first)}{unit}到{upper}"
