"""Roman numerals in a row behind a plural: "counts II and IV", "Appendices I, III and V-VII"."""

import re
from typing import Final

from polyvox.text.normalize.english.context import word_before
from polyvox.text.normalize.english.numbers import cardinal
from polyvox.text.normalize.english.roman import value_of
from polyvox.text.tracked import TrackedText

_JOINT: Final = r"(?:,? (?:and|or|to|through|&) |, ?| ?[-–—] ?)"
_ANY: Final = re.compile(r"s \(?[IVXLC]")
_LIST: Final = re.compile(rf"(?<=s )(?P<open>\(?)[IVXLC]{{1,7}}(?:{_JOINT}[IVXLC]{{1,7}})+(?![\w'’&])(?!\.\w)")
_PART: Final = re.compile(rf"(?P<joint>{_JOINT})|(?P<numeral>[IVXLC]+)")
_ALONE: Final = re.compile(r"(?<=ount )[IVX]{1,5}(?![\w'’&])(?!\.\w)|(?<=ounts )[IVX]{2,5}(?![\w'’&])(?!\.\w)")
_CHARGED: Final = re.compile(
    r"\b(?:indict\w*|charg\w*|convict\w*|acquit\w*|dismiss\w*|guilty|pleas?|plead\w*|pled|complaint|plaintiffs?|defendants?"
    r"|court|jury|verdict|judgment|sentenced|claims?)\b",
    re.IGNORECASE,
)
_NEAR: Final = 64
_LABELS: Final = frozenset(
    (
        "acts amendments annexes appendices appendixes articles bands books cantos chapters charges classes clauses "
        "counts divisions episodes exhibits factors figures grades groups headings items lemmas levels movements "
        "paragraphs parts phases problems propositions quadrants questions rules scenes schedules sections series "
        "stages steps supplements tables themes theorems tiers titles types units volumes zones"
    ).split()
)


def read(text: TrackedText) -> TrackedText:
    """Every numeral of such a list, whatever stands between."""
    if _ANY.search(text.text):
        text = text.sub(_LIST, _list)
    if "ount I" in text.text or "ount V" in text.text or "ount X" in text.text or "ounts " in text.text:
        text = text.sub(_ALONE, _count)
    return text


def _list(match: re.Match[str]) -> str | None:
    if word_before(match).lower() not in _LABELS:
        return None
    words = [match["open"]]
    for part in _PART.finditer(match.group()):
        value = value_of(part["numeral"]) if part["numeral"] else None
        if part["numeral"] and value is None:
            return None
        words.append(_joint(part["joint"]) if value is None else cardinal(value))
    return "".join(words)


def _joint(joint: str) -> str:
    """ "and" for its sign, "to" for a dash."""
    return " to " if joint.strip() in ("-", "–", "—") else joint.replace("&", "and")


def _count(match: re.Match[str]) -> str | None:
    """A count of a charge; a count of blood or a noble has other neighbours."""
    charged = _CHARGED.search(match.string, max(0, match.start() - _NEAR), match.end() + _NEAR)
    value = value_of(match.group()) if charged and word_before(match).lower() in ("count", "counts") else None
    return None if value is None else cardinal(value)
