"""Words that a full stop shortens in one phrase only: "2nd ed.", "med. school", "A min."."""

import re
from typing import Final

from polyvox.text.normalize.english.context import final_stop
from polyvox.text.tracked import TrackedText

# Words that a stop shortens in one phrase only.
_IN_PHRASE: Final = re.compile(
    r"(?:(?<=\d )|(?<=\d\+ ))(?P<pages>pp|vols)\.?(?=[\s,;)]|$)"
    r"|(?P<edition>\b(?:\w+(?:st|nd|rd|th)|[Rr]ev\.|[Nn]ew|[Pp]aperback) (?:rev\. )?)ed\."
    r"|\b(?P<edited>[Ee]d|[Tt]rans|[Tt]r|[Pp]ub)\. (?:by (?=[A-Z])|(?=[A-Z][a-z]|[A-Z]\. [A-Z][a-z]))"
    r"|\b(?P<editors>[Ee]ds)\."
    r"|\b(?P<med>[Mm])ed\. (?=(?P<medical>school|student|staff|record|histor|device|exam|center|team)|[a-z])"
    r"|\b(?P<bus>[Bb])us\. (?=days?\b|hours?\b|hrs\b|class\b|school\b)"
    r"|(?<=percent )(?P<discount>disc)\.(?=\s)"
    r"|\b(?P<regular>[Rr])eg\. (?=\w+(?: \w+)* (?:dollars?|cents|pounds|euros)\b)"
    r"|\b(?P<resp>[Rr])esp\. (?=rate\b)|\b(?P<law>Pub\. L\.)|\b(?P<conf>[Cc])onf\. (?=[Rr]oom|[Cc]all)"
    r"|(?<=\w(?:st|nd|rd|th) )(?P<minute>min|pt)\.?(?!\w)"
    r"|(?<=[a-zA-Z] )(?P<estimate>est)\.(?= (?:to|of|for|is|was)\b)"
    r"|\b(?P<tone>[A-G](?:[♯♭#]|[ -](?:flat|sharp))?)[ -](?P<key>min|maj)(?:\.|(?=[ ,;)]|$))"
    r"|\b(?P<according>[Aa]cc)\. (?=to\b)"
)
_PHRASED: Final = (
    " pp", " vols", " ed.", "Ed.", " eds.", "Eds.", "trans.", "Trans.", " tr.", "pub.", "Pub.", " med.", "Med.",
    " bus. ", "Bus. ", " disc.", " reg. ", "Reg. ", "resp.", "Resp.", " conf.", "Conf.",
    " min.", " min ", " min,", "-min", " maj", "-maj", " est.", "cc. ",
    " pt.",
)  # fmt: skip
_PHRASES: Final = {"disc.": "discount", "Pub. L.": "Public Law"}
_PHRASE_ENDS: Final = {"bus": "usiness", "regular": "egular", "resp": "espiratory", "conf": "onference"}


def read(text: TrackedText) -> TrackedText:
    """The phrases in full."""
    return text.sub(_IN_PHRASE, _in_phrase) if any(short in text.text for short in _PHRASED) else text


def _in_phrase(match: re.Match[str]) -> str | None:
    """Parts of a book's description, business days and medium heat."""
    stop = final_stop(match)
    if match["pages"]:
        return ("pages" if match["pages"] == "pp" else "volumes") + stop
    if match["edition"]:
        return match["edition"].replace("rev.", "revised").replace("Rev.", "Revised") + "edition" + stop
    if match["edited"]:
        done = {"e": "edited by ", "t": "translated by ", "p": "published by "}[match["edited"][0].lower()]
        return done.capitalize() if match["edited"][0].isupper() else done
    if match["editors"]:
        return f"{match['editors'][0]}ditors"
    if match["med"]:
        return match["med"] + ("edical " if match["medical"] else "edium ")
    if match["minute"]:
        return ("minute" if match["minute"] == "min" else "point") + stop
    if match["key"]:
        return match["tone"] + (" minor" if match["key"] == "min" else " major") + stop
    if match["according"]:
        return match["according"] + "ording "
    if match["estimate"]:
        return "estimate"
    return _PHRASES.get(match.group().strip()) or next(
        f"{match[name]}{rest} " for name, rest in _PHRASE_ENDS.items() if match[name]
    )
