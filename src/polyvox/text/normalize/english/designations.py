"""Designations of capitals and figures: part numbers, court cases, tyres, candidates of a release."""

import re
from typing import Final

from polyvox.text.normalize.english.numbers import cardinal, code, spelled, version
from polyvox.text.tracked import TrackedText

# A part's number begins with a capital; figures first are a measure more often, "16-GB".
_PART: Final = re.compile(
    r"(?<![\w/.-])(?=[A-Z-]{0,8}\d?[A-Z-]*\d)[A-Z][A-Z0-9]{0,11}(?:-[A-Z0-9]{1,12}){1,5}(?![\w-])"
)
_JOINT: Final = re.compile(r"(?<=[A-Z])-(?=[A-Z])|(?<=\d)-(?=[A-Z])")
_ENDS: Final = re.compile(r"[A-Z]\d{1,3}-[A-Z]\d{1,3}")
_CASE: Final = re.compile(
    r"(?<![\w:.-])(?:(?P<office>\d):)?(?P<year>\d\d)-(?P<kind>cv|cr|md|mc|mj|bk|ap|po|cm|sw|CV|CR|MD|MC|MJ|BK|AP)-"
    r"(?P<number>\d{2,6})(?:-(?P<judge>[A-Z]{1,4}(?:-[A-Z]{1,4}){0,3}))?(?![\w-])"
)
_TYRE: Final = re.compile(
    r"(?<![\w/.])(?P<kind>P|LT|ST)?(?P<width>[1-3]\d[05])/(?P<profile>[2-9][05]) ?(?P<radial>Z?R)[ -]?(?P<rim>[12]\d)"
    r"(?!\d|\.\d)"
)
_CANDIDATE: Final = re.compile(
    r"(?<=\d)-(?P<stage>rc|alpha|beta|dev|pre|preview|snapshot|canary|nightly|next|build|hotfix|SNAPSHOT|RC)"
    r"(?:[.-]?(?P<number>\d{1,4}))?(?![\w-])"
)
_TAG: Final = re.compile(r"(?<=\d)-(?=(?:alpine|slim|bookworm|bullseye|jammy|focal|noble|lts|LTS|stable|ubuntu)(?!\w))")
_LANGUAGE: Final = re.compile(
    r"(?<![\w./-])(?P<name>py|python|go|php|node|ruby|gcc|clang|cuda|rhel|ubuntu|pg|java|net|lua|julia)"
    r"(?P<parts>\d{1,2}(?:\.\d{1,3}){1,3})(?!\w|\.\d)"
)
_LUMBER: Final = re.compile(r"(?<![\w.])(?P<thick>[1-8])x(?P<wide>\d{1,2})s(?!\w)")
_ALL_DAY: Final = re.compile(r"(?<![\w.])24x7(?:x365)?(?!\w)")
_WIRE: Final = re.compile(
    r"(?<![\w./])(?P<gauge>\d{1,2})/(?P<strands>[2-5])(?= (?:NM|UF|MC|AC|SO|SJ|Romex|romex|wire|cable)\b)"
)
_STAGES: Final = {"rc": "RC", "dev": "dev", "SNAPSHOT": "snapshot"}


def read(text: TrackedText) -> TrackedText:
    """Everything here comes before dates, times and units, which would see their own figures only."""
    if "-" in text.text:
        text = text.sub(_CASE, _case).sub(_CANDIDATE, _candidate).sub(_TAG, " ").sub(_PART, _part)
    if "/" in text.text:
        text = text.sub(_TYRE, _tyre).sub(
            _WIRE, lambda match: f"{cardinal(match['gauge'])} {cardinal(match['strands'])}"
        )
    if "x" in text.text:
        text = text.sub(_ALL_DAY, "twenty four seven").sub(_LUMBER, _lumber)
    return text.sub(_LANGUAGE, lambda match: f"{match['name']} {version(match['parts'])}") if "." in text.text else text


def _part(match: re.Match[str]) -> str | None:
    """Hyphens between two names are silent; those before a figure are left to the readers of figures."""
    return None if _ENDS.fullmatch(match.group()) else _JOINT.sub(" ", match.group())


def _case(match: re.Match[str]) -> str:
    """The number of a case in court: its year, its kind by letters, its number."""
    office = f"{cardinal(match['office'])}, " if match["office"] else ""
    judge = ", " + " ".join(match["judge"].replace("-", "")) if match["judge"] else ""
    number = match["number"]
    digits = spelled(number) if len(number) > 3 else code(number)
    return f"{office}{code(match['year'])} {'.'.join(match['kind'].upper())} {digits}{judge}"


def _tyre(match: re.Match[str]) -> str:
    """ "225/65R17": width, profile, radial, rim."""
    kind = f"{match['kind']} " if match["kind"] else ""
    return f"{kind}{code(match['width'])} {cardinal(match['profile'])} {match['radial']} {cardinal(match['rim'])}"


def _candidate(match: re.Match[str]) -> str:
    stage, number = match["stage"], match["number"]
    return f" {_STAGES.get(stage, stage)}" + (f" {cardinal(number)}" if number else "")


def _lumber(match: re.Match[str]) -> str:
    wide = cardinal(match["wide"])
    return f"{cardinal(match['thick'])} by {wide}{'es' if wide.endswith('x') else 's'}"
