"""Doses, prescriptions and pressures as doctors write them."""

import re
from typing import Final

from polyvox.text.normalize.chinese.numbers import cardinal, counted
from polyvox.text.tracked import TrackedText

# So much of a drug in so much of a liquid: 100ml:2g.
_STRENGTH: Final = re.compile(
    r"(?<=[\dμµmk])((?:[mM]?[lLgG]|IU|U)):(?=\d++(?:\.\d++)?+ ?万?(?:[mM]?[lLgG]|[μµ]g|IU|U)(?![A-Za-z]))"
)
# The greater pressure and the lesser, or the spans of both: 135/85, 120-139/80-89.
_SPAN: Final = r"\d{2,3}(?:[-–~～]\d{2,3})?"
_PRESSURES: Final = re.compile(rf"(?<![\d./])(?P<high>{_SPAN})/(?P<low>{_SPAN})(?![\d./%]|-\d)")
_OF_PRESSURE: Final = re.compile("血压|高压|低压|降压|(?<![A-Za-z])BP(?![A-Za-z])|mmHg|毫米汞柱|kPa")
_HIGHEST: Final = 260
_LOWEST: Final = 30
_UNITS: Final = re.compile(r"(?:(?<![\d.])(?P<pair>2)|(?<=[\d万])) ?[Uu](?![A-Za-z0-9/·])")
# Weeks and days of a pregnancy: 孕34W+2.
_WEEKS: Final = re.compile(
    r"(?:(?<=孕)|(?<=妊娠)|(?<=孕妇)|(?<=孕周)|(?<=孕周[是为: ]))(\d{1,2})[Ww](?:\+([0-6])d?)?(?![A-Za-z0-9])"
    r"|(?<![\d.A-Za-z])([1-3]\d|4[0-2])[Ww]\+([0-6])d?(?![A-Za-z0-9])"
)
_COUNTED_IN_UNITS: Final = re.compile(
    "胰岛素|肝素|青霉素|皮下|注射|肌注|静滴|毒素|尿激酶|缩宫素|凝血|干扰素|悬液|红细胞|血小板"
)
_NO_SIDES: Final = r"(?<![A-Za-z\d.,_#=/-])(?<![A-Za-z] (?=\dd))"
_LASTS: Final = (
    r"(?:(?<=[用服热嗽泻痛血吐院程史晕肿疹孕疗×x复后续花约近隔期休假满停了第个访共提酵藏冻腌泡浸晒≤≥<>])"
    r"|(?<=[服用疗]药)|(?<=疗程[为是]))"
)
_DAYS: Final = re.compile(
    rf"(?:{_NO_SIDES}(?P<many>\d{{1,3}}[-–~～]\d{{1,3}}|[4-9]|[1-9]\d{{1,2}})"
    rf"|{_LASTS}(?P<few>\d{{1,3}}(?:[-–~～]\d{{1,3}})?))d(?![A-Za-z0-9/]|[纤牛涤尼锦]|影院|打印|电影|相机|单反|机身)"
)
# A two is a rank here, as in the number that it adds: 孕39+2周.
_DAYS_OVER: Final = re.compile(r"(?<=\d\+)2(?=周)")
_COURSE: Final = re.compile(
    r"(?:(?<=间隔)|(?<=疗程)|(?<=疗程[为是])|(?<=每)|(?<=随访)|(?<=满)|(?<=第)|(?<=[痛用疗停复访续服床息察动定]))"
    r"(?P<many>\d{1,3}(?:[-–~～]\d{1,3})?)w(?![A-Za-z0-9/])"
)
# What a test has found: (+), (-), (++).
_FOUND: Final = re.compile(r"(?<=[\u4e00-\u9fffA-Za-z0-9])\((?P<signs>\+{1,4}|[-−—]|±)\)")
_FINDINGS: Final = {"+": "阳性", "±": "弱阳性", "++": "两个加号", "+++": "三个加号", "++++": "四个加号"}
_HOURLY: Final = re.compile(
    r"(?<![A-Za-z\d])[qQ](?P<from>\d{1,2})[hdw]?(?:[-–~～][qQ]?(?P<upto>\d{1,2}))?(?:(?<=[hdw])|(?P<unit>[hdw]))"
    "(?![A-Za-z0-9])(?:一次|1次)?"
)
_DIGITS: Final = re.compile(r"\d+")
_TIMES: Final = {"h": "小时", "d": "天", "w": "周"}
# How often and which way a drug is taken, by its Latin letters.
_LATIN: Final = re.compile(
    r"(?<![A-Za-z0-9.])(?:q[dnmw]|[bt]id|qi?od|qid|prn|p\.?o|iv(?:gtt)?|i[mhg]|s[cl]|[ap]c|hs|st)\.?(?![A-Za-z0-9]|\.[A-Za-z])",
    re.IGNORECASE,
)
_LETTER: Final = re.compile("[A-Za-z]")
_LATIN_SIGN: Final = re.compile(r"(?<![A-Za-z])[a-zA-Z][a-zA-Z.]{1,4}(?![A-Za-z])")
_DOSED: Final = re.compile(
    r"\d ?(?:[mkμµ]?[gG]|m[lL]|U|IU|片|粒|支|袋|滴|丸|颗|揿|喷|枚|贴|包)(?![A-Za-z])|单位|口服|静[滴推]"
    "|肌注|用法|处方|医嘱"
)
_NEAR: Final = 24


# Lines of a virus: XBB.1.5.
_LINE: Final = re.compile(r"(?<![A-Za-z])(BA|BQ|XBB|JN|EG|KP|LP|LF|NB|XFG|XDV)\.(?=\d)")
_LINE_SIGN: Final = re.compile(r"[A-Z]\.[0-9]")
_FILTERED: Final = re.compile(r"(?<=[mM][lL])/\(?min[·⋅•/]1\.73 ?m[²2]\)?")


def read(text: TrackedText) -> TrackedText:
    """Strengths, pressures, units of drugs, and the letters that tell how often one is taken."""
    if ":" in text.text:
        text = text.sub(_STRENGTH, r"\1比")
    if _LINE_SIGN.search(text.text):
        text = text.sub(_LINE, r"\1 点 ")
    if "/" in text.text:
        text = text.sub(_FILTERED, "每分钟每一点七三平方米")
        text = text.sub(_PRESSURES, _pressures) if _OF_PRESSURE.search(text.text) else text
    if "孕" in text.text:
        text = text.sub(_DAYS_OVER, "二")
    return _read_doses(text) if _LETTER.search(text.text) else text


def _read_doses(text: TrackedText) -> TrackedText:
    if "d" in text.text:
        text = text.sub(_DAYS, _days)
    if "W" in text.text or "w" in text.text:
        text = text.sub(_COURSE, r"\g<many>周")
        text = text.sub(_WEEKS, _weeks)
    if "U" in text.text and _COUNTED_IN_UNITS.search(text.text):
        text = text.sub(_UNITS, lambda match: "两单位" if match["pair"] else "单位")
    if "q" in text.text or "Q" in text.text:
        text = text.sub(_HOURLY, _hourly)
    return text.sub(_LATIN, _spelled) if _LATIN_SIGN.search(text.text) and _DOSED.search(text.text) else text


def read_findings(text: TrackedText) -> TrackedText:
    """The signs in brackets behind what a test has looked for."""
    if "(" not in text.text:
        return text
    return text.sub(_FOUND, lambda match: f"({_FINDINGS.get(match['signs'], '阴性')})")


def _pressures(match: re.Match[str]) -> str | None:
    high, low = (int(_DIGITS.findall(match[part])[-1]) for part in ("high", "low"))
    if not _LOWEST <= low < high <= _HIGHEST:
        return None
    return f"{'到'.join(map(cardinal, _DIGITS.findall(match['high'])))}, {match['low']}"


def _weeks(match: re.Match[str]) -> str:
    days = match[2] or match[4]
    return f"{match[1] or match[3]}周" + (f"加{days}天" if days else "")


def _days(match: re.Match[str]) -> str:
    figures = match["many"] or match["few"]
    return ("两" if figures == "2" and not match.string.endswith("第", 0, match.start()) else figures) + "天"


def _hourly(match: re.Match[str]) -> str:
    upto = f"到{cardinal(match['upto'])}" if match["upto"] else ""
    unit = match["unit"] or match.group().strip("一1次")[-1]
    return f"每{counted(match['from'])}{upto}{_TIMES[unit]}一次"


def _spelled(match: re.Match[str]) -> str | None:
    """The letters one by one, where a dose stands before them."""
    if _DOSED.search(match.string, max(0, match.start() - _NEAR), match.start()) is None:
        return None
    return " ".join(match.group().replace(".", "").upper())
