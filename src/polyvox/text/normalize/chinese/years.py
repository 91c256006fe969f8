"""Years, reigns and generations, digit by digit."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import DASH, spelled
from polyvox.text.tracked import TrackedText

# Made, bought or born in a year that stands alone.
_OF_ORIGIN: Final = re.compile(
    r"(?:(?<=[建购摄写成创产生卒立拍印版始]于)|(?<=年份)|(?<=年份[:是为])|(?<=年份: )|(?<=年款[:为])|(?<=年款: ))"
    r"(?:1[5-9]|20)\d\d(?=[,，。;；) ]|$)(?![,.]\d)"
)
# A year by itself at the start of a clause, before what is done in it.
_COMING_YEAR: Final = re.compile(
    r"20[0-3]\d(?<![^,;:!?。、\n ]\d{4})"
    "(?=冲|见|继续|目标|计划|加油|再见|你好|来了|将[会要在]|第[一二三四1-4]季|[上下]半年|[一二三四]季度|全年|开年|年初|年底|我们?|咱|一起|必|愿|打算|争取)"
)
_ORIGIN_SIGN: Final = re.compile("于[12]|年[份款]")
_QUARTER_SIGN: Final = re.compile("[0-9][QHF]")
_YEAR_SIGN: Final = re.compile(r"年|\d级|赛季|\d[EAF](?![A-Za-z])")
# Quarters and halves of a year that has lost its century: 25Q1.
_SHORT_YEAR: Final = re.compile(r"(?<![\dA-Za-z.,])[12]\d(?=Q[1-4](?!\d)|H[12](?!\d)|FY)")
_YEARS: Final = re.compile(
    rf"(?<![\d])(?<!\d[.,])([12]\d{{3}})(年?){DASH}([12]\d{{3}})(?=年|学年|财年|赛季|[EAF](?![A-Za-z]))"
)
_YEAR: Final = re.compile(
    r"(?<![\d])(?<!\d[.,])([12]\d{3})(?=年)|(?<=[妈爸妻夫妇哥姐弟妹婿友])([5-9]\d)(?=年[,，。属出])"
    r"|(?<=[我他她]是)([12]\d)(?=级)|(?<![\d.,])([12]\d)(?=级(?:本科|研究生|硕|博|新生|毕业生|学生|同学|学[长姐弟妹]|本硕|校友))"
    r"|(?<![\d])(?<!\d[.,])(\d\d)(?=年\d{1,2}月|年(?:二手|产的?|出厂|老[款车]|的[,.，。)]|生[,.，。人]|出生|毕业|入学|入职|结婚))"
)
_GENERATION: Final = re.compile(
    r"(?<![\d])(?<!\d[.,:])[5-9017][05](?=(?:(?:, |、|/|和|到|至|-)[5-9017][05]){0,3}后(?!来|面|续|天|期))"
)
_REIGN: Final = re.compile(
    r"(?:(?<=\()|(?<=\(约))(?P<first>\d{3,4})年? ?(?P<dash>[—–]+|[-~～]) ?(?P<last>\d{3,4})(?=(?P<year>年?)\))"
)
_PERSON: Final = re.compile("[人帝宗祖家者将相臣僧王公乱战役朝]|起义|变法|事变|之治|之变")
_BEFORE_OUR_TIME: Final = re.compile(r"(?:(?<=前\d\d)|(?<=前\d{3})|(?<=前\d{4}))年? ?[-–—~～]+ ?(?=前\d)")
_YEAR_DIGITS: Final = 4
_NAME_CHARS: Final = 8
_BARE_YEAR: Final = re.compile(
    r"(?<=\()(?:19|20)\d\d(?=年?[-–—]*\))|(?<=年\()\d{3,4}(?=\))"
    r"|(?<=[\u4e00-\u9fff][\[〔【(])(?:19|20)\d\d(?=[\]〕】)] ?第?\d)"
    r"|(?<=[\u4e00-\u9fff])20[0-3]\d(?=[》”])"
    r"|(?<![\d/-])(?<!\d[.,:])(?:19|20)\d\d(?=(?:[\u4e00-\u9fff]{2})?"
    r"(?:奥运|冬奥|世界杯|欧洲杯|亚洲杯|美洲杯|世俱杯|亚运|世运|全运|世博|亚冬|大运会|锦标赛|公开赛|大师赛|挑战赛|总决赛|巡回赛|世[锦少青]赛|亚锦赛"
    r"|马拉松|中超|英超|西甲|意甲|德甲|法甲|高考|中考|考研|国考|省考|[秋春校]招|应届|毕业生|车展|春节|国庆|元旦|双十一|跨年|年度|财年|新[款版])"
    r"|年会|峰会|春晚|赛季|款|级(?!别)|届)"
)


def read(text: TrackedText) -> TrackedText:
    """Years by the words beside them or the brackets around them, and spans of years."""
    if "(" in text.text:
        text = text.sub(_REIGN, _reign).sub(_BEFORE_OUR_TIME, "到")
    if _YEAR_SIGN.search(text.text):
        text = text.sub(_YEARS, _years).sub(_YEAR, _spelled)
    text = text.sub(_BARE_YEAR, _spelled).sub(_COMING_YEAR, _spelled)
    if _ORIGIN_SIGN.search(text.text):
        text = text.sub(_OF_ORIGIN, _spelled)
    if _QUARTER_SIGN.search(text.text):
        text = text.sub(_SHORT_YEAR, _spelled)
    return text.sub(_GENERATION, _spelled) if "后" in text.text else text


def _spelled(match: re.Match[str]) -> str:
    return spelled(match.group())


def _reign(match: re.Match[str]) -> str | None:
    """The years of a life or a dynasty in brackets, digit by digit; with a hyphen only if they are surely years."""
    first, last = match["first"], match["last"]
    years = first[0] in "12" and len(first) == len(last) == _YEAR_DIGITS
    named = _PERSON.search(match.string, max(0, match.start() - _NAME_CHARS), match.start())
    if match["dash"] in "-~～" and not (match["year"] or years or named):
        return None
    return f"{spelled(first)}到{spelled(last)}" if int(first) < int(last) < 2100 else None


def _years(match: re.Match[str]) -> str:
    return f"{spelled(match[1])}{match[2]}到{spelled(match[3])}"
