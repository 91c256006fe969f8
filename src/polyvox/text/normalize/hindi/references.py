"""Numbers of houses, plots, files and cases, whose parts a slash divides: "42/7" is forty-two by seven."""

import re
from typing import Final

from polyvox.text.normalize.hindi.numbers import cardinal, spelled
from polyvox.text.tracked import TrackedText

_LABELS: Final = (
    "नंबर|नम्बर|नं|सं|संख्या|क्रमांक|क्र|मकान|भवन|प्लॉट|प्लाट|खसरा|खतौनी|फ़्लैट|फ्लैट|क्वार्टर|दुकान|शॉप|गली|सेक्टर|ब्लॉक|वार्ड|पता|केस|वाद|याचिका|अपील|पत्रांक|फ़ाइल"
    "|फाइल|अधिसूचना|विज्ञापन|No|no|NO|Plot|plot|Flat|flat|House|house|Shop|shop|Block|Sector|FIR|Ref|ref"
)
_PARTED: Final = re.compile("[A-Z][-/][0-9]")
_LABEL: Final = re.compile(rf"(?<![A-Za-z\u0900-\u0963])(?:{_LABELS})[.: -]{{0,3}}(?:[A-Z]-?)?\Z")
_NUMBERED: Final = re.compile(
    r"(?<![\d./,-])(?:(?<=[A-Z])-)?\d{1,5}(?:/\d{1,5}){1,2}"
    r"(?:-(?=[A-Za-z\u0900-\u097f](?![A-Za-z])))?(?![\d/]|[.,-]\d)"
)
_LONGEST: Final = 24
# Letters, then groups of digits: the number of a bill or an order.
_CODE: Final = re.compile(r"(?<![A-Za-z0-9/-])(?P<letters>[A-Z]{2,6})(?P<groups>(?:[-/]\d{1,6}){2,4})(?![\d/-]|\.\d)")
_POST_CODE: Final = re.compile(
    r"(?<=[A-Za-z\u0900-\u0963)]{3}) ?[-–—] ?(?P<code>[1-9]\d{5})(?![\d%/-]|[.,]\d)(?! (?:लाख|रु))"
)
_SIX: Final = re.compile("[-–—] ?[0-9]{6}")
_YEAR: Final = re.compile("(?:19|20)[0-9]{2}")


def read(text: TrackedText) -> TrackedText:
    """Figures with a slash behind the word for what they number; post codes behind a dash; letters with groups of
    digits."""
    if "/" in text.text:
        text = text.sub(_NUMBERED, _numbered)
    if _SIX.search(text.text):
        text = text.sub(_POST_CODE, lambda match: f" {spelled(match['code'])}")
    return text.sub(_CODE, _code) if _PARTED.search(text.text) else text


def _code(match: re.Match[str]) -> str:
    groups = re.split("[-/]", match["groups"])[1:]
    said = (cardinal(group) if len(group) < 4 or _YEAR.fullmatch(group) else spelled(group) for group in groups)
    return f"{match['letters']} {', '.join(said)}"


def _numbered(match: re.Match[str]) -> str | None:
    """None without such a word or a letter tied to them, where they may be a date, a part or a score."""
    if match.group()[0] != "-" and _LABEL.search(match.string, max(0, match.start() - _LONGEST), match.start()) is None:
        return None
    before = match.string[match.start() - 1]
    parts = " बटा ".join(map(cardinal, match.group().strip("-").split("/")))
    return (" " if before.isalpha() else "") + parts + (" " if match.group().endswith("-") else "")
