"""Ranks of forces and police before a name, and their units: "Wg Cdr Moss", "SSgt Bell", "3rd Bn., 5th Regt."."""

import re
from typing import Final

from polyvox.text.normalize.english.context import final_stop, word_before
from polyvox.text.normalize.english.letters import any_of
from polyvox.text.tracked import TrackedText

# Several words, or one that is written without a stop even where others have theirs.
_RANKS: Final = {
    "1SG": "First Sergeant",
    "1stSgt": "First Sergeant",
    "1stLt": "First Lieutenant",
    "2dLt": "Second Lieutenant",
    "2ndLt": "Second Lieutenant",
    "1LT": "First Lieutenant",
    "2LT": "Second Lieutenant",
    "A1C": "Airman First Class",
    "ADM": "Admiral",
    "BGen": "Brigadier General",
    "CAPT": "Captain",
    "CDR": "Commander",
    "CMDR": "Commander",
    "CMSgt": "Chief Master Sergeant",
    "COL": "Colonel",
    "CPL": "Corporal",
    "CPT": "Captain",
    "CSgt": "Colour Sergeant",
    "GySgt": "Gunnery Sergeant",
    "LCDR": "Lieutenant Commander",
    "LCpl": "Lance Corporal",
    "L/Cpl": "Lance Corporal",
    "LTC": "Lieutenant Colonel",
    "LTG": "Lieutenant General",
    "LTJG": "Lieutenant Junior Grade",
    "LtCol": "Lieutenant Colonel",
    "LtGen": "Lieutenant General",
    "MAJ": "Major",
    "MGySgt": "Master Gunnery Sergeant",
    "MSgt": "Master Sergeant",
    "MajGen": "Major General",
    "PVT": "Private",
    "Pte": "Private",
    "PO1": "Petty Officer First Class",
    "PO2": "Petty Officer Second Class",
    "PO3": "Petty Officer Third Class",
    "RADM": "Rear Admiral",
    "SFC": "Sergeant First Class",
    "SGT": "Sergeant",
    "SMSgt": "Senior Master Sergeant",
    "SPC": "Specialist",
    "SSG": "Staff Sergeant",
    "SSgt": "Staff Sergeant",
    "S/Sgt": "Staff Sergeant",
    "SgtMaj": "Sergeant Major",
    "TSgt": "Technical Sergeant",
    "VADM": "Vice Admiral",
    "CW2": "Chief Warrant Officer two",
    "CW3": "Chief Warrant Officer three",
    "CW4": "Chief Warrant Officer four",
    "CW5": "Chief Warrant Officer five",
    "CWO2": "Chief Warrant Officer two",
    "CWO3": "Chief Warrant Officer three",
    "CWO4": "Chief Warrant Officer four",
    "CWO5": "Chief Warrant Officer five",
    "WO1": "Warrant Officer one",
    "WO2": "Warrant Officer two",
}
# The words of a rank, as those write them who leave out the stops.
_PARTS: Final = {
    "Adm": "Admiral",
    "Amb": "Ambassador",
    "Brig": "Brigadier",
    "Capt": "Captain",
    "Cdr": "Commander",
    "Cdre": "Commodore",
    "Ch": "Chief",
    "Cllr": "Councillor",
    "Cmdr": "Commander",
    "Cmdt": "Commandant",
    "Col": "Colonel",
    "Const": "Constable",
    "Cpl": "Corporal",
    "Cpt": "Captain",
    "Det": "Detective",
    "Fg": "Flying",
    "Flt": "Flight",
    "Gen": "General",
    "Gov": "Governor",
    "Gp": "Group",
    "Insp": "Inspector",
    "Ldr": "Leader",
    "Lt": "Lieutenant",
    "Maj": "Major",
    "Msgr": "Monsignor",
    "Off": "Officer",
    "Plt": "Pilot",
    "Rev": "Reverend",
    "Revd": "Reverend",
    "Rep": "Representative",
    "Sen": "Senator",
    "Sgt": "Sergeant",
    "Sqn": "Squadron",
    "Supt": "Superintendent",
    "Wg": "Wing",
}
_NAME: Final = r"(?:(?:Mc|Mac|O'|De|Du|La|Le|Van|Von)?[A-Z][a-z]+|[A-Z]\.? ?[A-Z])"
_PART: Final = "|".join(sorted(_PARTS, key=len, reverse=True))
_BEFORE_NAME: Final = re.compile(
    rf"(?=[A-Z\d])(?<![\w.'/-])(?P<one>{'|'.join(sorted(_RANKS, key=len, reverse=True))})\.?(?= {_NAME})"
    rf"|(?=[A-Z])(?<![\w.'/-])(?:{_PART})(?:(?= \([Rr]et)|\.(?= \([Rr]et))"
    rf"|(?=[A-Z])(?<![\w.'/-])(?:(?:{_PART})\.? )*(?:{_PART})(?= {_NAME})(?! (?:Alpha|Beta|Con|Zer|Xer|Docs|Limiter)\b)"
)
_MAY: Final = re.compile(
    r"(?<![\w.'/-])(?P<rank>Capt|Cmdr|Col|Cpl|Dr|Gen|Gov|Lt|Maj|Prof|Rev|Sen|Sgt|Supt)\."
    r"(?= (?:(?:May|Will|Few|Many|Such)\b|[AI]\. [A-Z]))"
)
_JUNIOR: Final = re.compile(r"(?<![\w.])(?:Lt\.?|LT) ?\(?[jJ]\.?[gG]\.?\)?(?= [A-Z])")
_SISTER: Final = re.compile(
    r"(?:(?<=\A)|(?<=[.,;:&(] )|(?<=\b[a-z]\w )|(?<=[a-z]{3} ))Sr\.? (?=(?:Mary|Maria|Marie|Anne?|Teresa|Theresa"
    r"|Agnes|Bernadette|"
    r"Catherine|Helen|Clare|Joan|Margaret|Rose|Angela|Monica|Cecilia|Elizabeth|Rita|Magdalena|Benedicta)\b)"
)
_OF_MAY: Final = _PARTS | {"Dr": "Doctor", "Prof": "Professor"}
# Units of an army: those that are nothing else, and those that need an ordinal or another unit beside them.
UNITS: Final = {
    "Abn": "Airborne",
    "Arty": "Artillery",
    "Bde": "Brigade",
    "Bn": "Battalion",
    "Bns": "Battalions",
    "Btry": "Battery",
    "Regt": "Regiment",
    "Rgr": "Ranger",
    "Rgt": "Regiment",
    "Sqdn": "Squadron",
    "Sqn": "Squadron",
}
_UNITS_BESIDE: Final = {
    "Armd": "Armored",
    "Brig": "Brigade",
    "Cav": "Cavalry",
    "Co": "Company",
    "Div": "Division",
    "Engr": "Engineer",
    "Ftr": "Fighter",
    "Gp": "Group",
    "Inf": "Infantry",
    "Mech": "Mechanized",
    "Mtn": "Mountain",
    "Plt": "Platoon",
    "Sig": "Signal",
    "Wg": "Wing",
}
_UNIT: Final = re.compile(
    rf"(?=[A-Z])(?<![\w.'/-])(?:(?P<sure>{'|'.join(UNITS)})|(?P<beside>{'|'.join(_UNITS_BESIDE)})(?=\.|[ ,]))"
    r"(?:\.|(?![\w'/-]))"
)
_ANY_UNIT: Final = re.compile(any_of((*UNITS, *_UNITS_BESIDE)))
_ANY_RANK: Final = re.compile(
    any_of((*_RANKS, *(f"{part} " for part in _PARTS), *(f"{part}." for part in _PARTS), "Dr. ", "Prof. ", "Sr", "LT"))
)
_UNIT_NAMES: Final = frozenset((*UNITS.values(), *_UNITS_BESIDE.values(), "Marine", "Panzer", "Parachute"))
_ORDINAL: Final = re.compile(r"(?:first|second|third|[a-z]+th|st|nd|rd)\Z")


def read(text: TrackedText) -> TrackedText:
    """Ranks and units in full."""
    if _ANY_RANK.search(text.text):
        text = _ranks(text)
    return text.sub(_UNIT, _unit) if _ANY_UNIT.search(text.text) else text


def _ranks(text: TrackedText) -> TrackedText:
    if "Lt" in text.text or "LT" in text.text:
        text = text.sub(_JUNIOR, "Lieutenant Junior Grade")
    if "Sr" in text.text:
        text = text.sub(_SISTER, "Sister ")
    return text.sub(_MAY, lambda match: _OF_MAY[match["rank"]]).sub(_BEFORE_NAME, _rank)


def _rank(match: re.Match[str]) -> str:
    if match["one"]:
        return _RANKS[match["one"]]
    return " ".join(_PARTS[part.rstrip(".")] for part in match.group().split())


def _unit(match: re.Match[str]) -> str | None:
    """The unit; a word that may be something else stands behind an ordinal, a letter of a company or a unit."""
    if match["sure"]:
        return UNITS[match["sure"]] + final_stop(match)
    if match["beside"] in ("Armd", "Cav", "Inf", "Plt") and match.group().endswith("."):
        return _UNITS_BESIDE[match["beside"]] + final_stop(match)
    before = word_before(match).rstrip(".")
    if before in _UNIT_NAMES or before in UNITS or before in _UNITS_BESIDE or _ORDINAL.match(before):
        return _UNITS_BESIDE[match["beside"]] + final_stop(match)
    return None
