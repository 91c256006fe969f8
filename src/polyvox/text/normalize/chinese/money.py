"""Sums of money, wages and percentages."""

import re
from typing import Final

from polyvox.text.normalize.chinese.amounts import MINUS, SCALE, until
from polyvox.text.normalize.chinese.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, counted, number
from polyvox.text.normalize.chinese.unit_names import IN_COMPOUNDS, unit_name
from polyvox.text.tracked import TrackedText

_CURRENCIES: Final = {
    "¥": "元",
    "￥": "元",
    "$": "美元",
    "US$": "美元",
    "HK$": "港元",
    "€": "欧元",
    "£": "英镑",
    "￡": "英镑",
    "₩": "韩元",
    "₽": "卢布",
    "₹": "卢比",
    "RMB": "元",
    "CNY": "元",
    "USD": "美元",
    "EUR": "欧元",
    "GBP": "英镑",
    "JPY": "日元",
    "HKD": "港元",
    "RM": "令吉",
    "MYR": "令吉",
    "S$": "新元",
    "SGD": "新元",
    "NT$": "新台币",
    "TWD": "新台币",
    "A$": "澳元",
    "AUD": "澳元",
    "C$": "加元",
    "CAD": "加元",
    "THB": "泰铢",
    "฿": "泰铢",
}
# Codes that name other things before a figure, such as CHF and INR in medicine.
_BEHIND: Final = {
    "CHF": "瑞士法郎",
    "KRW": "韩元",
    "INR": "卢比",
    "VND": "越南盾",
    "IDR": "印尼盾",
    "NZD": "新西兰元",
    "RUB": "卢布",
    "BRL": "雷亚尔",
    "SEK": "瑞典克朗",
    "NOK": "挪威克朗",
    "DKK": "丹麦克朗",
    "ISK": "冰岛克朗",
    "MXN": "墨西哥比索",
    "ZAR": "兰特",
    "AED": "迪拉姆",
    "MOP": "澳门元",
    "CNH": "离岸人民币",
}
_NAMES: Final = _CURRENCIES | _BEHIND
_SIGN: Final = "|".join(re.escape(sign) for sign in sorted(_CURRENCIES, key=len, reverse=True))
_MONEY_BEFORE: Final = re.compile(
    rf"(?:(?<![A-Za-z])|(?=[¥￥€£])){MINUS}(?P<sign>{_SIGN}) ?"
    rf"(?P<below>-)?(?P<amount>{NUMBER})(?:{DASH}(?:(?P=sign)|[¥￥])?(?P<upto>{NUMBER}))?"
    rf"{NUMBER_END} ?{SCALE}(?P<named>日元|港元|美元|台币)?元?"
)
_MONEY_BEHIND: Final = re.compile(
    rf"{NUMBER_START}{MINUS}(?P<amount>{NUMBER})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?{SCALE}"
    r" ?(?P<sign>[¥￥€£]|\$(?![A-Za-z\d])|(?:RMB|CNY|USD|EUR|GBP|JPY|HKD|MYR|SGD|TWD|AUD|CAD|THB"
    rf"|{'|'.join(_BEHIND)})(?![A-Za-z]))"
)
_THOUSANDS: Final = re.compile(
    rf"{NUMBER_START}(?<![A-Za-z])(?P<amount>\d{{1,3}}(?:\.\d)?)"
    rf"(?:[kK]{DASH}(?P<upto>\d{{1,3}}(?:\.\d)?)[kK]|k"
    rf"|{DASH}(?P<last>\d{{1,2}})[kK](?=[·•*×]\d|/月|薪|左右|[,，。.]|\Z))"
    r"(?![A-Za-z0-9Ω])(?!/(?!月))"
)
# Months that are paid for in a year: 20-35K·15薪.
_PAYS: Final = re.compile(r"(?<=[kK])[·•](?=\d\d薪)")
_TEN_THOUSANDS: Final = re.compile(rf"(?<=\d)(?<![A-Za-z]\d)w(?=\+|{DASH}\d|[^A-Za-z0-9/]|/m²|/[\u4e00-\u9fff]|\Z)")
# A thousand or ten thousand and so many hundreds or thousands: 1k2, 3w5.
_AND_PART: Final = re.compile(r"(?<![A-Za-z\d.,_-])(\d{1,2})([kw])([1-9])(?![A-Za-z\d._-])")
_SHORTENED: Final = re.compile(
    rf"(?<![A-Za-z])(?P<sign>{_SIGN}) ?(?P<amount>(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,4}})(?:\.\d{{1,3}})?)"
    r" ?(?P<scale>[KkMmBbT]|bn)(?![A-Za-z0-9])"
)
_CURRENCY_SIGN: Final = re.compile("[¥￥$€£￡₩₽₹฿]|R[MB]|[A-Z]{3}")
_MANY: Final = re.compile("[0-9][kKw]")
_PARTS: Final = {"k": "千", "w": "万"}
_POWERS_OF_TEN: Final = {"k": 3, "m": 6, "b": 9, "bn": 9, "t": 12}
_IDLE_NOUGHTS: Final = re.compile(r"(?<=\d)(?:\.00?|(?<=\.\d)0)(?= ?(?:[元块]|[美欧港日加澳]元|英镑|令吉))")
_PERCENT: Final = re.compile(
    rf"{NUMBER_START}(?<![vV](?=\d{{1,2}} -\d)){MINUS}(?P<amount>{NUMBER})(?P<inner> ?[%‰])?"
    rf"(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?(?P<sign>[%‰])"
    r"(?:/(?P<per>[天周次晚期笔单]|日(?!均|利)|月(?!薪|利|均)|年度?(?![化终会均利])|小时|分钟|秒|季度?|(?:h|d|min)(?![A-Za-z])))?"
)
_IN_PROPORTION: Final = re.compile(r"(?<=%) ?: ?(?=\d{1,3}(?:\.\d{1,4})?%)")
_GROWTH: Final = re.compile(r"(?<=[同环]比) ?\+ ?(?=\d)")
_WHOLE: Final = 100


def read_money(text: TrackedText) -> TrackedText:
    """Sums with a sign or a code, and wages from so many thousands to so many."""
    if "." in text.text:
        text = text.sub(_IDLE_NOUGHTS, "")
    if _CURRENCY_SIGN.search(text.text):
        text = text.sub(_SHORTENED, _written_out).sub(_MONEY_BEFORE, _money).sub(_MONEY_BEHIND, _money)
    if _MANY.search(text.text) is None:
        return text
    text = text.sub(_AND_PART, lambda match: f"{counted(match[1])}{_PARTS[match[2]]}{number(match[3])}")
    return text.sub(_PAYS, ", ").sub(_TEN_THOUSANDS, "万").sub(_THOUSANDS, _thousands)


def read_shares(text: TrackedText) -> TrackedText:
    """Percentages and parts per thousand."""
    if "%" not in text.text and "‰" not in text.text:
        return text
    return text.sub(_IN_PROPORTION, "比").sub(_GROWTH, "增长").sub(_PERCENT, _percent)


def _money(match: re.Match[str]) -> str:
    """A sum; the noughts that fill up a price are not read."""
    amount = match["amount"]
    if "." in amount and not match["scale"]:
        amount = amount.rstrip("0").rstrip(".")
    words = ("负" if match["minus"] or match.groupdict().get("below") else "") + counted(amount)
    if _NAMES[match["sign"]] == "令吉" and not match["upto"] and not match["scale"]:
        return ("负" if match["minus"] else "") + _ringgit(amount)
    if match["upto"]:
        words += ("减" if match.string.endswith("满", 0, match.start()) else until(match)) + counted(match["upto"])
    named = match.groupdict().get("named")
    return words + match["scale"] + (named or _NAMES[match["sign"]])


def _thousands(match: re.Match[str]) -> str:
    return "到".join(number(str(round(float(match[end]) * 1000))) for end in ("amount", "upto", "last") if match[end])


def _written_out(match: re.Match[str]) -> str:
    whole, _, decimals = match["amount"].replace(",", "").partition(".")
    return match["sign"] + whole.lstrip("0") + decimals.ljust(_POWERS_OF_TEN[match["scale"].lower()], "0")


def _ringgit(amount: str) -> str:
    """Ringgit and sen, as Malaysians say them in Mandarin."""
    whole, _, decimals = amount.replace(",", "").partition(".")
    if len(decimals) > 2:
        return f"{number(amount)}令吉"
    sen = f"{number(decimals.ljust(2, '0').lstrip('0'))}仙" if decimals.strip("0") else ""
    return sen if sen and not int(whole) else f"{counted(whole)}令吉{sen}"


def _percent(match: re.Match[str]) -> str:
    share = "百分之" if match["sign"] == "%" else "千分之"
    words = ("负" if match["minus"] else "") + share + number(match["amount"])
    if match["per"]:
        words = f"每{unit_name(match['per']) or IN_COMPOUNDS.get(match['per']) or match['per']}{words}"
    if not match["upto"]:
        return words
    first, last = (float(match[end].replace(",", "")) for end in ("amount", "upto"))
    parts = (
        match["inner"]
        and first >= last
        and float(match["amount"].replace(",", "")) + float(match["upto"].replace(",", "")) == _WHOLE
    )
    return f"{words}{'比' if parts else until(match)}{share if match['inner'] else ''}{number(match['upto'])}"
