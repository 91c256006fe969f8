"""Dates and times of day."""

import re
from typing import Final

from polyvox.text.normalize.hindi.numbers import BELOW_HUNDRED, cardinal, year
from polyvox.text.tracked import TrackedText

_MONTHS: Final = "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर".split()
_SHORT_MONTHS: Final = "जन|फ़र|फर|अप्रै|जुला|अग|सित|सितं|अक्टू|नव|नवं|दिस|दिसं"
_ANY_MONTH: Final = "जनवरी|फ़रवरी|फरवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर|अक्तूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर"
_DATE: Final = re.compile(
    r"(?<![\d./-])(?P<day>\d{1,2})([-/.])(?P<month>\d{1,2})\2(?P<year>\d{4}|\d{2})(?![\d/-]|\.\d)"
)
_ISO: Final = re.compile(r"(?<![\d./-])(?P<year>\d{4})([-/])(?P<month>\d{1,2})\2(?P<day>\d{1,2})(?![\d/-])")
_SHORT: Final = re.compile(
    r"(?<![\d./-])(?P<day>\d{1,2})/(?P<month>\d{1,2})(?![\d/])"
    r"(?= (?:को|तक|से(?! (?:ज़्यादा|ज़्यादा|ज्यादा|अधिक|कम|ऊपर|भी))|(?:के|का|की) "
    r"(?:दिन|अंक|पत्र|शाम|रात|सुबह|दोपहर|सुनवाई|परीक्षा|मैच|मीटिंग|बैठक|ट्रेन|फ़्लाइट|टिकट|बुकिंग))(?!\w)"
    r"| \((?:सोम|मंगल|बुध|गुरु|शुक्र|शनि|रवि)(?:वार)?\))"
)
_DUE: Final = re.compile(
    r"(?:(?<=तिथि )|(?<=तारीख )|(?<=दिनांक )|(?<=तिथि: )|(?<=तारीख: )|(?<=दिनांक: )|(?<=दिनांक:)"
    r"|(?<=पेशी )|(?<=सुनवाई )|(?<=बैठक )|(?<=डिलीवरी )|(?<=बुकिंग ))"
    r"(?P<day>3[01]|[12]\d|0?[1-9])/(?P<month>1[0-2]|0?[1-9])(?![\d/])"
)
_SPAN_OF_DAYS: Final = re.compile(
    r"(?<![\d./-])(?P<day>3[01]|[12]\d|0?[1-9])/(?P<month>1[0-2]|0[1-9]) ?[-–] ?(?P<last>3[01]|[12]\d|0?[1-9])/"
    r"(?P<last_month>1[0-2]|0[1-9])(?![\d/-])"
)
_LAP: Final = re.compile(r"(?<![\d:.])(\d{1,2}):0?((?:[1-5]\d|\d)\.\d{1,3})(?![\d:.])")
_LASTING: Final = re.compile(r"(?<![\d:.])(\d{1,3}):([0-5]\d) मिनट")
_NAMED: Final = re.compile(rf"(?:{_ANY_MONTH}|(?:{_SHORT_MONTHS})\.),? (?P<year>[12]\d{{3}})(?!\d|[.,]\d)")
_YEAR: Final = re.compile(
    r"(?=1)(?:(?<=सन )|(?<=सन् )|(?<=वर्ष )|(?<=अधिनियम )|(?<=अधिनियम, )|(?<=एक्ट )|(?<=संहिता )|(?<=क़ानून )"
    r"|(?<=कानून )|(?<=संधि )|(?<=जनगणना )|(?<=ओलंपिक )|(?<=विश्व कप )|(?<=वर्ल्ड कप )|(?<=बैच )|(?<=मॉडल )|(?<=संस्करण ))"
    r"(?P<year>1[1-9]\d\d)(?!\d|[.,]\d)"
    r"|(?=1)(?<![\d₹$])(?<!\d[.,])(?P<year2>1[1-9]\d\d)(?= (?:में|ई\.|ईस्वी|के दशक|का दशक|के बाद"
    r"|की क्रांति|के (?:आम |विश्व |युद्ध|विद्रोह|चुनाव|दौरान|अंत|आसपास|पहले|ओलंपिक|संविधान)"
    r"|की (?:जनगणना|जंग|लड़ाई|संधि|घटना)|का (?:युद्ध|विद्रोह|चुनाव|आंदोलन|अधिनियम)|से पहले))"
    r"|(?=1)(?<![\d₹$-])(?<!\d[.,])(?P<year4>1[89]\d\d)"
    r"(?= (?:[\u0900-\u0963]{2,12} ){0,2}(?:धमाक|दंग|नरसंहार|महायुद्ध|विश्व युद्ध"
    r"|भूकंप|त्रासदी|विश्व कप|ओलंपिक|आम चुनाव|आंदोलन|क्रांति|विद्रोह|अधिनियम|जनगणना|बैच))"
    r"|(?=1)(?<![\d₹$-])(?<!\d[.,])(?P<year3>1[89]\d\d)(?= (?:तक|से (?!अधिक|ज़्यादा|ज्यादा|कम|ऊपर|लेकर|नीचे)))"
)
_YEARS: Final = re.compile(
    r"(?<![\d₹$/-])(?<!\d[.,])(?P<first>(?:1[1-9]|20)\d\d) ?[-–—] ?(?P<last>(?:1[1-9]|20)\d\d)(?![\d%/]|[.,-]\d)"
)
_FISCAL: Final = re.compile(r"(?<![\d₹$/-])(?<!\d[.,])(?P<first>(?:1[1-9]|20)\d\d)-(?P<last>\d\d)(?![\d%/]|[.,-]\d)")
_TIME: Final = re.compile(
    r"(?<!\d)(?<!\d[:.,])(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?![\d:])"
    r"(?: ?(?P<half>[AaPp])\.?[Mm](?![A-Za-z])\.?)?"
    r"(?P<at> बजे(?! (?:पर|से|तक|का|की|के|है|था|थी|हैं)(?![\u0900-\u0963\u0966-\u097f])))?(?: बजे)?"
    r"(?P<on>(?<!बजे) पर(?![\u0900-\u0963]))?"
)
_SHORT_DAYS: Final = "सोम|मंगल|बुध|गुरु|शुक्र|शनि|रवि"
_WEEK: Final = re.compile(
    rf"(?<![\u0900-\u0963])({_SHORT_DAYS})(?:वार|\.)? ?[-–—] ?({_SHORT_DAYS})"
    r"(?:वार(?![\u0900-\u0963])|\.|(?![\u0900-\u0963]))"
)
_DASH_SIGN: Final = re.compile("[-–—]")
_MONTH_TO_MONTH: Final = re.compile(
    rf"(?<![\u0900-\u0963])({_ANY_MONTH}) ?[-–—] "
    rf"?(?=(?:{_ANY_MONTH})(?![\u0900-\u0963]))"
)
_DAY_TO_DAY: Final = re.compile(rf"(?P<first>{_ANY_MONTH}) ?[-–—] ?(?=\d{{1,2}} (?:{_ANY_MONTH})(?![\u0900-\u0963]))")
_HOUR: Final = re.compile(r"(?<!\d)(?<!\d[:.,])(?P<hour>\d{1,2}) ?(?P<half>[AaPp])\.?[Mm](?![A-Za-z])\.?")
_HALF_PAST: Final = {1: "डेढ़", 2: "ढाई"}
_DIGIT: Final = re.compile("[0-9]")
_PARTED: Final = re.compile("[0-9] ?[-–—/.] ?[0-9]")
_OPENING: Final = re.compile(r"(?<=:\d\d) ?[-–—] ?(\d{1,2}:\d\d)(?![\d:]| ?(?:[AaPp]\.?[Mm]|बजे|तक))")
_SPAN: Final = re.compile(r"(?<=:\d\d) ?[-–—] ?(?=\d{1,2}:\d\d)")


def read(text: TrackedText) -> TrackedText:
    """Dates in figures, the day first; years; times with minutes or with a.m. and p.m."""
    if _DIGIT.search(text.text) is None:
        return text
    if _DASH_SIGN.search(text.text):
        text = text.sub(_MONTH_TO_MONTH, r"\1 से ").sub(_WEEK, r"\1वार से \2वार")
        text = text.sub(_DAY_TO_DAY, r"\g<first> से ")
    if _PARTED.search(text.text):
        text = (
            text.sub(_ISO, _date)
            .sub(_DATE, _date)
            .sub(_SHORT, _date)
            .sub(_DUE, _date)
            .sub(_SPAN_OF_DAYS, _span_of_days)
            .sub(_YEARS, _years)
            .sub(_FISCAL, _fiscal)
        )
    text = text.sub(_NAMED, lambda match: match.group()[:-4] + year(match["year"]))
    text = text.sub(_YEAR, lambda match: year(match[match.lastgroup or 0]))
    if ":" in text.text:
        text = text.sub(_LASTING, r"\1 मिनट \2 सेकंड") if "मिनट" in text.text else text
        text = text.sub(_LAP, r"\1 मिनट \2 सेकंड")
        text = text.sub(_OPENING, r" से \1 तक").sub(_SPAN, " से ").sub(_TIME, _time)
    return text.sub(_HOUR, _hour)


def _date(match: re.Match[str]) -> str | None:
    day, month = int(match["day"]), int(match["month"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    words = f"{cardinal(str(day))} {_MONTHS[month - 1]}"
    figures = match.groupdict().get("year")
    if not figures:
        return words
    full = figures if len(figures) == 4 else str(int(figures) + (2000 if int(figures) < 70 else 1900))
    return f"{words} {year(full)}"


def _span_of_days(match: re.Match[str]) -> str:
    first = f"{cardinal(str(int(match['day'])))} {_MONTHS[int(match['month']) - 1]}"
    return f"{first} से {cardinal(str(int(match['last'])))} {_MONTHS[int(match['last_month']) - 1]}"


def _time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24:
        return None
    part, on = _part(match), " पर" if match["at"] or match["on"] else ""
    if not minute:
        return f"{part}{BELOW_HUNDRED[hour]} बजे"
    if minute == 30 and 1 <= hour <= 12:
        return f"{part}{_HALF_PAST.get(hour) or f'साढ़े {BELOW_HUNDRED[hour]}'} बजे"
    return f"{part}{BELOW_HUNDRED[hour]} बजकर {BELOW_HUNDRED[minute]} मिनट" + on


def _years(match: re.Match[str]) -> str | None:
    return f"{year(match['first'])} से {year(match['last'])}" if match["first"] < match["last"] else None


def _fiscal(match: re.Match[str]) -> str | None:
    """A year that runs into the next, as 2023-24."""
    if (int(match["first"]) + 1) % 100 != int(match["last"]):
        return None
    return f"{year(match['first'])} {BELOW_HUNDRED[int(match['last'])]}"


def _hour(match: re.Match[str]) -> str | None:
    hour = int(match["hour"])
    return f"{_part(match)}{BELOW_HUNDRED[hour]} बजे" if 1 <= hour <= 12 else None


def _part(match: re.Match[str]) -> str:
    """The part of the day that a.m. and p.m. stand for, unless the word before tells it already."""
    half, before = match["half"], match.string[max(0, match.start() - 6) : match.start()]
    if not half or before.endswith(("सुबह ", "दोपहर ", "शाम ", "रात ")):
        return ""
    of_day = int(match["hour"]) % 12 + (12 if half in "pP" else 0)
    for end, part in ((4, "रात"), (12, "सुबह"), (16, "दोपहर"), (20, "शाम")):
        if of_day < end:
            return f"{part} "
    return "रात "
