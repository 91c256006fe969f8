"""Figures behind a word that says how they are called: codes and IDs digit by digit, rooms and flights as names."""

import re
from typing import Final

from polyvox.text.normalize.english.context import is_plural, word_after, word_before
from polyvox.text.normalize.english.letters import any_of
from polyvox.text.normalize.english.measures.unit_names import RATES, UNITS
from polyvox.text.normalize.english.numbers import cardinal, code, spelled
from polyvox.text.tracked import TrackedText

_FIGURES: Final = re.compile(r"(?<![\w.,:/$€£¥+-])\d{2,}(?:[ -]\d{2,})*+(?![\w%°/]|[.,:-]\d)")
_ISSUED: Final = (
    "account|a/c|acct|badge|booking|card|case|claim|confirmation|customer|docket|employee|ID|imei|invoice|itin|licen[cs]e|"
    "member|membership|meter|npi|order|passport|part|patient|permit|policy|receipt|record|reference|ref|registration|"
    "reservation|routing|serial|sort|ssn|student|ticket|tracking|transaction|voucher|tkt|upc|ean|sku"
)
_LABEL: Final = re.compile(
    rf"\b(?:(?P<code>(?:pass|pin)?code|otp|pin|password|access code)|(?P<issued>{_ISSUED}))"
    r"(?:\.? (?:number|num|no|code|id))?\.?(?: (?:for|to) (?:(?:the|your|my|our) )?[a-z]+)?"
    r"(?:,? (?:is|was|of))?(?::|,)? ?(?:number |no\. )?$",
    re.IGNORECASE,
)
_ENDING: Final = re.compile(
    r"\b(?:card|account|acct\.?|number|visa|mastercard|amex|debit|checking|savings)(?= )[^.!?\n]{0,24}"
    r"\bend(?:s|ing) (?:(?:in|with) )?$",
    re.IGNORECASE,
)
_GIVEN: Final = re.compile(
    r" (?:is|as) (?:your|the|my|our) (?:[A-Za-z-]+ ){0,3}(?:code|pin|otp|passcode|password)\b", re.IGNORECASE
)
_GROUPED: Final = re.compile(r"(?<![\w.,:/$€£¥+-])\d{2,4}(?: \d{2,4}){1,6}+(?![\w%°/]|[.,:-]\d)")
_CODED: Final = re.compile(r"(?<![\w.,/$€£-])\d{2,8}(?:-(?:[A-Z]{1,3}|\d{2,8})(?![a-z])){2,4}(?![\w-])")
_DOCKET: Final = re.compile(r"\b(?:case|docket)\b", re.IGNORECASE)
_NAMED: Final = re.compile(r"(?<=[A-Za-z.] )\d{3,6}(?!\w|[.,:/–-](?![B-Z](?!\w))\w)")
_ALSO_WORDS: Final = frozenset("in min pt cap tab".split())
_SYMBOLS: Final = any_of(symbol for symbol in (*UNITS, *RATES) if len(symbol) > 1 and symbol not in _ALSO_WORDS)
_MEASURED: Final = re.compile(rf" ?(?:{_SYMBOLS}|[gLWV])(?:/|(?!\w))")
_LONG: Final = re.compile(r"(?<=\b[Nn]umber )\d{5,12}(?!\w|[.,:/-]\d)")
_CASE: Final = re.compile(
    r"(?:(?<=\b[Nn]umber )|(?<=\b[Nn]umber: )|(?<= #: ))(?P<year>\d{2,3})-(?P<case>\d{3,5})(?![\w-]|[.,]\d)"
)
_KINDERGARTEN: Final = re.compile(r"(?:(?<=[Gg]rades K)|(?<=[Gg]rades PK)|(?<=[Gg]rades Pre-K)) ?[-–] ?(?=\d)")
# A station on the dial: "101.1 FM".
_FREQUENCY: Final = re.compile(
    r"(?:(?<![\w.,$-])(?=10\d\.\d ?FM\b)|(?<=FM ))(?P<whole>10[0-8])\.(?P<tenth>\d)(?!\d|[.,]\d)"
)
_SECTION: Final = re.compile(r"(?P<many>§)?§ ?(?=\d)")
_STATUS: Final = re.compile(
    r"(?<![\w.,:/$€£-])[1-5]\d\d(?= (?:(?:error|page|status|response|redirect)s?\b|Bad Gateway|Bad Request"
    r"|Forbidden|Gateway Time|"
    r"Internal Server|Method Not|Moved|No Content|Not Found|Payload|Precondition|Request|Service Un|Too Many"
    r"|Unauthorized|"
    r"Unprocessable|Unsupported))"
)
_LATER_STATUS: Final = re.compile(r"(?<=[a-z,/] )[1-5]\d\d(?!\w|[.,:/%-]\d| ?(?:ms|s|KB|MB|%)\b)")
_ANSWER: Final = re.compile(
    r"HTTP|Retry-After|rate[- ]limit"
    r"|\b(?:APIs?|Cloudflare|backend|frontend|gateway|ingress|pods?|proxy|timed out|timeouts?|upstream|webhooks?|"
    r"grep|nginx|curl|endpoint|status|responds?|responded|returns|returned)\b"
)
_FREEWAY: Final = re.compile(r"(?<=\b[oO]n the )[1-9]\d\d(?=[.,;!?)]|$| (?:near|at|north|south|east|west)\b)")
_STATUSES: Final = re.compile(r"(?<![\w.,:/$€£-])[45]\d\d(?=s(?!\w))")
_PORTS: Final = re.compile(r"(?P<lead>\b[Pp]orts? )(?P<first>\d{2,5})/(?P<last>\d{2,5})(?![\w/]|[.,]\d)")
# Where a program listens: "on :3000".
# Two figures behind "at" are minutes: "at :15 past".
_PORT: Final = re.compile(r"(?<=\b(?:to|on|at) ):(?P<port>(?:(?<!\bat :)\d{2}|\d{3,5}))(?![\w:]|[.,]\d)")
_GRID: Final = re.compile(r"(?<=\b[A-Z]{2} )(?P<east>\d{3,5}) (?P<north>\d{3,5})(?!\w|[.,]\d)")
_PARAGRAPH: Final = re.compile(r"(?P<lead>\b[Ss]ection )(?P<title>\d{1,3})-(?P<part>\d{2,5})(?![\w-])")
_RUNWAY: Final = re.compile(r"(?<![\w.,-])(?P<number>0[1-9]|[12]\d|3[0-6])(?P<side>[LRC])(?!\w)")
# A channel of the radio by which aircraft are led: "tower on 118.3".
_CHANNEL: Final = re.compile(
    r"(?P<lead>\b(?:[Aa]pproach|ATC|ATIS|[Cc]enter|[Cc]entre|CTAF|[Cc]learance|[Dd]elivery|[Dd]eparture|[Dd]irector|[Ff]req"
    r"|[Ff]requency|[Gg]n?d|[Gg]round|[Gg]uard|[Rr]adar|[Rr]amp|[Tt]ower|[Tt]wr|UNICOM|[Uu]nicom)\.? (?:on )?)"
    r"(?P<whole>1[123]\d)\.(?P<part>\d{1,3})(?!\w|\.\d|%| ?(?:m|ft|feet|met(?:er|re)s|km)\b)"
)
_CHANNELS: Final = re.compile(r"1[123]\d\.\d")
_SIDES: Final = {"L": "left", "R": "right", "C": "center"}
_NEAR: Final = 64
_SHORTEST: Final = 4
_NAMES: Final = frozenset(
    "Algebra Biology Bio Calculus Chemistry Chem Economics Econ Engineering English History Math Physics Phys "
    "Psychology "
    "Psych Sociology Spanish Stats Statistics FM "
    "Amtrak Section section Sections sections Cabin Carriage Coach Eurostar cabin coach "
    "Airbus Apartment Apt Area Boeing Bombardier Cessna Embraer Fokker Piper Box "
    "Building Bus Channel Exit Extension Fahrenheit Flat Flight Form Gate Hall "
    "Highway Hwy Interstate Line Locker Lot Porsche Peugeot Nokia RTX Room Rm Route Stall Studio Suite Terminal Train "
    "Heading heading bearing "
    "Tram Unit apartment box building bus channel error errors exit flat flight gate highway line locker room route "
    "status studio suite terminal train tram unit Error ERROR Status Port port ports "
    "squawk squawks squawked squawking".split()
)
# Round ones among them may be counted: "500 errors".
_WELL_KNOWN: Final = frozenset("401 403 404 405 408 409 410 418 422 429 501 502 503 504".split())


def read(text: TrackedText) -> TrackedText:
    """One-time codes, IDs, rooms, flights, boxes, errors and runways."""
    text = _listed(_ports(text))
    if "§" in text.text:
        text = text.sub(_SECTION, lambda match: "sections " if match["many"] else "section ")
    if "-" in text.text:
        text = text.sub(_CODED, _coded)
    if "umber" in text.text or "#: " in text.text:
        text = text.sub(_LONG, lambda match: spelled(match.group()))
        text = text.sub(_CASE, lambda match: f"{code(match['year'])} {code(match['case'])}")
    text = (
        text.sub(_FREEWAY, lambda match: code(match.group()))
        .sub(_FIGURES, _labelled)
        .sub(_GROUPED, _grouped)
        .sub(_STATUS, _status)
    )
    if "grid" in text.text or "OS " in text.text:
        text = text.sub(_GRID, lambda match: f"{spelled(match['east'])}, {spelled(match['north'])}")
    if "ection " in text.text and "-" in text.text:
        text = text.sub(_PARAGRAPH, lambda match: f"{match['lead']}{code(match['title'])} {code(match['part'])}")
    if _ANSWER.search(text.text):
        text = text.sub(_STATUSES, _statuses)
        text = text.sub(_LATER_STATUS, _later_status)
    if "unway" in text.text:
        text = text.sub(_RUNWAY, _runway)
    if _CHANNELS.search(text.text):
        text = text.sub(_CHANNEL, _channel)
    return text.sub(_NAMED, _named)


def _listed(text: TrackedText) -> TrackedText:
    """Stations of a dial and grades of a school."""
    if "K-" in text.text or "K–" in text.text:
        text = text.sub(_KINDERGARTEN, " to ")
    return text.sub(_FREQUENCY, _frequency) if "FM" in text.text else text


def _frequency(match: re.Match[str]) -> str:
    return f"{code(match['whole'])} point {spelled(match['tenth'])}"


def _ports(text: TrackedText) -> TrackedText:
    if "ort" in text.text and "/" in text.text:
        text = text.sub(_PORTS, lambda match: f"{match['lead']}{code(match['first'])} and {code(match['last'])}")
    return text.sub(_PORT, lambda match: f"port {code(match['port'])}") if " :" in text.text else text


def _coded(match: re.Match[str]) -> str | None:
    """Groups of figures and capitals: "45-9981-B"."""
    groups = match.group().split("-")
    if len(groups) < 3 or not any(group.isalpha() for group in groups):
        return None
    return ", ".join(spelled(group) if group.isdigit() else " ".join(group) for group in groups)


def _labelled(match: re.Match[str]) -> str | None:
    figures = match.group()
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    label = _LABEL.search(before)
    given = _GIVEN.match(match.string, match.end(), match.end() + _NEAR)
    if not (label or given or _ENDING.search(before)):
        return None
    groups = re.split("[ -]", figures)
    digits = sum(len(group) for group in groups)
    if label and label["issued"] and is_plural(word_after(match)):
        return None
    if digits < _SHORTEST:
        return code(figures) if label and label["code"] and digits > 2 else None
    if label and _DOCKET.search(label.group()) and len(groups) > 1:
        return " ".join(code(group) for group in groups)
    return ", ".join(spelled(group) for group in groups)


def _grouped(match: re.Match[str]) -> str | None:
    """Figures in groups that are no thousands: three of them, or two behind capitals."""
    groups = match.group().split(" ")
    label = word_before(match)
    certain = len(groups) > 2 or (label.isupper() and 1 < len(label) < 5)
    if not certain or all(len(group) == 3 for group in groups[1:]) or is_plural(word_after(match)):
        return None
    return ", ".join(spelled(group) for group in groups)


def _status(match: re.Match[str]) -> str | None:
    return None if is_plural(word_after(match)) and match.group() not in _WELL_KNOWN else code(match.group())


def _statuses(match: re.Match[str]) -> str:
    """The status of several answers: "503s"; its "s" stays behind the words."""
    return code(match.group())


def _later_status(match: re.Match[str]) -> str | None:
    """A well-known status behind another one: "HTTP 404, then 503"."""
    near = _ANSWER.search(match.string, max(0, match.start() - _NEAR), match.end() + _NEAR // 2)
    known = near and match.group() in _WELL_KNOWN and not is_plural(word_after(match))
    return code(match.group()) if known else None


def _runway(match: re.Match[str]) -> str | None:
    before = match.string[max(0, match.start() - _NEAR) : match.start()]
    if "unway" not in before:
        return None
    number = match["number"]
    return f"{spelled(number) if number[0] == '0' else cardinal(number)} {_SIDES[match['side']]}"


def _channel(match: re.Match[str]) -> str | None:
    if not 118 <= int(match["whole"]) <= 136:
        return None
    return f"{match['lead']}{spelled(match['whole'])} point {spelled(match['part'])}"


def _named(match: re.Match[str]) -> str | None:
    """A number behind a word that takes names, or behind capitals: "Room 204", "HTTP 404"."""
    label = word_before(match).rstrip(".").removesuffix("'s")
    initials = word_before(match).isupper()
    if initials and label not in _NAMES and _MEASURED.match(match.string, match.end()):
        return None
    named = label in _NAMES or (initials and 1 < len(label) < 5 and len(match.group()) < 5)
    counted = is_plural(word_after(match)) and label.islower() and not label.startswith("section")
    return code(match.group()) if named and not counted else None
