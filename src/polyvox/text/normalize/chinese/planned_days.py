"""Days of a plan, a month and a day with a stop between, by what is done or due then: 12.31入住, 12.20前."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import DASH, cardinal
from polyvox.text.tracked import TrackedText

MONTH: Final = r"(?:1[0-2]|0?[1-9])"
DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])"
WEEKDAY: Final = "[周期][一二三四五六日天末]"
# Done or due on a day, whatever the clause says of it: 12.31入住, 12.20前.
_ON_A_DAY: Final = (
    "(?:入住|退房|离店|续住|出发|动身|启程|返[程校岗乡回]|回[国京家]|抵达|起飞|登机|出行|"
    "发[货车薪]|到[货期店岗账达]|送[达到货]|取[货件票]"
    "|止(?![痛血损付步])|截[止稿]|结束|交(?:[房付稿货租卷接差]|作业|论文|材料|初稿)|"
    "开[学课考会庭标业工奖演幕票抢售播]|考[试完研]|面试|笔试|答辩|体检|复[查诊检工]"
    "|手术|出院|住院|报[名到]|放假|调休|补[班课]|值班|搬家|签[约收]|领证|结婚|下单|付款|还款|"
    "扣款|缴费|生效|施行|举[行办]|召开|上映|公演|有?(?:活动|优惠)|全量|灰度|集合|出差|进场|"
    "验收|铺|竣工|完工|立案|宣判|举证|受理|送审|盖章|汇报|评审|答疑|离校|入[职学院学校场]|离职|"
    "转正|开[打战工赛幕]|对阵|再战|首[发播映演秀]|客场|主场|决赛|拍|到(?:家|站|上海|北京|广州|"
    "深圳|杭州|成都)|[上下]午|早上|中午|凌晨|傍晚|考|停[电水气课]|检修|过[期生]|去|走|飞|"
    "回(?![升落调撤弹吐购暖])|团建|年会|聚[餐会]"
    "|[早中]?晚(?:上|场|饭|宴|班)|见(?=[,，。.!~ 面]|$)|提测|灰度|封版|的?(?:车票|机票|航班|"
    "高铁票?|火车票?|动车票?|场次|课表|会议))"
)
# Said of editions of a program too, whose second figure is rather small.
_RELEASED: Final = "(?:上[线架市]|发[布版售]|更新|开始|启动|恢复|停[更服机运])"
_DAY_OF_PLAN: Final = re.compile(
    rf"(?<![\d.:/A-Za-z¥￥$€+-])(?<![A-Za-z] )(?:(?P<month>{MONTH})\.(?P<day>{DAY})"
    rf"(?P<upto>{DASH}(?:{MONTH}\.)?{DAY})?)"
    rf"(?![\d%]|\.\d)(?:(?={_ON_A_DAY}| ?[(（]?{WEEKDAY}| (?:[01]?\d|2[0-4]):[0-5]\d(?!\d))"
    rf"|(?=之?前(?!的?版本|者)|以前)(?<![到至破为过]\d\.\d)(?<![到至破为过]\d\.\d\d)(?<![到至破为过]\d\d\.\d\d)"
    rf"|(?<=\.[123]\d)(?={_RELEASED}|之?后|"
    rf"起(?![步伏]))(?<!版本\d\.\d\d)(?<!版本\d\d\.\d\d)(?<![到至破为过价仅]\d\.\d\d)(?<![到至破为过价仅]\d\d\.\d\d))"
)
# The same with a line between, where it can be neither points nor a span: 11-20发货.
_LINED_DAY: Final = re.compile(
    rf"(?<![\d.:/A-Za-z¥￥$€+~～-])(?<![到至])(?P<month>{MONTH})-(?P<day>{DAY})(?P<upto>)(?![\d%]|[.:-]\d)"
    rf"(?={_ON_A_DAY}|{_RELEASED}|[点发][火射]|之?前(?!者|锋|场)|[(（]{WEEKDAY})"
)
# At the start of a clause, where a number would have its unit behind it: 12.28拼车走.
_OPENING: Final = re.compile(
    rf"(?:\A|(?<=[,;!?。、\n])|(?<=[,;!?] )|(?<=\. )|(?<=[^价率数额分值]:)|(?<=[^价率数额分值]: ))"
    rf"(?P<month>{MONTH})\.(?P<day>(?:3[01]|[12]\d)|{DAY}(?=-))(?P<upto>-{MONTH}\.{DAY})?"
    r"(?=[\u4e00-\u9fff])(?!晚会|大促|购物|事件|惨案|特大|阅兵|打假|"
    r"维权)(?![元块万亿千百十倍个米公厘毫微纳分级度寸英平克斤升吨秒小折点版人年月日岁港美欧韩左上以的和与或及到至是为比加减乘除号代系款位伏瓦安赫兆马里海光股手张件尺亩两钱卡焦帕牛摩毛角次丈钟天层页名支只套条收])"
)
# The other days of a plan, which have one figure: 1.3考大物.
_OTHERS: Final = re.compile(_OPENING.pattern.replace(rf"(?:3[01]|[12]\d)|{DAY}(?=-)", DAY))
_LABELLED_DAY: Final = re.compile(
    rf"(?:(?<=日期)|(?<=期限)|(?<=入住)|(?<=退房)|(?<=离店)|(?<=生日)|(?<=预产期)|(?<=档期)|(?<={WEEKDAY}))"
    rf"(?P<gap>[是为:： (（]{{0,2}})(?P<month>{MONTH})\.(?P<day>{DAY})(?P<upto>{DASH}(?:{MONTH}\.)?{DAY})?"
    rf"(?![\d%万亿元倍]|"
    rf"\.\d)"
)
_LAST_MONTH: Final = 12
_FIGURES: Final = re.compile(r"\d+")


def read(text: TrackedText) -> TrackedText:
    """Days before or behind a word that asks for one, and spans of days."""
    sure = _DAY_OF_PLAN.search(text.text) or _OPENING.search(text.text)
    text = text.sub(_DAY_OF_PLAN, _planned).sub(_LABELLED_DAY, lambda match: match["gap"] + _planned(match))
    return text.sub(_OTHERS, _planned) if sure else text


def read_lined(text: TrackedText) -> TrackedText:
    """Days whose figures a line parts, before a word that asks for one."""
    return text.sub(_LINED_DAY, _lined)


def month_day(month: str, day: str) -> str:
    """A month and a day in figures."""
    return f"{cardinal(str(int(month)))}月{cardinal(str(int(day)))}日"


def _lined(match: re.Match[str]) -> str | None:
    month, day = int(match["month"]), int(match["day"])
    return _planned(match) if day > _LAST_MONTH or month > day else None


def _planned(match: re.Match[str]) -> str:
    """A day of a plan, and the last of several, in the same month unless another is written."""
    said = month_day(match["month"], match["day"])
    if not match["upto"]:
        return said
    *month, day = _FIGURES.findall(match["upto"])
    return f"{said}到{month_day(month[0], day) if month else f'{cardinal(str(int(day)))}日'}"
