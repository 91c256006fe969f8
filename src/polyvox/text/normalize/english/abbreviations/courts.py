"""Courts and their files: "N.D. Cal.", "Super. Ct.", "No. 23-cv-04417", "5 Cal. 4th 12", "Cal. Penal Code"."""

import re
from typing import Final

from polyvox.text.normalize.english.context import final_stop
from polyvox.text.normalize.english.places.states import STATES_BY_STOP
from polyvox.text.tracked import TrackedText

_PARTS: Final = {
    "N": "Northern",
    "S": "Southern",
    "E": "Eastern",
    "W": "Western",
    "C": "Central",
    "M": "Middle",
}
_STATES: Final = STATES_BY_STOP | {
    "Cal": "California",
    "Haw": "Hawaii",
    "Me": "Maine",
    "Or": "Oregon",
    "Idaho": "Idaho",
    "Iowa": "Iowa",
    "Ohio": "Ohio",
    "Utah": "Utah",
    "Alaska": "Alaska",
}
_STATE: Final = "(?P<state>" + "|".join(sorted((re.escape(name) for name in _STATES), key=len, reverse=True)) + r")"
_DISTRICT: Final = re.compile(
    rf"(?<![\w.])(?:(?P<part>[NSEWCM])\. ?D\.|(?P<whole>D\.)(?= [A-Z][a-z]{{1,4}}\.)) ?{_STATE}"
    r"(?:\.(?!\w)|(?<=[aeiouhy])(?![\w.]))"
)
_STATE_COURT: Final = re.compile(
    rf"(?<![\w.]){_STATE}\.(?= (?:Penal|Law|Lab|Civ|Fam|Gov|Veh|Bus|Evid|Prob|Rev|Stat|Code|Gen|Super|Sup|Ct|App|"
    r"Const|Health|Tech|State|Southern|A&M|[23]d\b|4th\b|5th\b|second\b|third\b|fourth\b|fifth\b))"
)
_CUES: Final = (
    *("Code", "Stat", "Law", "Tech"),
    *(". 2d", ". 3d", ". 4th", ". 5th", ". second ", ". third ", ". fourth ", ". fifth "),
)
_HIGH_COURT: Final = re.compile(
    r"(?<![\w.])(?P<kind>Super|Sup|App|Dist|Cir|Bankr|Fam|Mun|Crim|Civ|Prob|Juv)\. (?:Ct|(?P<division>Div))\."
)
_KINDS: Final = {
    "Super": "Superior",
    "Sup": "Supreme",
    "App": "Appellate",
    "Dist": "District",
    "Cir": "Circuit",
    "Bankr": "Bankruptcy",
    "Fam": "Family",
    "Mun": "Municipal",
    "Crim": "Criminal",
    "Civ": "Civil",
    "Prob": "Probate",
    "Juv": "Juvenile",
}
_CODE: Final = re.compile(
    r"(?<![\w.])(?P<kind>Civ|Fam|Gov't|Gov|Veh|Lab|Evid|Prob|Rev|Crim)\. (?P<more>Proc\. )?(?=Code\b|Stat\b|P\.)"
)
_CODES: Final = _KINDS | {
    "Gov": "Government",
    "Gov't": "Government",
    "Veh": "Vehicle",
    "Lab": "Labor",
    "Evid": "Evidence",
    "Rev": "Revised",
}
_FILE: Final = re.compile(
    r"(?<=\d)-(?P<kind>cv|cr|mc|mj|md|bk|ap|po|cf|civ|crim|CV|CR|MC|MJ|MD|BK|CIV)-(?P<number>\d{1,6})(?!\d)"
)
# "2d Cir.", as reporters of law write "2nd".
_ORDINAL: Final = re.compile(r"(?<![\w.])(?P<figure>[23])d(?= (?:Cir|Dist|Dep|Div|Cong|Sess|DCA)\b)")
_ORDINALS: Final = {"2": "second", "3": "third"}
_CIRCUIT: Final = re.compile(r"(?:(?<=D\.C\. )|(?<=Fed\. ))Cir\.(?!\w)")
_LITIGATION: Final = re.compile(r"\bSec\. (?=Litig\.)")
_FILES: Final = {"civ": "civil", "crim": "criminal"}


def read(text: TrackedText) -> TrackedText:
    """Circuits, state courts and codes."""
    if ". " not in text.text:
        return text
    if "Cir." in text.text:
        text = text.sub(_CIRCUIT, lambda match: f"Circuit{final_stop(match)}")
    if "Litig." in text.text:
        text = text.sub(_LITIGATION, "Securities ")
    if "Ct." in text.text or "Div." in text.text:
        text = text.sub(_STATE_COURT, lambda match: _STATES[match["state"]])
        text = text.sub(_HIGH_COURT, _high_court)
    if any(cue in text.text for cue in _CUES):
        text = text.sub(_STATE_COURT, lambda match: _STATES[match["state"]]).sub(_CODE, _code)
    return text


def read_districts(text: TrackedText) -> TrackedText:
    """Federal districts, whose letters may be a state elsewhere: "in N.D." is North Dakota."""
    return text.sub(_DISTRICT, _district) if "D." in text.text else text


def read_files(text: TrackedText) -> TrackedText:
    """The letters between the figures of a case's number."""
    if "d " in text.text:
        text = text.sub(_ORDINAL, lambda match: _ORDINALS[match["figure"]])
    return text.sub(_FILE, _file) if "-" in text.text else text


def _district(match: re.Match[str]) -> str:
    part = f"{_PARTS[match['part']]} " if match["part"] else ""
    return f"{part}District of {_STATES[match['state']]}{final_stop(match)}"


def _high_court(match: re.Match[str]) -> str:
    return f"{_KINDS[match['kind']]} {'Division' if match['division'] else 'Court'}{final_stop(match)}"


def _code(match: re.Match[str]) -> str:
    return f"{_CODES[match['kind']]} {'Procedure ' if match['more'] else ''}"


def _file(match: re.Match[str]) -> str:
    kind = match["kind"].lower()
    spelled = _FILES.get(kind) or ".".join(kind.upper())
    return f" dash {spelled} dash {' '.join(match['number'])}"
