"""Money, percentages, temperatures and measures."""

import re
from typing import Final

from polyvox.text.normalize.hindi.halves import half
from polyvox.text.normalize.hindi.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, cardinal, fraction, number
from polyvox.text.tracked import TrackedText

_CURRENCIES: Final = {
    "₹": ("रुपये", "पैसे"),
    "Rs.": ("रुपये", "पैसे"),
    "Rs": ("रुपये", "पैसे"),
    "INR": ("रुपये", "पैसे"),
    "रु.": ("रुपये", "पैसे"),
    "रु": ("रुपये", "पैसे"),
    "रू.": ("रुपये", "पैसे"),
    "रू": ("रुपये", "पैसे"),
    "$": ("डॉलर", "सेंट"),
    "US$": ("डॉलर", "सेंट"),
    "€": ("यूरो", "सेंट"),
    "£": ("पाउंड", "पेंस"),
    "¥": ("येन", ""),
}
_UNITS: Final = {
    "mm": "मिलीमीटर",
    "cm": "सेंटीमीटर",
    "m": "मीटर",
    "km": "किलोमीटर",
    "mg": "मिलीग्राम",
    "g": "ग्राम",
    "kg": "किलोग्राम",
    "ml": "मिलीलीटर",
    "l": "लीटर",
    "L": "लीटर",
    "ft": "फ़ुट",
    "MB": "मेगाबाइट",
    "GB": "गीगाबाइट",
    "TB": "टेराबाइट",
    "KiB": "किबिबाइट",
    "MiB": "मेबिबाइट",
    "GiB": "गिबिबाइट",
    "TiB": "टेबिबाइट",
    "Hz": "हर्ट्ज़",
    "W": "वॉट",
    "kW": "किलोवॉट",
    "kWh": "किलोवॉट घंटा",
    "V": "वोल्ट",
    "mAh": "मिलीएम्पियर घंटा",
    "μg": "माइक्रोग्राम",
    "µg": "माइक्रोग्राम",
    "mmHg": "मिलीमीटर पारा",
    "kcal": "किलोकैलोरी",
    "MHz": "मेगाहर्ट्ज़",
    "GHz": "गीगाहर्ट्ज़",
    "KB": "किलोबाइट",
    "Mbps": "मेगाबिट प्रति सेकंड",
    "Gbps": "गीगाबिट प्रति सेकंड",
    "kbps": "किलोबिट प्रति सेकंड",
    "kmpl": "किलोमीटर प्रति लीटर",
    "bps": "बेसिस पॉइंट",
    "bpm": "धड़कन प्रति मिनट",
    "rpm": "चक्कर प्रति मिनट",
    "ppm": "पीपीएम",
    "hPa": "हेक्टोपास्कल",
    "kPa": "किलोपास्कल",
    "dB": "डेसिबल",
    "MW": "मेगावॉट",
    "GW": "गीगावॉट",
    "cc": "सीसी",
    "nm": "नैनोमीटर",
    "mmol": "मिलीमोल",
    "mIU": "मिली IU",
    "mEq": "मिलीइक्विवेलेंट",
    "tsp": "छोटा चम्मच",
    "tbsp": "बड़ा चम्मच",
    "mcg": "माइक्रोग्राम",
    "dl": "डेसीलीटर",
    "oz": "औंस",
    "lb": "पाउंड",
    "inch": "इंच",
    "mbar": "मिलीबार",
    "kV": "किलोवोल्ट",
    "mA": "मिलीएम्पियर",
    "Ω": "ओम",
    "kΩ": "किलोओम",
    "MΩ": "मेगाओम",
    "kHz": "किलोहर्ट्ज़",
    "MT": "मीट्रिक टन",
    "gm": "ग्राम",
    "gms": "ग्राम",
    "kgs": "किलोग्राम",
    "ltr": "लीटर",
    "fps": "फ़्रेम प्रति सेकंड",
    "ms": "मिलीसेकंड",
    "mph": "मील प्रति घंटा",
    "ha": "हेक्टेयर",
    "MP": "मेगापिक्सल",
    "hrs": "घंटे",
    "hr": "घंटे",
    "min": "मिनट",
    "sec": "सेकंड",
    "kmph": "किलोमीटर प्रति घंटा",
    "yr": "साल",
    "yrs": "साल",
    "s": "सेकंड",
    "sqft": "वर्ग फ़ुट",
    "sq ft": "वर्ग फ़ुट",
    "sq.ft.": "वर्ग फ़ुट",
    "मिमी": "मिलीमीटर",
    "सेमी": "सेंटीमीटर",
    "किमी": "किलोमीटर",
    "मी": "मीटर",
    "ग्रा": "ग्राम",
    "मिग्रा": "मिलीग्राम",
    "माइक्रोग्रा": "माइक्रोग्राम",
    "हर्ट्ज": "हर्ट्ज़",
    "किग्रा": "किलोग्राम",
    "मिली": "मिलीलीटर",
}
_EACH: Final = {
    "h": "प्रति घंटा",
    "hr": "प्रति घंटा",
    "s": "प्रति सेकंड",
    "घंटा": "प्रति घंटा",
    "घंटे": "प्रति घंटा",
    "घं": "प्रति घंटा",
    "से": "प्रति सेकंड",
    "kg": "प्रति किलोग्राम",
    "dL": "प्रति डेसीलीटर",
    "dl": "प्रति डेसीलीटर",
    "L": "प्रति लीटर",
    "l": "प्रति लीटर",
    "ml": "प्रति मिलीलीटर",
    "mL": "प्रति मिलीलीटर",
    "g": "प्रति ग्राम",
    "mol": "प्रति मोल",
    "m²": "प्रति वर्ग मीटर",
    "cm²": "प्रति वर्ग सेंटीमीटर",
    "cm³": "प्रति घन सेंटीमीटर",
    "km²": "प्रति वर्ग किलोमीटर",
    "km": "प्रति किलोमीटर",
    "m": "प्रति मीटर",
    "sec": "प्रति सेकंड",
    "day": "प्रति दिन",
    "दिन": "प्रति दिन",
    "माह": "प्रति माह",
    "मिनट": "प्रति मिनट",
    "सेकंड": "प्रति सेकंड",
    "लीटर": "प्रति लीटर",
    "किलो": "प्रति किलो",
    "min": "प्रति मिनट",
    "m³": "प्रति घन मीटर",
    "µL": "प्रति माइक्रोलीटर",
    "μL": "प्रति माइक्रोलीटर",
    "uL": "प्रति माइक्रोलीटर",
    "mm³": "प्रति घन मिलीमीटर",
    "cumm": "प्रति घन मिलीमीटर",
}
_PER: Final = {
    "month": "महीना",
    "mo": "महीना",
    "day": "दिन",
    "year": "साल",
    "yr": "साल",
    "night": "रात",
    "person": "व्यक्ति",
    "unit": "यूनिट",
    "hour": "घंटा",
    "sqft": "वर्ग फ़ुट",
}
_ANY_CASE: Final = {unit.lower(): name for unit, name in _UNITS.items()} | _UNITS
_EXACT: Final = tuple(unit for unit in _UNITS if len(unit) == 1)
_LONGER: Final = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True) if len(unit) > 1)
_OBLIQUE: Final = re.compile(" (?:का|की|के|में|से|तक|पर|को)(?![\u0900-\u0963])")
# A part of a unit.
_PART: Final = re.compile(
    rf"(?<![\d./])(?P<top>\d{{1,2}})/(?P<bottom>\d{{1,2}}) ?(?P<unit>{_LONGER}|[gmlLh])(?![A-Za-z0-9/²³\u0900-\u0963])"
)
_SCREEN: Final = re.compile(r"(?:(?<=TV \d\d)|(?<=LED \d\d)|(?<=टीवी \d\d)|(?<=स्क्रीन \d\d)|(?<=मॉनिटर \d\d))[\"″]")
_INCHES: Final = re.compile(r"(?<=\d)(?:[\"″]|'')(?=[ ,]|$)")
_QUOTE: Final = re.compile("['\"′″]")
_DEGREE: Final = re.compile("[°℃℉]")
_ROOM: Final = re.compile(r"(?<![\d.])(\d{1,3})['′] ?[x×] ?(\d{1,3})['′](?![\d\"])")
_RATE: Final = re.compile(
    r"(?<=[\dA-Za-z\u0900-\u0963]) ?/ ?(?=(?:सप्ताह|हफ़्ता|हफ्ता|दिन|माह|महीना|महीने|घंटा|घंटे|व्यक्ति|किलो|लीटर|साल"
    r"|वर्ष|रात|यूनिट|सेकंड|मिनट)(?![\u0900-\u0963]))"
)
_EACH_TIME: Final = {
    "min": "मिनट",
    "s": "सेकंड",
    "sec": "सेकंड",
    "hr": "घंटा",
    "hour": "घंटा",
    "day": "दिन",
    "week": "हफ़्ता",
    "month": "महीना",
    "year": "साल",
    "dose": "डोज़",
}
_RATE_IN_ENGLISH: Final = re.compile(rf"(?<=[a-z\u0900-\u0963]) ?/ ?(?P<each>{'|'.join(_EACH_TIME)})(?![A-Za-z/])")
_OWED: Final = re.compile(r"(₹|Rs\.?|\$) ?[-−](?=\d)")
# A count of cells in a volume, which has no unit of its own.
_IN_VOLUME: Final = re.compile(
    r"(?:(?<=\d)|(?<=लाख)|(?<=हज़ार)|(?<=हजार)) ?/ ?(?P<each>[µμu]L|mm³|cumm|[dm]L)(?![A-Za-z])"
)
_SPENT: Final = re.compile(
    r"(?<![\d.A-Za-z])(?:(?P<hours>\d{1,2})h ?)?(?P<minutes>\d{1,2})m(?: ?(?P<seconds>\d{1,2})s)?(?![A-Za-z\d/])"
)
# Short forms of measures without their figure: "km" before "away".
_BARE: Final = re.compile("(?<![\u0900-\u097f\\w])(?:किग्रा|मिग्रा|किमी|सेमी|मिमी)(?![\u0900-\u0963\\w])")
_PER_SOME: Final = re.compile(r"(?<=[A-Za-z])/(?=\d{1,4} ?(?:mL|ml|kg|km|g|L|dL)(?![A-Za-z]))")
_ELECTRIC: Final = re.compile(r"Ω|\d ?V(?![A-Za-z])|वोल्ट|करंट|परिपथ|फ़्यूज़|फ्यूज|चार्जर")
_AMPERES: Final = re.compile(r"(?<![\d.A-Za-z])(\d{1,4}(?:\.\d{1,3})?) A(?![A-Za-z0-9])")
_SPENT_CUE: Final = re.compile(r"\dh ?\d|\dm ?\d")
_FEET: Final = re.compile(r"(?<![\d.])(?P<feet>\d)['′] ?(?P<inches>\d{1,2})(?:[\"″]|'')")
_POWERS: Final = {"²": "वर्ग ", "2": "वर्ग ", "³": "घन ", "3": "घन "}

_DEGREES_OF: Final = {
    "°": "", "C": " सेल्सियस", "℃": " सेल्सियस", "F": " फ़ारेनहाइट", "℉": " फ़ारेनहाइट",
    "N": " उत्तर", "S": " दक्षिण", "E": " पूर्व", "W": " पश्चिम",
}  # fmt: skip

_SIGN: Final = "|".join(re.escape(sign) for sign in sorted(_CURRENCIES, key=len, reverse=True))
_MINUS: Final = r"(?P<minus>(?<![\w])-)?"
_MONEY: Final = re.compile(
    rf"(?<![A-Za-z\u0900-\u097f]){_MINUS}(?P<sign>{_SIGN}) ?(?P<amount>{NUMBER})"
    rf"(?:{DASH}(?:(?P=sign) ?)?(?P<upto>{NUMBER}))?{NUMBER_END}"
    r"(?: ?(?P<scale>(?:लाख|हज़ार|हजार) करोड़|(?:लाख|हज़ार|हजार) करोड़|हज़ार|हजार|लाख|करोड़|करोड़|अरब|खरब|मिलियन"
    r"|बिलियन|ट्रिलियन)(?P<rest>(?: \d{1,2} (?:लाख|हज़ार|हजार))*)(?![\u0900-\u0963]))?"
    r"(?:/-)?(?P<each>/ग्रा\.|/[A-Za-z\u0900-\u0963]{1,12}|/(?=\d{1,4} ?[A-Za-z\u0900-\u0963]))?"
)
_NUMBER: Final = re.compile(r"\d+")
_BEHIND_SUM: Final = "|".join(f"(?<={scale} )" for scale in "हज़ार हजार लाख करोड़ करोड़ अरब खरब".split())
_RUPEES: Final = re.compile(
    rf"(?=रु|रू)(?:(?<=\d)|(?<=\d )|{_BEHIND_SUM})(?:रु|रू)(?!\./)\.?(?![\w\u0900-\u097f])(?! ?\d)(?:/-)?"
)
_PERCENT: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?: ?%(?={DASH}\d))?(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?%"
)
_DEGREES: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}"
    r" ?(?P<sign>° ?[CFNSEW](?![A-Za-z])|[℃℉]|°)"
)
_MEASURE: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}"
    r"(?P<scale> ?(?:हज़ार|हजार|लाख|करोड़|करोड़|अरब|मिलियन))? ?"
    rf"(?P<unit>(?i:{_LONGER})|{'|'.join(_EXACT)})(?P<power>[²³]|[23](?!\d))?"
    rf"(?:/(?P<each>{'|'.join(sorted(_EACH, key=len, reverse=True))}))?(?![A-Za-z0-9\u0900-\u0963\u0966-\u097f])"
)


def read_money(text: TrackedText) -> TrackedText:
    """Sums with their sign before them, and the short form of rupees behind."""
    text = text.sub(_RUPEES, _rupees) if "र" in text.text else text
    text = text.sub(_OWED, r"-\1") if "-" in text.text else text
    return text.sub(_MONEY, _money)


def read_shares(text: TrackedText) -> TrackedText:
    return text.sub(_PERCENT, lambda match: f"{_amounts(match)} प्रतिशत") if "%" in text.text else text


def read_units(text: TrackedText) -> TrackedText:
    """Temperatures, angles, and measures with a unit symbol."""
    if "/" in text.text:
        text = text.sub(_RATE, " प्रति ")
        text = text.sub(_PER_SOME, " प्रति ")
        text = text.sub(_IN_VOLUME, lambda match: f" {_EACH[match['each']]}")
        text = text.sub(_PART, lambda match: f"{fraction(match['top'], match['bottom'])} {_UNITS[match['unit']]}")
    if _QUOTE.search(text.text):
        text = text.sub(_ROOM, r"\1 × \2 फ़ुट")
        text = text.sub(_FEET, lambda match: f"{number(match['feet'])} फ़ुट {number(match['inches'])} इंच")
        text = text.sub(_SCREEN, " इंच").sub(_INCHES, _inches)
    if _DEGREE.search(text.text):
        text = text.sub(_DEGREES, _degrees)
    if _SPENT_CUE.search(text.text):
        text = text.sub(_SPENT, _spent)
    if " A" in text.text and _ELECTRIC.search(text.text):
        text = text.sub(_AMPERES, r"\1 एम्पियर")
    text = text.sub(_MEASURE, _measure)
    if "मी" in text.text or "ग्रा" in text.text:
        text = text.sub(_BARE, lambda match: _UNITS[match.group()])
    if "/" not in text.text:
        return text
    return text.sub(_RATE_IN_ENGLISH, lambda match: f" प्रति {_EACH_TIME[match['each']]}")


def _spent(match: re.Match[str]) -> str | None:
    """Time spent; None for minutes alone, which look like metres."""
    if not (match["hours"] or match["seconds"]):
        return None
    parts = ((match["hours"], "घंटे"), (match["minutes"], "मिनट"), (match["seconds"], "सेकंड"))
    return " ".join(f"{cardinal(figure)} {name}" for figure, name in parts if figure)


def _inches(match: re.Match[str]) -> str | None:
    """None where a quotation is open that the sign may close."""
    return None if match.group() == '"' and match.string.count('"', 0, match.start()) % 2 else " इंच"


def _amounts(match: re.Match[str]) -> str:
    words = ("माइनस " if match["minus"] else "") + number(match["amount"])
    if not match["upto"]:
        return words
    return f"{words}{' ' if match['upto'] == match['amount'] else ' से '}{number(match['upto'])}"


def _rupees(match: re.Match[str]) -> str:
    return "रुपये" if match.string[match.start() - 1] == " " else " रुपये"


def _money(match: re.Match[str]) -> str:
    name, part = _CURRENCIES[match["sign"]]
    whole, _, decimals = match["amount"].replace(",", "").partition(".")
    per = match["each"][1:].rstrip(".") if match["each"] else ""
    each = f" प्रति {_PER.get(per.lower()) or _UNITS.get(per, per)}" if match["each"] else ""
    if match["scale"] or match["upto"] or len(decimals) > 2 or (decimals and not part):
        rest = _NUMBER.sub(lambda amount: cardinal(amount.group()), match["rest"] or "")
        scale = f" {match['scale']}{rest}" if match["scale"] else ""
        halved = scale and not match["upto"] and decimals == "5" and len(whole) < 4
        said = ("माइनस " if match["minus"] else "") + half(match["amount"]) if halved else _amounts(match)
        return f"{said}{scale} {name}{each}"
    words = [
        cardinal(whole),
        "रुपया" if whole == "1" and name == "रुपये" and not _OBLIQUE.match(match.string, match.end()) else name,
    ]
    if decimals.strip("0") and not int(whole):
        words = []
    if decimals.strip("0"):
        words += (cardinal(decimals.ljust(2, "0").lstrip("0")), part)
    return ("माइनस " if match["minus"] else "") + " ".join(words) + each


def _degrees(match: re.Match[str]) -> str:
    return f"{_amounts(match)} डिग्री{_DEGREES_OF[match['sign'][-1]]}"


def _measure(match: re.Match[str]) -> str:
    name = _UNITS.get(match["unit"]) or _ANY_CASE[match["unit"].lower()]
    unit = _POWERS.get(match["power"] or "", "") + name
    if unit.endswith("घंटा") and _OBLIQUE.match(match.string, match.end()):
        unit = unit.removesuffix("घंटा") + "घंटे"
    scale = f" {match['scale'].strip()}" if match["scale"] else ""
    return f"{_amounts(match)}{scale} {unit}" + (f" {_EACH[match['each']]}" if match["each"] else "")
