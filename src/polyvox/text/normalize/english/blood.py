"""Groups of blood with their sign: "O-", "AB+", "B pos"."""

import re
from typing import Final

from polyvox.text.normalize.english.context import word_after
from polyvox.text.tracked import TrackedText

_ANY: Final = re.compile(r"[ABO] ?[+−–-]|[ABO][ -](?:pos|neg)\b")
_GROUP: Final = re.compile(
    r"(?<![\w.+/&'’-])(?P<group>AB|[ABO])(?P<rhesus> ?Rh)?"
    r"(?:(?: (?=[+−–-]ve\b))?(?P<sign>[+−–-])(?:ve\b)?(?!\w|[+−–-]|[’'])"
    r"|[ -](?:(?P<plus>pos)|neg)\b(?:\.(?=\s*[a-z,;)]))?)"
)
_BLOOD: Final = re.compile(
    r"\b(?:blood|donors?|transfus\w*|rh(?:esus)?|plasma|p?rbcs?|cross-?match\w*)\b",
    re.IGNORECASE,
)
_TYPED: Final = re.compile(r"\b[Tt]ype:? \Z")
_OF_GRADES: Final = frozenset("student students personality grade average school effort performance".split())
_BEARERS: Final = frozenset(
    "blood donor donors patient patients recipient recipients plasma platelets unit units".split()
)
_ARTICLE: Final = re.compile(r"\b[Aa]n? \Z")
_NEAR: Final = 64


def read(text: TrackedText) -> TrackedText:
    """Groups near a word of blood; elsewhere the sign belongs to a grade or a formula."""
    return text if _ANY.search(text.text) is None else text.sub(_GROUP, _group)


def _group(match: re.Match[str]) -> str | None:
    if not _is_of_blood(match):
        return None
    positive = match["plus"] or match["sign"] == "+"
    rhesus = " Rh" if match["rhesus"] else ""
    return f"{match['group']}{rhesus} {'positive' if positive else 'negative'}"


def _is_of_blood(match: re.Match[str]) -> bool:
    following = word_after(match)
    if following in _OF_GRADES:
        return False
    if match["group"] in ("O", "AB") and _TYPED.search(match.string, max(0, match.start() - 8), match.start()):
        return True
    if _ARTICLE.search(match.string, max(0, match.start() - 4), match.start()) and following not in _BEARERS:
        return False
    return _BLOOD.search(match.string, max(0, match.start() - _NEAR), match.end() + _NEAR) is not None
