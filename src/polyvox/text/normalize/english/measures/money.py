"""Sums of money."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Final

from polyvox.text.normalize.english.context import is_adjective, word_after, word_before
from polyvox.text.normalize.english.numbers import DASH, NUMBER, NUMBER_END, NUMBER_START, cardinal, is_one, number
from polyvox.text.tracked import TrackedText


@dataclass(frozen=True, slots=True)
class EnglishCurrency:
    """The names of a currency and of its hundredth part, where it has one in use."""

    one: str
    many: str
    cent: str = ""
    cents: str = ""


def _cents(name: str) -> EnglishCurrency:
    return EnglishCurrency(name, name + "s", "cent", "cents")


_SIGNS: Final = {
    "$": _cents("dollar"),
    "US$": _cents("US dollar"),
    "AU$": _cents("Australian dollar"),
    "A$": _cents("Australian dollar"),
    "CA$": _cents("Canadian dollar"),
    "C$": _cents("Canadian dollar"),
    "MX$": EnglishCurrency("Mexican peso", "Mexican pesos"),
    "NT$": EnglishCurrency("Taiwan dollar", "Taiwan dollars"),
    "NZ$": _cents("New Zealand dollar"),
    "HK$": _cents("Hong Kong dollar"),
    "S$": _cents("Singapore dollar"),
    "R$": EnglishCurrency("real", "reais", "centavo", "centavos"),
    "€": _cents("euro"),
    "£": EnglishCurrency("pound", "pounds", "penny", "pence"),
    "¥": EnglishCurrency("yen", "yen"),
    "₹": EnglishCurrency("rupee", "rupees", "paisa", "paise"),
    "₩": EnglishCurrency("won", "won"),
    "₽": EnglishCurrency("ruble", "rubles", "kopek", "kopeks"),
    "kr": EnglishCurrency("krone", "kroner"),
    "zł": EnglishCurrency("zloty", "zlotys"),
    "Kč": EnglishCurrency("koruna", "koruna"),
    "₿": EnglishCurrency("bitcoin", "bitcoins"),
    "₺": EnglishCurrency("lira", "lira"),
    "₫": EnglishCurrency("dong", "dong"),
    "₪": EnglishCurrency("shekel", "shekels"),
    "₴": EnglishCurrency("hryvnia", "hryvnias"),
    "฿": EnglishCurrency("baht", "baht"),
    "₦": EnglishCurrency("naira", "naira"),
    "₱": EnglishCurrency("peso", "pesos"),
    "Rs.": EnglishCurrency("rupee", "rupees", "paisa", "paise"),
    "Rs": EnglishCurrency("rupee", "rupees", "paisa", "paise"),
}
_CODES: Final = {
    "USD": _SIGNS["US$"],
    "EUR": _SIGNS["€"],
    "GBP": _SIGNS["£"],
    "JPY": _SIGNS["¥"],
    "CNY": EnglishCurrency("yuan", "yuan"),
    "RMB": EnglishCurrency("yuan", "yuan"),
    "INR": _SIGNS["₹"],
    "CHF": EnglishCurrency("Swiss franc", "Swiss francs"),
    "CAD": _SIGNS["C$"],
    "AUD": _SIGNS["A$"],
    "NZD": _SIGNS["NZ$"],
    "HKD": _SIGNS["HK$"],
    "SGD": _SIGNS["S$"],
    "KRW": _SIGNS["₩"],
    "RUB": _SIGNS["₽"],
    "BRL": _SIGNS["R$"],
    "MXN": EnglishCurrency("Mexican peso", "Mexican pesos"),
    "SEK": EnglishCurrency("Swedish krona", "Swedish kronor"),
    "NOK": EnglishCurrency("Norwegian krone", "Norwegian kroner"),
    "DKK": EnglishCurrency("Danish krone", "Danish kroner"),
    "PLN": EnglishCurrency("zloty", "zlotys"),
    "BTC": _SIGNS["₿"],
}
_SCALES: Final = {
    "k": "thousand",
    "m": "million",
    "mn": "million",
    "mm": "million",
    "mil": "million",
    "b": "billion",
    "bn": "billion",
    "t": "trillion",
    "tn": "trillion",
    "tr": "trillion",
}

_BEHIND_PENCE: Final = frozenset("a coin coins each less more off per piece share stamp".split())
_BEFORE_PRICE: Final = frozenset("about at by costs for from of only pay paid to".split())
_EACH: Final = {
    "hr": "hour",
    "h": "hour",
    "mo": "month",
    "mth": "month",
    "yr": "year",
    "nt": "night",
    "wk": "week",
    "min": "minute",
    "sec": "second",
    "lb": "pound",
    "lbs": "pound",
    "oz": "ounce",
    "kg": "kilogram",
    "g": "gram",
    "gal": "gallon",
    "bbl": "barrel",
    "sh": "share",
    "pc": "piece",
    "yd": "yard",
    "t": "ton",
    "mwh": "megawatt hour",
    "doz": "dozen",
    "l": "liter",
    "ft": "foot",
    "ft²": "square foot",
    "ft2": "square foot",
    "ft³": "cubic foot",
    "ft3": "cubic foot",
    "yd²": "square yard",
    "yd³": "cubic yard",
    "m²": "square meter",
    "m2": "square meter",
    "m³": "cubic meter",
    "m3": "cubic meter",
    "km²": "square kilometer",
    "sqft": "square foot",
    "sqm": "square meter",
    "sqin": "square inch",
    "sqkm": "square kilometer",
    "sqmi": "square mile",
    "mi": "mile",
    "km": "kilometer",
    "pp": "person",
    "d": "day",
    "kwh": "kilowatt hour",
    "gb": "gigabyte",
    "tb": "terabyte",
    "mb": "megabyte",
    "m": "meter",
}

# On the continent the comma stands before the cents, and the stop between the thousands.
_CONTINENTAL: Final = r"\d{1,3}(?:\.\d{3})*+,\d{2}(?!\d|,\d)"
_SUM: Final = rf"(?:{_CONTINENTAL}|{NUMBER})"
_SCALE: Final = (
    r"(?: ?(?P<scale>hundred|thousand|million|billion|trillion)\b"
    r"|(?P<short>[kK]|[mM][mMnN]?|[bB]n?|[tT][nr]?| ?(?:mn|mil|bn|tn))(?![A-Za-z]))?+"
)
_SIGN: Final = "|".join(
    re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True) if sign not in ("kr", "zł", "Kč")
)
_CODE: Final = "|".join(_CODES)
_PER: Final = (
    r"(?P<per>/(?=\w)(?:(?P<each>sq\.? ?(?:ft|m|in|km|mi)|(?:ft|yd|m|km|cm)(?:[²³]|[23](?!\d))|[A-Za-z]{1,4})(?:\.?/"
    r"(?P<also>[A-Za-z]{1,4}))?"
    r"(?:\.(?= [a-z(+&@]|[,;)]))?(?![\w'/]))?+)?"
)
_CURRENCY: Final = re.compile(r"[$€£¥₹₩₽₿₺₫₪₴฿₦₱]|Rs|kr|zł|Kč|[A-Z]{3}")
_PER_PERSON: Final = re.compile(r"(?P<sum>[$€£¥₹]\d[\d.,]*\d|[$€£¥₹]\d) ?(?:pp|p\.p\.?|p/p)(?![A-Za-z])(?P<per>/)?")
_NO_LETTER: Final = r"(?<![A-Za-z$])"
_BEFORE: Final = re.compile(
    rf"{_NO_LETTER}(?P<minus>(?<!\w)-)?+(?P<sign>{_SIGN}|(?<!/)(?:{_CODE})(?=[ \d])) ?(?P<amount>{_SUM})"
    rf"(?:(?P<low>[kKmMbB]n?)?(?:{DASH}|(?(low) to (?=[$€£¥₹]|[\d.,]+ ?(?:[kKmMbB]n?\b|[bmtr]+illion|hundred"
    rf"|thousand))| to ))"
    rf"(?:(?P=sign))?(?P<upto>{NUMBER}))?{NUMBER_END}{_SCALE}{_PER}"
)
_BEHIND: Final = re.compile(
    rf"{NUMBER_START}(?P<minus>-)?+(?P<amount>{_SUM})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}{_SCALE}"
    rf" ?(?P<sign>[€£¥₹₩₽₺₫₪₴₱]|kr(?![\w.])|zł|Kč|(?:{_CODE})(?![A-Za-z]))(?!\d){_PER}"
)
_INNER_MINUS: Final = re.compile(r"(?<!\w)(?P<sign>[$€£¥₹]) ?[-−](?=\.?\d)")
_NEAR: Final = 24
_FOR_PRICE: Final = re.compile(r"(?<![\w.,$€£])(?P<count>\d{1,3}) ?/ ?(?=[$€£]\d)")
_OR_PRICE: Final = re.compile(r"(?<=\d) ?/ ?(?=[$€£]\d)")
# What a sum is paid for, in letters behind it: glued to it, or where a space stands between, those that are no word.
_TERMS: Final = re.compile(
    r"(?<=\d)(?P<scale>k)?(?P<gap> ?)(?P<term>p\.?c\.?m\.?|p\.?p\.?p\.?n\.?|p\.?p\.?n\.?|pupm|psf|psm|p[./]?w|p[./]?a"
    r"|p[./]?h|p[./]?m|p[./]?n"
    r"|p[./]?d|ea|ono|ovno)(?:\.(?=[,;)]| [a-z(+]))?(?![\w/'])"
)
_TERM_WORDS: Final = {
    "pcm": "per calendar month",
    "pppn": "per person per night",
    "ppn": "per person per night",
    "pupm": "per user per month",
    "psf": "per square foot",
    "psm": "per square meter",
    "pw": "per week",
    "pa": "per annum",
    "ph": "per hour",
    "pm": "per month",
    "pn": "per night",
    "pd": "per day",
    "ea": "each",
    "ono": "or nearest offer",
    "ovno": "or very near offer",
}
_TERMS_APART: Final = frozenset("ea ono ovno pcm ppn pppn psf psm pupm pw p.a p/a p/w p.w p/m p/h p.h p/n p/d".split())
_SUM_BEFORE: Final = re.compile(r"(?:[$€£₹]\d[\d.,]*k?(?:[-–][$€£]?\d[\d.,]*k?)?|\dp) ?\Z")
_GLUED: Final = re.compile(r"(?<=[$€£¥₹]\d)(?P<whole>[\d,]*)(?P<cents>\.\d\d?)?(?P<letter>[cCpP])(?!\w)")
_FROM: Final = re.compile(r"(?<![\w.'])fr\.? (?=[$€£¥₹]\d)")
_PAIR: Final = re.compile(r"(?<![\w$€£¥])(?P<one>[$€£¥])/(?P<other>[$€£¥])(?=[ :]|$)")
_PENCE: Final = re.compile(
    rf"{NUMBER_START}(?P<amount>\d{{1,3}}(?:\.\d{{1,2}})?)(?:{DASH}(?P<upto>\d{{1,3}}(?:\.\d{{1,2}})?))?{NUMBER_END}p"
    rf"(?!\w){_PER}"
)
_SCANNED: Final = frozenset(("144", "240", "360", "480", "576", "720"))
_LOOSE_CENTS: Final = re.compile(
    rf"{NUMBER_START}(?P<amount>\d{{1,2}})c(?=/|[.,;:)](?!\w)|$| (?:a|and|each|from|in|or|per|to)\b){_PER}"
)
_SOLD: Final = re.compile(
    r" (?:per share|an? (?:share|unit|lit(?:re|er)|mile|min(?:ute)?|text|pound|lb|kilo|gallon|pint|dozen|piece|page"
    r"|word|can|bottle|"
    r"bushel)\b)"
)
_CENTS: Final = re.compile(rf"{NUMBER_START}(?P<amount>{NUMBER}){NUMBER_END} ?¢{_PER}")


def read(text: TrackedText) -> TrackedText:
    """Sums with a sign or a code in front or behind, and cents."""
    before = text.text
    if "/" in text.text:
        text = text.sub(_FOR_PRICE, r"\g<count> for ").sub(_OR_PRICE, " or ")
    if _CURRENCY.search(text.text):
        text = _sums(text)
    if "£" in before or "p/" in text.text or "p " in text.text:
        text = text.sub(_PENCE, partial(_pence, sterling="£" in before))
    return text.sub(_CENTS, _plain_cents).sub(_LOOSE_CENTS, _loose_cents)


def _sums(text: TrackedText) -> TrackedText:
    if "/" in text.text:
        text = text.sub(_PAIR, lambda match: f"{_SIGNS[match['one']].one} {_SIGNS[match['other']].one}")
    if "fr" in text.text:
        text = text.sub(_FROM, "from ")
    text = text.sub(_TERMS, _term).sub(_GLUED, _lettered)
    return (
        text.sub(_PER_PERSON, lambda match: f"{match['sum']} per person{' per ' if match['per'] else ''}")
        .sub(_INNER_MINUS, r"-\g<sign>")
        .sub(_BEFORE, _sum)
        .sub(_BEHIND, _sum)
    )


def _sum(match: re.Match[str]) -> str | None:
    sign = match["sign"]
    if sign == "INR" and _is_clotting(match):
        return None
    currency = _SIGNS.get(sign) or _CODES[sign]
    scale = match["scale"] or _SCALES.get((match["short"] or "").strip().lower(), "")
    words = ["minus"] if match["minus"] else []
    if sign in _CODES and match.string.endswith("= ", 0, match.start()) and match["amount"].startswith("0."):
        return f"{number(match['amount'])} {currency.many}"
    if match["upto"] and not scale and "." in match["amount"] + match["upto"] and not is_adjective(match):
        words.append(f"{_exact(_american(match['amount']), currency)} to {_exact(match['upto'], currency)}")
    elif match["upto"] or scale:
        words += _counted(match, currency, scale)
    elif is_adjective(match) and not (match["per"] and "." in match["amount"]):
        words.append(_exact(_american(match["amount"]), currency, attribute=True))
    else:
        words.append(_exact(_american(match["amount"]), currency))
    return " ".join((*words, *_per(match)))


def _term(match: re.Match[str]) -> str | None:
    """ "£950pcm", "$12 psf", "£325k ono"."""
    term = match["term"].replace(".", "").replace("/", "")
    apart = match["term"].rstrip(".") in _TERMS_APART
    yearly = term == "pa" and (match["scale"] or match.string[match.start() - 4 : match.start() - 3] == ",")
    if match["gap"] and not (apart or yearly):
        return None
    if _SUM_BEFORE.search(match.string, max(0, match.start() - _NEAR), match.start()) is None:
        return None
    return f"{match['scale'] or ''} {_TERM_WORDS[term]}"


def _lettered(match: re.Match[str]) -> str:
    """The strike of an option, with its kind: "the $15c"."""
    return f"{match['whole']}{match['cents'] or ''} {match['letter'].upper()}"


def _is_clotting(match: re.Match[str]) -> bool:
    """Return whether "INR 2.5" is a laboratory's ratio: a figure below ten, with one decimal at most."""
    whole, _, decimals = match["amount"].partition(".")
    return len(whole) == 1 and len(decimals) < 2 and not match["scale"] and not match["short"]


def _per(match: re.Match[str]) -> list[str]:
    """The words behind a slash: "per hour", "per user per month"."""
    each = [re.sub("[. ]", "", part) for part in (match["each"], match["also"]) if part] if match["per"] else []
    if match["per"] and not each:
        return ["per "]
    return ["each" if part.lower() == "ea" else f"per {_EACH.get(part.lower(), part)}" for part in each]


def _counted(match: re.Match[str], currency: EnglishCurrency, scale: str) -> list[str]:
    """A range, a round sum or a price before its noun: one number, then the currency."""
    words = [number(_american(match["amount"]))]
    low = _SCALES.get((match.groupdict().get("low") or "").lower(), scale)
    if match["upto"]:
        words += ((low, "to") if low != scale else ("to",)) + (number(match["upto"]),)
    if scale:
        words.append(scale)
    return [*words, currency.one if is_adjective(match) else currency.many]


def _american(amount: str) -> str:
    """The same sum with a point before its decimals."""
    return amount.replace(".", "").replace(",", ".") if amount[-3:-2] == "," else amount


def _exact(amount: str, currency: EnglishCurrency, *, attribute: bool = False) -> str:
    """A sum to the cent; before its noun, "a $2.50 fee", both names stay singular."""
    whole, point, decimals = amount.replace(",", "").partition(".")
    if not point or set(decimals) == {"0"}:
        return f"{cardinal(whole or '0')} {currency.one if attribute or is_one(whole) else currency.many}"
    if len(decimals) != 2 or not currency.cent:
        return f"{number(amount)} {currency.one if attribute else currency.many}"
    coins = decimals.lstrip("0")
    small = f"{cardinal(coins)} {currency.cent if attribute or coins == '1' else currency.cents}"
    if whole.strip("0") == "":
        return small
    if attribute and currency.cents == "pence":
        return f"{cardinal(whole)} pound {cardinal(coins) if len(coins) > 1 else small}"
    return f"{cardinal(whole)} {currency.one if attribute or is_one(whole) else currency.many} and {small}"


def _loose_cents(match: re.Match[str]) -> str | None:
    """ "45c" behind a word that prices follow; elsewhere it may be a label."""
    sold = _SOLD.match(match.string, match.end()) is not None
    return _plain_cents(match) if sold or word_before(match).lower() in _BEFORE_PRICE else None


def _pence(match: re.Match[str], *, sterling: bool) -> str | None:
    """ "24.9p/kWh"; the lines of a picture are no pence."""
    shown = sterling or match["per"] or "." in match["amount"] or word_after(match) in _BEHIND_PENCE
    if not shown or match["amount"] in _SCANNED:
        return None
    upto = f" to {number(match['upto'])}" if match["upto"] else ""
    one = is_one(match["amount"]) and not upto
    return " ".join((f"{number(match['amount'])}{upto}", "penny" if one else "pence", *_per(match)))


def _plain_cents(match: re.Match[str]) -> str:
    cents = "cent" if is_one(match["amount"]) or is_adjective(match) else "cents"
    return " ".join((number(match["amount"]), cents, *_per(match)))
