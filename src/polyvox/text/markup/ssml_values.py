"""Values of SSML's attributes: lengths of time, rates, volumes and pitches."""

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from polyvox.types import SPEED_RANGE

MAX_BREAK_SECONDS: Final = 60.0
MAX_PITCH: Final = 12.0
MAX_VOLUME: Final = 4.0
BREAK_SECONDS: Final[Mapping[str, float]] = MappingProxyType(
    {"none": 0.0, "x-weak": 0.0, "weak": 0.25, "medium": 0.5, "strong": 1.0, "x-strong": 1.5}
)
RATES: Final[Mapping[str, float]] = MappingProxyType(
    {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.5}
)
VOLUMES: Final[Mapping[str, float]] = MappingProxyType(
    {"silent": 0.0, "x-soft": 0.25, "soft": 0.5, "medium": 1.0, "default": 1.0, "loud": 1.4, "x-loud": 2.0}
)
PITCHES: Final[Mapping[str, float]] = MappingProxyType(
    {"x-low": -4.0, "low": -2.0, "medium": 0.0, "default": 0.0, "high": 2.0, "x-high": 4.0}
)
_NUMBER: Final = re.compile(r"(?P<sign>[+-]?)(?P<amount>\d{1,6}(?:\.\d{1,6})?|\.\d{1,6})\s*(?P<unit>%|[a-zA-Z]{0,2})")


def _number(value: str) -> tuple[str, float, str] | None:
    found = _NUMBER.fullmatch(value.strip())
    if found is None:
        return None
    amount = float(found["amount"])
    return found["sign"], -amount if found["sign"] == "-" else amount, found["unit"].lower()


def break_seconds(time: str | None, strength: str | None) -> float | None:
    """Seconds of a `break`; None where its value says nothing."""
    if time is None:
        return BREAK_SECONDS.get((strength or "medium").strip().lower())
    found = _number(time)
    if found is None or found[1] < 0 or found[2] not in ("s", "ms"):
        return None
    return found[1] / 1000 if found[2] == "ms" else found[1]


def rate_of(value: str) -> float | None:
    """The factor that a `rate` stands for: a word, a factor, a percentage, or a change in percent."""
    if (named := RATES.get(value.strip().lower())) is not None:
        return named
    found = _number(value)
    if found is None or found[2] not in ("", "%"):
        return None
    sign, amount, unit = found
    factor = amount / 100 if unit else amount
    factor = 1 + factor if sign else factor
    return min(max(factor, SPEED_RANGE.lowest), SPEED_RANGE.highest) if factor > 0 else None


def volume_of(value: str) -> float | None:
    """The gain that a `volume` stands for: a word, 0 to 100, a change in percent, or decibels."""
    if (named := VOLUMES.get(value.strip().lower())) is not None:
        return named
    found = _number(value)
    if found is None:
        return None
    sign, amount, unit = found
    if unit == "db":
        return min(MAX_VOLUME, 10 ** (max(-96.0, min(amount, 96.0)) / 20))
    if unit not in ("", "%"):
        return None
    factor = 1 + amount / 100 if sign else amount / 100
    return min(max(factor, 0.0), MAX_VOLUME)


def pitch_of(value: str) -> float | None:
    """The semitones that a `pitch` stands for: a word, semitones, or a change in percent."""
    if (named := PITCHES.get(value.strip().lower())) is not None:
        return named
    found = _number(value)
    if found is None:
        return None
    sign, amount, unit = found
    if unit == "st":
        semitones = amount
    elif unit == "%" and sign and amount > -100:
        semitones = 12 * math.log2(1 + amount / 100)
    else:
        return None
    return min(max(semitones, -MAX_PITCH), MAX_PITCH)
