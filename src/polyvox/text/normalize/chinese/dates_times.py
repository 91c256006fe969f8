"""Dates and times of day."""

import re
from typing import Final

from polyvox.text.normalize.chinese import planned_days, years
from polyvox.text.normalize.chinese.numbers import DASH, cardinal, counted, spelled
from polyvox.text.normalize.chinese.planned_days import DAY, MONTH, WEEKDAY, month_day
from polyvox.text.tracked import TrackedText

_PARTS_OF_DAY: Final = "(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|次日|当晚|早|晚)"
_DATE: Final = re.compile(r"(?<![\d.-])([12]\d{3})([-/.])(\d{1,2})\2(\d{1,2})(?![\d-]|\.\d)")
_DATES: Final = re.compile(
    r"(?<![\d.-])([12]\d{3})([-/.])(\d{1,2})\2(\d{1,2})"
    r" ?[-–—~～至到] ?(?:([12]\d{3})\2)?(\d{1,2})\2(\d{1,2})(?![\d-]|\.\d)"
)
_DATE_BEHIND: Final = re.compile(r"(?<![\d./-])(\d{1,2})([-/.])(\d{1,2})\2((?:19|20)\d\d)(?![\d/-]|\.\d)")
_YEAR_MONTH_DOT: Final = re.compile(
    r"(?:(?<=[至到期自从于日为])|(?<=[期日]:)|(?<=[期日]: ))((?:19|20)\d\d)\.(1[0-2]|0[1-9])(?![\d.%元万亿倍])"
    r"(?! ?[-–—~～至到] ?20\d\d\.)"
)
_MONTH_OF_END: Final = re.compile(
    r"(?:(?<=[保期效购用住]到)|(?<=[保期效购用住]至)|(?<=截至)|(?<=截止)|(?<=[购建产生]于)|(?<=入职)|(?<=到期))"
    r"((?:19|20)\d\d)\.(1[0-2]|[1-9])(?![\d.%万亿倍元])"
)
_YEAR_MONTH: Final = re.compile(r"(?<![\d./-])((?:19|20)\d\d)[-/](1[0-2]|0[1-9])(?![\d/-]|\.\d)")
# Of a life or of work, in a list: 1998.05, 2018.09-2022.06.
_DOTTED_MONTH: Final = re.compile(
    r"(?<![\d.])(?P<year>(?:19|20)\d\d)\.(?P<month>1[0-2]|0[1-9])(?![\d.])"
    r"(?:(?=出?生|至今|毕业| ?[-–—~～] ?至?今)|(?:(?<=[,(]\d{4}\.\d\d)|(?<=, \d{4}\.\d\d))(?=[,)])"
    r"|(?P<dash> ?[-–—~～至到] ?)(?P<last>(?:19|20)\d\d)\.(?P<until>1[0-2]|0[1-9])(?![\d.]))"
)
_DOTTED_YEAR: Final = re.compile(r"[12]\d{3}\.\d")
_DOTTED_MONTHS: Final = re.compile(
    r"(?<![\d.])(?P<year>(?:19|20)\d\d)\.(?P<month>[1-9])(?P<dash> ?[-–—~～至到] ?)"
    r"(?P<last>(?:19|20)\d\d)\.(?P<until>1[0-2]|[1-9])(?![\d.%万亿元])"
)
_SEASON: Final = re.compile(r"(?<![\d./-])((?:19|20)\d\d)[-/](\d\d)(?=年?(?:赛季|学年|财年|年度))")
# Due on a day, with the noughts of a form: 到期日12-08.
_DUE: Final = re.compile(
    r"(?:(?<=[期日于至自从限间])|(?<=[期日间限]:)|(?<=[期日间限]: )|(?<=截止)|(?<=预计)|(?<=到期))"
    r"(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?![\d-]|[.,:]\d|[A-Za-z%号室栋个名人元条])"
)
_LINED: Final = re.compile("[0-9]-[0-9]")
_ENDS: Final = re.compile("(?:截[止至]|到期|期至|日期|期日)[是为至:： ]{0,2}\\Z")
# A month and a day of a log, before a time of day or a day of the week: 11-03 02:14.
_LOGGED: Final = re.compile(
    rf"(?<![\d./:-])(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?= \d{{2}}:[0-5]\d(?!\d)| ?\(?(?:{WEEKDAY})"
    r"|(?:之?前|起|截止|到期|当天|有效|[早晚]上|[上下]午|开[始奖播售抢]|发[车货布]|出发|还款|扣款|放榜)(?!\d))"
)
_LOGGED_SIGN: Final = re.compile(r"\d-\d\d[ (周星之前起截到当有早晚上下开发出还扣放]")
# Behind the number of a day the tens of an hour would be heard as one number with it: 周三18点.
_AFTER_DAYS: Final = re.compile(
    "(?:(?<=[一二三四五六], [一二三四五六日天])"
    "|(?<=[周期][一二三四五六日天])(?=1\\d|\\d[和或,]))(\\d{1,2})(?=:\\d\\d|[点时和或,])"
)
_TIMES: Final = re.compile(
    rf"(?:(?<=\d:\d\d)|(?<=\d[ap]m)|(?<=\d [ap]m)){DASH}(?=(?:[ap]m ?)?\d{{1,2}}:\d\d(?!\d))", re.IGNORECASE
)
_TIME: Final = re.compile(
    r"(?:(?<![A-Za-z])(?<!I )(?P<before>[aApP])\.?[mM]\.? ?)?"
    r"(?<!\d)(?<!\d[:.,])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?![\d:])"
    r"(?: ?(?P<half>[aApP])\.?[mM](?![A-Za-z0-9])\.?)?"
)
_HOUR: Final = re.compile(
    r"(?<![\dA-Za-z])(?<!\d[:.,])(?P<hour>1[0-2]|0?[1-9]) ?(?P<half>[aApP])(?:\.[mM]\.|[mM](?![A-Za-z0-9]))"
    r"|(?<![A-Za-z\d])(?P<before>[aApP])[mM] ?(?P<hour2>1[0-2]|0?[1-9])点"
)
_IDLE_HALF: Final = re.compile("(?<![A-Za-z])([AP])M(?= ?(?:休息|上课|开会|自习|放假|半天|场))")
_HALF_DAY: Final = re.compile("[aApP][.mM]")
_PART_OF_DAY: Final = re.compile(f"{_PARTS_OF_DAY} ?\\Z")
# A month and a day without a year, where the words around ask for a date and not for a fraction or a number.
_SHORT_DATE: Final = re.compile(
    r"(?:(?<=[于在自从到至期日])(?<![达高升降涨跌][到至])|(?<=[期日][:： ])|(?<=预计)|(?<=截止)|(?<=截止[:： ]))"
    rf"(?P<month>{MONTH})/(?P<day>{DAY})(?![\d/%期班栋℃°]|\.\d)"
    rf"|(?<![\d./])(?<!\d:)(?P<month7>{MONTH})/(?P<day7>{DAY})(?=[日号](?![线楼院门]))"
    rf"|(?<![\d./])(?<!\d:)(?P<month2>{MONTH})/(?P<day2>{DAY})"
    r"(?=[(（]?(?:周|星期|之?前|当天|晚上?|早上?|上午|下午|开始|放假|截止|举行|送达|到货|发货|上映|开播"
    r"|出发|到期|发布|上线|开售|开学|交付|入住|退房|生效|更新|起飞|抵达|返回))"
    rf"|(?<![\d./])(?<!\d:)(?P<month6>{MONTH})/(?P<day6>{DAY})"
    r"(?= (?:(?:[01]?\d|2[0-4]):[0-5]\d(?!\d)|1?\d ?[AaPp][Mm](?![A-Za-z])|[01]?\d点))"
    rf"|(?<![\d./])(?<!\d:)(?P<month3>{MONTH})/(?P<day3>3[01]|2\d|1[3-9])(?=[是到去来见有要会将回我你他她咱考聚约])"
    r"|(?:\A|(?<=[,;:!?。(、\n])|(?<=[,;:!?] ))"
    rf"(?P<month8>{MONTH})/(?P<day8>3[01]|2\d|1[3-9])(?=[\u4e00-\u9fff])(?![的人强层期栋楼场页章局名题组轮集票分月席折左])"
    rf"|(?<![\d./])(?<!\d:)(?P<month5>{MONTH})/(?P<day5>{DAY})"
    r"(?=的(?:[车机船门]?票|会议?[,，。要改]|课|航班|火车|高铁|动车|飞机|酒店|活动|聚会|演出|比赛|考试|作业|快递|订单|预约))"
    rf"|(?:(?<={WEEKDAY})|(?<={WEEKDAY}[(（ ,，])|(?<=[今明后昨前]天)|(?<=[今明后昨前]天[(（ ,，]))"
    rf"(?P<month4>{MONTH})/(?P<day4>{DAY})(?![\d/%期班栋℃°]|\.\d|的|号[线楼])"
)
# Days of one course, of which one at least can be no part of an hour or a cake: 3/8、3/15.
_LISTED_DATES: Final = re.compile(rf"(?<![\d./:]){MONTH}/{DAY}(?:(?:, |和|及|与){MONTH}/{DAY})+(?![\d/%]|\.\d|的)")
# No part of a whole is more than it, so a month stands before its day, and so do others of that month: 7/1, 7/8.
_SLASHED: Final = re.compile(rf"(?<![\d./A-Za-z=√π×÷<>≤≥±-])(?<!\d:)(?<!分)({MONTH})/({DAY})(?![\d/%A-Za-z拍℃°]|\.\d)")
_LISTED_DATE: Final = re.compile(r"(\d{1,2})/(\d{1,2})")
_HOLIDAY: Final = re.compile(
    rf"(?<=[假期庆节间班营周限住展档])(?P<gap>[:：, (（]{{0,2}})(?P<first>{MONTH}\.{DAY})"
    rf"{DASH}(?P<last>{MONTH}\.{DAY})(?![\d%]|\.\d)"
)
_OFFER_DAYS: Final = re.compile(
    rf"(?<![\d./-])(?P<first>{MONTH}\.{DAY}){DASH}(?P<last>{MONTH}\.{DAY})"
    r"(?P<gap>)(?=[期使]用|期间|有效|活动|放假|截止|开抢|报名|休息|开放|展出|停)"
)
_INCIDENT: Final = re.compile(
    r"(?<![\d.])(\d{1,2})(?:[·•・]|\.(?=\d{1,2}(?:晚会|大促|购物|事件|惨案|特大|阅兵|打假|维权)))(\d{1,2})(?!\d)"
)
_INCIDENT_SIGN: Final = re.compile(r"\d[·•・.]\d")
# A month and a day with a stop between, where the words around cannot belong to a number.
_DOTTED_DAY: Final = re.compile(
    rf"(?<![\d.:/¥￥$到价至仅-])(?P<month>{MONTH})\.(?P<day>{DAY})"
    r"(?=[早晚](?:上|间)?\d{1,2}[点:]|[上下]午\d|凌晨|零点|0点|当[天日晚]|期间|国庆|元旦|劳动节|放假|假期|开抢|开售|预售|狂欢|促销|大促|特惠"
    r"|[起前](?:正式|发货|付款|下单|送达|完成|提交|交稿|报名|回复|实施|执行|恢复|生效|施行|开放|停止|[,，。.!]|$))"
    rf"|(?:(?<=仅限)|(?<=定于)|(?<=将于)|(?<=截至)|(?<=截止))(?P<month2>{MONTH})\.(?P<day2>{DAY})(?![\d.%万亿元个倍])"
)
_IDLE_NOUGHT: Final = re.compile(
    "(?<![\\d.])0(?=[1-9] ?月)|(?:(?<=月)|(?<=月 ))0(?=[1-9] ?[日号])|(?<=[日号])0(?=[1-9][时点])"
)
_DOUBLE_SALES: Final = {"11": "双十一", "12": "双十二"}
_WON: Final = (
    "(?:战胜|击败|领先|落后|险胜|逆转|横扫|大胜|战平|不敌|取胜|获胜|负于|力克|力压|淘汰|轻取|惜败|告负|"
    "完胜|输给|反超|扳平|晋级|夺冠|胜出)"
)
_POINTS: Final = r"\d{1,3}:\d{1,3}(?![\d:])"
_SET: Final = "[第决][一二三四五六七1-7胜]局"
_TAKEN: Final = "(?:拿下|赢|输掉|先下|再下|扳回|锁定|结束|收官|再胜|先胜|的比分)"
_SCORE: Final = re.compile(
    rf"(?<![\d:.])(?:{_POINTS}(?:(?:, |和|及){_POINTS})+|{_POINTS}(?={_WON})|(?<=以){_POINTS}(?={_TAKEN})"
    rf"|(?:(?<=比分)|(?<=比分[是为到:： ])|(?<=比分[是为][:： ])|(?<={_SET})|(?<={_SET}[,: ])"
    rf"|(?<=[打战拼杀]到)|(?<=[打战拼杀]至)|(?<=点球大战)|(?<=半场)|(?<=总分)|(?<=点球)|(?<=追成)|(?<=打成)|(?<=战成)|(?<=扳成)|(?<=改写为)){_POINTS})"
)
_SCORED: Final = re.compile(rf"比分|{_WON}|[局盘]|点球|半场|总分|[追打战扳]成|改写为|以\d{{1,3}}:\d{{1,3}}{_TAKEN}")
_PAIR: Final = re.compile(r"(\d{1,3}):(\d{1,3})")
_NEAR: Final = 16
_LARGEST_PART: Final = 12
_HALVES: Final = frozenset((2, 4, 8, 16))
_DAWN: Final = 5
_EVENING: Final = 7
_LABELLED: Final = re.compile("[码号编][是为:： ]{0,2}\\Z")
_SALE: Final = re.compile(
    r"(?<![\d])(?<!\d[.,])(?:618(?=”?(?:大促|购物|活动|期间|年中|促销|电商))|(?:520|1314)(?=”?(?:[那当这]天|快乐|表白|情人|礼|[给送][我你他她]|收到|当晚|晚上|红包)))"
)
_SALE_SIGN: Final = re.compile("618|520|1314")
_UNTIL: Final = re.compile(
    r"(?:(?<=[\d零一二两三四五六七八九十][年月日号点时分秒天周岁])|(?<=点半)|(?<=周[一二三四五六日])|(?<=星期[一二三四五六日]))"
    rf" ?[-–—~～] ?(?!\d+(?:\.\d+)?[%‰℃])(?={_PARTS_OF_DAY}?[\d零一二两三四五六七八九十]|周|星期|公元|前\d"
    r"|今(?=[,，。)]))"
)
_PARTED: Final = re.compile(r"\d[-/.]\d")
_LONG_DATE: Final = re.compile(r"\d{4}[-/.]\d|\d[-/.]\d{4}")
_DASHED: Final = re.compile("[-–—~～]")
_FULL_DATES: Final = re.compile(rf"(?<![\d./-])({MONTH})/({DAY}){DASH}({MONTH})/({DAY})(?![\d/%]|\.\d)")
_TAKES: Final = re.compile(
    " ?(?:完赛|的|跑完|游完|完成|冲|刷新|打破|摘|夺|获|折桂|登顶|卫冕|率先|拿下|创|处(?![理于置分]))"
)
_LAP: Final = re.compile(r"(?<![\d:.])(?:(\d{1,2}):)?(\d{1,2}):([0-5]\d)\.(\d{1,3})(?![\d:])")
_LASTS: Final = re.compile(
    "(?:用时|用了|耗时|时长|历时|成绩|倒计时|净时间?|全程|圈速|配速|片长|PB|[半全]马|马拉松)[是为:： 仅约共]{0,2}\\Z"
)
_LASTS_REACH: Final = 6
_PROPORTION: Final = re.compile(
    "(?:比例|[生女别数值重分率肥糖醋油料液水之高宽深横配缩占长酸碱信出]比|比值|画幅|屏占)[是为:： 约]{0,2}\\Z"
)
_IN_PROPORTION: Final = re.compile(
    " ?(?:[粉水油糖醋盐酒茶料米][粉水油糖醋盐酒茶料米]?比"
    "|的(?:比例|配比|[宽大]?屏|画幅|稀释)|比例|配比|画幅|[宽大]屏|稀释|兑水)"
)
_RESULT: Final = re.compile(
    "(?:用时|耗时|历时|成绩|[纪记]录|跑[出进到]|[游骑划滑走]出|PB|[半全]马|马拉松|完赛)[^,.;，。；在于日号晚早午晨]{0,15}\\Z"
)
_VERSE: Final = re.compile(
    "(?:(?<=福音)|(?<=诗篇)|(?<=箴言)|(?<=创世记)|(?<=启示录)|(?<=罗马书)) ?(\\d{1,3}):(\\d{1,3})(?!\\d)"
)


def read(text: TrackedText) -> TrackedText:
    """Dates in figures, years digit by digit, times with minutes, and what lies between two of them."""
    if _PARTED.search(text.text):
        text = _read_dates(text)
    if _INCIDENT_SIGN.search(text.text):
        text = text.sub(_INCIDENT, lambda match: spelled(match[1] + match[2]))
    if _SALE_SIGN.search(text.text):
        text = text.sub(_SALE, _spelled)
    if "月" in text.text or "日" in text.text:
        text = text.sub(_IDLE_NOUGHT, "")
    text = years.read(text)
    if "周" in text.text or "期" in text.text:
        text = text.sub(_AFTER_DAYS, r", \1")
    if ":" in text.text:
        text = text.sub(_SCORE, _score).sub(_VERSE, lambda match: f"{cardinal(match[1])}章{cardinal(match[2])}节")
        text = text.sub(_LAP, _lap)
        text = text.sub(_TIMES, "到").sub(_TIME, _time)
    return text.sub(_HOUR, _hour).sub(_IDLE_HALF, _idle_half) if _HALF_DAY.search(text.text) else text


def _read_dates(text: TrackedText) -> TrackedText:
    """Dates whose figures a line, a slash or a stop parts."""
    if _LINED.search(text.text):
        text = planned_days.read_lined(text.sub(_DUE, _due))
    if _LOGGED_SIGN.search(text.text):
        text = text.sub(_LOGGED, lambda match: month_day(match[1], match[2]))
    if _LONG_DATE.search(text.text):
        text = text.sub(_DATES, _dates).sub(_DATE, _date).sub(_DATE_BEHIND, _date_behind)
        text = text.sub(_SEASON, _season).sub(_YEAR_MONTH, _year_month).sub(_YEAR_MONTH_DOT, _year_month)
        text = text.sub(_MONTH_OF_END, _year_month)
    if "." in text.text:
        text = text.sub(_DOTTED_MONTH, _dotted_month)
        if _DOTTED_YEAR.search(text.text):
            text = text.sub(_DOTTED_MONTHS, _dotted_month)
        text = text.sub(_DOTTED_DAY, _dotted_day)
        text = text.sub(_HOLIDAY, _holiday).sub(_OFFER_DAYS, _holiday)
        text = planned_days.read(text)
    if "/" not in text.text:
        return text
    text = text.sub(_FULL_DATES, _full_dates).sub(_LISTED_DATES, _listed_dates).sub(_SHORT_DATE, _short_date)
    months = {match[1] for match in _SLASHED.finditer(text.text) if int(match[1]) > int(match[2])}
    if not months:
        return text
    return text.sub(_SLASHED, lambda match: month_day(match[1], match[2]) if match[1] in months else None)


def _spelled(match: re.Match[str]) -> str:
    return spelled(match.group())


def read_spans(text: TrackedText) -> TrackedText:
    """The span between two days, dates or times."""
    return text.sub(_UNTIL, "到") if _DASHED.search(text.text) else text


def _date(match: re.Match[str]) -> str | None:
    month, day = int(match[3]), int(match[4])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{spelled(match[1])}年{month_day(match[3], match[4])}"


def _dates(match: re.Match[str]) -> str | None:
    if any(not 1 <= int(match[month]) <= 12 or not 1 <= int(match[month + 1]) <= 31 for month in (3, 6)):
        return None
    last_year = f"{spelled(match[5])}年" if match[5] else ""
    return f"{spelled(match[1])}年{month_day(match[3], match[4])}到{last_year}{month_day(match[6], match[7])}"


def _date_behind(match: re.Match[str]) -> str | None:
    """A date with its year last: the day comes first, unless only the other way round there is such a day."""
    if _LABELLED.search(match.string, max(0, match.start() - 4), match.start()):
        return None
    day, month = (match[1], match[3]) if int(match[3]) <= 12 else (match[3], match[1])
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return f"{spelled(match[4])}年{month_day(month, day)}"


def _due(match: re.Match[str]) -> str | None:
    """A day; None for a span of numbers, unless one of them has a nought in front or the second is the less."""
    month, day = match["month"], match["day"]
    sure = "0" in (month[0], day[0]) or int(month) > int(day)
    return month_day(month, day) if sure or _ENDS.search(match.string, 0, match.start()) else None


def _season(match: re.Match[str]) -> str | None:
    following = (int(match[1]) + 1) % 100
    return f"{spelled(match[1])}到{spelled(match[2])}" if int(match[2]) == following else None


def _year_month(match: re.Match[str]) -> str:
    return f"{spelled(match[1])}年{cardinal(str(int(match[2])))}月"


def _dotted_month(match: re.Match[str]) -> str:
    said = f"{spelled(match['year'])}年{cardinal(str(int(match['month'])))}月"
    return f"{said}到{spelled(match['last'])}年{cardinal(str(int(match['until'])))}月" if match["dash"] else said


def _full_dates(match: re.Match[str]) -> str:
    return f"{month_day(match[1], match[2])}到{month_day(match[3], match[4])}"


def _listed_dates(match: re.Match[str]) -> str | None:
    """A list of dates; None where all of it may be parts of a whole."""
    days = [int(day) for _, day in _LISTED_DATE.findall(match.group())]
    if max(days) <= _LARGEST_PART or set(days) <= _HALVES:
        return None
    return _LISTED_DATE.sub(lambda date: month_day(date[1], date[2]), match.group())


def _short_date(match: re.Match[str]) -> str:
    found = [part for part in match.groups() if part]
    said = month_day(*found)
    return said.removesuffix("日") if match.string[match.end() : match.end() + 1] in ("日", "号") else said


def _dotted_day(match: re.Match[str]) -> str:
    month, day = match["month"] or match["month2"], match["day"] or match["day2"]
    return _DOUBLE_SALES[month] if month == day and month in _DOUBLE_SALES else month_day(month, day)


def _score(match: re.Match[str]) -> str | None:
    """Points, unless they are a list of times and no word near them tells of a game."""
    pairs = _PAIR.findall(match.group())
    timely = all(int(hour) <= 24 and len(minute) == 2 and int(minute) < 60 for hour, minute in pairs)
    around = match.string[max(0, match.start() - _NEAR) : match.end() + _NEAR]
    if timely and _SCORED.search(around) is None:
        return None
    return _PAIR.sub(lambda pair: f"{cardinal(pair[1])}比{cardinal(pair[2])}", match.group())


def _holiday(match: re.Match[str]) -> str:
    return match["gap"] + "到".join(month_day(*match[end].split(".")) for end in ("first", "last"))


def _time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), int(match["minute"])
    if minute > 59 or _is_ratio(match):
        return None
    second = int(match["second"] or 0)
    lasts = _LASTS.search(match.string, max(0, match.start() - _LASTS_REACH), match.start()) is not None
    if lasts or (hour <= 24 and _takes(match)):
        return _duration(hour, minute, second if match["second"] else None)
    if hour > 24:
        return None
    words = _half(match, match["half"] or match["before"], hour) + counted(str(hour)) + "点"
    if minute or second:
        words += ("零" if minute < 10 else "") + (cardinal(str(minute)) if minute else "") + "分"
    return words + (f"{cardinal(str(second))}秒" if second else "")


def _is_ratio(match: re.Match[str]) -> bool:
    """Return whether a word tells of sides or parts that are in proportion, and not of the time of day."""
    before = _PROPORTION.search(match.string, max(0, match.start() - _LASTS_REACH), match.start())
    return before is not None or _IN_PROPORTION.match(match.string, match.end()) is not None


def _takes(match: re.Match[str]) -> bool:
    """Return whether a run takes so long; without seconds only behind 以, since it may end at that time of day."""
    told = match["second"] is not None or match.string.endswith("以", 0, match.start())
    if match["second"] is not None and _RESULT.search(match.string, max(0, match.start() - _NEAR), match.start()):
        return True
    return told and _TAKES.match(match.string, match.end()) is not None


def _duration(first: int, middle: int, last: int | None) -> str:
    """Hours, minutes and seconds, or minutes and seconds where there is no third figure."""
    parts = (
        zip((first, middle, last), ("小时", "分", "秒"), strict=True)
        if last is not None
        else ((first, "分"), (middle, "秒"))
    )
    words = [counted(str(part)) + unit for part, unit in parts if part]
    return "".join(words) or "零秒"


def _lap(match: re.Match[str]) -> str:
    """Minutes, seconds and parts of a second, behind hours where there are some."""
    if match[1] and match[1].startswith("0"):  # the clock of a log: 02:14:55.123
        clock = f"{counted(str(int(match[1])))}点{'零' if match[2][0] == '0' else ''}{cardinal(str(int(match[2])))}分"
        return f"{clock}{cardinal(str(int(match[3])))}点{spelled(match[4])}秒"
    hours = f"{counted(match[1])}小时" if match[1] else ""
    minutes = counted(str(int(match[2]))) if match[1] else counted(match[2])
    return f"{hours}{minutes}分{cardinal(str(int(match[3])))}点{spelled(match[4])}秒"


def _idle_half(match: re.Match[str]) -> str:
    return "上午" if match[1] == "A" else "下午"


def _hour(match: re.Match[str]) -> str:
    hour = int(match["hour"] or match["hour2"])
    return _half(match, match["half"] or match["before"], hour) + counted(str(hour)) + "点"


def _half(match: re.Match[str], half: str | None, hour: int) -> str:
    """The part of the day, unless a part of the day stands before the time already."""
    if half is None or _PART_OF_DAY.search(match.string, max(0, match.start() - 3), match.start()):
        return ""
    if half in "aA":
        return "凌晨" if hour == 12 or hour < _DAWN else "上午"
    return "中午" if hour == 12 else "晚上" if hour >= _EVENING else "下午"
