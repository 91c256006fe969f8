"""Groups of letters and figures with a hyphen between: codes, and the ends of what is numbered."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import code, version
from polyvox.text.tracked import TrackedText

# A code whose last group is no end of a range: "AB12-3456", "DDR5-6000".
_CODED: Final = re.compile(r"(?P<head>(?<![\w./-])[A-Z]{1,5}\d{1,5})-(?P<digits>\d{3,8})(?![\w-]|[.,]\d)")
_LABELLED: Final = re.compile(
    r"(?P<lead>\b(?:SKU|UPC|[Ii]tem|[Pp]art|[Mm]odel|[Cc]at(?:alog)?|[Rr]ef(?:erence)?|[Ss]tyle|PN|[Ll]ot)\.?:? "
    r"(?:[Nn]o\.? |number |#)?)"
    r"(?P<first>\d{1,6})-(?P<last>\d{1,6})(?P<letters>[A-Z]{0,3})(?![\w-])"
)
_LETTERS_BEHIND: Final = re.compile(r"(?<=\d)(?P<first>[a-h])[-–](?P<last>[b-j])(?![\w'])")
_ITEMS: Final = re.compile(r"(?<![\w.-])(?P<kind>[QP])(?P<first>\d{1,2})[-–](?=(?P<last>\d{1,2})(?![\w-]|[.,]\d))")
_PARTS_TO: Final = re.compile(
    r"(?P<lead>\b(?:[Ss]ections?|[Ff]ig(?:ure)?s?|[Tt]ables?|[Ee]xercises?|[Cc]lauses?|[Cc]hapters?"
    r"|[Rr]ooms?) [A-Z]?\d+\.\d+) ?[-–] ?(?=\d+\.\d)"
)
_VERSIONS: Final = re.compile(
    r"(?<![\w.,$€£])(?P<first>\d{1,2}\.\d{1,2})(?P<joint> ?[-–] ?| to | and )(?P<last>\d{1,2}\.\d{2})(?![\w%]|\.\d)"
)
# How far a debtor is trusted: "Baa1".
_BOND: Final = re.compile(r"(?<![\w-])(?P<letters>Aa|Baa|Ba|Caa|Ca)(?P<digit>[123])(?!\w)")


def read(text: TrackedText) -> TrackedText:
    """Everything here comes before the ranges, which would put "to" between two groups of a code."""
    text = text.sub(_BOND, lambda match: f"{'.'.join(match['letters'].upper())} {match['digit']}")
    if "." in text.text:
        text = text.sub(_VERSIONS, _versions)
    if "-" not in text.text and "–" not in text.text:
        return text
    text = text.sub(_PARTS_TO, r"\g<lead> to ").sub(_LABELLED, _labelled).sub(_CODED, _coded)
    return text.sub(_LETTERS_BEHIND, _letters_behind).sub(_ITEMS, _items)


def _coded(match: re.Match[str]) -> str:
    return f"{match['head']} {code(match['digits'])}"


def _labelled(match: re.Match[str]) -> str:
    """The number of a product in two groups."""
    letters = f" {'.'.join(match['letters'])}" if match["letters"] else ""
    return f"{match['lead']}{code(match['first'])} {code(match['last'])}{letters}"


def _letters_behind(match: re.Match[str]) -> str | None:
    """ "4a-d": the letters from one to the other."""
    return f"{match['first'].upper()} to {match['last'].upper()}" if match["first"] < match["last"] else None


def _items(match: re.Match[str]) -> str | None:
    """ "Q1-12": the questions from one to the other."""
    return f"{match['kind']}{match['first']} to " if int(match["first"]) < int(match["last"]) else None


def _versions(match: re.Match[str]) -> str | None:
    """ "3.9-3.12": two versions, since as decimals the second would be less."""
    first, last = match["first"], match["last"]
    same = first.split(".")[0] == last.split(".")[0] and len(first) < len(last)
    if not same or float(last) >= float(first):
        return None
    joint = match["joint"].strip(" -–") or "to"
    return f"{version(first)} {joint} {version(last)}"
