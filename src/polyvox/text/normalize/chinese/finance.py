"""The codes of shares, and growth as reports write it."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import cardinal, spelled
from polyvox.text.tracked import TrackedText

# One search for what any of the patterns needs, which most texts do not have.
_SIGN: Final = re.compile(
    r"\.(?:SH|SZ|BJ|HK|SS|US)|\(\d{5,6}\)|-\d{1,3}(?:\.\d)? ?(?:bp|BP|个?基)"
    r"|合约|组合|日经|0(?:ETF|指数|股指)|[↑↓▲▼+*]|P[EBS] \d|[YQM][oO][YQM]|[深证创普时素克板生]\d"
)
# A code and its exchange, or a code alone in brackets behind the name of its firm: 600519.SH, 贵州茅台(600519).
_SHARE: Final = re.compile(
    r"(?<![A-Za-z\d.])(?P<code>\d{4,6})\.(?P<exchange>SH|SZ|BJ|HK|SS)(?![A-Za-z])"
    r"|(?<![A-Za-z\d.])(?P<letters>[A-Z]{1,5})\.(?=(?:US|HK)(?![A-Za-z]))"
    r"|(?<=[\u4e00-\u9fffA-Z”》]\()(?P<bracketed>(?:60|68|00|30|83|87|43|92|51|15|11|12)\d{4}|0\d{4})(?=\))"
)
# Indices by how many shares they have, and funds by their number: 沪深300ETF, 社保基金113组合.
_INDEX: Final = re.compile(
    r"(?=\d)(?:(?<=沪深)|(?<=[中上北深]证)|(?<=科创)|(?<=标普)|(?<=富时)|(?<=罗素)|(?<=达克)|(?<=创业板)|(?<=恒生))\d{2,4}(?=[A-Za-z])"
)
_FUND: Final = re.compile(r"(?<![\dA-Za-z.,¥￥$])(?:50|100|180|300|500|800|1000|2000)(?=ETF|指数增强|股指)")
_PORTFOLIO: Final = re.compile(r"(?:(?<=基金)|(?<=社保)|(?<=养老))\d{3,5}(?=组合)|(?<=日经)225(?!\d)")
_AT_RISK: Final = re.compile(r"(?<!\*)\*(?=S?\*?ST[\u4e00-\u9fff])")
# Futures by the year and the month in which they fall due: 螺纹钢2501合约.
_FUTURES: Final = re.compile(r"(?<![\d.,])\d{4}(?=合约)")
_MULTIPLE: Final = re.compile(r"(?<=(?<![A-Z])P[EBS] )(\d{1,3}(?:\.\d)?)[xX](?![A-Za-z0-9])")
# A rate less so many points: LPR-30bp.
_LESS: Final = re.compile(r"(?<=[A-Z]{3})-(?=\d{1,3}(?:\.\d)? ?(?:bp|BP|个?基点))")
_TREND: Final = re.compile(r"[↑↓▲▼](?=\d)")
_TRENDS: Final = {"↑": "上升", "▲": "上升", "↓": "下降", "▼": "下降"}
# So much more than a year, a quarter or a month before.
_COMPARED: Final = re.compile(r"(?<![A-Za-z])(?:YoY|QoQ|MoM|YOY|QOQ|MOM)(?![A-Za-z])(?P<more> ?\+ ?(?=\d))?")
_GAIN: Final = re.compile(
    r"(?<![后再又另外费价税前金])(?<=[\u4e00-\u9fff:(])(?<![同环]比) ?"
    r"\+(?=\d++(?:[.,]\d++)*+(?:%|‰|bp|BP|个?基点|个?百分点))"
)


def read(text: TrackedText) -> TrackedText:
    """Codes of shares, indices and funds, and gains by their words."""
    if _SIGN.search(text.text) is None:
        return text
    text = text.sub(_SHARE, _share).sub(_FUTURES, _spelled).sub(_PORTFOLIO, _spelled)
    text = (
        text.sub(_INDEX, lambda match: cardinal(match.group()))
        .sub(_FUND, lambda match: cardinal(match.group()))
        .sub(_MULTIPLE, r"\1倍")
        .sub(_AT_RISK, "星")
    )
    text = text.sub(_COMPARED, lambda match: " ".join(match.group()[:3].upper()) + ("增长" if match["more"] else ""))
    return text.sub(_TREND, lambda match: _TRENDS[match.group()]).sub(_GAIN, "正").sub(_LESS, "减")


def _spelled(match: re.Match[str]) -> str:
    return spelled(match.group())


def _share(match: re.Match[str]) -> str:
    if match["letters"]:
        return " ".join(match["letters"]) + " 点 "
    if match["bracketed"]:
        return spelled(match["bracketed"])
    return f"{spelled(match['code'])}点 {' '.join(match['exchange'])}"
