"""The nearest name for a voice that does not exist."""

from collections.abc import Iterator
from contextlib import contextmanager

from polyvox.errors import UnknownVoiceError
from polyvox.service.speech import SpeechService
from polyvox.service.voices.early_check import nearest_voice, unknown_voice
from polyvox.voices.mixing import parse_mix


@contextmanager
def offering_nearest(service: SpeechService, model: str | None, voice: str | None) -> Iterator[None]:
    """Within the block, the error for an unknown voice names the nearest one that there is."""
    try:
        yield
    except UnknownVoiceError as error:
        voices = list(service.registry.engine(model).voices)
        for wanted in _names(voice or ""):
            known = any(listed.id == wanted for listed in voices)
            if not known and nearest_voice(wanted, voices) is not None:
                raise unknown_voice(wanted, voices) from error
        raise


def _names(voice: str) -> list[str]:
    """The voices that a name or a mix stands for."""
    try:
        return [term.voice for term in parse_mix(voice)]
    except UnknownVoiceError:
        return [voice]
