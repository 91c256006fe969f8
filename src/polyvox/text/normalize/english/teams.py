"""Teams and drivers by the letters of a score board: "LAD 5, TOR 4", "BOS @ CAR"."""

import re
from typing import Final

from polyvox.text.normalize.english.letters import before_stop, kept_apart
from polyvox.text.tracked import TrackedText

_TEAMS: Final = frozenset(
    "ANA ARI ATL AUS BAL BKN BOS BUF CAL CAR CHA CHC CHI CIN CLE COL DAL DEN DET EDM FLA GSW HOU IND JAX LAA LAC "
    "LAD LAL LAR LAS LVR MEM MIA MIL MIN MTL NOP NSH NYG NYI NYJ NYM NYR NYY OAK OKC ORL OTT PHI PHX PIT POR SAC "
    "SAS SEA SJS STL TBL TEN TEX TOR UTA VAN VGK WAS WPG WSH".split()
)
_DRIVERS: Final = frozenset(
    "ALB ALO ANT BEA BOR BOT COL GAS HAD HAM HUL LAW LEC LIN MAG NOR OCO PER PIA RIC RUS SAI STR TSU VER ZHO".split()
)
_MET: Final = re.compile(
    r"(?<![\w/.-])(?P<first>[A-Z]{3})(?P<points> \d{1,3})?"
    r"(?P<joint> ?(?:@|vs?\.?|at|[-–,/]) ?| )(?P<last>[A-Z]{3})(?![\w/-]|\.\w)"
)
_LETTERS: Final = re.compile("[A-Z]{3}")
_DRIVER: Final = re.compile(r"(?<![\w/.-])[A-Z]{3}(?![\w/-]|\.\w)")
_RACE: Final = re.compile(r"\b(?:F1|DN[FS]|GP|P\d{1,2}|FP[123]|Q[123]|laps?|pole|quali|grid)\b")
_ANY: Final = re.compile(r"[A-Z]{3}(?: \d{1,3}(?:,| [-–]) [A-Z]{3} \d| ?(?:@|vs?\.?|at) ?[A-Z]{3}\b)")


def read(text: TrackedText) -> TrackedText:
    """Both teams of a match, where each has its points or one meets the other, and the drivers of a race."""
    if _LETTERS.search(text.text) is None:
        return text
    if _RACE.search(text.text) and len(_DRIVERS.intersection(_DRIVER.findall(text.text))) > 1:
        text = text.sub(_DRIVER, _driver)
    return text.sub(_MET, _met) if _ANY.search(text.text) else text


def _driver(match: re.Match[str]) -> str | None:
    return before_stop(kept_apart(match.group()), match) if match.group() in _DRIVERS else None


def _met(match: re.Match[str]) -> str | None:
    first, last = match["first"], match["last"]
    if first not in _TEAMS or last not in _TEAMS:
        return None
    met = match["points"] or match["joint"].strip() in ("@", "v", "v.", "vs", "vs.", "at")
    joint = {"@": " at ", "-": ", ", "–": ", ", "/": ", "}.get(match["joint"].strip(), match["joint"])
    return f"{kept_apart(first)}{match['points'] or ''}{joint}{before_stop(kept_apart(last), match)}" if met else None
