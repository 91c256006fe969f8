"""School classes of Italy, which are feminine ordinals: "in III B", "la 3^ A", "V elementare"."""

import re
from typing import Final

from polyvox.text.tracked import TrackedText

_YEARS: Final = {"I": "prima", "II": "seconda", "III": "terza", "IV": "quarta", "V": "quinta"} | {
    str(year): word for year, word in enumerate(("prima", "seconda", "terza", "quarta", "quinta"), start=1)
}
_ARTICLE: Final = r"(?:[Ll]a|[Dd]ella|[Aa]lla|[Nn]ella|[Dd]alla|[Uu]na|[Qq]uesta|[Ll]'altra|[Cc]lass[ei])"
_SECTION: Final = r"[A-Z](?![\w'’]|\.\w|-\w)"
# Behind an article no ruler and no ampere stands.
_NAMED: Final = re.compile(rf"(?<!\w)({_ARTICLE}|[Ii]n) (III?|IV|I|V) ?(?={_SECTION})")
# Of 3D, 4G and 4K a school speaks too.
_ONE: Final = rf"(?:(?:III?|IV|I|V) ?|[1-5](?![DGK])){_SECTION}"
_AMONG: Final = re.compile(
    rf"(?<!\w)(?:{_ARTICLE}|[Ii]n|[Dd]i|[Dd]elle|[Ll]e|[Aa]lle|e|ed) {_ONE}(?:(?:,| e| ed) {_ONE})*"
)
_CLASS: Final = re.compile(rf"(?<!\w)(III?|IV|I|V|[1-5]) ?({_SECTION})")
_LEVEL: Final = re.compile(
    r"(?<![\w.])(?:(?<=[Ii]n )|(?<=[Ll]a )|(?<=[Dd]ella )|(?<=[Aa]lla )|(?<=[Dd]alla )|(?<=[Dd]i ))(III?|IV|I|V)"
    r" (?=(?:elementare|media|superiore|liceo|ginnasio|primaria|ragioneria|geometri|scientifico|classico|linguistico"
    r"|alberghiero|ITIS)(?!\w))"
)
_NUMERAL: Final = re.compile(r"[IV](?=[IV]{0,2}(?: [a-zA-Z]|[A-Z](?!\w)))")
_CARET: Final = re.compile(r"(\d(?<![\w.,(].)\d?)\^ ?(?=[A-Z](?!\w)|[a-zà-ÿ]{3})")
_SECTIONED: Final = re.compile(r"[A-Z](?:(?<=[IV1-5].)|(?<=[IV1-5] .))(?![\w'’]|\.\w|-\w)")
_SCHOOL: Final = re.compile(
    r"(?<!\w)(?:[Aa]lunn|[Ss]tudent|[Cc]lass[ei](?!\w)|[Ss]cuol|[Ll]ice|[Cc]ompit|[Vv]erific|[Pp]rof|[Gg]ita|[Gg]enitori"
    r"|[Ss]crutin|[Ii]nsegnant|[Ss]upplen|[Rr]agazz|[Pp]agell|[Mm]aestr|[Ll]ezion|[Dd]ocent)"
)


def read_classes(text: TrackedText) -> TrackedText:
    """Classes with their section behind an article, or anywhere in a text that speaks of school."""
    if "^" in text.text:
        text = text.sub(_CARET, r"\1ª ")
    if _NUMERAL.search(text.text):
        text = text.sub(_LEVEL, lambda match: f"{_YEARS[match[1]]} ")
        text = text.sub(_NAMED, lambda match: f"{match[1]} {_YEARS[match[2]]} ")
    if _SECTIONED.search(text.text) is None or _SCHOOL.search(text.text) is None:
        return text
    return text.sub(_AMONG, _all_classes)


def _all_classes(match: re.Match[str]) -> str:
    return _CLASS.sub(lambda each: f"{_YEARS[each[1]]} {each[2]}", match.group())
