"""Sums of money."""

import re
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.english.numbers import NUMBER, NUMBER_END, NUMBER_START
from polyvox.text.normalize.malay.measures import PER, per
from polyvox.text.normalize.malay.numbers import DASH, cardinal, number, spelled
from polyvox.text.tracked import TrackedText


@dataclass(frozen=True, slots=True)
class MalayCurrency:
    """The name of a currency and of its hundredth part, where that is in use."""

    name: str
    part: str = ""


_RINGGIT: Final = MalayCurrency("ringgit", "sen")
_DOLLAR: Final = MalayCurrency("dolar", "sen")
_US_DOLLAR: Final = MalayCurrency("dolar Amerika", "sen")
_SINGAPORE_DOLLAR: Final = MalayCurrency("dolar Singapura", "sen")
_AUSTRALIAN_DOLLAR: Final = MalayCurrency("dolar Australia", "sen")
_POUND: Final = MalayCurrency("paun", "peni")
_SIGNS: Final = {
    "RM": _RINGGIT,
    "Rm": _RINGGIT,
    "rm": _RINGGIT,
    "$": _DOLLAR,
    "US$": _US_DOLLAR,
    "AS$": _US_DOLLAR,
    "S$": _SINGAPORE_DOLLAR,
    "A$": _AUSTRALIAN_DOLLAR,
    "AU$": _AUSTRALIAN_DOLLAR,
    "B$": MalayCurrency("dolar Brunei", "sen"),
    "HK$": MalayCurrency("dolar Hong Kong", "sen"),
    "€": MalayCurrency("euro", "sen"),
    "£": _POUND,
    "¥": MalayCurrency("yen"),
    "₹": MalayCurrency("rupee"),
    "₩": MalayCurrency("won"),
    "฿": MalayCurrency("baht"),
    "₱": MalayCurrency("peso"),
    "₫": MalayCurrency("dong"),
    "Rp": MalayCurrency("rupiah"),
    "Rp.": MalayCurrency("rupiah"),
}
CODES: Final = {
    "MYR": _RINGGIT,
    "USD": _US_DOLLAR,
    "SGD": _SINGAPORE_DOLLAR,
    "AUD": _AUSTRALIAN_DOLLAR,
    "BND": MalayCurrency("dolar Brunei", "sen"),
    "HKD": MalayCurrency("dolar Hong Kong", "sen"),
    "NZD": MalayCurrency("dolar New Zealand", "sen"),
    "EUR": MalayCurrency("euro", "sen"),
    "GBP": _POUND,
    "JPY": MalayCurrency("yen"),
    "CNY": MalayCurrency("yuan"),
    "RMB": MalayCurrency("yuan"),
    "KRW": MalayCurrency("won"),
    "THB": MalayCurrency("baht"),
    "IDR": MalayCurrency("rupiah"),
    "INR": MalayCurrency("rupee"),
    "PHP": MalayCurrency("peso"),
    "SAR": MalayCurrency("riyal"),
    "AED": MalayCurrency("dirham"),
    "BTC": MalayCurrency("bitcoin"),
}
SCALES: Final = {
    "k": "ribu",
    "ratus": "ratus",
    "ribu": "ribu",
    "thousand": "ribu",
    "m": "juta",
    "mil": "juta",
    "mill": "juta",
    "mn": "juta",
    "jt": "juta",
    "j": "juta",
    "juta": "juta",
    "million": "juta",
    "b": "bilion",
    "bil": "bilion",
    "bn": "bilion",
    "bilion": "bilion",
    "billion": "bilion",
    "t": "trilion",
    "tn": "trilion",
    "trilion": "trilion",
    "trillion": "trilion",
}

# In Indonesia the stop stands between the thousands.
_INDONESIAN: Final = r"\d{1,3}(?:\.\d{3})++(?:,\d\d)?(?![\d,])"
_SUM: Final = rf"(?:(?<=Rp){_INDONESIAN}|(?<=Rp ){_INDONESIAN}|{NUMBER})"
_SCALE: Final = (
    r"(?: ?(?:ratus|ribu|thousand|juta|million|bilion|billion|trilion|trillion)(?![A-Za-z])"
    r"| ?(?:mill?|mn|jt|bil|bn|tn)\b\.?(?! ?\d)|[kKmMbBtTj](?![A-Za-z0-9]))"
)
_SIGN: Final = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))
_CODE: Final = "|".join(CODES)
_BEFORE: Final = re.compile(
    rf"(?<![A-Za-z])(?P<minus>(?<!\w)-)?+(?P<sign>{_SIGN}|(?!PHP ?[3-9](?![\d,]))(?:{_CODE})(?=[ \d])) "
    rf"?(?P<amount>{_SUM})"
    rf"(?:(?P<low>{_SCALE})?(?:{DASH}| (?:hingga|sampai|to) )(?:(?P=sign)) ?(?P<upto>{NUMBER})"
    rf"|(?P<low2>{_SCALE})?{DASH}(?P<upto2>{NUMBER}))?{NUMBER_END}"
    rf"(?P<scale>{_SCALE})?(?:/[-=](?!\w))?(?P<per>{PER})?"
)
_BEHIND: Final = re.compile(
    rf"{NUMBER_START}(?P<minus>-)?+(?P<amount>{NUMBER})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}(?P<scale>{_SCALE})?"
    rf" ?(?P<sign>[€£¥₹₩₱₫฿]|(?:RM|rm|{_CODE})(?![A-Za-z]))(?! ?\d)(?P<per>{PER})?"
)
_EXCHANGE_RATES: Final = re.compile(r"(?<![\w./])(?<!\d,)(?P<bid>\d\.\d{4})/(?P<ask>\d{4})(?![\w/.])")
_PAIR: Final = re.compile(
    rf"(?<![\w/])(?P<base>RM|{_CODE})/(?P<quote>RM|{_CODE}) ?(?P<rate>{NUMBER}){NUMBER_END}(?!\w)"
)
_SEN: Final = re.compile(rf"{NUMBER_START}(?P<amount>{NUMBER}){NUMBER_END}(?: ?¢|(?:sen\b| sen(?= ?/))(?P<per>{PER})?)")


def read(text: TrackedText) -> TrackedText:
    """Sums with a sign or a code in front or behind, sen, and the two prices of a currency."""
    text = text.sub(_PAIR, lambda match: f"{match['base']} {match['quote']} {number(match['rate'])}")
    text = text.sub(_EXCHANGE_RATES, lambda match: f"{number(match['bid'])}, {spelled(match['ask'])}")
    return text.sub(_BEFORE, _sum).sub(_BEHIND, _sum).sub(_SEN, _sen)


def _sen(match: re.Match[str]) -> str:
    return f"{number(match['amount'])} sen" + (f" {per(match['per'])}" if match["per"] else "")


def _sum(match: re.Match[str]) -> str:
    sign = match["sign"]
    currency = _SIGNS.get(sign) or CODES[sign]
    groups = match.groupdict()
    amount, upto = match["amount"], groups.get("upto") or groups.get("upto2")
    scale = _scale(match["scale"])
    words = ["negatif"] if match["minus"] else []
    if _is_indonesian(sign, amount):
        amount = amount.replace(".", "").replace(",", ".")
    if groups.get("upto2") and scale == "" and _value(amount) >= _value(upto or ""):
        return f"{_exact(amount, currency)}{match.string[match.end('amount') : match.end()]}"
    if upto and not scale and "." in amount + upto:
        words += [_exact(amount, currency), "hingga", _exact(upto, currency)]
    elif upto:
        low = _scale(groups.get("low") or groups.get("low2"))
        words += [number(amount), low if low != scale else "", "hingga", number(upto), scale, currency.name]
    elif scale:
        words += [number(amount), scale, currency.name]
    else:
        words.append(_exact(amount, currency))
    words.append(per(match["per"]) if match["per"] else "")
    return " ".join(word for word in words if word)


def _value(amount: str) -> float:
    return float(amount.replace(",", "") or 0)


def _is_indonesian(sign: str, amount: str) -> bool:
    return sign.startswith("Rp") and amount.count(".") > 0 and len(amount.partition(",")[0].rpartition(".")[2]) == 3


def _scale(written: str | None) -> str:
    return SCALES[written.strip().rstrip(".").lower()] if written else ""


def _exact(amount: str, currency: MalayCurrency) -> str:
    """Whole units and hundredths; a single decimal is a tenth, which is ten of them."""
    whole, point, decimals = amount.replace(",", "").partition(".")
    if not point or set(decimals) == {"0"}:
        return f"{cardinal(whole or '0')} {currency.name}"
    if len(decimals) > 2 or not currency.part:
        return f"{number(amount)} {currency.name}"
    coins = f"{cardinal(decimals.ljust(2, '0').lstrip('0'))} {currency.part}"
    return coins if whole.strip("0") == "" else f"{cardinal(whole)} {currency.name} {coins}"
