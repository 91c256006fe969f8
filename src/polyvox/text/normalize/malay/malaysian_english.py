"""Malaysian expressions in English sentences, made ready for the English normaliser."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import DASH, NUMBER, NUMBER_END, cardinal, code, number
from polyvox.text.normalize.malay import digit_groups, labelled_numbers, web
from polyvox.text.normalize.malay.dates import day_first
from polyvox.text.normalize.malay.figures import names_road
from polyvox.text.normalize.malay.short_forms import abbreviations
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_MONTHS: Final = "January February March April May June July August September October November December".split()
_SLASHED: Final = re.compile(r"(?<![\w/.-])(?<!\d,)(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|[.,]\d)")
_SCALES: Final = {"k": "thousand", "m": "million", "mil": "million", "b": "billion", "bil": "billion", "bn": "billion"}
_RINGGIT: Final = re.compile(
    rf"(?<![A-Za-z])(?P<minus>(?<!\w)-)?+(?:RM|MYR|Rm|rm) ?(?P<amount>{NUMBER})"
    rf"(?:(?:{DASH}| to )(?:(?:RM|MYR) ?)?(?P<upto>{NUMBER}))?{NUMBER_END}"
    r"(?: ?(?P<scale>thousand|million|billion|trillion)\b|(?P<short>[kKmMbB]|bn| ?mil| ?bil)(?![A-Za-z0-9]))?"
    r"(?:/-(?!\w))?(?P<per>/(?=[a-z]))?"
)
_ROAD: Final = re.compile(r"(?<![\w./])(?P<first>\d{1,3})/(?P<last>\d{1,3})(?P<letter>[A-Z])?(?![\w/]|\.\d)")
_SEN: Final = re.compile(r"(?<![\w.])(?<!\d,)(\d{1,3})sen\b")


def read(text: TrackedText, options: NormalizationOptions) -> TrackedText:
    """Ringgit, dates with the day first, Malaysian telephones, identity cards, addresses and names."""
    text = web.read(text, options, code)
    text = abbreviations.read_names(text).sub(_SLASHED, _slashed).sub(_ROAD, _road)
    text = digit_groups.read_identities(text, digit_groups.ENGLISH)
    if options.phone_normalization:
        text = digit_groups.read_phones(text, digit_groups.ENGLISH)
    text = labelled_numbers.read(text.sub(_RINGGIT, _ringgit), digit_groups.ENGLISH)
    return text.sub(_SEN, lambda match: f"{cardinal(match[1])} sen")


def _slashed(match: re.Match[str]) -> str | None:
    """The date with its month's name, which the English reader knows how to say."""
    if len(match[4]) == 2 and match[2] != "/":
        return None
    found = day_first(int(match[1]), int(match[3]), match[4])
    return f"{found[0]} {_MONTHS[found[1] - 1]} {found[2]}" if found else None


def _road(match: re.Match[str]) -> str | None:
    if not names_road(match):
        return None
    return f"{cardinal(match['first'])} slash {cardinal(match['last'])} {match['letter'] or ''}".rstrip()


def _ringgit(match: re.Match[str]) -> str:
    scale = match["scale"] or _SCALES.get((match["short"] or "").strip().lower(), "")
    words = ["minus"] if match["minus"] else []
    if match["upto"] or scale:
        words += [number(match["amount"]), *(("to", number(match["upto"])) if match["upto"] else ()), scale, "ringgit"]
    else:
        words.append(_exact(match["amount"]))
    return " ".join(word for word in words if word) + (" per " if match["per"] else "")


def _exact(amount: str) -> str:
    whole, point, decimals = amount.replace(",", "").partition(".")
    if not point or set(decimals) == {"0"}:
        return f"{cardinal(whole or '0')} ringgit"
    if len(decimals) > 2:
        return f"{number(amount)} ringgit"
    coins = f"{cardinal(decimals.ljust(2, '0').lstrip('0'))} sen"
    return coins if whole.strip("0") == "" else f"{cardinal(whole)} ringgit and {coins}"
