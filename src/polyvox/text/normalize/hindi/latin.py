"""Short forms in Latin letters that a Hindi sentence says in full: titles, months, weekdays, thousands and lakhs."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_TITLES: Final = {
    "Dr": "डॉक्टर",
    "Mr": "मिस्टर",
    "Mrs": "मिसेज़",
    "Ms": "मिस",
    "Prof": "प्रोफ़ेसर",
    "Smt": "श्रीमती",
    "Adv": "एडवोकेट",
    "Er": "इंजीनियर",
    "Capt": "कैप्टन",
    "Lt": "लेफ़्टिनेंट",
    "Col": "कर्नल",
    "Gen": "जनरल",
    "Pt": "पंडित",
    "Tab": "टैबलेट",
    "Inj": "इंजेक्शन",
    "Syp": "सिरप",
}
_TITLE: Final = re.compile(
    rf"(?<![A-Za-z0-9.])(?P<title>{'|'.join(_TITLES)})\.? ?(?=[\u0900-\u097f]|(?<=[. ])[A-Z][a-z]|\d)"
)
_HOUSE: Final = re.compile(r"(?<![A-Za-z.])H\.? ?[Nn]o\.? ?(?=\d)")
# Behind a share or a sum, each year and each month; letters with stops are called one by one.
_YEARLY: Final = re.compile(r"(?<=[%\d] )p\. ?(?P<unit>[am])\.(?![A-Za-z])")
_PERIODS: Final = {"a": "प्रति वर्ष", "m": "प्रति माह"}
_DOTTED: Final = re.compile(r"(?<![A-Za-z.])(?:[A-Z]\.){2,6}(?:[A-Z](?![A-Za-z.]))?")
_NUMBER: Final = re.compile(r"(?<![A-Za-z])No\. ?(?=\d)|#(?=\d|[A-Z]{2,6}-\d)")
_MONTHS: Final = dict(
    zip(
        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(),
        "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर".split(),
        strict=True,
    )
)
_MONTH: Final = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)(?![A-Za-z])\.?"
)
_DATE: Final = re.compile(
    rf"(?<![\d./-])0?(?P<day>[12]\d|3[01]|[1-9])(?:st|nd|rd|th)?(?P<gap>[- ]){_MONTH}(?:(?P=gap),? "
    rf"?(?P<year>\d{{4}}|(?<=-)\d{{2}}))?(?!\d)"
)
_MONTH_YEAR: Final = re.compile(rf"(?<![A-Za-z]){_MONTH}[- ](?P<year>(?:19|20)\d\d)(?!\d)")
_WEEKDAYS: Final = {
    "Mon": "सोमवार",
    "Tue": "मंगलवार",
    "Wed": "बुधवार",
    "Thu": "गुरुवार",
    "Fri": "शुक्रवार",
    "Sat": "शनिवार",
    "Sun": "रविवार",
}
_WEEK: Final = re.compile(rf"(?<![A-Za-z])({'|'.join(_WEEKDAYS)}) ?[-–—] ?({'|'.join(_WEEKDAYS)})(?![A-Za-z])")
_NIGHTS: Final = re.compile(r"(?<![\dA-Za-z])(\d{1,2})N ?/ ?(\d{1,2})D(?![A-Za-z0-9])")
SCALES: Final = {
    "k": "हज़ार",
    "K": "हज़ार",
    "L": "लाख",
    "Lakh": "लाख",
    "lakh": "लाख",
    "Lac": "लाख",
    "lac": "लाख",
    "Cr": "करोड़",
    "cr": "करोड़",
    "CR": "करोड़",
    "crore": "करोड़",
    "Crore": "करोड़",
    "M": "मिलियन",
    "Mn": "मिलियन",
    "mn": "मिलियन",
    "B": "बिलियन",
    "Bn": "बिलियन",
    "bn": "बिलियन",
}
_SCALE: Final = "|".join(sorted(SCALES, key=len, reverse=True))
_SIGN: Final = r"₹|Rs\.?|INR|रु\.?|US\$|[$€£]"
_SUM: Final = re.compile(
    rf"(?<![A-Za-z\u0900-\u097f])(?P<sum>(?:{_SIGN}) ?[\d,]{{1,12}}(?:\.\d{{1,3}})?(?: ?[-–] "
    rf"?(?:{_SIGN})?[\d,]{{1,12}}(?:\.\d{{1,3}})?)?) ?"
    rf"(?P<scale>{_SCALE})(?:s|\.(?= ?[\u0900-\u097f]))?(?![A-Za-z0-9])"
)
# Thousands of people and views; 4K and 8K are sharp pictures.
_COUNT: Final = re.compile(
    r"(?<![\d.,A-Za-z₹$-])(?P<count>\d{1,4}(?:\.\d{1,2})?) ?"
    r"(?P<scale>(?<=\.\d)[kKM]|k|(?<=\d\d)[KM](?= [\u0900-\u097f])|(?: (?=[CL]))?(?:Cr|cr|lakh|Lakh|lac|crore"
    r"|Crore))(?![A-Za-z0-9])"
)
_ACCOUNT: Final = re.compile(r"(?<![A-Za-z])[Aa]/[Cc](?: ?[nN]o\.?)?(?: ?[.…Xx*]{2,8})?(?=[ \d])")
_TIMES: Final = re.compile(r"(?<=\d\.\d)[xX](?![A-Za-z0-9])")
_YEARLY_PAY: Final = re.compile(r"(?<=\d) ?LPA(?![A-Za-z])")
# Of heat a large K is no thousand.
_KELVIN: Final = re.compile(r"(?<=\d) ?K(?![A-Za-z0-9])")
_GOLD: Final = re.compile("सोना|सोने|स्वर्ण|गोल्ड|आभूषण|ज़ेवर|जेवर|गहन|अंगूठी")
_CARATS: Final = re.compile(r"(?:(?<=(?<!\d)1[048])|(?<=(?<!\d)2[0-4])) ?K(?:[Tt])?(?![A-Za-z0-9])(?! व्यू)")
_HEAT: Final = re.compile(r"°|℃|ताप|क्वथनांक|गलनांक|हिमांक|परम शून्य")
_MULTIPLIED: Final = re.compile(r"(?<=[\d\u0900-\u0963]) [x×] ?(?=(?:₹|Rs\.? ?|रु\.? ?)\d)")
_HALF: Final = re.compile(r"(?<=[AaPp][Mm]) ?[-–—] ?(?=\d)")
_ABBREVIATED: Final = re.compile(r"[A-Za-z]\.|p\.|#[\dA-Z]|[DMPSAECLGTI][a-z]{1,3} |/[cC]")
_CALENDAR: Final = re.compile("Jan|Feb|Mar|Apr|May|Ju[nl]|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun")
_LETTERED: Final = re.compile("[0-9] ?[kKLlCcMBbNxXAaPp]")
_LETTER: Final = re.compile("[A-Za-z#]")


def read(text: TrackedText) -> TrackedText:
    """Titles, dates with an English month, weekdays, and scales behind figures, which stay in figures."""
    if _LETTER.search(text.text) is None:
        return text
    if _ABBREVIATED.search(text.text):
        text = text.sub(_HOUSE, "मकान नंबर ")
        text = text.sub(_TITLE, lambda match: _TITLES[match["title"]] + " ").sub(_NUMBER, "नंबर ")
        text = text.sub(_YEARLY, lambda match: _PERIODS[match["unit"]])
        text = text.sub(_DOTTED, lambda match: match.group().replace(".", ""))
        text = text.sub(_ACCOUNT, "खाता ")
    if _CALENDAR.search(text.text):
        text = text.sub(_WEEK, lambda match: f"{_WEEKDAYS[match[1]]} से {_WEEKDAYS[match[2]]}")
        text = text.sub(_DATE, _date).sub(_MONTH_YEAR, lambda match: f"{_month(match)} {match['year']}")
    if " x " in text.text or " × " in text.text:
        text = text.sub(_MULTIPLIED, " गुणा ")
    if _LETTERED.search(text.text) is None:
        return text
    text = text.sub(_NIGHTS, r"\1 रात \2 दिन").sub(_HALF, " से ").sub(_TIMES, " गुना")
    if "K" in text.text and _GOLD.search(text.text):
        text = text.sub(_CARATS, " कैरेट")
    if "K" in text.text and _HEAT.search(text.text):
        text = text.sub(_KELVIN, " केल्विन")
    if "LPA" in text.text:
        text = text.sub(_YEARLY_PAY, " लाख प्रति वर्ष")
    text = text.sub(_SUM, lambda match: f"{match['sum']} {SCALES[match['scale']]}")
    return text.sub(_COUNT, lambda match: f"{match['count']} {SCALES[match['scale'].strip()]}")


def _month(match: re.Match[str]) -> str:
    return _MONTHS[match["month"][:3]]


def _date(match: re.Match[str]) -> str:
    year = match["year"] or ""
    full = f" 20{year}" if len(year) == 2 else f" {year}" if year else ""
    return f"{match['day']} {_month(match)}{full}"
