"""MessageSettings: the parameters that Speech Dispatcher sends before each message."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class Punctuation(StrEnum):
    """Share of the marks of a text that are named."""

    NONE = "none"
    SOME = "some"
    MOST = "most"
    ALL = "all"


class Capitals(StrEnum):
    """Announcement of a capital letter: not at all, by the word before it, or by a tone."""

    NONE = "none"
    SPELL = "spell"
    ICON = "icon"


class SettingError(ValueError):
    """A parameter with a value that it cannot have."""


@dataclass(frozen=True, slots=True)
class MessageSettings:
    """Rate, pitch and volume lie between -100 and 100. `voice_type` is SSIP's: male1, female2, child_male ..."""

    rate: int = 0
    pitch: int = 0
    volume: int = 100
    punctuation: Punctuation = Punctuation.NONE
    capitals: Capitals = Capitals.NONE
    is_spelled: bool = False
    language: str | None = None
    voice_name: str | None = None
    voice_type: str | None = None

    @property
    def speed(self) -> float:
        """0.5 at the lowest rate, 1 in the middle, 4 at the highest; equal steps of the rate are equal ratios."""
        return math.exp2(self.rate / (100 if self.rate < 0 else 50))

    @property
    def pitch_factor(self) -> float:
        """From 4 semitones below the voice's own pitch to 4 above it."""
        return math.exp2(self.pitch / 300)

    @property
    def gain(self) -> float:
        """The factor of the samples: 0 at the lowest volume, 1 at the highest, which is the host's default."""
        return (self.volume + 100) / 200


_NULL: Final = "NULL"
_NUMBERS: Final = frozenset({"rate", "pitch", "volume"})
_TEXTS: Final = {"language": "language", "synthesis_voice": "voice_name", "voice": "voice_type"}
_IGNORED: Final = frozenset({"pitch_range"})


def with_parameters(settings: MessageSettings, lines: Iterable[str]) -> MessageSettings:
    """The settings after lines of `name=value`; `SettingError` for a name or a value that there is not."""
    for line in lines:
        name, equals, value = line.partition("=")
        if not equals or not value:
            raise SettingError(f"{line[:80]!r} is no parameter")
        if name not in _IGNORED:
            settings = _with_parameter(settings, name, value)
    return settings


def _with_parameter(settings: MessageSettings, name: str, value: str) -> MessageSettings:
    if name in _NUMBERS:
        return _with_number(settings, name, number(value, -100, 100))
    if name in _TEXTS:
        return _with_text(settings, _TEXTS[name], None if value == _NULL else value)
    try:
        if name == "punctuation_mode":
            return replace(settings, punctuation=Punctuation(value))
        if name == "cap_let_recogn":
            return replace(settings, capitals=Capitals(value))
    except ValueError:
        raise SettingError(f"{name} cannot be {value[:80]!r}") from None
    if name == "spelling_mode" and value in ("on", "off"):
        return replace(settings, is_spelled=value == "on")
    raise SettingError(f"{name[:80]!r} cannot be {value[:80]!r}")


def _with_number(settings: MessageSettings, name: str, value: int) -> MessageSettings:
    if name == "rate":
        return replace(settings, rate=value)
    return replace(settings, pitch=value) if name == "pitch" else replace(settings, volume=value)


def _with_text(settings: MessageSettings, name: str, value: str | None) -> MessageSettings:
    if name == "language":
        return replace(settings, language=value)
    return replace(settings, voice_name=value) if name == "voice_name" else replace(settings, voice_type=value)


def number(value: str, lowest: int, highest: int) -> int:
    """A whole number within its limits."""
    try:
        parsed = int(value) if len(value) <= 8 else None
    except ValueError:
        parsed = None
    if parsed is None or not lowest <= parsed <= highest:
        raise SettingError(f"{value[:80]!r} is no number between {lowest} and {highest}")
    return parsed
