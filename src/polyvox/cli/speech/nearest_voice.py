"""The nearest name for a voice that does not exist."""

import difflib
from collections.abc import Iterator
from contextlib import contextmanager

from polyvox.errors import UnknownVoiceError
from polyvox.service.speech import SpeechService
from polyvox.types import Voice
from polyvox.voices.mixing import parse_mix


def nearest_voice(wanted: str, voices: list[Voice]) -> str | None:
    """The id of the voice whose id or name is most like a word; None where none is."""
    names = {voice.id.lower(): voice.id for voice in voices}
    for voice in voices:
        names.setdefault(voice.name.lower(), voice.id)
    close = difflib.get_close_matches(wanted.lower(), list(names), n=1)
    return names[close[0]] if close else None


@contextmanager
def offering_nearest(service: SpeechService, model: str | None, voice: str | None) -> Iterator[None]:
    """Within the block, the error for an unknown voice names the nearest one that there is."""
    try:
        yield
    except UnknownVoiceError as error:
        voices = list(service.registry.engine(model).voices)
        for wanted in _names(voice or ""):
            known = any(listed.id == wanted for listed in voices)
            nearest = None if known else nearest_voice(wanted, voices)
            if nearest is not None:
                raise UnknownVoiceError(
                    f"There is no voice {wanted[:80]!r}; did you mean {nearest!r}? `polyvox voices list` shows all.",
                    field="voice",
                ) from error
        raise


def _names(voice: str) -> list[str]:
    """The voices that a name or a mix stands for."""
    try:
        return [term.voice for term in parse_mix(voice)]
    except UnknownVoiceError:
        return [voice]
