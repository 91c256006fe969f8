"""Message: what the host wants to be heard, as phrases, tones and index marks."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from polyvox.screen_reader.marked_text import IndexMark, read_message
from polyvox.screen_reader.message_settings import Capitals, MessageSettings
from polyvox.screen_reader.symbols import (
    KEYS,
    NAMES,
    character_name,
    key_name,
    spelled,
    with_capitals,
    with_punctuation,
)
from polyvox.screen_reader.synthesizer import Phrase
from polyvox.types import SPEED_RANGE

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"


class MessageKind(StrEnum):
    """The commands that bring a message."""

    SPEAK = "SPEAK"
    CHAR = "CHAR"
    KEY = "KEY"
    SOUND_ICON = "SOUND_ICON"


@dataclass(frozen=True, slots=True)
class Tone:
    """A short tone: the next letter is a capital one."""


Part = Phrase | Tone | IndexMark


def message_parts(kind: MessageKind, text: str, settings: MessageSettings, voice: str) -> list[Part]:
    """Parts of a message in the order in which they are heard."""
    parts: list[Part] = []
    for part in read_message(text) or ([" "] if kind is MessageKind.CHAR else []):
        if isinstance(part, IndexMark):
            parts.append(part)
            continue
        character = _single(kind, part)
        if character is not None and settings.capitals is Capitals.ICON and character.isupper():
            parts.append(Tone())
        words = _words(kind, part, settings) if character is None else character_name(character, settings.capitals)
        if words:
            parts.append(_phrase(words, settings, voice))
    return parts


def common_phrases(settings: MessageSettings, voice: str) -> list[Phrase]:
    """Letters, digits, marks and keys: what somebody who types hears."""
    words = [*map(character_name, _LETTERS), *dict.fromkeys(NAMES.values()), *KEYS]
    return [_phrase(word, settings, voice) for word in dict.fromkeys(words)]


def _single(kind: MessageKind, text: str) -> str | None:
    """The character of a message that has only one; the host takes names such as `a` for texts at times."""
    if kind is MessageKind.CHAR:
        return " " if text.strip() in ("", "space") else text.strip()
    stripped = text.strip()
    return stripped if kind is not MessageKind.SOUND_ICON and len(stripped) == 1 else None


def _words(kind: MessageKind, text: str, settings: MessageSettings) -> str:
    if kind is MessageKind.KEY:
        return key_name(text.strip())
    if kind is MessageKind.SOUND_ICON:
        return " ".join(text.replace("-", " ").replace("_", " ").split())
    if settings.is_spelled:
        return spelled(text, settings.capitals)
    words = with_punctuation(with_capitals(text, settings.capitals), settings.punctuation)
    return words if any(character.isalnum() for character in words) else ""


def _phrase(words: str, settings: MessageSettings, voice: str) -> Phrase:
    """The phrase whose audio, played at the rate that changes its pitch, has the speed that is asked for."""
    speed = settings.speed / settings.pitch_factor
    return Phrase(words, voice, min(max(speed, SPEED_RANGE.lowest), SPEED_RANGE.highest))
