"""Abbreviations with a full stop, and the few that are common without one."""

import re
from typing import Final

from polyvox.text.normalize.english.context import STARTERS, ends_sentence, has_word, word_after, word_before
from polyvox.text.normalize.english.letters import spelled_pair
from polyvox.text.tracked import TrackedText

# Before a name; the full stop never ends a sentence.
TITLES: Final = {
    "Mr": "Mister",
    "Mrs": "Missus",
    "Ms": "Miz",
    "Mx": "Mix",
    "Messrs": "Messieurs",
    "Mme": "Madame",
    "Mlle": "Mademoiselle",
    "Prof": "Professor",
    "Rev": "Reverend",
    "Fr": "Father",
    "Hon": "Honorable",
    "Gen": "General",
    "Col": "Colonel",
    "Maj": "Major",
    "Capt": "Captain",
    "Cmdr": "Commander",
    "Lt": "Lieutenant",
    "Sgt": "Sergeant",
    "Cpl": "Corporal",
    "Pvt": "Private",
    "Adm": "Admiral",
    "Gov": "Governor",
    "Sen": "Senator",
    "Rep": "Representative",
    "Pres": "President",
    "Supt": "Superintendent",
    "Mt": "Mount",
    "Ft": "Fort",
    "Pt": "Point",
    "Wm": "William",
    "Chas": "Charles",
    "Geo": "George",
    "Thos": "Thomas",
    "Jas": "James",
}
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
    "vols": "volumes",
    "Ch": "Chapter",
    "ch": "chapter",
    "Chap": "Chapter",
    "chap": "chapter",
    "Fig": "Figure",
    "fig": "figure",
    "Figs": "Figures",
    "Chs": "Chapters",
    "chs": "chapters",
    "Ex": "Exercise",
    "ex": "exercise",
    "Exs": "Exercises",
    "exs": "exercises",
    "Cat": "Category",
    "cat": "category",
    "Fl": "Floor",
    "Yr": "Year",
    "Gr": "Grade",
    "exp": "expires",
    "Exp": "Expires",
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
    "Est": "Established",
    "ver": "version",
    "Ver": "Version",
    "Bldg": "Building",
    "bldg": "building",
    "Ref": "Reference",
    "ref": "reference",
}
# Inside a sentence; the full stop belongs to the abbreviation and is dropped.
WITHIN: Final = {
    "vs": "versus",
    "Vs": "versus",
    "cf": "compare",
    "Cf": "compare",
    "viz": "namely",
    "approx": "approximately",
    "Approx": "approximately",
    "ext": "extension",
    "Ext": "extension",
    "tel": "telephone",
    "Tel": "Telephone",
    "incl": "including",
    "Incl": "Including",
    "excl": "excluding",
    "Excl": "Excluding",
    "resp": "respectively",
    "esp": "especially",
    "sq": "square",
    "Sq": "Square",
    "temp": "temperature",
    "Temp": "Temperature",
    "bal": "balance",
    "Bal": "Balance",
    "amt": "amount",
    "Amt": "Amount",
    "acct": "account",
    "Acct": "Account",
    "avg": "average",
    "asst": "assistant",
    "Asst": "Assistant",
    "assoc": "associate",
    "Assoc": "Associate",
    "cont": "continued",
    "def": "definitely",
    "dest": "destination",
    "Dest": "Destination",
    "desc": "description",
    "Desc": "Description",
    "prob": "probably",
    "avail": "available",
    "Avail": "Available",
    "orig": "original",
    "Orig": "Original",
    "equiv": "equivalent",
    "attn": "attention",
    "Attn": "Attention",
    "adj": "adjusted",
    "Adj": "Adjusted",
    "precip": "precipitation",
    "Precip": "Precipitation",
    "vis": "visibility",
    "Vis": "Visibility",
    "prelim": "preliminary",
    "trans": "transmission",
    "Trans": "Transmission",
    "diam": "diameter",
    "dims": "dimensions",
    "Dims": "Dimensions",
    "dist": "district",
    "Dist": "District",
    "ht": "height",
    "Ht": "Height",
    "lic": "license",
    "Lic": "License",
    "pop": "population",
    "Pop": "Population",
    "prev": "previous",
    "arr": "arriving",
    "Arr": "Arriving",
    "dep": "departing",
    "Dep": "Departing",
    "vol": "volume",
    "Vol": "Volume",
    "wt": "weight",
    "Wt": "Weight",
    "Avg": "average",
}
# Words of their own elsewhere: only where the sentence goes on behind the stop.
GOING_ON: Final = {
    "ans": "answer",
    "auth": "authorization",
    "bus": "business",
    "co": "company",
    "div": "dividend",
    "empl": "employees",
    "col": "column",
    "cols": "columns",
    "conf": "confirmation",
    "cr": "credits",
    "disc": "discount",
    "eff": "effective",
    "Eff": "Effective",
    "mag": "magnitude",
    "morn": "morning",
    "reg": "registration",
    "rev": "revenue",
    "rec": "recommended",
    "sh": "shares",
    "spec": "specification",
}
# May also end a sentence, and then leave it their full stop.
ANYWHERE: Final = {
    "etc": "etc",
    "Inc": "Incorporated",
    "Ltd": "Limited",
    "Co": "Company",
    "Corp": "Corporation",
    "Bros": "Brothers",
    "Jr": "Junior",
    "Sr": "Senior",
    "Esq": "Esquire",
    "Ave": "Avenue",
    "Aves": "Avenues",
    "Sts": "Streets",
    "Blvd": "Boulevard",
    "Rd": "Road",
    "Ln": "Lane",
    "Pkwy": "Parkway",
    "Dept": "Department",
    "dept": "department",
    "Univ": "University",
    "Assn": "Association",
    "Govt": "Government",
    "govt": "government",
    "Intl": "International",
    "misc": "miscellaneous",
    "req": "required",
    "reqd": "required",
    "ests": "estimates",
    "est": "estimated",
    "Est": "Estimated",
    "ea": "each",
    "bbl": "barrel",
    "doz": "dozen",
    "mo": "month",
    "mos": "months",
    "yr": "year",
    "wk": "week",
    "hr": "hour",
    "lb": "pound",
    "mins": "minutes",
    "al": "al",
    "min": "minimum",
    "max": "maximum",
    "Min": "Minimum",
    "Max": "Maximum",
    "Hts": "Heights",
    "Ctr": "Center",
    "Ariz": "Arizona",
    "Calif": "California",
    "Colo": "Colorado",
    "Conn": "Connecticut",
    "Fla": "Florida",
    "Mich": "Michigan",
    "Minn": "Minnesota",
    "Okla": "Oklahoma",
    "Tenn": "Tennessee",
    "Wash": "Washington",
    "Wis": "Wisconsin",
    "Wyo": "Wyoming",
}
DOTTED: Final = {
    "e.g": "for example",
    "i.e": "that is",
    "a.k.a": "also known as",
    "w.r.t": "with respect to",
    "r.s.v.p": "RSVP",
    "n.b": "NB",
    "p.s": "PS",
}

# Written without vowels, and so nothing else; with or without a full stop.
SHORTENED: Final = {
    "acct": "account",
    "accts": "accounts",
    "addr": "address",
    "mkt": "market",
    "mkts": "markets",
    "amts": "amounts",
    "appt": "appointment",
    "appts": "appointments",
    "approx": "approximately",
    "bldg": "building",
    "bldgs": "buildings",
    "btwn": "between",
    "batt": "battery",
    "btn": "button",
    "btns": "buttons",
    "cmd": "command",
    "cmds": "commands",
    "cntr": "center",
    "cols": "columns",
    "ctrl": "control",
    "cyl": "cylinder",
    "dmg": "damage",
    "fwd": "forward",
    "flr": "floor",
    "govt": "government",
    "hrs": "hours",
    "hwy": "highway",
    "intl": "international",
    "lbs": "pounds",
    "mfg": "manufacturing",
    "mgmt": "management",
    "mgr": "manager",
    "msg": "message",
    "msgs": "messages",
    "mtn": "mountain",
    "mtns": "mountains",
    "mtg": "meeting",
    "mtgs": "meetings",
    "mths": "months",
    "natl": "national",
    "pgs": "pages",
    "pkg": "package",
    "pkgs": "packages",
    "kbd": "keyboard",
    "pls": "please",
    "plz": "please",
    "pmt": "payment",
    "ppl": "people",
    "pts": "points",
    "pymt": "payment",
    "qtr": "quarter",
    "qtrs": "quarters",
    "qty": "quantity",
    "rcvd": "received",
    "spd": "speed",
    "svc": "service",
    "tbsp": "tablespoon",
    "thx": "thanks",
    "tmrw": "tomorrow",
    "tsp": "teaspoon",
    "tkt": "ticket",
    "txt": "text",
    "utd": "united",
    "wds": "words",
    "wkly": "weekly",
    "wknd": "weekend",
    "wks": "weeks",
    "yrs": "years",
}
# In capitals another thing, and spelled: a car's front-wheel drive.
INITIALS: Final = frozenset(("FWD",))
# What people type in small letters and say in full; in capitals they are spelled.
TYPED: Final = {
    "abt": "about",
    "afaik": "as far as I know",
    "atm": "at the moment",
    "bc": "because",
    "brb": "be right back",
    "btw": "by the way",
    "fwiw": "for what it's worth",
    "fyi": "for your information",
    "gtg": "got to go",
    "hmu": "hit me up",
    "icymi": "in case you missed it",
    "idc": "I don't care",
    "idk": "I don't know",
    "iirc": "if I recall correctly",
    "ikr": "I know right",
    "ily": "I love you",
    "imho": "in my humble opinion",
    "imo": "in my opinion",
    "irl": "in real life",
    "iykyk": "if you know you know",
    "nbd": "no big deal",
    "np": "no problem",
    "otw": "on the way",
    "rly": "really",
    "smth": "something",
    "tyvm": "thank you very much",
    "ty": "thank you",
    "yw": "you're welcome",
    "hbd": "happy birthday",
    "fr": "for real",
    "fri": "Friday",
    "gm": "good morning",
    "gn": "good night",
    "idek": "I don't even know",
    "istg": "I swear to god",
    "obv": "obviously",
    "obvs": "obviously",
    "thnx": "thanks",
    "tnx": "thanks",
    "xoxo": "X O X O",
    "2mrw": "tomorrow",
    "jk": "just kidding",
    "ngl": "not gonna lie",
    "nvm": "never mind",
    "ofc": "of course",
    "omg": "oh my god",
    "omw": "on my way",
    "rn": "right now",
    "smh": "shaking my head",
    "tbf": "to be fair",
    "tbh": "to be honest",
    "tmr": "tomorrow",
    "tmw": "tomorrow",
    "ttyl": "talk to you later",
    "tysm": "thank you so much",
    "ur": "your",
    "wdym": "what do you mean",
    "wdyt": "what do you think",
    "wyd": "what are you doing",
    "yoy": "year over year",
    "bday": "birthday",
    "hbu": "how about you",
    "hx": "history",
    "srsly": "seriously",
    "sry": "sorry",
    "lmk": "let me know",
    "thurs": "Thursday",
    "tues": "Tuesday",
    "wbu": "what about you",
    "weds": "Wednesday",
    "2day": "today",
    "2moro": "tomorrow",
    "2morrow": "tomorrow",
    "2nite": "tonight",
    "b4": "before",
    "gr8": "great",
    "l8": "late",
    "l8r": "later",
    "tks": "thanks",
    "m8": "mate",
    "w8": "wait",
}
# Initials that are said in full however they are typed.
MIXED_CASE: Final = {
    "YoY": "year over year",
    "QoQ": "quarter over quarter",
    "MoM": "month over month",
    "ICYMI": "in case you missed it",
    "TL;DR": "TLDR",
    "tl;dr": "TLDR",
}
ROADS: Final = {
    "Ave": "Avenue",
    "Blvd": "Boulevard",
    "Pkwy": "Parkway",
    "Hwy": "Highway",
    "Bldg": "Building",
    "Fwy": "Freeway",
    "Tpke": "Turnpike",
}

LABEL_WORDS: Final = frozenset(
    (
        "vitamin plan grade group option type class hepatitis section appendix part team category exhibit letter point"
    ).split()
)
_ALWAYS: Final = frozenset("Mr Mrs Ms Mx Messrs Mme Mlle Prof Sgt Cmdr Wm Chas Thos Jas".split())

_DOTTED_LETTERS: Final = re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,}+(?:[A-Za-z](?![\w.']))?")
_DEGREE: Final = re.compile(r"\b(?:Ph\.D|M\.Sc|B\.Sc|D\.Phil|Ed\.D|M\.Ed|B\.Ed)\b\.?|\bPhD\b")
_INITIALS: Final = re.compile(r"(?<![\w.])[A-Z]\.(?: [A-Z]\.)+(?= [A-Z])")
_INITIAL: Final = re.compile(r"(?<![\w.])[A-Z]\.(?= [A-Z]|[A-Z][a-z])")
_DOCTOR_OR_DRIVE: Final = re.compile(r"\bDr\b\.?(?!\w)")
_AGAINST: Final = re.compile(r"(?<=[A-Za-z] )v\.(?= [A-Z])")
_SAINT_OR_STREET: Final = re.compile(r"\bSt\b\.?(?!\w)")
_BEFORE_FIGURE: Final = re.compile(
    r"(?<![\w.'])(?:([A-Za-z]{1,5})\.(?= ?\d)|([Nn]os?|[Rr]ef|[Rr]m|[Aa]pt|Ste|[Bb]ldg|[Ff]lt)\.(?= [A-Z]{1,4}[ -]?\d))"
)
_UNSTOPPED: Final = re.compile(
    r"(?<![\w.'/-])(Apt|apt|Ste|[Rr]m|[Bb]ldg|[Pp]gs?|[Cc]h|[Vv]ol|[Ff]ig|[Ll]vl|[Ee]p|Rte|pp?)(?= (?:#|number )?\d)"
)
# "Serial no." and "ref. no.", with a word behind it that is no figure.
_LABEL_NUMBER: Final = re.compile(r"[Nn]o(?<=[A-Za-z] [Nn]o)\.(?! ?\d)")
_REFERENCE: Final = re.compile(r"(?<![\w.])(?P<label>[Rr]ef|[Cc]onf|[Rr]eg)\.?(?= (?:no|num|number|code|id)\b|:)")
_REFERENCES: Final = {"ref": "eference", "conf": "onfirmation", "reg": "egistration"}
_NUMBERED: Final = frozenset(
    "account badge batch booking card case claim confirmation contact customer docket employee fax file flight id "
    "invoice item license lot member membership mobile model order page part passport patent permit phone plate policy "
    "receipt reference registration room seat serial telephone ticket tracking version chassis engine frame".split()
)
_COUNTED_PARTS: Final = re.compile(
    r"(?:(?<=\d-)(?P<part>dr|spd|cyl)|(?<=\d(?:st|nd|rd|th)[ -])(?P<of>gr|pd|fl(?!\.? oz))"
    r"|(?<=\d )(?P<many>pp(?=\.?\))|Qs)|(?P<asked>Qs)(?= \d))"
    r"(?:\.(?=[,;:)]| [a-z(&])|(?![\w']))"
)
_PARTS: Final = {
    "dr": "door",
    "spd": "speed",
    "cyl": "cylinder",
    "gr": "grade",
    "pd": "period",
    "fl": "floor",
    "pp": "pages",
    "Qs": "questions",
}
_FORWARDED: Final = re.compile(r"^(?:FW|Fw)(?=:)", re.MULTILINE)
_CLASS_DAYS: Final = re.compile(
    r"(?<![\w/])(?:M|Mon|T|Tue?|Tues|W|Wed)(?:/(?:Tue?|Tues|W|Wed|Th|Thu|Thurs?|F|Fri))+(?![\w/])"
)
_DAY_NAMES: Final = {"M": "Monday", "T": "Tuesday", "W": "Wednesday", "Th": "Thursday", "F": "Friday"}
_POINT: Final = re.compile(r"(?:(?<=\b[Dd]ew )|(?<=[a-z]ing ))pt\b\.?(?=[\s:,;])")
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
_PATIENT: Final = re.compile(
    r"(?<![\w.])(?P<p>[Pp])t\b\.?(?: (?P<of>c/o)|(?= (?:is|was|has|had|presents?|presented|reports?|reported|"
    r"denies|denied|complains|complained|states|stated|seen|admitted|discharged|tolerated)\b))"
)
_WEEKDAYS: Final = re.compile(r"(?<![\w-])M ?[-–] ?F(?![\w-])")
_DOCTOR: Final = re.compile(r"(?<![\w.])(?P<lead>(?:the|my|your|her|his|a|to) )dr\b\.?(?='s\b| [a-z]|[,;!?)]|$)")
# How often a medicine is taken, behind the dose.
_DOSING: Final = re.compile(r"(?<![\w.])(?:BID|TID|QID|QHS|PO|PRN|QD)(?!\w)")
_DOSE: Final = re.compile(
    r"\b(?:\w*grams?|mg|mcg|ml|milliliters?|tab(?:let)?s?|cap(?:sule)?s?|pills?|units?|puffs?|drops?|doses?|PO|[Tt]ake|[Gg]ive)\b"
)
_NEAR: Final = 32
_BEFORE_NUMERAL: Final = re.compile(
    r"(?<![\w.'])([Vv]ols?|[Cc]h|[Cc]hap|[Ff]igs?|[Ss]ec|[Ss]ect|[Aa]rt|pp?)\."
    r"(?= (?:[IVXLC]{1,7}|[ivxl]{1,7})(?![\w']))"
)
_WITH_STOP: Final = re.compile(r"(?<![\w.'])([A-Za-z]{1,6})\.(?!\w)")
_JOURNEYS: Final = {"arr": "arrival", "dep": "departure"}
_GOES_ON: Final = re.compile(r"[,;:)]| (?:[a-z\d(&]|[A-Z](?![A-Za-z]))")
_WITHOUT_STOP: Final = re.compile(r"\b(Mr|Mrs|Ms|Prof)(?= [A-Z])|\bvs\b(?!\.)")
_NAMES: Final = frozenset(("ty", "fr", "fri", "gm"))
"""With a capital, a name, a title or a firm."""
_TYPED: Final = re.compile(
    r"(?<![\w.'@#-])(?:"
    + "|".join((*TYPED, *(word.capitalize() for word in TYPED if word not in _NAMES), *MIXED_CASE))
    + r")(?![\w'@-]|\.\w)"
)
_ROAD: Final = re.compile(r"(?<=[A-Za-z0-9] )(Ave|Blvd|Pkwy|Hwy|Bldg|Fwy|Tpke)(?![\w.'])")
_SHORTENED: Final = re.compile(
    r"(?<![\w.'@#/-])(?:" + "|".join(SHORTENED) + r")(?![\w@/]|'(?!s\b)|\.\w)(?:\.(?=[,;:)]| (?-i:[a-z(#])))?",
    re.IGNORECASE,
)


_SHORT_WORDS: Final = frozenset((*SHORTENED, *TYPED, *_REFERENCES, *map(str.lower, MIXED_CASE), "tl"))


def read_before_figures(text: TrackedText) -> TrackedText:
    """Abbreviations that a figure follows: "No. 5", "pp. 5-6"."""
    if " pt" in text.text:
        text = text.sub(_POINT, "point")
    text = text.sub(_UNSTOPPED, lambda match: BEFORE_FIGURES[match[1]])
    if "ong." in text.text:
        text = text.sub(_LONGITUDE, r"\1ongitude")
    text = text.sub(_EACH, _each)
    text = text.sub(
        _COUNTED_PARTS, lambda match: _PARTS[match["part"] or match["of"] or match["many"] or match["asked"]]
    )
    return text.sub(_BEFORE_FIGURE, lambda match: BEFORE_FIGURES.get(match[1] or match[2]))


def read(text: TrackedText) -> TrackedText:
    """Abbreviations in full; letters with stops between them as capitals, which are spelled when spoken."""
    text = _initialled(text)
    if "/" in text.text:
        text = text.sub(_CLASS_DAYS, _class_days)
    if text.text.startswith(("FW:", "Fw:")):
        text = text.sub(_FORWARDED, "Forward")
    short = has_word(text.text, _SHORT_WORDS)
    if short:
        text = text.sub(_REFERENCE, lambda match: match["label"][0] + _REFERENCES[match["label"].lower()])
    if "." in text.text:
        text = text.sub(_LABEL_NUMBER, _label_number).sub(_AGAINST, "versus").sub(_WITH_STOP, _with_stop)
    text = text.sub(_WITHOUT_STOP, _without_stop).sub(_ROAD, lambda match: ROADS[match[1]])
    if _DOSE.search(text.text):
        text = text.sub(_DOSING, _dosing)
    if "F" in text.text and "M" in text.text:
        text = text.sub(_WEEKDAYS, "Monday to Friday")
    return text.sub(_SHORTENED, _shortened).sub(_TYPED, _typed) if short else text


def _initialled(text: TrackedText) -> TrackedText:
    """Degrees, initials, and what "Dr", "St" and "pt" stand for."""
    if "pt" in text.text or "Pt" in text.text:
        text = text.sub(_PATIENT, lambda match: f"{match['p']}atient{' complains of' if match['of'] else ''}")
    text = text.sub(_DEGREE, _degree)
    if "." in text.text[:-1]:
        text = text.sub(_BEFORE_NUMERAL, lambda match: BEFORE_FIGURES.get(match[1]))
        text = text.sub(_DOTTED_LETTERS, _dotted_letters).sub(_INITIALS, _initials).sub(_INITIAL, _initial)
    if "Dr" in text.text:
        text = text.sub(_DOCTOR_OR_DRIVE, _doctor_or_drive)
    if "St" in text.text:
        text = text.sub(_SAINT_OR_STREET, _saint_or_street)
    return text.sub(_DOCTOR, r"\g<lead>doctor") if " dr" in text.text else text


def _label_number(match: re.Match[str]) -> str | None:
    return "number" if word_before(match).lower() in _NUMBERED else None


def _class_days(match: re.Match[str]) -> str:
    """The days on which something meets: "Tu/Th", "M/W/F"."""
    days = match.group().split("/")
    return " ".join(_DAY_NAMES["Th" if day.startswith("Th") else day[0]] for day in days)


def _each(match: re.Match[str]) -> str | None:
    if _COUNTED.search(match.string, max(0, match.start() - _NEAR), match.start()) is None:
        return None
    unit = _EACH_UNITS[match["unit"].replace(" ", "")]
    return match["lead"] + unit + (_final_stop(match) if match["stop"] else "")


def _dosing(match: re.Match[str]) -> str | None:
    """The initials of "twice a day", where a dose stands before them."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    return ".".join(match.group()) if _DOSE.search(before) else None


def _final_stop(match: re.Match[str]) -> str:
    return "." if match.group().endswith(".") and ends_sentence(match) else ""


def _degree(match: re.Match[str]) -> str:
    return match.group().replace(".", "").upper() + _final_stop(match)


def _dotted_letters(match: re.Match[str]) -> str:
    phrase = DOTTED.get(match.group().rstrip(".").lower())
    letters = match.group().replace(".", "")
    spelled = ".".join(letters.upper()) if letters.islower() else spelled_pair(letters.upper())
    return (phrase or spelled) + _final_stop(match)


def _initials(match: re.Match[str]) -> str:
    return spelled_pair(match.group().replace(".", "").replace(" ", ""))


def _initial(match: re.Match[str]) -> str | None:
    """The first letter of a name loses its stop; a letter that merely ends a sentence keeps it."""
    following = word_after(match)
    next_is_initial = len(following) == 1 and match.string[match.end() + 2 : match.end() + 3] == "."
    if following in STARTERS and not next_is_initial:
        return None
    if word_before(match).lower() in LABEL_WORDS:
        return None
    return match.group()[0] + ("" if following else " ")


def _before_name(match: re.Match[str]) -> bool:
    following = word_after(match)
    return following[:1].isupper() and following not in STARTERS and match.string[match.end()] == " "


def _doctor_or_drive(match: re.Match[str]) -> str:
    if _before_name(match) or not word_before(match)[:1].isupper():
        return "Doctor"
    return "Drive" + _final_stop(match)


def _saint_or_street(match: re.Match[str]) -> str:
    if _before_name(match) and not (word_after(match).isupper() and len(word_after(match)) > 1):
        return "Saint"
    return "Street" + _final_stop(match)


def _with_stop(match: re.Match[str]) -> str | None:
    word = match[1]
    if word in TITLES and (word in _ALWAYS or _before_name(match)):
        return TITLES[word]
    if word in ("incl", "excl") and not match.string.startswith(" ", match.end()):
        return f"{word}uded"
    if word.lower() in _JOURNEYS and word_after(match) in ("date", "gate", "time"):
        return _JOURNEYS[word.lower()]
    if word in WITHIN:
        return WITHIN[word] + ("." if match.end() == len(match.string) else "")
    if word in GOING_ON and _GOES_ON.match(match.string, match.end()):
        return GOING_ON[word]
    if word in ANYWHERE and (word != "al" or word_before(match) == "et"):
        return ANYWHERE[word] + _final_stop(match)
    return None


def _shortened(match: re.Match[str]) -> str | None:
    short = match.group().rstrip(".")
    if not (short.islower() or short.istitle() or (short.isupper() and short not in INITIALS)):
        return None
    word = SHORTENED[short.lower()]
    return word.capitalize() if match.group()[0].isupper() else word


def _typed(match: re.Match[str]) -> str:
    return MIXED_CASE.get(match.group()) or TYPED[match.group().lower()]


def _without_stop(match: re.Match[str]) -> str:
    return TITLES.get(match.group(), "versus")
