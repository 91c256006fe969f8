"""Dates and times of day."""

import re
from typing import Final

from polyvox.text.normalize.japanese.numbers import DASH, spelled
from polyvox.text.tracked import TrackedText

_WEEKDAY: Final = "月火水木金土日祝"
_DATE: Final = re.compile(r"(?<![\d.-])(?P<year>[12]\d{3})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})(?![\d-]|\.\d)")
# A month and a day, where a weekday or the grammar around asks for a date and not for a fraction.
_SHORT_DATE: Final = re.compile(
    rf"(?<![\d./と×÷+=-])(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]|[12]\d|0?[1-9])"
    rf"(?=\([{_WEEKDAY}]|[にまはかの~〜～]|、|,|締|開|発売|より)(?![\d/]|\.\d)"
)
# A month and a day by what follows, and by themselves: no share has so many parts, and none goes beyond the whole.
_ANY_DATE: Final = re.compile(
    r"(?<![\d./と×÷+=A-Za-z-])(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]"
    r"|[12]\d|0?[1-9])(?![\d/%=×÷+A-Za-z]|\.\d|拍子| ?[=×÷]"
    r"|[人個点本問枚倍票杯合斤袋]|カップ|サイズ|スケール|程度|ほど|以[上下]|くらい|ぐらい)"
)
_HAPPENS: Final = re.compile(
    r" ?\d{1,2}(?::\d|時)|の?(?:朝|昼|夜|夕|晩|午前|午後|深夜|未明|正午"
    r"|早朝)|[ごお]?(?:注文|予約|到着|発送|出荷|入荷|入金|納品|請求"
    r"|更新|実施|公演|放送|配信|開始|終了|付|〆|時点|現在|以降|以前|頃|ごろ|当日|必着|消印|公開|オープン|提出|集合|解散|出発|帰国|退院"
    r"|入院|来院|予定|申込|申し込み|会議|面談|面接|号|発(?!信)|着|休)"
)
_IMPROBABLE: Final = 13
_USUAL_PARTS: Final = frozenset((16, 20, 24, 25, 30))
_OF_MANY: Final = re.compile("(?:約|およそ|ほぼ|さじ|カップ|うち|残り|[者員人体民部数額量費生りち]の)\\Z")
_SHARED: Final = re.compile(
    "の(?:人|方々|割合|確率|生徒|学生|国|社|票|賛成|量|面積|大きさ|長さ|値段|価格|土地|住民|家庭|世帯|女性|男性|会社|企業|議員|議席|子|速)"
)
# What makes a weekday free, behind it in its brackets.
_FREE: Final = "[・、,/ ]?(?:祝日?|振替休日|振休)|[・、,/ ]休日?"
_BESIDE_FREE: Final = re.compile(
    rf"(?<=[\d翌当元初前]日)\((?:(?P<day>[月火水木金土日])(?:{_FREE})|祝日?[・、,/ ]?(?P<last>[月火水木金土日]))\)"
)
_NAMED_DAY: Final = re.compile(rf"(?<=日)\((?P<day>[{_WEEKDAY}])\)")
# A day of the month by its weekday alone.
_DAY_ALONE: Final = re.compile(
    rf"(?<![\d/.,])(3[01]|[12]\d|[1-9])"
    rf"(?=\((?:[{_WEEKDAY}](?:{_FREE})?|祝[・、,/ ]?[{_WEEKDAY}])\))"
)
_SPAN: Final = re.compile(rf"(?<=\d:\d\d){DASH}(?=\d{{1,2}}:\d\d(?!\d))")
_TIME: Final = re.compile(
    r"(?<!\d)(?<!\d[:.,])(?:(?P<before>[AaPp]\.?[Mm]\.?) ?)?(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)"
    r"(?::(?P<second>[0-5]\d))?(?![\d:])(?: ?(?P<behind>[AaPp]\.?[Mm])(?![A-Za-z])\.?)?"
)
_HALF: Final = re.compile(r"(?<![A-Za-z])(?P<half>[AaPp])\.?[Mm]\.? ?(?=\d{1,2}時)")
_ERAS: Final = {"M": "明治", "T": "大正", "S": "昭和", "H": "平成", "R": "令和"}
_ERA_LETTER: Final = re.compile("[MTSHR][. ]?[0-9元]")
_ERA: Final = re.compile(
    r"(?<![A-Za-z\d.])(?P<era>[MTSHR])\.? ?(?P<year>\d{1,2}|元)(?:[./]"
    r"(?P<month>1[0-2]|0?[1-9])[./](?P<day>3[01]|[12]\d|0?[1-9])"
    r"(?![\d.])|(?=年(?![間前後目以])))"
)
_WEEKDAYS: Final = dict(zip("月火水木金土日祝", "ゲツ カ スイ モク キン ド ニチ シュク".split(), strict=True))
_WEEK: Final = re.compile(rf"(?<![\u4e00-\u9fff\d])([{_WEEKDAY}])[-–~～〜]([{_WEEKDAY}])(?![\u4e00-\u9fff])")
_LISTED_DAYS: Final = re.compile(
    rf"(?:(?<![\u4e00-\u9fff\d])|(?<=毎週))[{_WEEKDAY}](?:[・、][{_WEEKDAY}])+(?=曜|[^\u4e00-\u9fff\d]|$)"
)
# A sentence of years and months.
_SERVED: Final = re.compile(
    r"(?<=\d年)(?P<months>\d{1,2})月(?=に処|の(?:判決"
    r"|実刑|刑|有罪)|[、,。](?:執行|未決|罰金)?)"
)
_SENTENCE: Final = re.compile("懲役|禁錮|拘禁刑")
_IDLE_NOUGHT: Final = re.compile(r"(?<=時)0(?=\d分)|(?<=分)0(?=\d秒)")
_HUNDREDTHS: Final = re.compile(r"(?<![分\d]\d秒)(?<=\d秒)\d\d(?!\d|[.,]\d)")
_WRITTEN_YEAR: Final = re.compile("(?<![一二三四五六七八九〇十百千])[一二][〇一二三四五六七八九]{3}(?=年)")
_WRITTEN_DIGITS: Final = str.maketrans("〇一二三四五六七八九", "0123456789")
_MONTHS: Final = re.compile(r"(?<![\d./-])(1[0-2]|[1-9])[-–~～〜](?=(?:1[0-2]|[1-9])月(?!\d))")
_FEW: Final = {
    "2、3日": "にさんにち", "二、三日": "にさんにち", "4、5日": "しごにち", "四、五日": "しごにち",
    "4、5人": "しごにん", "四、五人": "しごにん",
}  # fmt: skip
_A_FEW: Final = re.compile(f"(?<![\\d月.、一二三四五六七八九十])(?:{'|'.join(_FEW)})(?!間?、)")
_PARTED: Final = re.compile("[0-9][-/.][0-9]")
# Hours of a range are said with their name at both ends.
_HOURS: Final = re.compile(r"(?<![\d.,:時分])(\d{1,2})[-–~～〜](?=(\d{1,2})時(?!間))")
# What takes place on a day, or is due on it, and the one that it does.
_DUE: Final = re.compile(
    r"(?P<head>(?:[期納]限|期日|[締〆]め?切り?|納期|納品|開催|[日試会式]|試験|テスト|ライブ|公演|面接|予約|発売"
    r"|公開|リリース|出発|支払い?|引き?落と?し)[はがも:：]? ?)"
    r"(?P<month>1[0-2]|0?[1-9])/(?P<day>3[01]|[12]\d|0?[1-9])(?![\d/.%]|の[ごお\d]|[点人個])"
)
_PART_OF_MONTH: Final = re.compile(r"(?<![\d/.])(1[0-2]|0?[1-9])/(?=末|上旬|中旬|下旬|初旬)")
_DASHED: Final = re.compile("[-–—~～〜]")
_DATED: Final = re.compile("(?<=\\d日)付け?+(?![きくかこっいけ加着帯与属近録箋])")
_UNTIL: Final = re.compile(r"(?<=[年月日時分秒歳円人])[~～〜–—-](?=\d)")
_COUNTED: Final = "[\u3041-\u30ff\u4e00-\u9fff%℃A-Za-z]"
_TO_ANOTHER: Final = re.compile(
    "(?:"
    + "|".join(rf"(?<=\d{_COUNTED}{{{length}}})" for length in range(1, 5))
    + r"|(?<=曜日 [祝休]日)|(?<=振替休日))[~～〜](?=第?\d)"
)
_TO_PLACE: Final = re.compile(
    "(?<=[\u30a0-\u30ff\u4e00-\u9fff])[~～〜](?=[\u30a0-\u30ff\u4e00-\u9fff]{1,8}?(?:駅|間|を|まで|行き|方面|線|インター|ジャンクション))"
)
# A wave with no end behind it.
_SINCE: Final = re.compile(
    rf"(?:(?<=\d[年月日時歳円])|(?<=時\d\d分)|(?<=\d:\d\d)|(?<=\d日[{_WEEKDAY}]曜)|(?<=\d日祝日)|(?<=曜日 [祝休]日)"
    r"|(?<=振替休日)|(?<=\d[名泊%h])|(?<=\d[万億]円)|(?<=\dkm)|(?<=\dkg))[~～〜](?![\d~～〜♪☆ー])"
)


def read(text: TrackedText) -> TrackedText:
    """Dates in figures, weekdays in brackets behind them, times with minutes, and what lies between two of them."""
    text = text.sub(_WRITTEN_YEAR, lambda match: match.group().translate(_WRITTEN_DIGITS))
    text = text.sub(_A_FEW, lambda match: _FEW[match.group()])
    if _ERA_LETTER.search(text.text):
        text = text.sub(_ERA, _era)
    text = text.sub(_HALF, lambda match: "午前" if match["half"] in "aA" else "午後")
    if _PARTED.search(text.text):
        text = text.sub(_DATE, _date).sub(_SHORT_DATE, _short_date).sub(_DUE, _due)
    if "/" in text.text:
        text = text.sub(_PART_OF_MONTH, r"\1月")
        text = text.sub(_ANY_DATE, _any_date)
    if "(" in text.text:
        text = text.sub(_DAY_ALONE, r"\1日").sub(_BESIDE_FREE, _free_day)
    text = text.sub(_NAMED_DAY, lambda match: "祝日" if match["day"] == "祝" else f"{match['day']}曜")
    if "・" in text.text:
        text = text.sub(_LISTED_DAYS, lambda match: "、".join(_WEEKDAYS.get(day, "") for day in match.group()[::2]))
    if _SENTENCE.search(text.text):
        text = text.sub(_SERVED, r"\g<months>ゲツ")
    text = text.sub(_IDLE_NOUGHT, "").sub(_DATED, "づけ").sub(_HUNDREDTHS, lambda match: spelled(match.group()))
    if _DASHED.search(text.text):
        text = text.sub(_MONTHS, r"\1月から").sub(_HOURS, r"\1時から")
        text = text.sub(_WEEK, lambda match: f"{_WEEKDAYS[match[1]]}から{_WEEKDAYS[match[2]]}")
        text = (
            text.sub(_SPAN, "から")
            .sub(_UNTIL, "から")
            .sub(_TO_ANOTHER, "から")
            .sub(_TO_PLACE, "から")
            .sub(_SINCE, "から")
        )
    return text.sub(_TIME, _time) if ":" in text.text else text


def _free_day(match: re.Match[str]) -> str:
    free = "振替休日" if "振" in match.group() else "祝日" if "祝" in match.group() else "休日"
    return f"{match['day'] or match['last']}曜日 {free}"


def _short_date(match: re.Match[str]) -> str | None:
    """None for a share of something, which only looks like a date."""
    if _is_share(match):
        return None
    return f"{int(match['month'])}月{int(match['day'])}日"


def _any_date(match: re.Match[str]) -> str | None:
    month, day = int(match["month"]), int(match["day"])
    told = _HAPPENS.match(match.string, match.end()) is not None
    single = month == 1 and day in _USUAL_PARTS
    if not (told or month > day or (day >= _IMPROBABLE and not single)) or _is_share(match):
        return None
    return f"{month}月{day}日"


def _is_share(match: re.Match[str]) -> bool:
    return int(match["month"]) < int(match["day"]) and bool(
        _OF_MANY.search(match.string, max(0, match.start() - 3), match.start())
        or _SHARED.match(match.string, match.end())
    )


def _era(match: re.Match[str]) -> str:
    dated = f"年{int(match['month'])}月{int(match['day'])}日" if match["month"] else ""
    return _ERAS[match["era"]] + match["year"].lstrip("0") + dated


def _due(match: re.Match[str]) -> str:
    return f"{match['head']}{int(match['month'])}月{int(match['day'])}日"


def _date(match: re.Match[str]) -> str | None:
    month, day = int(match["month"]), int(match["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{match['year']}年{month}月{day}日"


def _time(match: re.Match[str]) -> str | None:
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if hour > 29:
        return None
    half = (match["before"] or match["behind"] or "")[:1].lower()
    words = {"a": "午前", "p": "午後"}.get(half, "") + f"{hour}時"
    if minute or second:
        words += f"{minute}分"
    return words + (f"{second}秒" if second else "")
