"""Abbreviations with a full stop, and the few that are common without one."""

import re
from typing import Final

from polyvox.text.normalize.english.context import STARTERS, ends_sentence, has_word, word_after, word_before
from polyvox.text.normalize.english.letters import any_of, spelled_pair
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
    "Abp": "Archbishop",
    "Ald": "Alderman",
    "Amb": "Ambassador",
    "Atty": "Attorney",
    "Attys": "Attorneys",
    "Bp": "Bishop",
    "Br": "Brother",
    "Brig": "Brigadier",
    "Cdr": "Commander",
    "Cpt": "Captain",
    "Det": "Detective",
    "Drs": "Doctors",
    "Ens": "Ensign",
    "Govs": "Governors",
    "Insp": "Inspector",
    "Msgr": "Monsignor",
    "Ofc": "Officer",
    "Pfc": "Private First Class",
    "Profs": "Professors",
    "Reps": "Representatives",
    "Rt": "Right",
    "Dir": "Director",
    "Sec": "Secretary",
    "Sens": "Senators",
    "Surg": "Surgeon",
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
    "Att": "Attendance",
    "att": "attendance",
    "agg": "aggregate",
    "Bk": "Book",
    "bk": "book",
    "Blk": "Block",
    "Div": "Division",
    "Dk": "Deck",
    "Ex": "Exhibit",
    "Exh": "Exhibit",
    "Fl": "Floor",
    "fl": "floor",
    "Gr": "Grade",
    "Grp": "Group",
    "Iss": "Issue",
    "iss": "issue",
    "mvt": "movement",
    "Op": "Opus",
    "op": "opus",
    "Ord": "Order",
    "Ph": "Phone",
    "ph": "phone",
    "pl": "plate",
    "Prop": "Proposition",
    "Rd": "Round",
    "rd": "round",
    "Reg": "Regulation",
    "Res": "Resolution",
    "Sc": "Scene",
    "sc": "scene",
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
    "Mag": "Magnitude",
    "mag": "magnitude",
    "Plat": "Platform",
    "Rt": "Route",
    "Rts": "Routes",
    "Adm": "Admission",
    "adm": "admission",
    "Cat": "Category",
    "cap": "capacity",
    "cat": "category",
    "fn": "footnote",
    "Gp": "Group",
    "Jct": "Junction",
    "n": "note",
    "nn": "notes",
    "pen": "penalty",
    "Flts": "Flights",
    "flts": "flights",
    "Rds": "Rounds",
    "rds": "rounds",
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
    "lg": "large",
    "Lg": "Large",
    "sm": "small",
    "Sm": "Small",
    "publ": "published",
    "illus": "illustrated",
    "repr": "reprinted",
    "Exec": "Executive",
    "Vit": "Vitamin",
    "vit": "vitamin",
    "nr": "near",
    "orig": "originally",
    "elev": "elevation",
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
    "Amend": "Amendment",
    "Const": "Constitution",
    "cust": "customer",
    "util": "utilities",
    "utils": "utilities",
    "Bd": "Board",
    "Div": "Division",
    "Educ": "Education",
    "Phila": "Philadelphia",
    "cor": "corner",
    "Cor": "Corner",
    "Ret": "Retired",
    "ret": "retired",
    "agg": "aggregate",
    "hosp": "hospital",
    "pres": "president",
    "Amb": "Ambassador",
}
# The same, behind a name only: "Oak Ct.", "Penn Sta."
BEHIND_NAMES: Final = {
    "Br": "Bridge",
    "Gr": "Grove",
    "Cl": "Close",
    "Pk": "Park",
    "Cem": "Cemetery",
    "Cir": "Circle",
    "Cres": "Crescent",
    "Ct": "Court",
    "Expy": "Expressway",
    "Fwy": "Freeway",
    "Gdns": "Gardens",
    "Hosp": "Hospital",
    "Hwy": "Highway",
    "Mtn": "Mountain",
    "Mtns": "Mountains",
    "Mts": "Mountains",
    "Pl": "Place",
    "Plz": "Plaza",
    "Sta": "Station",
    "Ter": "Terrace",
    "Terr": "Terrace",
    "Tpke": "Turnpike",
    "Trl": "Trail",
    "Twp": "Township",
    "Xing": "Crossing",
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
    "mkts": "markets",
    "agmt": "agreement",
    "amts": "amounts",
    "approx": "approximately",
    "appt": "appointment",
    "appts": "appointments",
    "attn": "attention",
    "atty": "attorney",
    "attys": "attorneys",
    "bdrm": "bedroom",
    "bkfst": "breakfast",
    "bks": "books",
    "cnr": "corner",
    "pct": "percent",
    "rms": "rooms",
    "bdrms": "bedrooms",
    "bldg": "building",
    "bldgs": "buildings",
    "blk": "block",
    "blks": "blocks",
    "brkfst": "breakfast",
    "btwn": "between",
    "batt": "battery",
    "btn": "button",
    "btns": "buttons",
    "cmd": "command",
    "cmds": "commands",
    "cntr": "center",
    "cols": "columns",
    "chg": "charge",
    "chgs": "charges",
    "ctrl": "control",
    "cyl": "cylinder",
    "dmg": "damage",
    "dbl": "double",
    "dkt": "docket",
    "flr": "floor",
    "fwd": "forward",
    "govt": "government",
    "gtd": "guaranteed",
    "hbk": "hardback",
    "hct": "hematocrit",
    "hgb": "hemoglobin",
    "hrs": "hours",
    "hwy": "highway",
    "intl": "international",
    "lbs": "pounds",
    "mfg": "manufacturing",
    "mfr": "manufacturer",
    "mfrs": "manufacturers",
    "mgmt": "management",
    "mgr": "manager",
    "mkt": "market",
    "mktg": "marketing",
    "msg": "message",
    "msgs": "messages",
    "mtg": "meeting",
    "mtgs": "meetings",
    "mths": "months",
    "mtn": "mountain",
    "mtns": "mountains",
    "mvt": "movement",
    "mvmt": "movement",
    "mvts": "movements",
    "natl": "national",
    "pbk": "paperback",
    "pgs": "pages",
    "pkg": "package",
    "pkgs": "packages",
    "kbd": "keyboard",
    "pls": "please",
    "plz": "please",
    "pmt": "payment",
    "pmts": "payments",
    "ppl": "people",
    "pts": "points",
    "pymt": "payment",
    "pymts": "payments",
    "qtr": "quarter",
    "qtrs": "quarters",
    "qty": "quantity",
    "rcpt": "receipt",
    "rcvd": "received",
    "spd": "speed",
    "rtn": "return",
    "std": "standard",
    "svc": "service",
    "tbsp": "tablespoon",
    "thx": "thanks",
    "tkts": "tickets",
    "tmrw": "tomorrow",
    "tsp": "teaspoon",
    "tkt": "ticket",
    "twp": "township",
    "txt": "text",
    "utd": "united",
    "wds": "words",
    "wkly": "weekly",
    "wknd": "weekend",
    "wks": "weeks",
    "wkt": "wicket",
    "wkts": "wickets",
    "yds": "yards",
    "yrs": "years",
}
# Those of a chat, where a full stop behind them ends what is said.
CHATTED: Final = frozenset("ppl thx tmrw wknd".split())
# In capitals these are something else.
_OTHER_IN_CAPITALS: Final = frozenset("blk bks rms pct msg std rtn pls mkt tkt svc fwd".split())
# Words with their middle left out.
_ELIDED: Final = {
    "ass'n": "association",
    "comm'n": "commission",
    "cont'd": "continued",
    "dep't": "department",
    "eng'g": "engineering",
    "est'd": "established",
    "gov't": "government",
    "int'l": "international",
    "mfg'd": "manufactured",
    "nat'l": "national",
    "rec'd": "received",
    "req'd": "required",
    "sec'y": "secretary",
    "s'pore": "Singapore",
}
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
    "Cir": "Circle",
    "Ct": "Court",
    "Expy": "Expressway",
    "Ln": "Lane",
    "Pl": "Place",
    "Rd": "Road",
    "Sq": "Square",
    "Ter": "Terrace",
    "Trl": "Trail",
}

LABEL_WORDS: Final = frozenset(
    (
        "vitamin plan grade group option type class hepatitis section appendix part team category exhibit letter point"
    ).split()
)
_ALWAYS: Final = frozenset("Mr Mrs Ms Mx Messrs Mme Mlle Prof Sgt Cmdr Wm Chas Thos Jas".split())

_DOTTED_LETTERS: Final = re.compile(r"(?<![\w.])(?:[A-Za-z]\.){2,}+(?:[A-Za-z](?![\w.']))?")
# Letters that are a word without their stops, and another's name with them.
_LETTERS_ALONE: Final = frozenset("REM SIM PIN RAM ROM GIF AIM ARC WAR BAM DOS".split())
_DEGREE: Final = re.compile(r"\b(?:Ph\.D|M\.Sc|B\.Sc|D\.Phil|Ed\.D|M\.Ed|B\.Ed)\b\.?|\bPhD\b")
_INITIALS: Final = re.compile(r"(?<![\w.])[A-Z]\.(?: [A-Z]\.)+(?= [A-Z])")
_INITIAL: Final = re.compile(r"(?<![\w.])[A-Z]\.(?= [A-Z]|[A-Z][a-z])")
# The kind of a plant, an animal or a germ, whose first name is an initial: "E. coli".
SPECIES: Final = re.compile(r"[a-z]{2,}(?:us|um|is|ae|ens|ans|li|ori|ile|ii|rex|aster|ana|osa|era)\b")
_SPECIES: Final = re.compile(rf"(?<![\w.])([A-Z])\.(?= {SPECIES.pattern})")
_DOCTOR_OR_DRIVE: Final = re.compile(r"\bDr\b\.?(?!\w)")
_AGAINST: Final = re.compile(r"(?<=[A-Za-z.,)] )v\.(?= [A-Z])")
_OF_COUNTIES: Final = frozenset(
    "attorney clerk commissioner commissioners coroner court deputies executive jail judge prosecutor prosecutors "
    "sheriff sheriff's Sheriff Sheriff's Jail Court".split()
)
_POINTS: Final = frozenset("North South East West Northeast Northwest Southeast Southwest".split())
_SAINT_OR_STREET: Final = re.compile(r"\bSt\b\.?(?!\w)")
_BEFORE_FIGURE: Final = re.compile(
    r"(?<![\w.'])(?:([A-Za-z]{1,5})\."
    r"(?= ?\d| number \d|(?:(?<=[Ee]q\.)|(?<=[Ee]qs\.)|(?<=[Ff]ig\.)|(?<=[Ff]igs\.)) ?\(\d)"
    r"|([Nn]os?|[Rr]ef|[Rr]m|[Aa]pt|Ste|[Bb]ldg|[Ff]lt)\.(?= (?:number )?[A-Z]{1,4}[ -]?\d)"
    r"|(Conf\. )?([Rr]m|[Aa]pt|Ste|[Bb]ldg|App|Exh|[Ff]ig|Sched|Gp)\."
    r"(?= (?:[B-HJ-Z](?!\w)|A(?=[.,;)]|$| (?:is|has|at|on|in|and|or|for|was)\b))))"
)
_UNSTOPPED: Final = re.compile(
    r"(?<![\w.'/-])(Apt|apt|Ste|[Rr]m|[Bb]ldg|[Pp]gs?|[Cc]h|[Vv]ol|[Ff]ig|[Ll]vl|[Ee]p|Rte|pp?|Op|Fl)"
    r"(?= (?:#|number )?\d)"
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
_POINT: Final = re.compile(r"(?:(?<=\b[Dd]ew )|(?<=[a-z]ing ))pt\b\.?(?=[\s:,;])")
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
_SIZE: Final = "(?:X{1,3}[SL]|[2-6]XL|[SML])"
_SIZES: Final = re.compile(
    rf"(?<![\w-])({_SIZE})(?: ?[–—] ?|-(?=\d?X)|(?<=X[SL])-|(?<=[Ss]ize [SML])-|(?<=[Ss]izes [SML])-)"
    rf"(?={_SIZE}(?![\w-]))"
)
_LARGEST: Final = re.compile("[-–—] ?[2-6X]{0,3}[LM]")
_WEEKDAYS: Final = re.compile(r"(?<![\w-])M ?[-–] ?F(?![\w-])")
_DOCTOR: Final = re.compile(r"(?<![\w.])(?P<lead>(?:the|my|your|her|his|a|to) )dr\b\.?(?='s\b| [a-z]|[,;!?)]|$)")
_NEAR: Final = 32
_BEFORE_NUMERAL: Final = re.compile(
    r"(?<![\w.'])([Vv]ols?|[Cc]h|[Cc]hap|[Ff]igs?|[Ss]ec|[Ss]ect|[Aa]rt|pp?|[Bb]k|[Ss]c|mvt|Amend|App|Div|[Pp]t)\."
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
    + any_of((*TYPED, *(word.capitalize() for word in TYPED if word not in _NAMES), *MIXED_CASE))
    + r")(?![\w'@-]|\.\w)"
)
_ROAD: Final = re.compile(
    r"(?<=[A-Za-z0-9] )(?:(Ave|Blvd|Pkwy|Hwy|Bldg|Fwy|Tpke)(?![\w.'])|(Cir|Ct|Expy|Ln|Pl|Rd|Sq|Ter|Trl)(?![\w.'-]))"
)
_SHORTENED: Final = re.compile(
    r"(?<![\w.'@#/-])(?P<word>" + any_of(SHORTENED) + r")(?![\w@/]|'(?!s\b)|\.\w)\.?", re.IGNORECASE
)
# Born, died, reigned and the like, before a year or a date.
_LIFE: Final = re.compile(
    r"(?:\A|(?<=[(,;)] )|(?<=\()|(?<=[A-Za-z] ))(?P<word>b|d|r|m|fl)\. ?"
    r"(?=(?:circa |ca?\. ?)?(?:\d{3,4}(?!\d|,\d)|\d{1,2}/\d{1,2}/\d|\d{1,2} (?:BC|AD|CE|[A-Z][a-z]{2})"
    r"|(?:on|in) [A-Z\d]"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)))"
)
_LIVES: Final = {"b": "born ", "d": "died ", "r": "reigned ", "m": "married ", "fl": "flourished "}
_ESTABLISHED: Final = re.compile(r"\b([Ee])st\.?(?= (?:in )?(?:1\d{3}|20[0-2]\d)(?!\d|[.,]\d| [a-z]+s\b))")
_BEHIND_COMMA: Final = re.compile(r"(?:(?<=[,(;] )|(?<=\())(KV?|D|S|RV|ll?|mm|ss?)\.(?= ?\d{1,4}(?!\d))")
# Two abbreviations of an office, or one before what it is the office of.
_OFFICE: Final = re.compile(
    r"\b(?:(?P<chief>Sec|Atty|Dir|Maj|Brig|Surg|Insp|Lt|Solic)\.?[ -]Gen\b\.?"
    r"|(?P<deputy>Dep)\. (?=(?:Prime|Sec|Dir|Gov|Chief|Mayor|Atty|Minister|Speaker|Sheriff)\b)"
    r"|(?P<secretary>Sec)\. (?=of (?:[A-Z]|the [A-Z])))"
)
_UNIVERSITY: Final = re.compile(r"\bU\. (?=of [A-Z])")
_ELECT: Final = re.compile(r"\b(Pres|Gov|Sen|Rep)\.(?=-elect\b)")
_OFFICES: Final = {
    "Sec": "Secretary",
    "Atty": "Attorney",
    "Dir": "Director",
    "Maj": "Major",
    "Brig": "Brigadier",
    "Surg": "Surgeon",
    "Insp": "Inspector",
    "Lt": "Lieutenant",
    "Solic": "Solicitor",
}
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
_ELISION: Final = re.compile(r"(?<![\w'])(?:" + "|".join(_ELIDED) + r")(?![\w'])", re.IGNORECASE)


_SHORT_WORDS: Final = frozenset((*SHORTENED, *TYPED, *_REFERENCES, *map(str.lower, MIXED_CASE), "tl"))


def read_before_figures(text: TrackedText) -> TrackedText:
    """Abbreviations that a figure follows: "No. 5", "pp. 5-6"."""
    if " pt" in text.text:
        text = text.sub(_POINT, "point")
    text = text.sub(_UNSTOPPED, lambda match: BEFORE_FIGURES[match[1]])
    if "." in text.text:
        text = text.sub(_LIFE, lambda match: _LIVES[match["word"]])
        text = text.sub(_BEHIND_COMMA, lambda match: BEHIND_COMMA[match[1]])
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


def read(text: TrackedText) -> TrackedText:
    """Abbreviations in full; letters with stops between them as capitals, which are spelled when spoken."""
    text = _initialled(text)
    if text.text.startswith(("FW:", "Fw:")):
        text = text.sub(_FORWARDED, "Forward")
    short = has_word(text.text, _SHORT_WORDS)
    if short:
        text = text.sub(_REFERENCE, lambda match: match["label"][0] + _REFERENCES[match["label"].lower()])
    if "." in text.text:
        text = text.sub(_LABEL_NUMBER, _label_number).sub(_AGAINST, "versus").sub(_WITH_STOP, _with_stop)
    text = text.sub(_WITHOUT_STOP, _without_stop).sub(_ROAD, _road)
    if _LARGEST.search(text.text):
        text = text.sub(_SIZES, r"\1 to ")
    if "F" in text.text and "M" in text.text:
        text = text.sub(_WEEKDAYS, "Monday to Friday")
    return text.sub(_SHORTENED, _shortened).sub(_TYPED, _typed) if short else text


def _initialled(text: TrackedText) -> TrackedText:
    """Phrases, offices, degrees, initials, and what "Dr" and "St" stand for."""
    if any(short in text.text for short in _PHRASED):
        text = text.sub(_IN_PHRASE, _in_phrase)
    if "'" in text.text:
        text = text.sub(_ELISION, _elided)
    text = text.sub(_DEGREE, _degree)
    if "." in text.text:
        text = _stopped(text)
    if "Dr" in text.text:
        text = text.sub(_DOCTOR_OR_DRIVE, _doctor_or_drive)
    if "St" in text.text:
        text = text.sub(_SAINT_OR_STREET, _saint_or_street)
    return text.sub(_DOCTOR, r"\g<lead>doctor") if " dr" in text.text else text


def _stopped(text: TrackedText) -> TrackedText:
    """Numbered parts, universities, offices, initials and species."""
    text = text.sub(_BEFORE_NUMERAL, lambda match: BEFORE_FIGURES.get(match[1]))
    if "U. " in text.text:
        text = text.sub(_UNIVERSITY, "University ")
    if ".-" in text.text:
        text = text.sub(_ELECT, lambda match: TITLES[match[1]])
    if "Gen" in text.text or "Sec." in text.text or "Dep." in text.text:
        text = text.sub(_OFFICE, _office)
    text = text.sub(_DOTTED_LETTERS, _dotted_letters).sub(_INITIALS, _initials)
    return text.sub(_SPECIES, r"\1").sub(_INITIAL, _initial)


def _label_number(match: re.Match[str]) -> str | None:
    return "number" if word_before(match).lower() in _NUMBERED else None


def _before_figure(match: re.Match[str]) -> str | None:
    word = match[1] or match[2] or match[4]
    if match[3]:
        return f"Conference {BEFORE_FIGURES[word]}"
    if word == "Ex":
        return "Exhibit" if _COURT.search(match.string, max(0, match.start() - 200), match.end() + 200) else "Example"
    if word == "Rd" and word_before(match)[:1].isupper():
        return "Road"
    return BEFORE_FIGURES.get(word)


def _each(match: re.Match[str]) -> str | None:
    if _COUNTED.search(match.string, max(0, match.start() - _NEAR), match.start()) is None:
        return None
    unit = _EACH_UNITS[match["unit"].replace(" ", "")]
    return match["lead"] + unit + (_final_stop(match) if match["stop"] else "")


def _final_stop(match: re.Match[str]) -> str:
    return "." if match.group().endswith(".") and ends_sentence(match) else ""


def _degree(match: re.Match[str]) -> str:
    return match.group().replace(".", "").upper() + _final_stop(match)


def _dotted_letters(match: re.Match[str]) -> str:
    phrase = DOTTED.get(match.group().rstrip(".").lower())
    letters = match.group().replace(".", "")
    apart = letters.islower() or letters in _LETTERS_ALONE
    spelled = ".".join(letters.upper()) if apart else spelled_pair(letters.upper())
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
    if word_after(match) in _POINTS and word_before(match)[:1].isupper():
        return "Street"
    if match.string.startswith("-", match.end()) and word_after(match)[:1].isupper():
        return "Saint"
    if _before_name(match) and not (word_after(match).isupper() and len(word_after(match)) > 1):
        return "Saint"
    return "Street" + _final_stop(match)


def _with_stop(match: re.Match[str]) -> str | None:
    word = match[1]
    if word in TITLES and (word in _ALWAYS or _before_name(match)):
        return TITLES[word]
    if word == "Sec" and word_before(match)[:1].isupper():
        return "Secretary" + _final_stop(match)
    if word.lower() in ("incl", "excl") and not match.string[match.end() : match.end() + 2].strip(" .,;)"):
        return f"{word.lower()}uded"
    if word.lower() in _JOURNEYS and word_after(match) in ("date", "gate", "time"):
        return _JOURNEYS[word.lower()]
    if word in WITHIN:
        return WITHIN[word] + ("." if match.end() == len(match.string) else "")
    if word in GOING_ON and _GOES_ON.match(match.string, match.end()):
        return GOING_ON[word]
    return _with_final_stop(match, word)


def _with_final_stop(match: re.Match[str], word: str) -> str | None:
    """Abbreviations that may end a sentence, which then keeps its full stop."""
    if word == "Co" and word_after(match) in _OF_COUNTIES:
        return "County"
    if word == "Cir" and word_before(match).islower():
        return "Circuit" + _final_stop(match)
    if word in BEHIND_NAMES and _is_named(match):
        return BEHIND_NAMES[word] + _final_stop(match)
    if word in ANYWHERE and (word != "al" or word_before(match) == "et"):
        return ANYWHERE[word] + _final_stop(match)
    return None


def _shortened(match: re.Match[str]) -> str | None:
    short = match["word"]
    if not (short.islower() or short.istitle() or (short.isupper() and short.lower() not in _OTHER_IN_CAPITALS)):
        return None
    word = SHORTENED[short.lower()]
    if short == "Pct" and word_before(match).islower():
        word = "precinct"
    stop = match.group()[len(short) :] if short.lower() in CHATTED else _final_stop(match)
    return (word.capitalize() if short[0].isupper() else word) + stop


def _road(match: re.Match[str]) -> str | None:
    """A road behind its name; the shortest forms of one only where that has a capital or is an ordinal."""
    if match[1]:
        return ROADS[match[1]]
    return ROADS[match[2]] if _is_named(match) else None


def _is_named(match: re.Match[str]) -> bool:
    before = word_before(match)
    return before[:1].isupper() or before in ("first", "second", "third") or before.endswith("th")


def _office(match: re.Match[str]) -> str:
    if match["chief"]:
        return f"{_OFFICES[match['chief']]} General"
    return "Deputy " if match["deputy"] else "Secretary "


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


def _in_phrase(match: re.Match[str]) -> str | None:
    """Parts of a book's description, business days and medium heat."""
    stop = _final_stop(match)
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


def _elided(match: re.Match[str]) -> str:
    word = _ELIDED[match.group().lower()]
    return word.capitalize() if match.group()[0].isupper() else word


def _typed(match: re.Match[str]) -> str:
    return MIXED_CASE.get(match.group()) or TYPED[match.group().lower()]


def _without_stop(match: re.Match[str]) -> str:
    return TITLES.get(match.group(), "versus")
