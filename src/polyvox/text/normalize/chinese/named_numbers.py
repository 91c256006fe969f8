"""Numbers that are names: hours of work, groups of universities, graphics cards, and hashes of files."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import spelled
from polyvox.text.normalize.chinese.planned_days import month_day
from polyvox.text.tracked import TrackedText

_NAMED: Final = re.compile("天玑|麒麟|骁龙|昇腾|鲲鹏|酷睿|锐龙|至强|思元|Ultra|985|211")
_THREE: Final = re.compile("9[569][56]|31[78]|2[12][49]|109|228|331|0[5-9]0|6[56]0|[78]00|[1-3]0[5-8]0")
_SEVEN: Final = re.compile("[0-9a-f]{7}")
_MARKS_OF_CARD: Final = 5
_SERIAL_SIGN: Final = re.compile(r"[A-Z\d]{8}")
_WORKING: Final = re.compile(
    r"(?<![\dA-Za-z])(?<!\d[.,])(?:9[56]5|996|995)(?=工作|加班|制|上班|公司|福报|生活|(?:的|常态)(?:公司|工作|班|福报|生活))"
    r"|(?:(?<=真的)|(?<=都是)|(?<=天天)|(?<=每天)|(?<=还是)|(?<=就是)|(?<=拒绝)|(?<=反对)|(?<=告别)|(?<=全员)|(?<=常年)"
    r"|(?<=又是)|(?<=这种)|(?<=强制)|(?<=长期)|(?<=习惯)|(?<=没有)|(?<=搞)|(?<=卷)|(?<=不)|(?<=所谓))996(?=[,.!?。…]|$|[吗吧呢了啊]|和)"
)
_UNIVERSITIES: Final = re.compile(
    r"(?<![\d.,])(?:985|211)(?:/(?:985|211))?(?=优先|高校|大学|院校|工程|毕业|硕士|本科|博士|学历|背景|及以上|以上|在读|本硕|硕|博|生|的(?:学|大|本|硕))"
)
# By the series and the place in it: 4090, 1660.
_GRAPHICS: Final = re.compile(
    r"(?<![\dA-Za-z¥￥$-])(?<!\d[.,])(?:[2-5]0[5-9]0|1[06][5-8]0|7[89]00)"
    r"(?=主机|独显|独立显|显卡|整机|[Tt]i(?![A-Za-z])|[Ss]uper|SUPER|公版|非公|显存|笔记本|单卡|双卡|的?显卡|跑[\u4e00-\u9fffA-Z]|能跑|带得动|D(?![A-Za-z]))"
)
# Figures and the letters from a to f in turn.
_HASH: Final = re.compile(
    r"(?<![A-Za-z0-9_./@-])(?=[0-9]*[a-f]+[0-9]+[a-f]|[a-f]*[0-9]+(?!e[0-9]+(?![0-9a-f]))[a-f]+[0-9])[0-9a-f]{7,64}(?![A-Za-z0-9_@]|[./-]\w)"
)
# The number of one piece of many, in capitals and figures in turn: C02XK12AJGH5.
_SERIAL: Final = re.compile(
    r"(?<![A-Za-z0-9_./@-])(?=[A-Z]*\d+[A-Z]+\d+[A-Z]|[A-Z]+\d+[A-Z]+\d)[A-Z\d]{8,32}(?![A-Za-z0-9_@]|[./-]\w)"
)
# Cards of a network, and moments by their seconds since 1970.
_CARD: Final = re.compile(r"(?<![A-Za-z0-9-])(?<![0-9A-Fa-f]:)(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![A-Za-z0-9:-])")
_STAMP: Final = re.compile(r"(?:(?<=时间戳)|(?<=时间戳[是为:： =])|(?<=timestamp[:= ]))\d{10,13}(?!\d)")
# Roads that travellers call by their numbers alone.
_ROAD: Final = re.compile(
    r"(?:(?<=打卡)|(?<=自驾)|(?<=骑行)|(?<=徒步)|(?<=重走)|(?<=穿越)|(?<=川藏)|(?<=滇藏))(?:318|317|219|214|109|228|331)"
    r"(?!\d|[.,:]\d|[元公千个里天人块米])"
    r"|(?<![\dA-Za-z.,])(?:318|317|219|214|109|228|331)(?=川藏|此生必驾|滇藏|新藏|青藏)"
)
# Chips by the names of their families.
_CHIP: Final = re.compile(
    r"(?:(?<=天玑)|(?<=麒麟)|(?<=骁龙)|(?<=昇腾)|(?<=鲲鹏)|(?<=酷睿)|(?<=锐龙)|(?<=至强)|(?<=思元)|(?<=Ultra [3579] ))"
    r" ?\d{3,5}(?!\d|[.,]\d|[元块个颗片台万亿])"
)
# Processors by how many bits they take at once, and their family.
_BITS: Final = re.compile(
    r"(?:(?<=amd)|(?<=AMD)|(?<=arm)|(?<=ARM)|(?<=aarch)|(?<=[Ww]in)|(?<=x86[_-])|(?<=(?<![A-Za-z])[xX]))64(?![\d.])"
    r"|(?<=(?<![A-Za-z])[xX])86(?![\d.])"
)
# A day without a mark, which is too long to count anything that is written so.
_DAY: Final = re.compile(
    r"(?<![A-Za-z\d.,¥￥$#_/-])(?<!\d:)(?P<year>19\d\d|20[0-3]\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?![\dA-Za-z_%℃]|[.,:-]\d| ?(?:[元块个人次件条张万亿台辆户只吨斤克米名位份行股笔步]|美元|平方|公[里斤]))"
)
_DATED: Final = re.compile("(?:日期?|生日|出生|效期|期[至限]|截[至止]|时间)[是为至到于:： ]{0,2}\\Z")
_PAIR_MARK: Final = re.compile("[:-]")
_DIGITS: Final = re.compile(r"\d+")


def read(text: TrackedText) -> TrackedText:
    """Digit by digit what counts nothing."""
    if max(text.text.count(":"), text.text.count("-")) >= _MARKS_OF_CARD:
        text = text.sub(_CARD, _card)
    if "64" in text.text or "86" in text.text:
        text = text.sub(_BITS, _spelled)
    if _SEVEN.search(text.text):
        text = text.sub(_STAMP, _spelled).sub(_DAY, _day).sub(_HASH, _names)
    text = text.sub(_CHIP, _names).sub(_UNIVERSITIES, _names) if _NAMED.search(text.text) else text
    if _THREE.search(text.text) is None:
        return text
    return text.sub(_ROAD, _spelled).sub(_WORKING, _spelled).sub(_GRAPHICS, _spelled)


def read_serials(text: TrackedText) -> TrackedText:
    """The numbers of single pieces, behind formulas of chemistry, which look alike."""
    return text.sub(_SERIAL, _names) if _SERIAL_SIGN.search(text.text) else text


def _spelled(match: re.Match[str]) -> str:
    return spelled(match.group())


def _card(match: re.Match[str]) -> str:
    return ", ".join(_DIGITS.sub(_spelled, pair) for pair in _PAIR_MARK.split(match.group().upper()))


def _day(match: re.Match[str]) -> str:
    if _DATED.search(match.string, 0, match.start()):
        return f"{spelled(match['year'])}年{month_day(match['month'], match['day'])}"
    return spelled(match.group())


def _names(match: re.Match[str]) -> str:
    return _DIGITS.sub(_spelled, match.group().replace("/", ", "))
