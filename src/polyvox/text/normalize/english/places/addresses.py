"""Postal addresses and directions: house numbers, states, ZIP codes and the letters of the compass."""

import re
from typing import Final

from polyvox.text.normalize.english.context import ends_sentence
from polyvox.text.normalize.english.letters import before_stop
from polyvox.text.normalize.english.numbers import cardinal, code, spelled
from polyvox.text.normalize.english.places.states import SHIRES, STATES, STATES_BY_STOP
from polyvox.text.tracked import TrackedText

# States that are also a word in capitals, or initials that a comma may precede.
_DOUBTFUL: Final = frozenset("CO DE HI ID IN LA MA MD ME MS OH OK OR PA".split())
_CITIES: Final = frozenset(
    "Akron Angeles Allentown Annapolis Ann Aspen Augusta Baltimore Bangor Bend Berkeley Bethesda Bloomington Boise "
    "Boulder Boston Bowie Cambridge Cincinnati Cleveland Columbia Columbus Dayton Denver Durango Easton Edmond Erie "
    "Eugene Evansville Frederick Gaithersburg Gary Germantown Gulfport Harrisburg Hagerstown Hilo Honolulu "
    "Indianapolis Jackson Kenner Lafayette Lancaster Laurel Lawton Lewiston Lowell Meridian Metairie Nampa Newark "
    "Norman Orleans Park Philadelphia Pittsburgh Pocatello Portland Potomac Pueblo Reading Rockville Rouge Salem "
    "Salisbury Scranton Shreveport Spring Springfield Springs Toledo Towson Tulsa Tupelo Vail Wayne Wilmington "
    "Worcester York Youngstown City Beach Grove Hills Heights Falls Lake".split()
)
_COMPASS: Final = {
    "N": "North",
    "S": "South",
    "E": "East",
    "W": "West",
    "NE": "Northeast",
    "NW": "Northwest",
    "SE": "Southeast",
    "SW": "Southwest",
    "NNE": "North northeast",
    "ENE": "East northeast",
    "ESE": "East southeast",
    "SSE": "South southeast",
    "SSW": "South southwest",
    "WSW": "West southwest",
    "WNW": "West northwest",
    "NNW": "North northwest",
}
_SUFFIX: Final = (
    r"(?:St|Ave?|Rd|Blvd|Dr|Ln|Ct|Pl|Pkwy|Hwy|Cir|Ter|Trl|Sq|Street|Avenue|Road|Boulevard|Drive|Lane|Court|Place|Parkway|"
    r"Highway|Circle|Terrace|Square|Way|Broadway|Row|Close|Crescent|Gardens|Hill)\b"
)
_NAME: Final = r"(?:\d{1,3}(?:st|nd|rd|th)|[A-Z][a-z]+(?:[A-Z][a-z]+)?(?:'s)?|(?:Dr|St|Mt|Ft)\.|[A-Z])"
_POINT: Final = r"(?:[NS][EW]|[NESW])"
_FINE_POINT: Final = r"(?:[NS][NS][EW]|[EW][NS][EW]|[NS][EW]|[NESW])"
_SHORT: Final = "|".join(re.escape(short) for short in sorted(STATES_BY_STOP, key=len, reverse=True)).replace(
    "\\.", "\\. ?"
)

_ANY: Final = re.compile(
    r"[A-Z]{2}|\d[a-z]{2} [fF]l\b|\d{3}|(?<![A-Za-z'])[NESWLRD](?![A-Za-z'])|, [A-Z][a-z]{1,4}\."
    r"|[A-Z][a-z]{1,4}\.(?=[ ,/)]|$)"
)
_HOUSE: Final = re.compile(
    rf"(?<![\w.,:/$€£#-])(?P<number>[1-9]\d{{2,4}})(?= (?:{_POINT}\.? )?(?:{_NAME} ){{0,3}}{_SUFFIX})"
)
_STATE: Final = re.compile(
    rf"(?<=[A-Za-z.], )(?P<state>{'|'.join(STATES)})(?P<zip> \d{{5}}(?:-\d{{4}})?)?(?![\w&'’-]|\.\w)"
)
_CITY: Final = re.compile(r"(?:\b(?P<led>in|from|to|near|of|at|via|outside|around) )?(?P<city>[A-Z][A-Za-z.]+), $")
_ZIP: Final = re.compile(r"(?<![\w.,$€£-])\d{5}(?P<more>-\d{4})?(?![\w-]|[.,]\d)")
_ZIP_CUE: Final = re.compile(
    r"\b(?:[A-Z]{2} |NYC |D\.C\. |(?:" + "|".join(STATES.values()) + r") |(?i:zip|postal code|postcode)\b[^\n]{0,32})$"
)
_BEFORE_STREET: Final = re.compile(rf"(?<![\w.'])(?P<point>{_POINT})\.?(?= (?:{_NAME} ){{1,3}}{_SUFFIX})")
_BEFORE_POINT: Final = (
    "on ",
    "onto ",
    "at ",
    "to ",
    "of ",
    "and ",
    "& ",
    "down ",
    "along ",
    "near ",
    "off ",
    "corner ",
)
_SEATED: Final = STATES | {"DC": "D.C.", "GU": "Guam", "PR": "Puerto Rico"}
_PARTY: Final = re.compile(
    rf"(?:(?<=\()|(?<=, ))(?P<party>[DRI])[-–](?:(?P<state>{'|'.join(_SEATED)})(?=[),])|(?P<short>{_SHORT})\."
    rf"|(?P<full>{'|'.join(STATES.values())})(?=[),]))"
    r"|(?<=\()(?P<member>[DR])-(?P<home>[A-Z]{2})-(?P<district>\d{1,2})(?=\))"
)
# The seat of a member of Congress, behind letters that would be a word.
_SEAT: Final = re.compile(
    r"(?<![\w-])(?P<state>OH|HI|ME|IN|OR|PA|MA|LA|ID|AL|DE|MO|MI)-(?P<seat>\d{1,2})(?![\w-]|\.\d)"
)
_SHORT_STATE: Final = re.compile(rf"(?<=[a-z], )(?P<state>{_SHORT})\.(?![\w'])")
_TURN: Final = re.compile(
    r"(?P<lead>\b(?:[Tt]urn|[Kk]eep|[Bb]ear|[Gg]o|[Mm]ake a|[Tt]ake a|[Ee]xit|then(?: a)?|"
    r"the (?:1st|2nd|3rd|next|first)|(?:on|to) (?:the|your)(?= [LR](?:[.,;)]|$| (?:past|after|before|at|side)\b))) )"
    r"(?P<side>[LR])(?= (?:side|on|onto|at|in|after|before|past|to|turn|there|again|here)\b|[.,;)]|$)"
    r"|(?P<comma>, )(?P<then>[LR])(?= (?:on|onto|at|in|after|past) (?:[A-Z\d]|the\b))"
)
_NUMBERED_STREET: Final = re.compile(
    r"(?P<lead>\b(?:on|at|and|of|near|to|down|along|off|from) |& )(?P<point>[NESW])\.?(?= \d{1,3}(?:st|nd|rd|th)\b)"
)
_THEN_POINT: Final = re.compile(r"(?P<lead>, )(?P<point>[NESW])(?= (?:on|onto|along) (?:[A-Z]|the\b))")
_CORNER: Final = re.compile(
    rf"(?P<lead>\b[Tt]he )(?P<point>{_POINT})(?= (?:cor\.|(?:corner|side|end|entrance|bank|exit|wing|coast"
    rf"|of [A-Z])\b))"
)
_POSTCODE: Final = re.compile(
    r"(?<![\w-])(?P<area>[A-Z]{1,2})(?P<district>\d{1,2})(?P<part>[A-Z])? (?P<sector>\d)"
    r"(?P<unit>(?![AP]M)[A-Z]{2})(?![\w-])"
)
# The part of a country or a region.
_PART: Final = re.compile(
    r"(?<![\w.])(?P<point>[NESW])\. (?=(?:Terminal|Africa|America|Asia|Bank|Carolina|Dakota|Germany|Hollywood"
    r"|Ireland|Korea|"
    r"Macedonia|Sudan|Timor|Vietnam|Virginia|Yemen|Yorkshire|Wales|Cornwall|Devon|Essex|Kent|Midlands|Norfolk|Suffolk|"
    r"St\. [A-Z][a-z]+|Palm Beach|Las Vegas|Little Rock|San Francisco|Los Angeles|El Monte|New York|New Jersey|"
    r"Atlantic|Boston|Charleston|Chicago|Dallas|Des Moines|Florida|Georgia|Haven|Hempstead|Lafayette|Lansing|London"
    r"|Memphis|Miami|Milwaukee|Minneapolis|Nashville|Orange|Pacific|Pasadena|Philly|Philadelphia|Seattle|Sussex|Texas|Tulsa)\b"
    rf"|[A-Z][a-z]+(?: [A-Z][a-z]+)?, (?:(?:{'|'.join((*STATES, *STATES.values()))})\b|(?:{_SHORT})\.))"
    r"|(?<=\bin )(?P<within>[NESW])\. (?=[A-Z][a-z]+(?!\w|'s| [A-Z]))"
)
_SHIRE: Final = re.compile(
    rf"(?<![\w.(])(?:(?P<stopped>{'|'.join(SHIRES)})\.(?!\w)|(?<=[a-z], )(?P<behind>{'|'.join(SHIRES)})(?=[,;)]"
    rf"| [A-Z]{{1,2}}\d))"
)
_TERMINAL: Final = re.compile(r"(?<![\w.])(?P<point>[NESW])\.? Term\b\.?(?!\w)")
_LED_STATE: Final = re.compile(r"(?<=\b(?:in|of) )(?P<state>N\.[CDHJMY]|S\.[CD]|R\.I)\.(?!\w)")
# Elsewhere: beside another state, behind what leads to a place, and before what a state has.
_STATE_NAMES: Final = "|".join(STATES.values())
_ANY_SHORT_STATE: Final = re.compile(
    rf"(?=[A-Z])(?<![\w.'])(?P<state>{_SHORT})\.(?!\w)(?=(?P<behind>(?:,? (?:and|or|to|into|through)|[,/-]"
    rf"| &)? ?(?:{_SHORT})\.)?"
    r"(?P<noun> [a-z]{3})?"
    r"(?P<named> (?:Ave|Avenue|Blvd|St|Rd|Pike|Tpke|Turnpike|River|Delta|Valley|Legislature|Senate|House|Gov|Sen"
    r"|Supreme|"
    r"Dept|Republicans?|Democrats?)\b)?)"
)
_STATE_LED: Final = re.compile(
    r"(?:(?P<member>\([DRI]\) of)|\b(?P<sure>[Ii]n|[Ff]rom|[Nn]ear|[Aa]cross|[Oo]utside|[Tt]hroughout"
    r"|[Nn]orthern|[Ss]outhern|[Ee]astern|[Ww]estern|"
    r"[Cc]entral|[Rr]ural|[Uu]pstate|[Nn]ortheast|[Nn]orthwest|[Ss]outheast|[Ss]outhwest|[NS][EW])|\b(?:[Tt]o|[Oo]f|[Ff]or|[Bb]etween)"
    rf"|\b(?P<beside>{_STATE_NAMES}|(?:{_SHORT})\.)(?:,? (?:and|or|to|into|through)|[,/-]| &)?) ?\Z"
)
_NOT_LED: Final = frozenset("Mass Miss Ill Del Ark Pa Me Mo".split())
"""Words and names of their own, which "to" and "of" do not make a state."""
_COUNTY: Final = re.compile(r"\b(?:Co|Cnty)\.? (?:Rd|Road)\b\.?(?= \d)")
# Places whose postal codes have six figures.
_SIX_FIGURES: Final = re.compile(
    r"(?P<place>\b(?:Singapore|India|Delhi|Mumbai|Chandigarh|Bangalore|Bengaluru|Chennai|Kolkata|Hyderabad|Pune|Jaipur|"
    r"Beijing|Shanghai|Shenzhen|Moscow)(?: ?[-–] ?| ))(?P<code>\d{6}|\d{3} \d{3})(?![\w,])"
)
_FLOOR: Final = re.compile(r"(?<=\d(?:st|nd|rd|th) )[fF]l(?:\.(?!\s*$)|(?=[.,;)]|\s|$))")
_NEAR: Final = 48
_BEHIND_STREET: Final = re.compile(
    rf"(?P<lead>{_SUFFIX}\.? )(?P<point>{_POINT})(?![\w'’&]|\.\w)(?:\.(?=,| &| and| at| between))?"
)
_BEHIND_ROAD: Final = re.compile(
    r"(?P<lead>\b(?:(?:I|US|SR|CA|NY|TX|FL|OR|WA|AZ|UT|NV|PA|OH|MI|NJ|VA|GA|NC)-|Interstate |Highway |Hwy\.? |Route |"
    r"Rte?\.? |(?:FM|RM|CR|SR|US) )\d{1,4}[EW]? )(?P<point>[NESW])(?![\w'’&-]|\.\w)(?:\.(?=[,;)]| &| and| at))?"
)
_OF_PLACE: Final = re.compile(rf"(?<=[a-z\d.] )(?P<point>{_FINE_POINT})\.?(?= of (?:[A-Z]|the\b))")
_FAR: Final = re.compile(
    rf"(?P<lead>\d ?(?:mi|km|m|ft|miles?|blks?|blocks?|meters|feet)\.? (?:due )?)"
    rf"(?P<point>{_FINE_POINT})\.?"
    r"(?= (?:of|on|along|from|to|toward|towards|past|and)\b|[,;)])"
)
_BESIDE: Final = re.compile(r"(?<=[a-z\d.,] )(?P<side>[LR])(?= of (?:the|your|my|center)\b)")
_HEADED: Final = re.compile(
    r"(?P<lead>\b(?:[Hh]ead(?:ed|ing|s)?|[Gg]o(?:ing|es)?|[Ff]ac(?:e|es|ing)|[Tt]urn(?:ed|ing)?|[Ff]l(?:y|ew|ying)"
    r"|[Ss]ail(?:ed|ing)?|[Ww]inds?|[Dd]rove|[Dd]riv(?:e|ing)) (?:due )?)(?P<point>[NS][EW])(?![\w'’&]|\.\w)"
)


# Points between two of four letters, which are nothing else; the others beside what lies or blows there.
_FINEST: Final = re.compile(
    r"(?=[NEWS])(?<![\w.'/-])(?:NNE|ENE|SSW|WSW|WNW|NNW|(?:SSE|ESE)(?= (?:winds?|of|at|\d|swells?|gusts?)))(?![\w'/-])"
)
_BEFORE_PLACE: Final = re.compile(
    r"(?<![\w.'/-])(?P<point>[NS][EW])(?= (?:"
    + _STATE_NAMES
    + r"|Africa|America|Asia|Atlantic|Australia|Brazil|Canada|China|England|Europe|France|Germany|India|"
    r"Ireland|Italy|London|Mexico|Nigeria|Ontario|Pacific|Portland|Quebec|Scotland|Spain|Syria|Turkey|Wales|Washington|"
    r"bank|bay|beach|cor|border|breeze|coast|corner|cove|entrance|exit|face|flow|gales?|gusts?|gust|harbou?r|headlands?|"
    r"monsoon|quadrant|quarter|ridge|sector|shore|side|slopes?|suburbs?|swells?|trades?|tip|wall|winds?|wing)\b)"
)
_BOUND: Final = re.compile(
    r"(?P<lead>\b(?:[Gg]o|[Cc]ontinue|[Hh]ead|[Dd]rive|[Ww]alk|[Rr]ide|[Tt]urn|[Pp]roceed|[Tt]ravel|[Rr]un|then"
    r"|facing) )"
    r"(?P<point>[NESW])\.?(?= (?:on|onto|along|to|toward|towards|for|past|until|via|up|down|\d)\b|[,;)]|\.?$)"
)
_ROAD_BOUND: Final = re.compile(
    r"(?P<lead>(?:\b(?:I|US|SR|CA|NY|TX|FL)-?\d{1,3}|\b(?:Hwy|Highway|Route|Rte)\.? \d{1,3}|\b[AM]\d{1,3}) )"
    r"(?P<point>[NESW])B(?!\w)"
)
_BRITISH_ROAD: Final = re.compile(
    r"(?P<lead>\b[ABM]\d{1,4}(?:\(M\))? )(?P<point>[NESW])(?= (?:to|at|from|past|towards?|until|and|near)\b|[,;)])"
)
_ALONG: Final = re.compile(
    r"(?P<lead>\b(?:on|onto|at|off|along|down) )(?P<point>[NESW])\. (?=(?:La |El |Las |Los |San |Santa )?[A-Z][a-z])"
)
_STREETS: Final = re.compile(r"\b(?:Blvd|Ave|St|Rd|Hwy|[Tt]urn|[Ee]xit|Dr|Pkwy|Street|Avenue|Road|Boulevard)\b")
_NUMBERED_ROAD: Final = re.compile(
    r"(?P<lead>\b[Tt]he )(?P<road>[1-9]\d{0,2}) (?P<point>[NESW])(?= (?:to|at|near|from|exit|toward|past|and|is"
    r"|was|until)\b|[,.;)])"
)
_BOX: Final = re.compile(r"\bP\.?O\.? ?Bx\.?(?= \d)")
_QUEENS: Final = re.compile(rf"(?<![\w.,:/$#-])(?P<block>\d{{2,3}})-(?P<house>\d\d)(?= (?:{_NAME} ){{1,3}}{_SUFFIX})")
_LONE_POINT: Final = re.compile(r"\b(?:[NSEW]{1,3}B?|[LR])\b")
_NEIGHBOURS: Final = 20
_FLAT: Final = re.compile(r"(?<=\b[Ff]lat )(?P<floor>\d{1,2})/(?P<door>\d)(?!\d)")


def read(text: TrackedText) -> TrackedText:
    """House numbers, the compass beside streets and roads, states behind a city, and ZIP codes."""
    return text if _ANY.search(text.text) is None else _points(_streets(_places(text)))


def _places(text: TrackedText) -> TrackedText:
    """Members of Congress, states and counties, and postal codes."""
    if any(party in text.text for party in ("D-", "R-", "I-", "D–", "R–", "I–")):
        text = text.sub(_PARTY, _party)
    if "-" in text.text:
        text = text.sub(_SEAT, lambda match: f"{'.'.join(match['state'])} {cardinal(match['seat'])}")
    if "." in text.text:
        text = text.sub(_SHORT_STATE, _short_state).sub(_ANY_SHORT_STATE, _any_short_state)
    if "s." in text.text or "s," in text.text:
        text = text.sub(_SHIRE, _shire)
    if ". " in text.text:
        text = text.sub(_TERMINAL, lambda match: f"{_COMPASS[match['point']]} Terminal")
        text = text.sub(_PART, lambda match: f"{_COMPASS[match['point'] or match['within']]} ").sub(
            _LED_STATE, _led_state
        )
    text = text.sub(_POSTCODE, _postcode).sub(_TURN, _turn).sub(_SIX_FIGURES, _six_figures)
    if "Rd" in text.text or "Road" in text.text:
        text = text.sub(_COUNTY, "County Road")
    return text.sub(_STATE, _state).sub(_ZIP, _zip)


def _streets(text: TrackedText) -> TrackedText:
    """Numbers of houses, flats and boxes, and the compass before and behind the name of a street."""
    if "-" in text.text:
        text = text.sub(_QUEENS, _queens)
    if "Bx" in text.text:
        text = text.sub(_BOX, "PO Box")
    text = text.sub(_FLAT, r"\g<floor> \g<door>")
    if ". " in text.text and _STREETS.search(text.text):
        text = text.sub(_ALONG, lambda match: f"{match['lead']}{_COMPASS[match['point']]} ")
    text = text.sub(_NUMBERED_ROAD, lambda match: f"{match['lead']}{code(match['road'])} {_COMPASS[match['point']]}")
    text = text.sub(_BEFORE_STREET, _point).sub(_HOUSE, lambda match: code(match["number"]))
    for pattern in (_BEHIND_STREET, _BEHIND_ROAD, _BRITISH_ROAD, _NUMBERED_STREET):
        text = text.sub(pattern, lambda match: match["lead"] + _COMPASS[match["point"]])
    return text.sub(_FLOOR, "floor")


def _points(text: TrackedText) -> TrackedText:
    """The compass beside a distance, a direction or a place."""
    if _LONE_POINT.search(text.text) is None:
        return text
    for pattern in (_FAR, _HEADED, _CORNER, _BOUND, _THEN_POINT):
        text = text.sub(pattern, lambda match: match["lead"] + _COMPASS[match["point"]].lower())
    text = text.sub(_ROAD_BOUND, lambda match: f"{match['lead']}{_COMPASS[match['point']].lower()}bound")
    text = text.sub(_FINEST, lambda match: _COMPASS[match.group()].lower())
    text = text.sub(_BEFORE_PLACE, lambda match: _COMPASS[match["point"]].lower())
    if " of " not in text.text:
        return text
    text = text.sub(_BESIDE, lambda match: "left" if match["side"] == "L" else "right")
    return text.sub(_OF_PLACE, lambda match: _COMPASS[match["point"]].lower())


def _turn(match: re.Match[str]) -> str:
    side = "left" if "L" in (match["side"], match["then"]) else "right"
    return (match["lead"] or match["comma"]) + side


def _queens(match: re.Match[str]) -> str | None:
    """A house of a block, "88-15"; neighbours in a street are a range."""
    gap = int(match["house"]) - int(match["block"])
    return None if 0 < gap <= _NEIGHBOURS else f"{code(match['block'])} {code(match['house'])}"


def _shire(match: re.Match[str]) -> str:
    county = SHIRES[match["stopped"] or match["behind"]]
    return county + ("." if match["stopped"] and ends_sentence(match) else "")


def _postcode(match: re.Match[str]) -> str:
    """A British postcode: "S W one A two A A"."""
    part = f" {match['part']}" if match["part"] else ""
    outward = f"{'.'.join(match['area'])} {cardinal(match['district'])}{part}"
    return f"{outward} {cardinal(match['sector'])} {before_stop('.'.join(match['unit']), match)}"


def _six_figures(match: re.Match[str]) -> str:
    return f"{match['place'].rstrip(' -–')} {spelled(match['code'].replace(' ', ''))}"


def _party(match: re.Match[str]) -> str | None:
    if match["member"]:
        home = STATES.get(match["home"])
        return f"{match['member']}, {home} {match['district']}" if home else None
    state = _SEATED[match["state"]] if match["state"] else match["full"] or _state_by_stop(match["short"])
    return f"{match['party']}, {state}"


def _short_state(match: re.Match[str]) -> str | None:
    if _CITY.search(match.string[max(0, match.start() - _NEAR) : match.start()]) is None:
        return None
    return _state_by_stop(match["state"]) + ("." if ends_sentence(match) else "")


def _any_short_state(match: re.Match[str]) -> str | None:
    """A state in a list of several, behind "in" or "northern", and before its noun: "Fla. voters"."""
    led = _STATE_LED.search(match.string, max(0, match.start() - 24), match.start())
    following = match.string[match.end() : match.end() + 2].strip()
    named = match["noun"] and not match["behind"] and match["state"] not in _NOT_LED
    if match["named"]:
        return _state_by_stop(match["state"])
    if led is None and not match["behind"] and not named:
        return None
    beside = match["behind"] or (led is not None and led["beside"])
    if match["state"] == "Me" and not beside:
        return None
    alone = led is not None and not beside and not led["member"]
    sure = led is not None and led["sure"] is not None
    if alone and (following[:1].isupper() or (not sure and match["state"] in _NOT_LED)):
        return None
    return _state_by_stop(match["state"]) + ("." if ends_sentence(match) else "")


def _led_state(match: re.Match[str]) -> str:
    return _state_by_stop(match["state"]) + ("." if ends_sentence(match) else "")


def _state_by_stop(short: str) -> str:
    return STATES_BY_STOP[short.replace(" ", "")]


def _state(match: re.Match[str]) -> str | None:
    """The state, where a city stands before it; what may be a word needs a ZIP code or a place that is surely one."""
    city = _CITY.search(match.string[max(0, match.start() - _NEAR) : match.start()])
    if city is None:
        return None
    certain = match["zip"] or city["led"] or city["city"] in _CITIES or match["state"] not in _DOUBTFUL
    if not certain:
        return None
    return STATES[match["state"]] + (f" {_digits(match['zip'].strip())}" if match["zip"] else "")


def _zip(match: re.Match[str]) -> str | None:
    """Five digits behind a state or the word "zip", and five with four more anywhere."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    return _digits(match.group()) if match["more"] or _ZIP_CUE.search(before) else None


def _digits(figure: str) -> str:
    return ", ".join(spelled(part) for part in figure.split("-"))


def _point(match: re.Match[str]) -> str | None:
    """A letter before a street's name: behind a house number or a preposition, or with a stop of its own."""
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    led = before[-2:-1].isdigit() or not before.strip() or before.endswith(_BEFORE_POINT)
    return _COMPASS[match["point"]] if led or len(match["point"]) == 2 or match.group().endswith(".") else None
