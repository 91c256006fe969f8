"""Tones of 一 and 不 before other tones, as they are spoken."""

import re
from collections.abc import Sequence
from typing import Final

_NUMERALS: Final = "零一二三四五六七八九"
_FIGURES: Final = frozenset(_NUMERALS + "幺点")
# Behind these 一 is the first, or the last character of a word.
_ORDINAL_BEFORE: Final = frozenset("第之唯统周初高大专单其逐十") | _FIGURES
# Before these it is the first: of months, days, floors, classes.
_ORDINAL_BEHIND: Final = frozenset("月号楼班十") | _FIGURES - {"点"}
# A little, some, times, a step: 一 counts even behind 大 or 高.
_DEGREES: Final = frozenset("点些倍级截岁圈下百千万亿米")
_AFTER_DEGREE: Final = frozenset("大高")
# A quarter of an hour, and one train in so many minutes.
_COUNTING: Final = frozenset({("点", "刻"), ("钟", "班"), ("时", "班"), ("天", "班")})
# Figures of decimals, scores, odds, sums, chapters and dates, and the last of a number: none of them counts things.
_FIGURE: Final = re.compile(
    f"(?<=[{_NUMERALS}十百][比赔杠])一(?![百千万])|一(?=[比赔杠加减乘][{_NUMERALS}十百])|(?<=[{_NUMERALS}][加减乘])一(?![百千])"
    f"|^一(?=[加减乘]$)|(?<=[{_NUMERALS}]点)一(?=点[{_NUMERALS}](?!点))|(?<=^[加减])一(?=$|[的了哈吧啊])|一(?=[到至][{_NUMERALS[1:]}两十])|(?<![每这那])一(?=本[线率])|(?<=点[{_NUMERALS}])一(?=点)|(?<=押)一(?![百千万])|(?<=[{_NUMERALS}]角)一(?![百千万])|(?<=号)一(?=[和与])|(?<=按)一(?![定下键直照个次])|一(?=时(?:许|整|[{_NUMERALS}十]{{1,3}}分))|一(?=平行于|垂直于)|(?<=全国)一(?=卷)|(?<=从)一(?=[数到开至])|一(?=传(?:到|不|手|质|环|和|、|效|失|半|好|$))|(?<=归)一(?=化)|(?<![这那每新大小])一(?=型糖尿|型血友|甲医院)"
    f"|一(?=[等大小]于|[乘除]以|为)|(?<=[钻金银铜铂])一(?=[掉升上到])|(?<=[场园城苑府湾庭])一(?=期)|^一(?=[和或与][{_NUMERALS}十])|一(?=单元)|一(?=对一|对多)|(?<=一对)一|一(?=点(?:[{_NUMERALS[2:]}零](?![十心])|一(?:$|[{_NUMERALS}万亿千百倍个元米公吨克快慢高低版比])))"
    f"|(?<=[{_NUMERALS}]点)一(?![刻点起样直定边滴般共])|(?<=[第十])一|(?<=月)一(?=日)|(?<=[二三四五多]合)一|(?<=[如见附][图表])一"
    f"|(?<=[{_NUMERALS}几]选)一(?![个种次位])|一(?=[送赠]一|数二|[不无]二)|(?<=一[送赠])一"
    f"|(?<![{_NUMERALS}两几十百千]万)(?<=万)一(?![十百千])"
    # Ranks and grades: the first quarter, class, court.
    "|(?<![每这那哪上下有整高大])一(?=季度|年级|模(?!一)|等[奖功品座舱]|技能|审(?![视查核定美])|级(?!一)|战(?=期间|后|前|时|爆发|结束)"
    "|期(?=工程|项目|临床|数据|活动|产品|建设|上线|交付|完工|[零一二三四五六七八九十]{1,3}月)|类(?=疫苗|医疗))|(?<=[铁建冶])一(?=局)|一(?=[东西南北中]路|马路)"
)
# So often in a week; but Monday.
_WEEKLY: Final = re.compile("(?<=[每一两三四五六几]周)一(?=[次趟遍场节篇轮更]|回(?:$|的))")
_FALLING: Final = "4"


def with_sandhi(text: str, readings: Sequence[str]) -> list[str]:
    """The readings with yí and bú before a falling tone, and yì before another; a figure or an ordinal stays yī."""
    spoken = list(readings)
    if "一" not in text and "不" not in text:
        return spoken
    figures = {match.start() for match in _FIGURE.finditer(text)} if "一" in text else frozenset()
    for place, (char, reading) in enumerate(zip(text, readings, strict=True)):
        tone = readings[place + 1][-1:] if place + 1 < len(text) else ""
        if place in figures:
            spoken[place] = "yi1"
        elif char == "不" and reading == "bu4" and tone == _FALLING:
            spoken[place] = "bu2"
        elif char == "一" and reading == "yi1" and tone in ("1", "2", "3", _FALLING) and _counts(text, place):
            spoken[place] = "yi2" if tone == _FALLING else "yi4"
    return spoken


def _counts(text: str, place: int) -> bool:
    """Return whether 一 is one of something, not the first, a figure in a row, or the end of a word."""
    before, behind = text[place - 1 : place], text[place + 1]
    if _WEEKLY.match(text, place):
        return True
    if text[max(0, place - 2) : place] == "星期":
        return False
    if (before in _AFTER_DEGREE and behind in _DEGREES) or (before, behind) in _COUNTING:
        return True
    return before not in _ORDINAL_BEFORE and behind not in _ORDINAL_BEHIND
