"""Checks of an utterance, its voice and its recording that engines share, with the errors that tell the caller."""

from collections.abc import Sequence

from polyvox.errors import InvalidRequestError, PromptError, SilentTextError, UnknownVoiceError
from polyvox.types import PreparedVoice, Voice, VoicePrompt

MAX_SECONDS = 30.0
_LEAST_SECONDS = 0.5


def check_recording(prompt: VoicePrompt) -> None:
    """Refuse a recording that is too long or too short, before any work."""
    seconds = len(prompt.pcm) / prompt.sample_rate
    if seconds > MAX_SECONDS:
        raise PromptError(
            f"The recording has {seconds:.1f} seconds; {MAX_SECONDS:g} are the most. Cut it.", field="voice"
        )
    if seconds < _LEAST_SECONDS:
        raise PromptError("The recording is too short to hear a voice in it; send a second or more.", field="voice")


def check_engine(voice: PreparedVoice, engine: str) -> None:
    """Refuse a voice that another model prepared."""
    if voice.engine != engine:
        raise InvalidRequestError(f"This voice was prepared for {voice.engine!r}, not for {engine!r}.", field="voice")


def known_voice(name: str, voices: Sequence[Voice], without: str) -> str:
    """The id of the voice of this name; `without` says what to do where there are none."""
    known = [voice.id for voice in voices]
    if name.lower() not in known:
        remedy = f"use one of {', '.join(known)}" if known else without
        raise UnknownVoiceError(f"There is no voice {name[:80]!r}; {remedy}.", field="voice")
    return name.lower()


def nothing_to_say() -> SilentTextError:
    return SilentTextError("Nothing in the text can be spoken: it holds no word or number.", field="input")
