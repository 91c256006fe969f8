"""Words that a full stop shortens in one phrase only: "2nd ed.", "med. school", "A min."."""

import re
from typing import Final

from polyvox.text.normalize.english.context import STARTERS, final_stop
from polyvox.text.normalize.english.letters import any_of
from polyvox.text.tracked import TrackedText

# Words that a stop shortens in one phrase only.
_IN_PHRASE: Final = re.compile(
    r"(?:(?<=\d )|(?<=\d\+ ))(?P<pages>pp|vols)\.?(?=[\s,;)]|$)"
    r"|(?P<edition>\b(?:\w+(?:st|nd|rd|th)|[Rr]ev\.|[Nn]ew|[Pp]aperback) (?:rev\. )?)ed\."
    r"|\b(?P<edited>[Ee]d|[Tt]rans|[Tt]r|[Pp]ub|dir)\. (?:by (?=[A-Z])|(?=[A-Z][a-z]|[A-Z]\. [A-Z][a-z]))"
    r"|\b(?P<made>[Dd]ir|[Pp]rod|[Aa]rr|[Ii]llus|[Nn]arr|[Cc]hor|[Cc]omp|[Pp]erf|[Cc]ond|[Rr]ev)\. (?=by\b)"
    r"|\b(?P<editors>[Ee]ds)\."
    r"|\b(?P<med>[Mm])ed\. (?=(?P<medical>school|emerg|student|staff|record|histor|device|exam|center|team)|[a-z])"
    r"|\b(?P<bus>[Bb])us\. (?=days?\b|hours?\b|hrs\b|class\b|school\b)"
    r"|(?<=percent )(?P<discount>disc)\.(?=\s)"
    r"|\b(?P<regular>[Rr])eg\. (?=\w+(?: \w+)* (?:dollars?|cents|pounds|euros)\b)"
    r"|\b(?P<resp>[Rr])esp\. (?=rate\b)|\b(?P<law>Pub\. L\.)|\b(?P<conf>[Cc])onf\. (?=[Rr]oom|[Cc]all)"
    r"|(?<=\w(?:st|nd|rd|th)[ -])(?P<minute>min|pt|hr|wk|mo|yr|qtr|mi)\.?(?!\w)"
    r"|(?:(?<=[a-zA-Z] )|(?<=\d[a-z]{2} )|(?<=[12]\d{3} ))(?P<estimate>est)\.(?=$| (?:to|of|for|is|was|shows?|showed"
    r"|puts?|said|came|and|or|at)\b)"
    r"|\b(?P<tone>[A-G](?:[♯♭#]|[ -](?:flat|sharp))?)[ -](?P<key>min|maj)(?:\.|(?=[ ,;)]|$))"
    r"|(?<=[A-Za-z] )(?P<beat>def)\.(?= (?:No\. |number )?(?:[A-Z][a-z]|[A-Z]{2,3}\b))"
    r"|\b(?P<revised>[Rr]ev)\. (?P<enlarged>and (?:enl|exp)|ed)\b\.?"
    r"|(?<![\w.])(?P<assorted>[Aa])ss?t\. "
    r"(?=(?:colou?rs|styles|sizes|flavou?rs|varieties|patterns|designs|brands|fruits?|nuts|cheeses)\b)"
    r"|\b(?P<exclusions>[Ee])xcl\. (?=apply|may)"
    r"|\b(?P<room>living|dining|family|rec|bath|bed|laundry|utility|meeting|conf|guest|mud|rest|waiting|locker|board"
    r"|class|exam|"
    r"hotel|mail|break|lunch|storage|powder|bonus|sun|media|game|play|dorm|hosp|emerg|op)\.? rm(?P<rooms>s)?\b\.?"
    r"|(?<![\w.])(?P<class>Fr|So)\.,? (?=(?:Soph|Sophomores?|So|Jr|Sr|Junior)\b|"
    r"(?:QB|RB|WR|TE|OL|DL|LB|CB|DB|PG|SG|SF|PF|OH|MB|RHP|LHP|OF|[CFGKPS])\b(?!\.))"
    r"|\b(?P<field>Chem|Mech|Elec|Civ|Comp|Ind|Aero|Biomed|Poli|Pol|Phys|Bus|Mol|Engl?)\. "
    r"(?P<study>Eng|Sci|Ed|Admin|Bio|Lit|Lang)\b\.?"
    r"|(?<=\bof )(?P<engineering>Eng)\.|\b(?P<machine>[Mm])ach\. (?=wash)"
    r"|(?<=\b[Ff]ree )(?P<ship>ship)\.|\b(?P<according>[Aa]cc)\. (?=to\b)"
)
_ANY_PHRASE: Final = re.compile(any_of((
    " pp", " vols", " ed.", "Ed.", " eds.", "Eds.", "trans.", "Trans.", "dir.", ". by",
    " tr.", "pub.", "Pub.", " med.", "Med.",
    " bus. ", "Bus. ", " disc.", "reg. ", "Reg. ", "resp.", "Resp.", " conf.", "Conf.",
    " qtr",
    " min.", " min ", " min,", "-min", " maj", "-maj", " est.", "cc. ",
    " pt.", " def.", "Fr. ", "So. ", "of Eng", ". Eng", ". Sci", ". Ed", ". Admin", ". Bio", ". Lit", ". Lang",
    "ach. ",
    " rev.", "Rev.", "sst.", "Ast.", "xcl. ", " rm", "ree ship.",
)) + r"|(?:st|nd|rd|th)[ -](?:hr|wk|mo|yr|mi)(?!\w)")  # fmt: skip
_PHRASES: Final = {"disc.": "discount", "Pub. L.": "Public Law"}
_MADE: Final = {
    "dir": "irected",
    "prod": "roduced",
    "arr": "rranged",
    "illus": "llustrated",
    "narr": "arrated",
    "chor": "horeographed",
    "comp": "omposed",
    "perf": "erformed",
    "cond": "onducted",
    "rev": "evised",
}
_CAPITALIZED: Final = re.compile("[A-Z][a-z]+")
_ENLARGED: Final = {"enl": "enlarged", "exp": "expanded"}
_ROOMS: Final = {"conf": "conference", "emerg": "emergency", "op": "operating", "hosp": "hospital"}
_FIELDS: Final = {
    "Eng": "English",
    "Engl": "English",
    "Chem": "Chemical",
    "Mech": "Mechanical",
    "Elec": "Electrical",
    "Civ": "Civil",
    "Comp": "Computer",
    "Ind": "Industrial",
    "Aero": "Aerospace",
    "Biomed": "Biomedical",
    "Poli": "Political",
    "Pol": "Political",
    "Phys": "Physical",
    "Bus": "Business",
    "Mol": "Molecular",
}
_STUDIES: Final = {
    "Eng": "Engineering",
    "Lang": "Language",
    "Lit": "Literature",
    "Sci": "Science",
    "Ed": "Education",
    "Admin": "Administration",
    "Bio": "Biology",
}
_ORDINAL_UNITS: Final = {
    "min": "minute",
    "pt": "point",
    "hr": "hour",
    "wk": "week",
    "mo": "month",
    "yr": "year",
    "qtr": "quarter",
    "mi": "mile",
}
_PHRASE_ENDS: Final = {"bus": "usiness", "regular": "egular", "resp": "espiratory", "conf": "onference"}


def read(text: TrackedText) -> TrackedText:
    """The phrases in full."""
    return text.sub(_IN_PHRASE, _in_phrase) if _ANY_PHRASE.search(text.text) else text


def _in_phrase(match: re.Match[str]) -> str | None:
    """The words of whichever phrase was found."""
    stop = final_stop(match)
    if match["pages"] or match["edition"] or match["edited"] or match["editors"] or match["made"]:
        return _of_book(match, stop)
    if match["med"]:
        return match["med"] + ("edical " if match["medical"] else "edium ")
    if match["minute"]:
        return _ORDINAL_UNITS[match["minute"]] + stop
    if match["key"]:
        return match["tone"] + (" minor" if match["key"] == "min" else " major") + stop
    if match["class"] or match["field"] or match["engineering"] or match["machine"]:
        return _studied(match, stop)
    if match["beat"] or match["revised"] or match["assorted"] or match["exclusions"] or match["room"]:
        return _sold_or_won(match, stop)
    if match["ship"]:
        return "shipping" + stop
    if match["according"]:
        return match["according"] + "ording "
    if match["estimate"]:
        return "estimate"
    return _PHRASES.get(match.group().strip()) or next(
        f"{match[name]}{rest} " for name, rest in _PHRASE_ENDS.items() if match[name]
    )


def _next_word(match: re.Match[str]) -> str:
    found = _CAPITALIZED.match(match.string, match.end())
    return found.group() if found else ""


def _of_book(match: re.Match[str], stop: str) -> str | None:
    """Parts of a book's description."""
    if match["pages"]:
        return ("pages" if match["pages"] == "pp" else "volumes") + stop
    if match["edition"]:
        return match["edition"].replace("rev.", "revised").replace("Rev.", "Revised") + "edition" + stop
    if match["made"]:
        return match["made"][0] + _MADE[match["made"].lower()] + " "
    if match["editors"]:
        return f"{match['editors'][0]}ditors"
    if not match.group().endswith("by ") and _next_word(match) in STARTERS:  # a man, and a new sentence
        return None
    done = {"e": "edited by ", "t": "translated by ", "p": "published by ", "d": "directed by "}[
        match["edited"][0].lower()
    ]
    return done.capitalize() if match["edited"][0].isupper() else done


def _studied(match: re.Match[str], stop: str) -> str:
    """Years and fields of study."""
    if match["class"]:
        return "Freshman " if match["class"] == "Fr" else "Sophomore "
    if match["machine"]:
        return f"{match['machine']}achine "
    study = _STUDIES[match["study"] or match["engineering"]]
    return f"{_FIELDS[match['field']]} {study}{stop}" if match["field"] else study + stop


def _sold_or_won(match: re.Match[str], stop: str) -> str:
    """Words of results, editions, shops and houses."""
    if match["beat"]:
        return "defeated"
    if match["revised"]:
        rest = "edition" if match["enlarged"] == "ed" else f"and {_ENLARGED[match['enlarged'][4:]]}"
        return f"{match['revised']}ised {rest}{stop}"
    if match["room"]:
        return f"{_ROOMS.get(match['room'], match['room'])} room{match['rooms'] or ''}{stop}"
    return f"{match['assorted']}ssorted " if match["assorted"] else f"{match['exclusions']}xclusions "
