"""Temperatures and angles, and the strokes that stand for minutes, seconds and inches."""

import re
from typing import Final

from polyvox.text.normalize.chinese.amounts import MINUS, amounts, until
from polyvox.text.normalize.chinese.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, counted, number, spelled
from polyvox.text.tracked import TrackedText

_DEGREES: Final = re.compile(
    rf"{NUMBER_START}{MINUS}(?P<amount>{NUMBER})(?: ?(?:°[CF]?|[℃℉]))?"
    rf"(?:{DASH}(?P<below>-)?\+?(?P<upto>{NUMBER}))?{NUMBER_END} ?(?P<sign>℃|℉|° ?[CF](?![A-Za-z])|°)"
)
# From below nought to above it, behind a place: 北京-3到6度.
_BELOW_NOUGHT: Final = re.compile(
    r"(?<=[\u4e00-\u9fff])(?<![零一二三四五六七八九十百千万度])-(?=\d{1,2}(?:\.\d)?(?:[到至~～]|-(?=-))-?\d{1,2}(?:\.\d)?度)"
)
_MYRIAD_DEGREES: Final = re.compile(r"(?<=[万亿]) ?(?:℃|° ?C(?![A-Za-z]))")
_DEGREE_SIGN: Final = re.compile("[°℃℉′]|度[0-9]")
_PACE: Final = re.compile(
    r"(?<![\d.'′°度高])(?<!高[:： 是])(?P<minutes>\d{1,2})['′](?P<seconds>[0-5]\d)(?:[\"″]|'')"
    r"(?P<rest>\d{1,3})?(?P<per>/(?:km|公里))?(?![\dA-Za-z])"
)
_MATCH_MINUTE: Final = re.compile(
    r"(?<![\d.'′])(?P<minute>\d{1,3})(?:\+(?P<added>\d{1,2}))?['′]"
    r"(?:(?<=第\d')|(?<=第\d\d')|(?=[进破各入攻射头助扳绝染吃换替红黄补推远闪]|点球|任意|乌龙|首开|, ?\d{1,3}['′]))"
)
# Seconds and parts of one: 12"64.
_SECONDS: Final = re.compile(r"(?<![\d.'′\"″])(?P<seconds>\d{1,2})[\"″](?P<rest>\d{2,3})(?![\dA-Za-z])")
# Minutes, and points of an examination, where no quotation ends: 课间10', 每题2'.
_LONE_MINUTES: Final = re.compile(
    r"(?<![A-Za-z\d.'′高])(?<!高[:： 是])(?P<minutes>\d{1,2})['′](?=[,，。;；)、\u4e00-\u9fff]|$)"
)
_QUOTED: Final = re.compile(r"(?<!\d)['‘]")
_MINUTES: Final = re.compile(r"(?<=[°度])(?P<minutes>[0-5]?\d)[′'](?:(?P<seconds>[0-5]?\d)[″\"])?")
_INCHES: Final = re.compile(r"(?:(?<=[^\d.'′分度°][1-9]\d)|(?<=\d\.\d))[\"″](?![\d\w])")
_PRIME: Final = re.compile("[0-9]['′]")


def read(text: TrackedText) -> TrackedText:
    """Temperatures and angles."""
    if "度" in text.text and "-" in text.text:
        text = text.sub(_BELOW_NOUGHT, "零下")
    if _DEGREE_SIGN.search(text.text) is None:
        return text
    return text.sub(_MINUTES, _minutes).sub(_DEGREES, _degrees).sub(_MYRIAD_DEGREES, "摄氏度")


def read_strokes(text: TrackedText) -> TrackedText:
    """Inches, minutes and seconds by the strokes that stand for them."""
    if text.text.count('"') == 1 or "″" in text.text:
        text = text.sub(_INCHES, "英寸")
    if _PRIME.search(text.text):
        text = text.sub(_PACE, _pace).sub(_MATCH_MINUTE, _match_minute)
        text = text if _QUOTED.search(text.text) else text.sub(_LONE_MINUTES, r"\1分")
    if '"' in text.text or "″" in text.text:
        text = text.sub(_SECONDS, lambda match: f"{counted(match['seconds'])}秒{spelled(match['rest'])}")
    return text


def _degrees(match: re.Match[str]) -> str:
    sign = match["sign"]
    name = "摄氏度" if sign == "℃" or "C" in sign else "华氏度" if sign == "℉" or "F" in sign else "度"
    if match["minus"] and match["upto"] and not match["below"] and name != "度":
        return f"零下{number(match['amount'])}{name}{until(match)}{number(match['upto'])}{name}"
    words = amounts(match, negative="零下" if name != "度" else "负")
    if match["upto"] and match["amount"] == "2" and name != "度":
        words = words.replace("两", "二", 1)  # a scale is read along: 二到八摄氏度
    if match["below"]:
        words = words.replace(until(match), until(match) + "零下")
    return words + name


def _minutes(match: re.Match[str]) -> str:
    """Minutes and seconds of an angle."""
    return f"{number(match['minutes'])}分" + (f"{number(match['seconds'])}秒" if match["seconds"] else "")


def _pace(match: re.Match[str]) -> str:
    """Minutes and seconds of a run, for each kilometre where that is written."""
    words = f"{counted(match['minutes'])}分{number(str(int(match['seconds'])))}秒{spelled(match['rest'] or '')}"
    return f"{words}每公里" if match["per"] else words


def _match_minute(match: re.Match[str]) -> str:
    added = f"加{number(match['added'])}" if match["added"] else ""
    return f"{number(match['minute'])}{added}分钟"
