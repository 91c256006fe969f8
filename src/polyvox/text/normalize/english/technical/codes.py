"""Figures that name something: versions, addresses of machines, model numbers, letters mixed with digits."""

import re
from typing import Final

from polyvox.text.normalize.english.context import is_plural, word_after, word_before
from polyvox.text.normalize.english.letters import initials_as_capitals, spelled_pair
from polyvox.text.normalize.english.numbers import (
    DASH,
    NUMBER,
    NUMBER_END,
    NUMBER_START,
    cardinal,
    code,
    number,
    spelled,
    version,
)
from polyvox.text.normalize.english.technical import groups
from polyvox.text.tracked import TrackedText

_FLEET: Final = re.compile(r"(?<![\w.-])(?P<model>A[23]\d\d|7\d7)-(?P<version>[1-9]\d{0,3})s(?!\w)")
_NUMBERED: Final = re.compile(r"(?<=[A-Z])-(?P<first>\d{2,5})-(?P<second>\d{2,7})(?![\w-]|\.\d)")
# Two letters that may be a word, before the figures of a type: "UH-60".
_PAIR: Final = re.compile(r"(?<![\w.'/-])[A-Z]{2}(?=-\d)")
_TRIM: Final = re.compile(r"(?<![\w.'/-])[A-Z]{2}(?=-[A-Z](?![\w'-]))")
_WIRELESS: Final = re.compile(r"(?<![\w.])802\.(?P<group>\d{1,2})(?P<letters>[A-Za-z]{0,2})(?!\w)")
_SAME_LETTER: Final = re.compile(
    r"(?<![\w-])(?P<kind>[A-Z])(?P<first>\d{1,4})[-–](?=(?P=kind)(?P<last>\d{1,4})(?![\w-]))"
)
_ROW: Final = re.compile(r"(?<![\w.-])(?P<first>\d{1,3}[A-JL-Z])[-–](?=\d{1,3}[A-JL-Z](?![\w-]))")
_QUARTERS: Final = re.compile(r"(?<=\b[QH][1-4])(?: ?[-–] ?)(?=[QH][1-4]\b)")
_LETTERS: Final = re.compile(r"(?<=[a-z]s [A-Z])[-–](?=[A-Z](?!\w))")
_CENTRAL: Final = re.compile(r"(?<![\w.,/])(?P<eastern>\d{1,2})/(?P<central>\d{1,2})c(?!\w)")
_IP: Final = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::(?P<port>\d{1,5})|/(?P<prefix>\d{1,2}))?(?!\w|\.\d)")
_VERSION: Final = re.compile(r"\b(?:v(?:\. ?)?(?P<parts>\d++(?:\.\d++)*+)|V(?P<dotted>\d++(?:\.\d++)++))(?!\w)")
_DOTTED: Final = re.compile(r"(?<![\w.])(?P<parts>\d++(?:\.\d++)++)(?!\w)")
_DASHED: Final = re.compile(r"(?<![\w.,-])\d++(?:-\d++){2,}+(?![\w-])")
_AGENT: Final = re.compile(r"\b007\b")
_MODEL: Final = re.compile(r"(?:(?<=[A-Z])|(?<=\b[A-Z]\d)|(?<=\b[A-Z]\d\d))-(?P<digits>\d{3,4})(?!\w|[.,]\d)")
_BEHIND_ZONE: Final = re.compile(r"(?<=\bGMT|\bUTC)[-−–](?=\d)")
_NAMED: Final = re.compile(r"(?P<name>\b[A-Z][a-z]+)-(?P<digits>\d{3})(?!\w|[.,-]\d)")
_SERIAL: Final = re.compile(r"(?<=[A-Za-z])-(?P<digits>\d{5,})(?!\w|[.,]\d)")
_HYPHENED: Final = re.compile(r"(?<=[A-Za-z])-(?=\d)")
_SCALED: Final = re.compile(
    rf"{NUMBER_START}(?P<amount>{NUMBER})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}"
    r"(?P<scale>k|K|M|bn|B| (?:bn|mn|tn))(?!\w)"
)
_SCIENTIFIC: Final = re.compile(rf"{NUMBER_START}({NUMBER})[eE]\+?(-?)(\d{{1,3}})(?!\w|\.\d)")
_SUPERSCRIPTS: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_OIL: Final = re.compile(r"(?<![\w.])(\d{1,2})W-?(\d\d)(?![\w-])")
_SCALED_MEASURE: Final = re.compile(
    r"(?<=\d)(?P<scale>[kKMB]|bn) (?=(?:mi|km|kms|t|tons?|tonnes?|lbs|kg|ly|kWh|MWh|GWh|ft|gal|bbls?|sq|ha|acres?"
    r"|reqs?|tok|rows|msgs|yds|kcal|psi|rpm|ppm)\b)"
)
_SCALED_RATE: Final = re.compile(
    r"(?<=\d)(?P<scale>[kKMB])(?=/(?:s|sec|min|h|hr|d|day|wk|week|mo|month|yr|year)(?!\w))"
)
_SCALED_NAME: Final = re.compile(
    r"(?<=\d)(?P<scale>bn|mn|m|M|B|k|K)-(?P<of>yr|year|mi|mile|ft|acre|ton|tonne|barrel|euro|dollar|pound|person"
    r"|strong|member|seat|word)\b"
)
_OF_SCALED: Final = {"yr": "year", "mi": "mile", "ft": "foot"}
_MULTIPLES: Final = re.compile(r"(?<=\d)x(?= ?[-–] ?\d+(?:\.\d)?x(?!\w))")
_SEVERAL: Final = re.compile(
    r"(?<=\d) ?[x×] ?(?=[A-Z]{1,3}\d|[A-Z]{2,3}(?!\w)|\d+V(?!\w))|(?<=\d)x (?=\d+ ?(?:GB|TB|MB|oz|m[lL]|W|ft|k?g|lb|h"
    r"|hrs?|min|mins)\b)"
)
_REGION: Final = re.compile(
    r"(?<![\w-])(?:us|eu|ap|ca|sa|af|me|uk)(?=-(?:gov-)?(?:north|south|east|west|central)[a-z]*-\d)"
)
_TIMES: Final = re.compile(
    rf"{NUMBER_START}(?<!\^)(?P<amount>{NUMBER})(?:{DASH}(?P<upto>{NUMBER}))?{NUMBER_END}[x×](?![\w×])"
)
_OPERATED: Final = re.compile(r"(?:[\w)²³] ?[-−+*^]|=) ?\Z")
_ONCE: Final = re.compile(r"/| (?:an?|daily|weekly|monthly|yearly|per|every)\b")
_DECIMAL_NAME: Final = re.compile(r"(?<![\w.,])(?:\d++(?:\.\d++)++|\d{1,3}(?:,\d{3})++)(?=[A-Za-z])")
_FOR_DAYS: Final = re.compile(
    r"(?<=\dlbs )x ?(?=\d{1,2}\b)|(?<=\d lbs )x ?(?=\d{1,2}\b)|(?<=\dkg )x ?(?=\d{1,2} (?:for|on|reps|sets|at)\b)|"
    r"(?<=[A-Za-z.)] )x ?(?=[1-9]\d?(?:[.,;)](?!\d)|$))|(?<=\d )x(?=[1-9](?:[.,;)](?!\d)|$))"
    r"|(?<=[A-Za-z\d.)] )x ?(?=\d{1,2}(?:[-–]\d{1,2})? (?:days?|wks?|weeks?|mos?|months?|doses?|yrs?|years?)\b)"
)
_RESOLUTION: Final = re.compile(
    r"(?<![\w.,])(?<!\d [x×] )(?<!\d[x×])(\d{3,4}) ?[x×] ?(\d{3,4})(?![\w,]|\.\d| ?[x×] ?\d| ?(?:mm|cm|m|ft|in)\b)"
)
_GARMENT: Final = re.compile(r"(?<![\w.])(?P<waist>\d\d)W? ?[x×] ?(?P<length>\d\d)L(?!\w)")
_BOEING: Final = re.compile(
    r"(?<![\w.,/-])(?P<model>7[0-8]7|A[23]\d\d)-(?P<version>\d{1,4})(?P<kind>ER|LR|F|neo)?(?![\w-]|[.,]\d)"
)
_TIMES_TEN: Final = re.compile(
    r"(?<=\d) ?[xX×] ?(?=10(?:\^|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]))|(?<=[a-z\d.)]) x (?=[$€£]\d|\d{1,3}(?:\.\d{1,2})?p\b)"
)
_DIMENSION: Final = re.compile(
    r"(?<=\d)x(?=\d)|(?<=\d) x (?=\d)"
    r"|(?<=\d m) [x×] (?=\d)|(?<=[\d][\"”″'′]) ?[x×] ?(?=\d)|(?<=\d (?:cm|mm|ft|in|km)) [x×] (?=\d)"
    r"|(?<=\d(?:cm|mm|ft|in)) ?[x×] ?(?=\d)|(?<=\d[Mm]) ?[x×] ?(?=\d)"
)
_DIGITS_BESIDE: Final = re.compile(r"(?<![\d.,×])\d×\d(?![\d×])")
_CROSS: Final = re.compile(r"(?<=\d)(?P<gap> ?)× ?(?=\d)")
_SIDE: Final = re.compile(
    r"[\d.,]*\d(?: ?[x×] ?[\d.,]*\d)* ?-?"
    r"(?:[cmk]?m|in|ft|yd|px|inch(?:es)?|feet|meters?|pixels?|[″′])"
    r"(?![A-Za-z])"
    r"|\d+(?:×\d+)* (?:arrays?|blocks?|boards?|convolutions?|cubes?|filters?|grids?|images?|inputs?|kernels?|"
    r"matri(?:x|ces)|MIMO|patch(?:es)?|pixels|puzzles?|relay|squares?|tables?|tensors?|tiles?)\b"
)
_GRID: Final = re.compile(r"\b(?:array|board|cube|grid|kernel|matrix|tensor)\b|\b[Aa] \d{1,2}\Z")
# One piece of timber: "the 2×4".
_PIECE: Final = re.compile(
    r"\b(?:[Tt]he|[Tt]his|[Tt]hat|[Ee]ach|[Ee]very|[Aa]nother|[Oo]ne|[Mm]y|[Yy]our|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Tt]reated"
    r"|[Pp]ine|[Cc]edar|[Oo]ak|[Ww]ooden|[Ll]umber|[Oo]ld|[Nn]ew) [1-8]\Z"
)
_PLURAL_SIZE: Final = re.compile(r"(?<=(?<![\d.,])\d)×(?P<side>\d{1,2})s(?![\w/])")
_PIECES: Final = re.compile(
    r"\d{1,2} (?:beams?|boards?|boxes|jeeps?|joists?|lumber|pickups?|planks?|posts?|rails?|stock|studs?|SUVs?|timbers?"
    r"|trucks?|vehicles?)\b"
)
_MULTIPLIED: Final = re.compile(r"\d{1,2} (?:answer|multiplication|product|sum)\b")
_SHARE: Final = re.compile(r"[\d.,]*\d ?(?:[mk]?g|mcg|[mc]?[lL]|oz|lbs?|W|kW|GB|TB|tab(?:let)?s?)(?![A-Za-z])")
_SUM: Final = re.compile(r"= ?[\d.,]+\Z")
_RESULT: Final = re.compile(r"[\d.,]*\d(?: ?× ?[\d.,]*\d)*(?: ?[=≈]| equals| is (?:about )?\d)")
_MIXED: Final = re.compile(r"(?<![^\W_])(?:[A-Za-z]++\d|\d++[A-Za-z])[A-Za-z0-9]*+")
_LOCATOR: Final = re.compile(
    r"\b(?:[Cc]ode|PNR|[Cc]onf(?:irmation)?|[Bb]ooking|[Ll]ocator|[Rr]eservation|[Vv]oucher|[Tt]racking)\b"
)
_RUN: Final = re.compile(r"[A-Za-z]+|\d+")
# Where a letter A would be taken for an article.
_OPENING: Final = re.compile(r"(?:\A|[.!?:;,(\n] ?)\Z")

PROGRAMS: Final = frozenset(
    "Android Angular Ansible Blender Bluetooth Bootstrap C Chrome Clang CMake CUDA Cython Debian Django Docker "
    "Elasticsearch Electron Fedora Firefox Flask Flutter GCC Git Go Godot Gradle Helm Java Julia Kafka Kotlin "
    "Kubernetes Laravel Linux Lua MariaDB Maven Minecraft MongoDB MySQL NET Next Node NumPy Nuxt PHP Perl Postgres "
    "PostgreSQL PyPI PyTorch Python Rails React Redis Ruby Rust SQLite Safari Scala Spark Spring Swift Symfony "
    "TensorFlow Terraform TypeScript Ubuntu Unity Unreal Vue Vite Windows WordPress Xcode iOS iPadOS kernel macOS "
    "npm pip pnpm python tvOS watchOS webpack yarn node "
    "k8s K8s EKS AKS GKE OpenShift Istio Cilium Envoy Vault Consul Nomad "
    "Prometheus Grafana Jenkins GitLab OpenSSL OpenSSH Deno Bun Zig "
    "nginx postgres redis mysql alpine py php go ruby gcc clang cuda rhel ubuntu pg java lua julia".split()
)
_BETWEEN_VERSIONS: Final = frozenset(
    "to and or on than from through until equal equals before after above below least".split()
)
# Parts that are numbered by their chapter or floor: "Table 2.10", "Room 4.12".
_NUMBERED_PART: Final = re.compile(
    r"\b(?:[Rr]ooms?|[Ss]ections?|[Ff]igures?|[Tt]ables?|[Ee]quations?|[Ee]xercises?|[Ee]xamples?|[Cc]lauses?"
    r"|[Tt]heorem|[Ll]emma|"
    r"[Rr]ules?|[Rr]egulations?|[Aa]rticles?|[Cc]hapters?|[Ll]isting) (?:[A-Z]?\d+\.\d+(?: ?[-–] ?|, | and "
    r"| to ))*\(?\Z"
)
_PINNED: Final = re.compile(r"([A-Za-z]+)(?::|@|[=~>]=)$|\b([kK]8s) $")
_SERIAL_RUNS: Final = 5
"""Digits in a row, or runs of letters and digits, from which on a serial number is spelled."""
_WORD: Final = re.compile(r"[A-Za-z]+")
_NEAR: Final = 64
_SCALES: Final = {
    "k": "thousand",
    "K": "thousand",
    "M": "million",
    "mn": "million",
    "bn": "billion",
    "B": "billion",
    "tn": "trillion",
}
_FORMATS: Final = frozenset("2 4 5 6 8 12 16".split())
"""Thousands of pixels: "4K TVs"."""
_RACES: Final = frozenset("run runs race races walk jog runner runners course event".split())
_DISTANCES: Final = frozenset("1 3 5 8 10 15 20 21 25 42 50 100".split())
_BEFORE_RACE: Final = frozenset("a the my your his her our their first charity annual fun ran run running".split())
_DONE_TO: Final = frozenset("it them him her me us you this that called tried asked checked emailed texted".split())
_COMPARED: Final = frozenset(
    "a around as back better bigger cheaper daily denser each every faster fewer greater heavier higher larger less "
    "lighter longer lower monthly more per platinum in on over shorter slower smaller stronger taller the thicker "
    "weekly wider worse yearly "
    "earnings ebitda forward its his her their our my your that what "
    "fwd leverage revenue revenues sales trailing".split()
)


_HONORED: Final = frozenset("champ champion winner MVP All medalist finalist nominee Grammy Oscar NBA NFL Pro".split())


def read_dimensions(text: TrackedText) -> TrackedText:
    """ "1920x1080", "12 x 14 ft", "2e8 m": to be read before the units, which see their own figure only."""
    if "-" in text.text:
        text = text.sub(_FLEET, _fleet)
    text = text.sub(_SCIENTIFIC, _scientific).sub(_SCALED_MEASURE, _scaled_measure)
    if "/" in text.text:
        text = text.sub(_SCALED_RATE, lambda match: f" {_SCALES[match['scale']]}")
    if "-" in text.text:
        text = text.sub(_SCALED_NAME, _scaled_name)
    if "x" in text.text or "×" in text.text:
        text = text.sub(_MULTIPLES, "").sub(_SEVERAL, " ")
    if "W" in text.text:
        text = text.sub(_OIL, lambda match: f"{cardinal(match[1])} W {cardinal(match[2])}")
    if "×" in text.text:
        text = (
            text.sub(_PLURAL_SIZE, lambda match: f" by {_plural(cardinal(match['side']))}")
            .sub(_TIMES_TEN, " times ")
            .sub(_CROSS, _cross)
        )
    if not any(sign in text.text for sign in "xX×"):
        return text
    text = (
        text.sub(_TIMES_TEN, " times ")
        .sub(_FOR_DAYS, "times ")
        .sub(_GARMENT, r"\g<waist> by \g<length>")
        .sub(_RESOLUTION, lambda match: f"{code(match[1])} by {code(match[2])}")
    )
    return text.sub(_DIMENSION, " by ")


def read(text: TrackedText) -> TrackedText:
    """Everything here keeps its letters and turns its digits into words."""
    if "-" in text.text:
        text = text.sub(_PAIR, lambda match: spelled_pair(match.group()))
        text = text.sub(_TRIM, lambda match: spelled_pair(match.group()))
    text = text.sub(_NUMBERED, lambda match: f" {code(match['first'])} {code(match['second'])}").sub(_QUARTERS, " to ")
    text = groups.read(text)
    if "-" in text.text or "–" in text.text:
        text = text.sub(_SAME_LETTER, _same_letter).sub(_ROW, r"\g<first> to ").sub(_LETTERS, " to ")
        text = text.sub(_SAME_LETTER, _same_letter).sub(_ROW, r"\g<first> to ").sub(_LETTERS, " to ")
    if "/" in text.text:
        text = text.sub(_CENTRAL, r"\g<eastern>, \g<central> central")
    text = (
        text.sub(_WIRELESS, _wireless).sub(_IP, _ip).sub(_VERSION, _version).sub(_DOTTED, _dotted).sub(_DASHED, _dashed)
    )
    text = text.sub(_BOEING, _aircraft).sub(_AGENT, "double oh seven")
    text = text.sub(_REGION, lambda match: ".".join(match.group().upper()))
    text = (
        text.sub(_BEHIND_ZONE, " minus ")
        .sub(_NAMED, lambda match: f"{match['name']} {code(match['digits'])}")
        .sub(_MODEL, lambda match: " " + code(match["digits"]))
        .sub(_SERIAL, _serial)
        .sub(_HYPHENED, " ")
    )
    text = text.sub(_SCALED, _scaled).sub(_TIMES, _times)
    if "." in text.text or "," in text.text:
        text = text.sub(_DECIMAL_NAME, _decimal_name)
    return text.sub(_MIXED, _mixed)


def _same_letter(match: re.Match[str]) -> str | None:
    """The ends of a row, "L88-L92"; two vertebrae side by side are one place."""
    beside = match["kind"] in "CLST" and int(match["last"]) - int(match["first"]) == 1
    return None if beside else f"{match['kind']}{match['first']} to "


def _cross(match: re.Match[str]) -> str | None:
    """The sides of something are so much by so much; what is computed, or packed so many times, is multiplied."""
    end = match.end()
    computed = _RESULT.match(match.string, end, end + _NEAR) or _SUM.search(
        match.string, max(0, match.start() - _NEAR), match.start()
    )
    if computed or _SHARE.match(match.string, end, end + _NEAR):
        return " times "
    if _GRID.search(match.string, max(0, match.start() - _NEAR // 2), match.start()) and not match["gap"]:
        return " by "
    small = _DIGITS_BESIDE.match(match.string, match.start() - 1)
    if small and _is_timber(match):
        return " by "
    doubtful = match["gap"] or small
    return None if doubtful and _SIDE.match(match.string, end, end + _NEAR) is None else " by "


def _is_timber(match: re.Match[str]) -> bool:
    """Return whether small sides are those of a piece of wood, or of a car with four wheels driven."""
    if _MULTIPLIED.match(match.string, match.end()):
        return False
    piece = _PIECE.search(match.string, max(0, match.start() - _NEAR // 2), match.start())
    return bool(piece or _PIECES.match(match.string, match.end()))


def _wireless(match: re.Match[str]) -> str:
    letters = match["letters"].upper()
    return f"eight oh two point {cardinal(match['group'])}" + (f" {'.'.join(letters)}" if letters else "")


def dotted_quad(parts: list[str]) -> str:
    """The address of a machine: long parts digit by digit, the others as numbers."""
    return " dot ".join(spelled(part) if len(part) > 2 else cardinal(part) for part in parts)


def _ip(match: re.Match[str]) -> str | None:
    address = re.split("[:/]", match.group())[0]
    parts = address.split(".")
    if any(int(part) > 255 for part in parts):
        return None
    port, prefix = match["port"], match["prefix"]
    behind = f" colon {code(port)}" if port else f" slash {cardinal(prefix)}" if prefix else ""
    return dotted_quad(parts) + behind


def _aircraft(match: re.Match[str]) -> str:
    """ "747-8", "A320-200"."""
    letter = "A " if match["model"][0] == "A" else ""
    kind = f" {match['kind']}" if match["kind"] else ""
    return f"{letter}{code(match['model'].lstrip('A'))} {code(match['version'])}{kind}"


def _fleet(match: re.Match[str]) -> str:
    """Several aircraft of one model: "737-800s"."""
    letter = "A " if match["model"][0] == "A" else ""
    version = cardinal(match["version"])
    return f"{letter}{code(match['model'].lstrip('A'))} {version}{'es' if version.endswith('x') else 's'}"


def _serial(match: re.Match[str]) -> str:
    return f" {spelled(match['digits'])}"


def _version(match: re.Match[str]) -> str:
    return f"version {version(match['parts'] or match['dotted'])}"


def _dotted(match: re.Match[str]) -> str | None:
    """Three or more parts are a version; two are a decimal, unless what stands before them has versions."""
    return version(match["parts"]) if match["parts"].count(".") > 1 or _is_version(match) else None


def _is_version(match: re.Match[str]) -> bool:
    """Return whether a program's name, or another version of it, stands before the figure: "Python 3.10 or 3.11"."""
    if _NUMBERED_PART.search(match.string, max(0, match.start() - _NEAR), match.start()):
        return True
    before, following = word_before(match), word_after(match)
    pinned = _PINNED.search(match.string[max(0, match.start() - _NEAR) : match.start()])
    if pinned is not None:
        before = pinned[1] or pinned[2]
    if before.lower() in ("version", "release") or before in PROGRAMS:
        return True
    if before not in _BETWEEN_VERSIONS or following in ("times", "percent", "million", "seconds", "points"):
        return False
    near = match.string[max(0, match.start() - _NEAR) : match.start()]
    return not PROGRAMS.isdisjoint(_WORD.findall(near))


def _dashed(match: re.Match[str]) -> str:
    groups = match.group().split("-")
    if all(len(group) <= 2 for group in groups):
        return " ".join(cardinal(group) for group in groups)
    if all(len(group) <= 3 and group[0] != "0" for group in groups):
        return ", ".join(code(group) for group in groups)
    return ", ".join(spelled(group) for group in groups)


def _scientific(match: re.Match[str]) -> str:
    """The power of ten as print has it, behind which a unit is read as well."""
    return f"{match[1]} × 10{(match[2] + str(int(match[3]))).translate(_SUPERSCRIPTS)}"


def _scaled_measure(match: re.Match[str]) -> str:
    return f" {_SCALES[match['scale']]} "


def _scaled_name(match: re.Match[str]) -> str:
    """ "13.5bn-yr-old"."""
    scale = "million" if match["scale"] == "m" else _SCALES[match["scale"]]
    return f" {scale} {_OF_SCALED.get(match['of'], match['of'])}"


def _decimal_name(match: re.Match[str]) -> str:
    """The figures of "1.5T" and "2.0.1rc1"."""
    parts = match.group()
    return (version(parts) if parts.count(".") > 1 or _is_version(match) else number(parts)) + " "


def _scaled(match: re.Match[str]) -> str | None:
    """ "20k" and "5M" are counts; "4K" and "7B" are names, unless their number is one that only counts have."""
    counted = (
        match["scale"] not in ("K", "B")
        or any(mark in match["amount"] for mark in ".,")
        or (match["amount"] not in _FORMATS and word_after(match) not in _RACES and is_plural(word_after(match)))
    )
    if match["scale"] == "k" and _is_race(match):
        return f"{number(match['amount'])} K"
    figures = f"{number(match['amount'])} to {number(match['upto'])}" if match["upto"] else number(match["amount"])
    return f"{figures} {_SCALES[match['scale'].strip()]}" if counted or match["upto"] else None


def _is_race(match: re.Match[str]) -> bool:
    """Return whether "5k" is a distance that people run: one of the usual ones, with a word beside it that says so."""
    following = word_after(match)
    if following in _RACES:
        return True
    return match["amount"] in _DISTANCES and word_before(match).lower() in _BEFORE_RACE and not is_plural(following)


def _times(match: re.Match[str]) -> str:
    """A multiple, of times or of size: "3x a day", "2-3x/week", "5x faster"; elsewhere the letter."""
    upto = f" to {number(match['upto'])}" if match["upto"] else ""
    ending = not match.string[match.end() : match.end() + 1].strip(".,;!?)") and not word_after(match)
    if match["amount"] == "1" and not upto and (_ONCE.match(match.string, match.end()) or ending):
        return "once"
    if word_after(match).rstrip("s") in _HONORED:
        return f"{number(match['amount'])}{upto} time"
    operated = _OPERATED.search(match.string, max(0, match.start() - 4), match.start())
    if operated and word_after(match) not in _COMPARED and not match.string.startswith("/", match.end()):
        return f"{number(match['amount'])}{upto} X"
    done = word_after(match) in ("and", "or", "but") or match.string.startswith(" &", match.end())
    compared = (
        (done and word_before(match) in _DONE_TO)
        or word_after(match).endswith("'s")
        or ending
        or "." in match["amount"]
        or word_after(match) in _COMPARED
        or match.string.startswith("/", match.end())
    )
    return f"{number(match['amount'])}{upto} {'times' if compared else 'X'}"


def _mixed(match: re.Match[str]) -> str:
    runs = _RUN.findall(match.group())
    if (
        len(runs) - (runs[-1] == "s") >= _SERIAL_RUNS
        or _is_locator(match, len(runs))
        or any(run.isdigit() and len(run) >= _SERIAL_RUNS for run in runs)
    ):
        return " ".join(spelled(run) if run.isdigit() else " ".join(run.upper()) for run in runs)
    plural = len(runs) > 1 and runs[-1] == "s" and not runs[0].islower()
    if (
        match.group()[0] == "A"
        and match.end() < len(match.string)
        and _OPENING.search(match.string, max(0, match.start() - 2), match.start())
    ):
        return f"A-{' '.join(_called(runs[1:], plural=False))}"
    return " ".join(_called(runs, plural=plural))


def _called(runs: list[str], *, plural: bool) -> list[str]:
    """Letters and figures as words, the last of them as a plural."""
    words = [code(run) if run.isdigit() else initials_as_capitals(run) for run in (runs[:-1] if plural else runs)]
    return [*words[:-1], _plural(words[-1])] if plural else words


def _is_locator(match: re.Match[str], runs: int) -> bool:
    """Return whether capitals and figures mixed are the code of a booking or the like."""
    written = match.group()
    if runs < 3 or len(written) < 5 or written.upper() != written:
        return False
    return _LOCATOR.search(match.string, max(0, match.start() - _NEAR), match.start()) is not None


def _plural(word: str) -> str:
    if word.endswith("y"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith("x") else "s")
