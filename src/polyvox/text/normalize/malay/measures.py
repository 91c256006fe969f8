"""Percentages, temperatures, and measures with a unit symbol."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import AMOUNT, NUMBER, NUMBER_END, NUMBER_START
from polyvox.text.normalize.malay.context import last_words
from polyvox.text.normalize.malay.numbers import DASH, amount, cardinal, number
from polyvox.text.tracked import TrackedText

_UNITS: Final = {
    # length, area
    "nm": "nanometer",
    "µm": "mikrometer",
    "mm": "milimeter",
    "cm": "sentimeter",
    "m": "meter",
    "km": "kilometer",
    "Km": "kilometer",
    "KM": "kilometer",
    "in": "inci",
    "inch": "inci",
    "ft": "kaki",
    "yd": "ela",
    "dm": "desimeter",
    "ha": "hektar",
    "px": "piksel",
    # mass
    "mcg": "mikrogram",
    "µg": "mikrogram",
    "mg": "miligram",
    "g": "gram",
    "gm": "gram",
    "kg": "kilogram",
    "Kg": "kilogram",
    "KG": "kilogram",
    "kgs": "kilogram",
    "lb": "paun",
    "lbs": "paun",
    "oz": "auns",
    "mt": "tan metrik",
    # volume
    "ml": "mililiter",
    "mL": "mililiter",
    "ML": "mililiter",
    "l": "liter",
    "L": "liter",
    "ltr": "liter",
    "dl": "desiliter",
    "dL": "desiliter",
    "cc": "CC",
    "tsp": "sudu teh",
    "tbsp": "sudu besar",
    "sb": "sudu besar",
    "sk": "sudu kecil",
    "st": "sudu teh",
    # time
    "ms": "milisaat",
    "sec": "saat",
    "secs": "saat",
    "min": "minit",
    "mins": "minit",
    "mnt": "minit",
    "minit": "minit",
    "j": "jam",
    "jam": "jam",
    "h": "jam",
    "hrs": "jam",
    "hr": "hari",
    "hri": "hari",
    "hari": "hari",
    "mgg": "minggu",
    "mggu": "minggu",
    "bln": "bulan",
    "bulan": "bulan",
    "thn": "tahun",
    "tahun": "tahun",
    "yrs": "tahun",
    # frequency, data
    "Hz": "hertz",
    "hz": "hertz",
    "kHz": "kilohertz",
    "MHz": "megahertz",
    "GHz": "gigahertz",
    "kb": "kilobit",
    "Mb": "megabit",
    "Gb": "gigabit",
    "kB": "kilobait",
    "KB": "kilobait",
    "MB": "megabait",
    "mb": "megabait",
    "GB": "gigabait",
    "gb": "gigabait",
    "TB": "terabait",
    "tb": "terabait",
    "MP": "megapiksel",
    "mp": "megapiksel",
    # electricity, energy, pressure
    "V": "volt",
    "kV": "kilovolt",
    "mA": "miliampere",
    "mAh": "miliampere jam",
    "mah": "miliampere jam",
    "W": "watt",
    "w": "watt",
    "kW": "kilowatt",
    "MW": "megawatt",
    "GW": "gigawatt",
    "Wh": "watt jam",
    "kWh": "kilowatt jam",
    "kwh": "kilowatt jam",
    "kWj": "kilowatt jam",
    "MWh": "megawatt jam",
    "hp": "kuasa kuda",
    "HP": "kuasa kuda",
    "kJ": "kilojoule",
    "kal": "kalori",
    "cal": "kalori",
    "kcal": "kilokalori",
    "kkal": "kilokalori",
    "Pa": "pascal",
    "kPa": "kilopascal",
    "hPa": "hektopascal",
    "mmHg": "milimeter raksa",
    "mmol": "milimol",
    "mol": "mol",
    "dB": "desibel",
    "Nm": "newton meter",
    "N": "newton",
    "kN": "kilonewton",
    "J": "joule",
    "tkt": "tingkat",
    "Ki": "kibibait",
    "Mi": "mebibait",
    "Gi": "gibibait",
    "KiB": "kibibait",
    "MiB": "mebibait",
    "GiB": "gibibait",
    "psg": "pasang",
    "helai": "helai",
    "btg": "batang",
    "mJ": "milijoule",
    "MJ": "megajoule",
    "mV": "milivolt",
    "MPa": "megapascal",
    "bar": "bar",
    "mbar": "milibar",
    "ct": "karat",
    # what receipts and orders count
    "org": "orang",
    "orang": "orang",
    "kpg": "keping",
    "keping": "keping",
    "bj": "biji",
    "biji": "biji",
    "btl": "botol",
    "pkt": "paket",
    "bks": "bungkus",
    "ekor": "ekor",
    "kali": "kali",
    "pax": "pax",
    "pcs": "keping",
    "pc": "keping",
}
# Symbols that stand for a whole phrase.
_RATES: Final = {
    "kmj": "kilometer sejam",
    "kmh": "kilometer sejam",
    "kph": "kilometer sejam",
    "mph": "batu sejam",
    "rpm": "putaran seminit",
    "bpm": "degupan seminit",
    "fps": "bingkai sesaat",
    "psi": "paun seinci persegi",
    "ppm": "bahagian sejuta",
    "kbps": "kilobit sesaat",
    "Kbps": "kilobit sesaat",
    "Mbps": "megabit sesaat",
    "mbps": "megabit sesaat",
    "MBps": "megabait sesaat",
    "Gbps": "gigabit sesaat",
    "gbps": "gigabit sesaat",
    "sqft": "kaki persegi",
    "sf": "kaki persegi",
    "kps": "kaki persegi",
    "sqm": "meter persegi",
}
_SCALES: Final = {"k": "ribu", "K": "ribu"}
# One of these follows a price or a speed with the short form of "one".
_EACH: Final = {
    "s": "sesaat",
    "saat": "sesaat",
    "sec": "sesaat",
    "min": "seminit",
    "minit": "seminit",
    "j": "sejam",
    "jam": "sejam",
    "h": "sejam",
    "hr": "sejam",
    "hour": "sejam",
    "hari": "sehari",
    "hri": "sehari",
    "day": "sehari",
    "malam": "satu malam",
    "night": "satu malam",
    "minggu": "seminggu",
    "week": "seminggu",
    "bulan": "sebulan",
    "bln": "sebulan",
    "month": "sebulan",
    "mth": "sebulan",
    "tahun": "setahun",
    "thn": "setahun",
    "year": "setahun",
    "orang": "seorang",
    "org": "seorang",
    "kepala": "seorang",
    "keping": "sekeping",
    "pcs": "sekeping",
    "pc": "sekeping",
    "biji": "sebiji",
    "buah": "sebuah",
    "unit": "seunit",
    "kotak": "sekotak",
    "botol": "sebotol",
    "bungkus": "sebungkus",
    "pek": "sepek",
    "set": "satu set",
    "helai": "sehelai",
    "pasang": "sepasang",
    "ekor": "seekor",
    "kali": "sekali",
    "kg": "sekilogram",
    "kilo": "sekilo",
    "g": "segram",
    "gram": "segram",
    "tan": "satu tan",
    "liter": "seliter",
    "l": "seliter",
    "L": "seliter",
    "km": "sekilometer",
    "m": "semeter",
    "meter": "semeter",
    "ekar": "seekar",
    "kelas": "satu kelas",
    "sesi": "satu sesi",
    "kps": "sekaki persegi",
    "auns": "seauns",
}
PER: Final = r" ?/ ?(?:[A-Za-z]{1,12}[²2]?|sq ?ft)(?![\w/])| ?psf\b"
_POWERS: Final = {"²": "persegi", "2": "persegi", "^2": "persegi", "³": "padu", "3": "padu", "^3": "padu"}
_POWERED: Final = frozenset(("mm", "cm", "dm", "m", "km", "in", "ft"))
_NETWORK_WORDS: Final = frozenset(
    "data internet jalur lebar line liputan pelan plan rangkaian signal talian telefon".split()
)
_WARM: Final = frozenset(
    "aircond bacaan badan bakar celsius demam ketuhar oven panas panaskan suhu temperature thermometer".split()
)
_BODY: Final = re.compile(r"3[4-9]\.\d|4[0-2]\.\d")
_LOOKALIKES: Final = str.maketrans("\u03bc", "\u00b5")
# What "3m" of can only be millions.
_MULTITUDES: Final = frozenset("followers likes pelanggan pengguna pengikut penonton subscriber tontonan views".split())

_MINUS: Final = r"(?P<minus>(?<!\w)[-–])?"
_RANGE: Final = rf"{_MINUS}(?P<amount>{AMOUNT})(?:(?:{DASH}| hingga )(?P<upto>{NUMBER}))?{NUMBER_END}"
_SYMBOL: Final = r"(?P<{0}>[A-Za-z\u00b5\u03bc]{{1,6}}+)(?P<{0}_power>[²³]|\^?[23](?!\d))?"
_MEASURE: Final = re.compile(
    rf"{NUMBER_START}{_RANGE}(?P<scale>[kK](?= )| (?:ratus|ribu|juta|bilion)(?= ))?(?P<gap> ?)"
    rf"(?:(?P<prefix>sq|cu)\.? )?{_SYMBOL.format('unit')}(?:/{_SYMBOL.format('each')})?(?![\w'])"
)
_DEGREES: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?: ?°[CF]?)?(?:(?:{DASH}| hingga )(?P<upto>-?{NUMBER}))?{NUMBER_END}"
    r" ?(?:(?:°|darjah)(?: ?(?P<letter>[CFK](?![A-Za-z])))?|(?P<sign>[℃℉]))"
)
_BARE_CELSIUS: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{NUMBER})(?:(?: ?[cC])?{DASH}(?P<upto>{NUMBER}))?{NUMBER_END} ?[cC](?!\w)"
)
_DURATION: Final = re.compile(
    r"(?<![\w.])(?<!\d,)(?P<hours>\d{1,3}) ?(?:j|jam|h|hrs?) ?(?P<minutes>[0-5]?\d) ?m(?:ins?|nt)?(?![\w²³])"
)
_SHORT_DURATION: Final = re.compile(r"(?<![\w.])(?<!\d,)(?P<minutes>\d{1,3})m(?:ins?)? ?(?P<seconds>[0-5]?\d)s(?!\w)")
# Seconds, unless a nought ends the figure: 90s is a decade.
_SECONDS: Final = re.compile(rf"{NUMBER_START}(?P<amount>\d++\.\d++|\d{{0,3}}[1-9])s(?![\w'’/])")
# A unit of the head of a table, which has no figure.
_SECONDS_APART: Final = re.compile(r"(?<=\d) s(?=[,.;)]|$| (?:dan|maka|atau|selepas)\b)")
_BARE_RATE: Final = re.compile(
    r"(?<![\w/.-])(?<!\d )(?P<unit>km(?=/[jh])|m(?=/(?:s|saat|min)(?!\w| ?\d))"
    r"|[mk]?g|N(?=/m)|[µμ]g|m?[lL]|mmol|kWh|kWj|kW|kJ|kcal)"
    r"/(?P<each>j|jam|h|hr|s|saat|min|minit|hari|bulan|[dm]?[lL]|kg|c?m(?=[²³]))(?P<power>[²³])?(?![\w/])"
)
_MILESTONE: Final = re.compile(r"(?<![\w.])(?<!\d )(?:KM|Km|km)\.? ?(?=\d{1,3}(?:\.\d)?(?![\w,/]|\.\d))")
_TEMPERATURES: Final = {"C": "Celsius", "F": "Fahrenheit", "K": "Kelvin", "℃": "Celsius", "℉": "Fahrenheit"}
_PERCENT: Final = re.compile(
    rf"{NUMBER_START}{_MINUS}(?P<amount>{AMOUNT})(?: ?%)?(?:(?:{DASH}| hingga )(?P<upto>{NUMBER}))?"
    rf"{NUMBER_END} ?(?P<sign>[%‰])"
)
_HEIGHT: Final = re.compile(r"(?<![\w.])(?<!\d,)(?P<feet>\d{1,2}) ?['’′] ?(?P<inches>\d{1,2}) ?(?:[\"”″]|''|’’)")
_PLOT: Final = re.compile(r"(?<![\w.])(?<!\d,)(?P<wide>\d{1,4}) ?['’′] ?[x×] ?(?P<deep>\d{1,4}) ?['’′](?!\w)")
_FEET: Final = re.compile(rf"{NUMBER_START}(?P<amount>{NUMBER})(?:′|['’](?= [x×] ))")
_INCHES: Final = re.compile(rf"{NUMBER_START}(?P<amount>{AMOUNT})(?:″|\"(?= [A-Za-z]|[.,;)]|$))")
_BY: Final = re.compile(r"(?<=\d)(?P<unit> ?(?:mm|cm|km|m|ft|kaki|inci|['’\"″′])?) ?[x×] ?(?=\d)")
_SAME_UNIT: Final = re.compile(r"(?<=\d) ?(?P<unit>[A-Za-z]{1,4}+) ?[-–—~] ?(?=\d[\d.,]{0,12} ?(?P=unit)(?![A-Za-z]))")
_OPEN_QUOTE: Final = re.compile(r"(?<!\d)\"")


def per(written: str) -> str:
    """A match of `PER`: "sebulan" for "/bulan"."""
    name = written.strip(" /")
    if name in ("psf", "sqft", "sq ft"):
        return "sekaki persegi"
    return _each(name.rstrip("²2"), " persegi" if name[-1] in "²2" else "")


def _each(name: str, power: str = "") -> str:
    known = _EACH.get(name) or _EACH.get(name.lower())
    return (known or f"per {_UNITS.get(name, name)}") + power


def read_shares(text: TrackedText) -> TrackedText:
    """Percentages and parts per thousand."""
    return text.sub(_PERCENT, lambda match: _quantity(match, "peratus" if match["sign"] == "%" else "per seribu"))


# Days, weeks and months in a doctor's hand: 3/7, 2/52, 6/12.
_COURSE: Final = re.compile(
    r"(?:(?<=TDS )|(?<=QID )|(?<=BD )|(?<=OD )|(?<=PRN ))(?:[x×] ?)?(\d{1,2})/(7|52|12)(?![\d/])"
    r"|(?<=TCA )(\d{1,2})/(7|52|12)(?![\d/])"
)
_COURSES: Final = {"7": "hari", "52": "minggu", "12": "bulan"}


def read_rates(text: TrackedText) -> TrackedText:
    """Units of speed and of content that stand without a figure, and for how long a medicine is taken."""
    if "/" not in text.text:
        return text
    text = text.sub(_COURSE, _course)
    return text.sub(_BARE_RATE, _bare_rate)


def _course(match: re.Match[str]) -> str:
    """The days, weeks or months of a medicine; those until the next visit are no length of it."""
    return f"selama {match[1]} {_COURSES[match[2]]}" if match[1] else f"{match[3]} {_COURSES[match[4]]}"


def _bare_rate(match: re.Match[str]) -> str:
    power = f" {_POWERS[match['power']]}" if match["power"] else ""
    return f"{_UNITS[match['unit'].translate(_LOOKALIKES)]} {_each(match['each'], power)}"


def read(text: TrackedText) -> TrackedText:
    """Heights, temperatures, angles and measures."""
    text = text.sub(_MILESTONE, "kilometer ").sub(_DURATION, _duration)
    text = text.sub(
        _SHORT_DURATION, lambda match: f"{cardinal(match['minutes'])} minit {cardinal(str(int(match['seconds'])))} saat"
    )
    text = text.sub(_SECONDS_APART, " saat") if " s" in text.text else text
    text = text.sub(_SECONDS, lambda match: f"{number(match['amount'])} saat")
    text = text.sub(_PLOT, _plot).sub(_HEIGHT, _height).sub(_DEGREES, _degrees).sub(_BARE_CELSIUS, _celsius)
    text = text.sub(_FEET, lambda match: f"{number(match['amount'])} kaki").sub(_INCHES, _inches)
    text = text.sub(_BY, lambda match: f"{match['unit']} kali ").sub(_SAME_UNIT, "-")
    return text.sub(_MEASURE, _measure)


def _quantity(match: re.Match[str], unit: str) -> str:
    groups = match.groupdict()
    words = ["negatif"] if groups.get("minus") else []
    words.append(amount(match["amount"]))
    if groups.get("upto"):
        words += ("hingga", amount(match["upto"]))
    return " ".join((*words, *_SCALES.get(groups.get("scale") or "", groups.get("scale") or "").split(), unit))


def _measure(match: re.Match[str]) -> str | None:
    symbol = match["unit"].translate(_LOOKALIKES)
    if match["each"] is None and symbol in _RATES and not match["unit_power"]:
        return _quantity(match, _RATES[symbol])
    unit = _UNITS.get(symbol)
    power = _power(match)
    if unit is None or power is None or _is_no_measure(match, symbol):
        return None
    if symbol == "m" and _multitude(match):
        return _quantity(match, "juta")
    rate = ""
    if match["each"]:
        each_power = _POWERS.get(match["each_power"] or "", "")
        rate = " " + _each(match["each"], f" {each_power}" if each_power else "")
    return _quantity(match, f"{unit} {power}".rstrip() + rate)


def _power(match: re.Match[str]) -> str | None:
    """ "persegi" or "padu", empty without a power, None where the unit cannot have one."""
    if match["prefix"]:
        return "persegi" if match["prefix"] == "sq" else "padu"
    if match["unit_power"] is None:
        return ""
    return _POWERS[match["unit_power"]] if match["unit"] in _POWERED else None


def _is_no_measure(match: re.Match[str], symbol: str) -> bool:
    """ "3 in 1" counts nothing, and "5g" behind a word of telephony is a network."""
    if len(symbol) == 1 and match.string[match.end() : match.end() + 1] == ":":
        return True
    if symbol == "in":
        return match["gap"] == " " and not match["prefix"] and not match["unit_power"]
    return symbol == "g" and match["gap"] == "" and bool(_NETWORK_WORDS & last_words(match))


def _multitude(match: re.Match[str]) -> bool:
    following = match.string[match.end() : match.end() + 16].split(maxsplit=1)
    return bool(following) and following[0].lower() in _MULTITUDES and not match["unit_power"]


def _degrees(match: re.Match[str]) -> str:
    upto = match["upto"] or ""
    words = ["negatif"] if match["minus"] else []
    words.append(number(match["amount"]))
    if upto:
        words += ("hingga negatif" if upto[0] == "-" else "hingga", number(upto.lstrip("-")))
    return " ".join((*words, "darjah", _TEMPERATURES.get(match["letter"] or match["sign"] or "", ""))).rstrip()


def _celsius(match: re.Match[str]) -> str | None:
    """A bare C means a temperature where a word says so, or where the figure is a body's."""
    warm = last_words(match) & _WARM or (_BODY.fullmatch(match["amount"]) and " " not in match.group())
    return _quantity(match, "darjah Celsius") if warm else None


def _duration(match: re.Match[str]) -> str:
    return f"{cardinal(match['hours'])} jam {cardinal(str(int(match['minutes'])))} minit"


def _plot(match: re.Match[str]) -> str:
    return f"{cardinal(match['wide'])} kaki kali {cardinal(match['deep'])} kaki"


def _height(match: re.Match[str]) -> str:
    return f"{cardinal(match['feet'])} kaki {cardinal(match['inches'])} inci"


def _inches(match: re.Match[str]) -> str | None:
    """Inches, unless the straight quote closes a quotation that began earlier on."""
    before = match.string[max(0, match.start() - 200) : match.start()].rpartition("\n")[2]
    if match.group().endswith('"') and len(_OPEN_QUOTE.findall(before)) % 2:
        return None
    return f"{amount(match['amount'])} inci"
