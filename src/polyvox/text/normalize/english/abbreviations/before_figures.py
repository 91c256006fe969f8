"""Abbreviations that a figure follows, or that count it: "No. 5", "pp. 5-6", "$3 a gal.", "F.3d"."""

import re
from typing import Final

from polyvox.text.normalize.english.abbreviations import channels
from polyvox.text.normalize.english.context import final_stop, word_before
from polyvox.text.normalize.english.numbers import code
from polyvox.text.tracked import TrackedText

# Before a figure only: elsewhere these are words, names or nothing.
BEFORE_FIGURES: Final = {
    "No": "number",
    "no": "number",
    "Nos": "numbers",
    "nos": "numbers",
    "p": "page",
    "pp": "pages",
    "pg": "page",
    "Pg": "Page",
    "pgs": "pages",
    "Pgs": "Pages",
    "Vol": "Volume",
    "vol": "volume",
    "Vols": "Volumes",
    "vols": "volumes",
    "Secs": "Sections",
    "secs": "sections",
    "Arts": "Articles",
    "arts": "articles",
    "Bks": "Books",
    "Paras": "Paragraphs",
    "paras": "paragraphs",
    "Ch": "Chapter",
    "ch": "chapter",
    "Chap": "Chapter",
    "chap": "chapter",
    "Fig": "Figure",
    "fig": "figure",
    "Figs": "Figures",
    "Chs": "Chapters",
    "chs": "chapters",
    "ext": "extension",
    "Ext": "Extension",
    "ex": "exercise",
    "Exs": "Exercises",
    "exs": "exercises",
    "Req": "Requirement",
    "Lv": "Level",
    "lv": "level",
    "probs": "problems",
    "q": "question",
    "Q": "Question",
    "rev": "revision",
    "Rev": "Revision",
    "Opt": "Option",
    "opt": "option",
    "figs": "figures",
    "Sec": "Section",
    "Sect": "Section",
    "sec": "section",
    "Eq": "Equation",
    "eq": "equation",
    "Eqs": "Equations",
    "eqs": "equations",
    "Art": "Article",
    "art": "article",
    "Para": "Paragraph",
    "para": "paragraph",
    "c": "circa",
    "ca": "circa",
    "Apt": "Apartment",
    "apt": "apartment",
    "Ste": "Suite",
    "Rm": "Room",
    "rm": "room",
    "Flt": "Flight",
    "flt": "flight",
    "Ep": "Episode",
    "ep": "episode",
    "Lvl": "Level",
    "lvl": "level",
    "Hwy": "Highway",
    "Rte": "Route",
    "cl": "clause",
    "Cl": "Clause",
    "cls": "clauses",
    "Pt": "Part",
    "pt": "part",
    "resp": "respiration",
    "Alt": "Altitude",
    "Elev": "Elevation",
    "elev": "elevation",
    "Lat": "Latitude",
    "lat": "latitude",
    "ver": "version",
    "Ver": "Version",
    "Bldg": "Building",
    "bldg": "building",
    "Ref": "Reference",
    "ref": "reference",
    "Amend": "Amendment",
    "App": "Appendix",
    "app": "appendix",
    "Bus": "Business",
    "Appx": "Appendix",
    "Apx": "Appendix",
    "Att": "Attendance",
    "att": "attendance",
    "agg": "aggregate",
    "Bk": "Book",
    "bk": "book",
    "Blk": "Block",
    "Div": "Division",
    "div": "division",
    "Hdg": "Heading",
    "hdg": "heading",
    "Dk": "Deck",
    "Ex": "Exhibit",
    "Exh": "Exhibit",
    "Fl": "Floor",
    "fl": "floor",
    "Gr": "Grade",
    "gr": "grade",
    "Grp": "Group",
    "Inv": "Invoice",
    "inv": "invoice",
    "Iss": "Issue",
    "iss": "issue",
    "mi": "mile",
    "Mi": "Mile",
    "Per": "Period",
    "mvt": "movement",
    "Op": "Opus",
    "op": "opus",
    "Ord": "Order",
    "Ph": "Phone",
    "ph": "phone",
    "pl": "plate",
    "Mob": "Mobile",
    "mob": "mobile",
    "Mk": "Mark",
    "mk": "mark",
    "Prop": "Proposition",
    "Rd": "Round",
    "rd": "round",
    "Reg": "Regulation",
    "Res": "Resolution",
    "Sc": "Scene",
    "sc": "scene",
    "Sch": "Schedule",
    "sch": "schedule",
    "Sched": "Schedule",
    "sched": "schedule",
    "Sem": "Semester",
    "Sta": "Station",
    "Trk": "Track",
    "trk": "track",
    "vv": "verses",
    "Wk": "Week",
    "Yr": "Year",
    "Sol": "Solution",
    "Dkt": "Docket",
    "Exp": "Expires",
    "exp": "expires",
    "pop": "population",
    "Pop": "Population",
    "Mag": "Magnitude",
    "mag": "magnitude",
    "Plat": "Platform",
    "Rt": "Route",
    "Rts": "Routes",
    "Term": "Terminal",
    "Adm": "Admission",
    "adm": "admission",
    "Cat": "Category",
    "cap": "capacity",
    "cat": "category",
    "fn": "footnote",
    "Gm": "Game",
    "gm": "game",
    "Gms": "Games",
    "Inn": "Inning",
    "Qtr": "Quarter",
    "Gp": "Group",
    "Jct": "Junction",
    "n": "note",
    "nn": "notes",
    "pen": "penalty",
    "Flts": "Flights",
    "flts": "flights",
    "Rds": "Rounds",
    "rds": "rounds",
    "Rwy": "Runway",
    "rwy": "runway",
    "RWY": "runway",
    "Twy": "Taxiway",
    "twy": "taxiway",
    "TWY": "taxiway",
    "Ctrm": "Courtroom",
    "Tab": "Table",
    "Tbl": "Table",
    "tbl": "table",
}
# The same, only behind a comma or a bracket: elsewhere a letter or a unit may end a sentence.
BEHIND_COMMA: Final = {
    "K": "K",
    "KV": "K",
    "D": "D",
    "S": "S",
    "RV": "RV",
    "l": "line",
    "ll": "lines",
    "mm": "measures",
    "s": "section",
    "ss": "sections",
    "r": "rule",
    "rr": "rules",
}
_BEFORE_FIGURE: Final = re.compile(
    r"(?<![\w.'])(?:([A-Za-z]{1,5})\."
    r"(?= ?\d| number \d|(?:(?<=[Ee]q\.)|(?<=[Ee]qs\.)|(?<=[Ff]ig\.)|(?<=[Ff]igs\.)) ?\(\d)"
    r"|([Nn]os?|pp?|pg|[Rr]ef|[Rr]m|[Aa]pt|Ste|[Bb]ldg|[Ff]lt|[Ff]igs?|[Ee]qs?|Ch|[Ss]ec)\."
    r"(?= (?:number )?[A-Z]{1,4}[ -]?\d)"
    r"|(Conf\. )?([Rr]m|[Aa]pt|Ste|[Bb]ldg|[Aa]pp|[Pp]t|Sect?|[Tt]bl|Exh|[Ff]ig|Sched|Gp)\."
    r"(?= (?:[B-HJ-Z](?!\w)|A(?=[.,;)]|$| (?:is|has|at|on|in|and|or|for|was)\b))))"
)
_UNSTOPPED: Final = re.compile(
    r"(?<![\w.'/-])(Apt|apt|Ste|[Rr]m|[Bb]ldg|[Pp]gs?|[Cc]h|[Vv]ol|[Ff]ig|[Ll]vl|[Ee]p|Rte|[Rr]wy|[RT]WY|[Tt]wy|pp?|Op|Fl|Mk|[Ss]ec"
    r"(?= \d{1,3}[A-Z]?,? (?:[Rr]ow|[Ss]eats?)\b))"
    r"(?= (?:#|number )?\d)"
)
_DATABASE: Final = re.compile(r"\b(?:Aurora|MySQL|RDS|[Pp]ostgres\w*|pg_\w+|psql|replicas?|[Uu]pgrad\w+|[Vv]acuum)\b")
_PHASE: Final = re.compile(r" ?[1-4][ab]?(?:/[1-4])?(?![\w.-])")
_INTERVAL: Final = re.compile(r" ?\d{1,2}(?:[-–]\d{1,2})? ?(?:mins?|h|hrs?|hours?|minutes|d|days?|wks?|weeks)\b")
_COUNTED_PARTS: Final = re.compile(
    r"(?:(?<=\d-)(?P<part>dr|spd|cyl)|(?<=\d(?:st|nd|rd|th)[ -])(?P<of>gr|pd|fl(?!\.? oz)|Bn|Bde|Regt|Sqn|Inf|Cav|cl)"
    r"|(?<=\d )(?P<many>pp(?=\.?\))|Qs)|(?P<asked>Qs)(?= \d))"
    r"(?:\.(?=[,;:)]| [a-z(&])|(?![\w']))"
)
_PARTS: Final = {
    "dr": "door",
    "spd": "speed",
    "cyl": "cylinder",
    "cl": "class",
    "gr": "grade",
    "Bn": "Battalion",
    "Bde": "Brigade",
    "Regt": "Regiment",
    "Sqn": "Squadron",
    "Inf": "Infantry",
    "Cav": "Cavalry",
    "pd": "period",
    "fl": "floor",
    "pp": "pages",
    "Qs": "questions",
}
_POINT: Final = re.compile(
    r"(?:(?<=\b[Dd]ew )|(?<=[a-z]ing )|(?<=\b[Ff]lash )|(?<=\b[Ss]moke )|(?<=\b[Mm]atch )|(?<=\b[Ss]et ))"
    r"pt(?P<many>s)?\b\.?(?=[\s:,;])"
)
_ROAD: Final = re.compile(
    r"\b(?:I-\d|Hwy|Highway|Interstate|Rte|Route|Tpke|Turnpike|Pkwy|Parkway|[Ff]reeway|[Mm]otorway|(?:east|west|north|south)bound)"
)
_COURT: Final = re.compile(r"\b(?:[Cc]ounsel|[Cc]ourt|filed|trial|[Pp]laintiff|[Dd]efendant|admitted|[Ee]xhibits?)\b")
_LONGITUDE: Final = re.compile(r"(?<=[\d°NS][,;:] )([Ll])ong\.(?= ?-?\d)")
# What is paid or done "a gallon": the symbol of a unit, with or without its stop, where a figure stands before it.
_EACH: Final = re.compile(
    r"(?P<lead>\b(?:an?|per|each|every) )"
    r"(?P<unit>gal|lb|oz|qt|doz|yr|mo|wk|hr|min|sec|yd|mi|kg|km|ft|bbl|sq ?ft|pp)"
    r"(?P<stop>\.)?(?![\w'/-])"
)
_COUNTED: Final = re.compile(r"\d[^\n.!?]{0,16} \Z")
_EACH_UNITS: Final = {
    "gal": "gallon",
    "lb": "pound",
    "oz": "ounce",
    "qt": "quart",
    "doz": "dozen",
    "yr": "year",
    "mo": "month",
    "wk": "week",
    "hr": "hour",
    "min": "minute",
    "sec": "second",
    "yd": "yard",
    "mi": "mile",
    "kg": "kilogram",
    "km": "kilometer",
    "ft": "foot",
    "bbl": "barrel",
    "sqft": "square foot",
    "pp": "person",
}
_BEFORE_LETTER: Final = re.compile(
    r"(?<![\w.'])(?P<word>rev|Exs?)\.(?= [A-Z](?!\w|\.(?: ?[A-Z]|\w)))|(?<![\w.'])(?P<title>Rev)\.(?= [A-Z](?![\w.]))"
)
_LABEL_LETTER: Final = re.compile(
    r"(?=[A-Zrabfs])(?<![\w.'])([Rr]m|[Aa]pt|Ste|[Bb]ldg|App|Exh|[Ff]ig|[Ss]ched|Gp|Grp|Attach|Att|Encl|Appx|Apx)\."
    r"(?= (?:[B-HJ-Z](?!\w|\.\w)|A(?=[.,;)]|$| (?:is|has|at|on|in|and|or|for|was|to|of)\b)))"
)
_STOP_AND_LETTER: Final = re.compile(r"\. [A-HJ-Z](?!\w)")
_LABELLED: Final = {
    "app": "appendix",
    "appx": "appendix",
    "apt": "apartment",
    "apx": "appendix",
    "att": "attachment",
    "attach": "attachment",
    "bldg": "building",
    "encl": "enclosure",
    "exh": "exhibit",
    "fig": "figure",
    "gp": "group",
    "grp": "group",
    "rm": "room",
    "sched": "schedule",
    "ste": "suite",
}
_LETTERED: Final = {"rev": "revision", "Rev": "Revision", "Ex": "Exhibit", "Exs": "Exhibits"}
# What is numbered within its number: "Dkt. 41-2", "Table 4-1".
_WITHIN: Final = re.compile(
    r"(?P<label>\b(?:Dkt|Docket|ECF|Doc|Table|Tbl|Fig|Figure|Form|Exhibit|Eq|Equation|Rule|Schedule|UCC §|UCC"
    r"|(?<!§)§)\.?(?: [Nn]os?\.)? ?)"
    r"(?P<whole>\d{1,3})-(?P<part>\d{1,3})(?![\w-]|\.\d)"
)
_CODE: Final = re.compile(r"(?P<lead>(?:U\.? ?S\.? ?C\.?A?\.?|Code|Law|Stat\.?) § ?)(?P<number>\d{3})(?!\d|[.,-]\d)")
_SECTION: Final = re.compile(
    r"(?:(?<=[A-Z]{2} )|(?<=[Aa]ct )|(?<=Act \d{4} )|(?<=\bunder )|(?<=\bby )|(?<=\bper )"
    r"|(?<=\bof )|(?<=\band )|(?<=\bor )|(?<=[Ss]ee )|(?<=Under ))(?P<many>s)?s\. ?(?=\d)"
)
_NEAR: Final = 32
# Born, died, reigned and the like, before a year or a date.
_LIFE: Final = re.compile(
    r"(?:\A|(?<=[(,;)] )|(?<=\()|(?<=[A-Za-z] ))(?P<word>b|d|r|m|fl)\. ?"
    r"(?=(?:circa |ca?\. ?)?(?:\d{3,4}(?!\d|,\d)|\d{1,2}/\d{1,2}/\d|\d{1,2} (?:BC|AD|CE|[A-Z][a-z]{2})"
    r"|(?:on|in) [A-Z\d]"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)))"
)
_LIVES: Final = {"b": "born ", "d": "died ", "r": "reigned ", "m": "married ", "fl": "flourished "}
_ESTABLISHED: Final = re.compile(r"\b([Ee])st\.?(?= (?:in )?(?:1\d{3}|20[0-2]\d)(?!\d|[.,]\d| [a-z]+s\b))")
_BEHIND_COMMA: Final = re.compile(r"(?<![\w.'])(KV?|D|S|RV|ll?|mm|ss?|rr?)\.(?= ?\d{1,4}(?!\d))")
_PAID: Final = re.compile(r" ?[$€£]?\d+(?:\.\d+)? ?(?:[pc]\b|[%¢]|per\b|a\b)| ?[$€£]")
_LEADS_PART: Final = re.compile(r"(?:[,(;] |\(|\b(?:[Uu]nder|[Pp]er|[Ss]ee|[Bb]y|of|[Ii]n|with) )\Z")
_RULES: Final = re.compile(r"\bFed\. ?R\. ?(?P<kind>Civ|Crim|App|Evid|Bankr)\.(?P<procedure> ?P\.)?")
_KINDS: Final = {
    "Civ": "Civil",
    "Crim": "Criminal",
    "App": "Appellate",
    "Evid": "Evidence",
    "Bankr": "Bankruptcy",
}
_REPORTER: Final = re.compile(r"\b(?P<series>F\.|F\. ?Supp\.|S\. ?Ct\.|So\.|P\.|A\.) ?(?P<part>[234]d|4th)?(?= \d)")
_REPORTERS: Final = {"S.Ct.": "Supreme Court", "F.Supp.": "F Supp"}


def read(text: TrackedText) -> TrackedText:
    """Abbreviations in full, before and behind their figures."""
    if " pt" in text.text:
        text = text.sub(_POINT, lambda match: f"point{match['many'] or ''}")
    if "-" in text.text:
        text = text.sub(_WITHIN, lambda match: f"{match['label']}{code(match['whole'])} dash {code(match['part'])}")
    text = text.sub(_UNSTOPPED, lambda match: _chapter_or_channel(match[1], match) or _unstopped(match))
    if "§" in text.text:
        text = text.sub(_CODE, lambda match: match["lead"] + code(match["number"]))
    if "s. " in text.text or "s." in text.text:
        text = text.sub(_SECTION, lambda match: "sections " if match["many"] else "section ")
    if "." in text.text:
        text = text.sub(_LIFE, lambda match: _LIVES[match["word"]])
        text = text.sub(_BEHIND_COMMA, _behind_comma)
    if "st" in text.text:
        text = text.sub(_ESTABLISHED, r"\1stablished")
    if ". " in text.text:
        text = text.sub(_RULES, _rules).sub(_REPORTER, _reporter)
    if "ong." in text.text:
        text = text.sub(_LONGITUDE, r"\1ongitude")
    text = text.sub(_EACH, _each)
    text = text.sub(
        _COUNTED_PARTS, lambda match: _PARTS[match["part"] or match["of"] or match["many"] or match["asked"]]
    )
    return text.sub(_BEFORE_FIGURE, _before_figure)


def read_lettered(text: TrackedText) -> TrackedText:
    """Short forms before a letter: "rev. C", "Ex. B"."""
    if _STOP_AND_LETTER.search(text.text):
        text = text.sub(_LABEL_LETTER, _labelled)
    if not any(short in text.text for short in ("rev. ", "Rev. ", "Ex. ", "Exs. ")):
        return text
    return text.sub(_BEFORE_LETTER, lambda match: _LETTERED[match["word"] or match["title"]])


def _unstopped(match: re.Match[str]) -> str | None:
    """A label without its stop; "pg 16" is a program where others of its kind are told of."""
    return None if match[1] == "pg" and _DATABASE.search(match.string) else BEFORE_FIGURES[match[1]]


def _behind_comma(match: re.Match[str]) -> str | None:
    led = _LEADS_PART.search(match.string, max(0, match.start() - 8), match.start())
    return BEHIND_COMMA[match[1]] if led else None


def _labelled(match: re.Match[str]) -> str:
    word = _LABELLED[match[1].lower()]
    return word.capitalize() if match[1][0].isupper() else word


def _before_figure(match: re.Match[str]) -> str | None:
    word = match[1] or match[2] or match[4]
    if match[3]:
        return f"Conference {BEFORE_FIGURES[word]}"
    if word == "mi" and match.string[max(0, match.start() - 2) : match.start()].strip().isdigit():
        return None
    if word == "Bus" and _ROAD.search(match.string) is None:
        return None
    if word == "Ex" and _ROAD.search(match.string):
        return "Exit"
    if word == "Ex":
        return "Exhibit" if _COURT.search(match.string, max(0, match.start() - 200), match.end() + 200) else "Example"
    if word == "Rd" and word_before(match)[:1].isupper():
        return "Road"
    return _chapter_or_channel(word, match) or _by_figure(match, word) or BEFORE_FIGURES.get(word)


def _chapter_or_channel(word: str, match: re.Match[str]) -> str | None:
    if not channels.is_channel(word, match):
        return None
    return f"{word[0]}hannel{'s' if word.endswith('s') else ''}"


def _by_figure(match: re.Match[str], word: str) -> str | None:
    """The word that the figure behind makes of a short one: "q. 20 min", "ph. 3", "div. 12c"."""
    if word == "q" and _INTERVAL.match(match.string, match.end()):
        return "every"
    if word in ("Ph", "ph") and _PHASE.match(match.string, match.end()):
        return word + "ase"
    paid = _PAID.match(match.string, match.end()) or match.string.endswith("ex-", 0, match.start(1))
    return f"{word}idend" if word in ("Div", "div") and paid else None


def _each(match: re.Match[str]) -> str | None:
    if _COUNTED.search(match.string, max(0, match.start() - _NEAR), match.start()) is None:
        return None
    unit = _EACH_UNITS[match["unit"].replace(" ", "")]
    return match["lead"] + unit + (final_stop(match) if match["stop"] else "")


def _rules(match: re.Match[str]) -> str:
    kind = _KINDS[match["kind"]]
    return f"Federal Rule of {kind}{' Procedure' if match['procedure'] else ''}"


def _reporter(match: re.Match[str]) -> str | None:
    """The series of reports in which a judgment stands: "F.3d"."""
    series = match["series"].replace(" ", "")
    if series not in _REPORTERS and not match["part"]:
        return None
    part = {"2d": " second", "3d": " third", "4th": " fourth"}.get(match["part"] or "", "")
    return _REPORTERS.get(series, series.rstrip(".")) + part
