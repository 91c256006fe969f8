"""Designations of capitals and figures: part numbers, court cases, tyres, candidates of a release."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import (
    amount,
    cardinal,
    code,
    number,
    ordinal,
    spelled,
    spelled_in_groups,
    version,
    year,
)
from polyvox.text.tracked import TrackedText

# A part's number begins with a capital; figures first are a measure more often, "16-GB".
_PART: Final = re.compile(
    r"(?<![\w/.-])(?=[A-Z-]{0,8}\d?[A-Z-]*\d)[A-Z][A-Z0-9]{0,11}(?:-[A-Z0-9]{1,12}){1,5}(?![\w-])"
)
_JOINT: Final = re.compile(r"(?<=[A-Z])-(?=[A-Z])|(?<=\d)-(?=[A-Z])")
_ENDS: Final = re.compile(r"[A-Z]\d{1,3}-[A-Z]\d{1,3}")
_CASE: Final = re.compile(
    r"(?P<label>\b[Nn]os?\. ?|#)?(?<![\w:-])(?:(?P<office>\d):)?(?P<year>\d\d)-"
    r"(?P<kind>cv|cr|md|mc|mj|bk|ap|po|cm|sw|CV|CR|MD|MC|MJ|BK|AP)-"
    r"(?P<number>\d{2,6})(?:-(?P<judge>[A-Z]{1,4}(?:-[A-Z]{1,4}){0,3}))?(?![\w-])"
)
_TYRE: Final = re.compile(
    r"(?<![\w/.])(?P<kind>P|LT|ST)?(?P<width>[1-3]\d[05])/(?P<profile>[2-9][05]) ?(?P<radial>Z?R)[ -]?(?P<rim>[12]\d)"
    r"(?: (?P<load>\d{2,3})(?P<speed>[H-WYZ])(?!\w))?(?!\d|\.\d)"
)
_CANDIDATE: Final = re.compile(
    r"(?<=\d)-(?P<stage>rc|alpha|beta|dev|pre|preview|snapshot|canary|nightly|next|build|hotfix|SNAPSHOT|RC)"
    r"(?:[.-]?(?P<number>\d{1,4}))?(?![\w-])"
)
_TAG: Final = re.compile(r"(?<=\d)-(?=(?:alpine|slim|bookworm|bullseye|jammy|focal|noble|lts|LTS|stable|ubuntu)(?!\w))")
# A metal by its number and how it was hardened: "6061-T6".
_ALLOY: Final = re.compile(r"(?<![\w.-])(?P<number>[1-8]\d{3})-(?=[TH]\d{1,4}(?!\w))")
# A battalion of its regiment: "2-14 Inf."
_BATTALION: Final = re.compile(
    r"(?<![\w.-])(?P<battalion>\d{1,2})-(?P<regiment>\d{1,3})(?= (?:Armor|AR|Avn|Cav|CAV|Cavalry|FA|Inf|Infantry)\b)"
)
# Two roads that run as one: "I-80/94".
_ROADS: Final = re.compile(
    r"(?P<lead>\b(?:(?:I|US|SR)[- ]|Routes |Rtes\. ))(?P<first>\d{1,3})/(?P<last>\d{1,3})(?![\w/]|\.\d)"
)
# What a change adds and takes away: "+312/-45".
_CHANGED: Final = re.compile(r"(?<![\w+])(?P<added>\+\d{1,3}(?:,?\d{3})*)(?: ?/ ?|,? )-(?=\d[\d,]*(?![\w.%]))")
# How long a bond runs: "10y gilt".
_TENOR: Final = re.compile(
    r"(?<![\w.])(?P<years>\d{1,2})[yY](?=[ -](?:auction|bonds?|bunds?|BTPs?|gilts?|JGBs?|mortgages?|notes?|OATs?|paper"
    r"|swaps?|T-notes?|TIPS|Treasur\w+|USTs?|yields?)\b| \d{1,2}\.\d{1,3}%)"
)
# Three figures or more, one behind another, as those of percentiles: "12/48/210 ms".
_ROW: Final = re.compile(r"(?<![\w/.,$€£-])\d{1,4}(?:/\d{1,4}){2,}(?![\w/-]|\.\d)")
_SHORTENED: Final = re.compile(r"(?:(?<=\d[- ]yr)|(?<=\d[- ]mo)|(?<=\d[- ]hr)|(?<=\d[- ]wk))\.(?=/)")
_YEARS: Final = re.compile("[0-9][yY]")
_GRAPHICS: Final = re.compile(r"(?<=TX \d{4}) ?Ti(?!\w)")
_LANGUAGE: Final = re.compile(
    r"(?<![\w./-])(?P<name>py|python|go|php|node|ruby|gcc|clang|cuda|rhel|ubuntu|pg|java|net|lua|julia)"
    r"(?P<parts>\d{1,2}(?:\.\d{1,3}){1,3})(?!\w|\.\d)"
)
_LUMBER: Final = re.compile(r"(?<![\w.])(?P<thick>[1-8])x(?P<wide>\d{1,2})s(?!\w)")
_ALL_DAY: Final = re.compile(r"(?<![\w.])24x7(?:x365)?(?!\w)")
_WIRE: Final = re.compile(
    r"(?<![\w./])(?P<gauge>\d{1,2})/(?P<strands>[2-5])(?= (?:NM|UF|MC|AC|SO|SJ|Romex|romex|wire|cable)\b)"
)
_SUTURE: Final = re.compile(
    r"(?<![\w-])(?P<size>[1-9]|1[0-2])-0"
    r"(?= (?:\w+ )?(?:nylon|[Vv]icryl|[Pp]rolene|silk|[Mm]onocryl|PDS|chromic|[Ee]thilon|sutures?|gut)\b)"
)
_HOME: Final = re.compile(
    r"(?<![\w.])(?P<bedrooms>\d{1,2}) ?(?:BR|BD|br|bd|bdr?m)\.? ?[/,]? ?(?P<baths>\d{1,2}(?:\.5)?) ?(?:BA|ba|bth)\b"
)
_CALIBER: Final = re.compile(
    r"(?<![\w.])\.(?P<bore>17|22|25|30|32|38|40|44|45|50|223|243|270|308|357|380|410|454|460|500)"
    r"(?=[ -](?:cal(?:iber|ibre)?\b|ACP|Auto|Colt|Magnum|Rem|Ruger|S&W|Smith|Special|Win|ammo|ammunition|bullets?"
    r"|casings?|gun|"
    r"handguns?|pistols?|revolvers?|rifles?|rounds?|shotgun))"
)
_ROOMS_OF_HOME: Final = re.compile(r"(?<![\w.,$])(?P<count>\d(?:\.5)?) ?(?P<room>BR|BA|BDRM|Bdrm)(?:s)?(?![\w-])")
_BEDROOM: Final = re.compile(r"(?<![\w.,/-])(?P<count>\d)-?(?:BR|BD|br|bd)(?![\w/])")
_FISCAL: Final = re.compile(
    r"(?<![\w.,-])(?P<part>[1-4])(?P<kind>Q|H)(?:['’]?(?P<year>\d\d)|FY(?P<fiscal>\d\d))?(?!\w)"
)
_THREAD: Final = re.compile(
    r"(?<![\w/.-])#?(?P<size>\d{1,2}/\d{1,2}|\d{1,2})-(?P<threads>\d\d)"
    r"(?= (?:x \d|\w+ (?:bolt|screw|nut)|bolts?|screws?|threads?|nuts?|taps?|studs?|UN[CF])\b)"
)
_GROUNDED: Final = re.compile(
    r"(?<![\w/.-])(?P<gauge>1[0-8]|[468])-(?P<strands>[2-4])(?= (?:w/|with) ground| NM\b| Romex| UF\b)"
)
# What is taken off for paying early, and when all is due: "2/10, net 30".
_TERMS: Final = re.compile(
    r"(?<![\w./])(?P<share>[1-9](?:\.5)?)/(?P<days>\d{1,2})(?=,? (?:net |[nN]/ ?)\d|,? disc)"
    r"(?:(?P<gap>,? )[nN]/ ?(?=\d))?"
    r"|(?P<due>\bnet \d{1,2},? (?:or )?)(?P<early>[1-9])/(?P<within>\d{1,2})(?![\w/])"
)
_ROOM: Final = re.compile(
    r"(?P<lead>\b(?:[Rr]m|[Rr]oom|[Aa]pt|[Uu]nit|[Ss]te|[Ss]uite|[Oo]ffice|[Ll]ocker|[Bb]ay)\.? #?)"
    r"(?P<floor>\d{1,2})-(?P<number>\d{2,4})(?![\w-])"
)
_LONG: Final = re.compile(r"\d{4}|\d{2}-\d{2}")
_GLUED: Final = re.compile(r"\d(?<=[a-z]\d)\d?\.\d")
_ROOMS: Final = {"rm": "Room", "apt": "Apartment", "ste": "Suite"}
_NUMBERED: Final = re.compile(
    r"(?P<of>\b(?:PO|SO|WO|RMA|CRN|PID|NPI|MRN|EIN|UPC|EAN|INC|CHG|RITM):? (?:# ?|number )?)"
    r"(?P<digits>\d{4,14}|\d{2,6}-\d{2,6})(?![\w-]|[.,]\d)"
)
# Plans and forms of the tax office, which are known by their numbers.
_PLAN: Final = re.compile(
    r"(?<![\w.,$€£/-])(?P<plan>401|403|409|457|501|529|83)(?: ?\((?P<letter>[a-zA-Z])\)(?:\((?P<part>\d)\))?"
    r"|(?P<glued>[kKA])(?![\w-]))(?P<many>s)?(?!\w)"
    r"|(?<![\w.,$€£/-])(?P<named>529|1031|1040|1099)(?=-[A-Z]{1,4}\b|-?s\b| (?:plans?|exchanges?|forms?"
    r"|contractors?|returns?|accounts?)\b)"
)
_PAIRED: Final = 4
_OF_DATE: Final = 3
_LAST_DAY: Final = 31
# Errors of a server, several of a kind: "HTTP 429s", "404s".
_STATUSES: Final = re.compile(
    r"(?<![\w.,$€£/-])(?:(?P<status>40[0-9]|41[0-9]|42[29]|50[1-4])s|(?<=HTTP )(?P<other>[1-5]\d\d)s)(?!\w)"
)
_PUPILS: Final = re.compile(r"(?<=\b[Yy]ear )(?P<year>\d{1,2})s(?!\w)")
_STAGES: Final = {"rc": "RC", "dev": "dev", "SNAPSHOT": "snapshot"}


_PLANS: Final = ("401", "403", "409", "457", "501", "529", "83", "1031", "1040", "1099")


def read(text: TrackedText) -> TrackedText:
    """Everything here comes before dates, times and units, which would see their own figures only."""
    text = text.sub(_STATUSES, lambda match: _several(code(match["status"] or match["other"])))
    if "ear " in text.text:
        text = text.sub(_PUPILS, lambda match: _several(cardinal(match["year"])))
    if any(number in text.text for number in _PLANS):
        text = text.sub(_PLAN, _plan)
    text = text.sub(_TENOR, r"\g<years> year") if _YEARS.search(text.text) else text
    if "-" in text.text:
        text = _hyphened(text)
    if "Q" in text.text or "H" in text.text:
        text = text.sub(_FISCAL, _fiscal)
    if _LONG.search(text.text):
        text = text.sub(_NUMBERED, _numbered)
    if any(rooms in text.text for rooms in ("BR", "BD", "br", "bd")):
        text = _homes(text)
    if " ." in text.text:
        text = text.sub(_CALIBER, lambda match: code(match["bore"]))
    text = _slashed(text) if "/" in text.text else text
    if "x" in text.text:
        text = text.sub(_ALL_DAY, "twenty four seven").sub(_LUMBER, _lumber)
    text = text.sub(_GRAPHICS, " T.I") if "Ti" in text.text else text
    if _GLUED.search(text.text) is None:
        return text
    return text.sub(_LANGUAGE, lambda match: f"{match['name']} {version(match['parts'])}")


def _homes(text: TrackedText) -> TrackedText:
    text = text.sub(_HOME, _home).sub(_ROOMS_OF_HOME, _room_of_home)
    return text.sub(_BEDROOM, lambda match: f"{cardinal(match['count'])} bedroom")


def _several(number: str) -> str:
    if number.endswith("y"):
        return f"{number[:-1]}ies"
    return number + ("es" if number.endswith(("x", "o hundred")) else "s")


def _plan(match: re.Match[str]) -> str:
    """ "401(k)s", "501(c)(3)", "1099-K"."""
    if match["named"]:
        return code(match["named"])
    letter = (match["letter"] or match["glued"]).upper()
    part = f" {cardinal(match['part'])}" if match["part"] else ""
    plural = "'s" if match["many"] and not part else ""
    return f"{code(match['plan']) if len(match['plan']) > 2 else cardinal(match['plan'])} {letter}{plural}{part}"


def _hyphened(text: TrackedText) -> TrackedText:
    text = text.sub(_THREAD, _thread).sub(_GROUNDED, _two).sub(_ROOM, _room)
    text = text.sub(_CHANGED, r"\g<added>, minus ") if "+" in text.text else text
    text = text.sub(_BATTALION, lambda match: f"{code(match['battalion'])} {code(match['regiment'])}")
    text = text.sub(_ALLOY, lambda match: f"{code(match['number'])} ")
    text = text.sub(_SUTURE, lambda match: f"{cardinal(match['size'])} oh")
    return text.sub(_CASE, _case).sub(_CANDIDATE, _candidate).sub(_TAG, " ").sub(_PART, _part)


def _numbered(match: re.Match[str]) -> str:
    if len(match["digits"]) == _PAIRED:
        return match["of"] + code(match["digits"])
    return match["of"] + ", ".join(spelled_in_groups(part) for part in match["digits"].split("-"))


def _two(match: re.Match[str]) -> str:
    """The gauge of a cable and its wires: "twelve two"."""
    return f"{cardinal(match['gauge'])} {cardinal(match['strands'])}"


def _room(match: re.Match[str]) -> str:
    lead = match["lead"].strip(" .#")
    return f"{_ROOMS.get(lead.lower(), lead)} {code(match['floor'])} {code(match['number'])}"


def _part(match: re.Match[str]) -> str | None:
    """Hyphens between two names are silent; those before a figure are left to the readers of figures."""
    return None if _ENDS.fullmatch(match.group()) else _JOINT.sub(" ", match.group())


def _case(match: re.Match[str]) -> str:
    """The number of a case in court: its year, its kind by letters, its number."""
    office = f"{cardinal(match['office'])}, " if match["office"] else ""
    judge = ", " + " ".join(match["judge"].replace("-", "")) if match["judge"] else ""
    figures = match["number"]
    digits = spelled(figures) if len(figures) > 3 else code(figures)
    label = "number " if match["label"] else ""
    return f"{label}{office}{code(match['year'])} {'.'.join(match['kind'].upper())} {digits}{judge}"


def _thread(match: re.Match[str]) -> str:
    """The size of a screw and its threads to the inch: "one quarter twenty"."""
    return f"{amount(match['size'])} {cardinal(match['threads'])}"


def _fiscal(match: re.Match[str]) -> str | None:
    """ "4Q", "1H24": the part of a year before its year."""
    if match["kind"] == "H" and (int(match["part"]) > 2 or not match["year"]):
        return None
    last = match["year"] or match["fiscal"]
    behind = f" {'fiscal ' if match['fiscal'] else ''}{year(2000 + int(last))}" if last else ""
    return f"{ordinal(match['part'])} {'quarter' if match['kind'] == 'Q' else 'half'}{behind}"


def _home(match: re.Match[str]) -> str:
    """ "2BR/1.5BA"."""
    return f"{cardinal(match['bedrooms'])} bedroom, {number(match['baths'])} bath"


def _room_of_home(match: re.Match[str]) -> str:
    return f"{number(match['count'])} {'bath' if match['room'] == 'BA' else 'bedroom'}"


def _tyre(match: re.Match[str]) -> str:
    """ "225/65R17": width, profile, radial, rim."""
    kind = f"{match['kind']} " if match["kind"] else ""
    load = f", {code(match['load'])} {match['speed']}" if match["load"] else ""
    return f"{kind}{code(match['width'])} {cardinal(match['profile'])} {match['radial']} {cardinal(match['rim'])}{load}"


def _candidate(match: re.Match[str]) -> str:
    stage, count = match["stage"], match["number"]
    return f" {_STAGES.get(stage, stage)}" + (f" {cardinal(count)}" if count else "")


def _terms(match: re.Match[str]) -> str:
    """ "2/10, n/30": "two ten, net thirty"."""
    if match["due"]:
        return f"{match['due']}{cardinal(match['early'])} {cardinal(match['within'])}"
    behind = f"{match['gap']}net " if match["gap"] else ""
    return f"{number(match['share'])} {cardinal(match['days'])}{behind}"


def _slashed(text: TrackedText) -> TrackedText:
    text = text.sub(_SHORTENED, "").sub(_ROW, _row)
    return text.sub(_TYRE, _tyre).sub(_WIRE, _two).sub(_TERMS, _terms).sub(_ROADS, _roads)


def _row(match: re.Match[str]) -> str | None:
    """Figures in a row, unless they could be a date."""
    parts = match.group().split("/")
    dated = len(parts) == _OF_DATE and all(int(part) <= _LAST_DAY for part in sorted(parts, key=len)[:2])
    return None if dated else ", ".join(parts)


def _roads(match: re.Match[str]) -> str:
    return f"{match['lead']}{code(match['first'])} {code(match['last'])}"


def _lumber(match: re.Match[str]) -> str:
    wide = cardinal(match["wide"])
    return f"{cardinal(match['thick'])} by {wide}{'es' if wide.endswith('x') else 's'}"
