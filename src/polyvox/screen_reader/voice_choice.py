"""The voice that a message asks for by name, language or type."""

from collections.abc import Sequence
from typing import Final

from polyvox.screen_reader.message_settings import MessageSettings
from polyvox.types import Voice

_HOST_DEFAULT: Final = "male1"
"""The type that Speech Dispatcher sends where nobody has chosen one."""


def choose_voice(settings: MessageSettings, voices: Sequence[Voice], default: str) -> str:
    """The id of a voice: the one that is named, else by language and type, else the default one."""
    able = [voice for voice in voices if not voice.reason]
    named = (settings.voice_name or "").lower()
    if found := next((voice.id for voice in able if voice.id.lower() == named), None):
        return found
    own = next((voice for voice in able if voice.id == default), able[0] if able else None)
    if own is None:
        return default
    wanted = _tag(settings.language or own.language)
    near = [voice for voice in able if _tag(voice.language) == wanted] or [
        voice for voice in able if _primary(voice.language) == _primary(wanted)
    ]
    kind = (settings.voice_type or _HOST_DEFAULT).lower()
    if not near or (kind == _HOST_DEFAULT and own in near):
        return default
    return _of_type(near, kind).id


def _of_type(voices: Sequence[Voice], kind: str) -> Voice:
    """The voice of a gender by its number, counted round where there are fewer; the first where there is none."""
    gender = "female" if "female" in kind else "male"
    if kind == _HOST_DEFAULT or not (fitting := [voice for voice in voices if voice.gender == gender]):
        return voices[0]
    place = int(kind[-1]) - 1 if kind[-1] in "123" else 0
    return fitting[place % len(fitting)]


def _tag(language: str) -> str:
    return language.lower().replace("_", "-")


def _primary(language: str) -> str:
    return _tag(language).partition("-")[0]
