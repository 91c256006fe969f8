"""Points of two sides with a dash between them."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import DASH, NUMBER_START
from polyvox.text.tracked import TrackedText

_PAIR: Final = rf"\d{{1,3}}{DASH}\d{{1,3}}(?:\(\d{{1,2}}\))?"
_POINTS: Final = re.compile(
    rf"(?:(?<=[分以了])|(?<=[第决][一二三四五六七胜][局盘])|(?<=[分为][:： ]))"
    rf"{_PAIR}(?:, ?{_PAIR})*(?=[的,，。. ;!?)]|$|[领击战胜负落获险惜轻逆大])"
    rf"|{NUMBER_START}{_PAIR}(?=负于|落败|告负|领先|落后|击败|战胜|战平|险胜|惜败|轻取|逆转|"
    rf"大胜|力克|力压|横扫|完胜|淘汰|绝杀|取胜|获胜|输给|不敌|战和|[\u4e00-\u9fff]{{2,4}}队)"
)
_LIST: Final = re.compile(rf"{NUMBER_START}{_PAIR}(?:(?:, ?|/){_PAIR})+(?![\d.%/-])")
# Sides that play each other, by the names that reports give them.
_SIDES: Final = (
    "曼联|曼城|热刺|切尔西|阿森纳|利物浦|纽卡|维拉|埃弗顿|莱斯特|西汉姆|布莱顿|皇马|巴萨|马竞|塞维利亚|瓦伦西亚|毕尔巴鄂|皇家社会"
    "|拜仁|多特|勒沃库森|莱比锡|巴黎|里昂|马赛|摩纳哥|国米|尤文|米兰|罗马|那不勒斯|拉齐奥|阿贾克斯|本菲卡|波尔图|迈阿密"
    "|国安|申花|海港|泰山|蓉城|浙江队|三镇|亚泰|津门虎|利雅得|浦和|川崎|神户|全北|蔚山|首尔"
    "|湖人|勇士|火箭|凯尔特人|热火|雄鹿|掘金|太阳|快船|独行侠|马刺|尼克斯|篮网|公牛|骑士|雷霆|森林狼|灰熊|鹈鹕|国王|开拓者|爵士"
    "|老鹰|黄蜂|魔术|奇才|步行者|活塞|猛龙|辽宁队|广厦|宏远"
    "|中国|日本|韩国|伊朗|澳大利亚|沙特|卡塔尔|阿根廷|巴西|法国|德国|英格兰|西班牙|葡萄牙|意大利|荷兰|比利时|克罗地亚|乌拉圭|国足|女足|男足|女排"
)
_BETWEEN_SIDES: Final = re.compile(rf"(?<=[\u4e00-\u9fff]){_PAIR}(?= ?(?:{_SIDES}))")
# What both sides have of something: 黄牌2-4.
_BOTH: Final = re.compile(
    r"(?:(?<=射门)|(?<=射正)|(?<=[黄红]牌)|(?<=角球)|(?<=犯规)|(?<=越位)|(?<=扑救)|(?<=抢断)|(?<=篮板)|(?<=失误)|(?<=盖帽)|(?<=交锋))"
    rf"\d{{1,3}}{DASH}\d{{1,3}}(?=[,，。;；)]|$)(?!,\d)"
)
# Goals that were to be expected.
_EXPECTED: Final = re.compile(
    r"(?:(?<=xG)|(?<=xG[ :])|(?<=[预期]期进球)|(?<=期望进球))[为是:： ]?\d\.\d{1,2}-\d\.\d{1,2}(?!\d)"
)
_SIGN: Final = re.compile(r"[0-9)] ?[-–—~～至到] ?[0-9]|—")
_DASH: Final = re.compile(DASH)
_TWO: Final = re.compile(rf"(\d{{1,3}}){DASH}(\d{{1,3}})")
_SLASH: Final = re.compile("/")


def read(text: TrackedText) -> TrackedText:
    """Points of games and of their parts, as 比."""
    if _SIGN.search(text.text) is None:
        return text
    text = text.sub(_EXPECTED, _against) if "." in text.text else text
    return text.sub(_LIST, _scores).sub(_POINTS, _against).sub(_BETWEEN_SIDES, _against).sub(_BOTH, _against)


def is_score(first: str, last: str) -> bool:
    """Return whether two whole numbers with a dash between them are points, since a range goes up."""
    return first.isdigit() and last.isdigit() and len(first) <= 3 and int(first) >= int(last)


def _against(match: re.Match[str]) -> str:
    return _DASH.sub("比", match.group())


def _scores(match: re.Match[str]) -> str | None:
    """Several pairs, one of which goes down: the points of sets and halves."""
    if not any(is_score(*pair) for pair in _TWO.findall(match.group())):
        return None
    return _SLASH.sub(", ", _against(match))
