"""A tone engine with what the Studio shows: voices of two languages and genders, grades, mixes."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from helpers.fakes import TONES, ToneEngine
from polyvox.errors import UnknownVoiceError
from polyvox.types import AudioChunk, Capabilities, Utterance, Voice
from polyvox.voices.mixing import parse_mix


class StudioEngine(ToneEngine):
    """Speaks mixes with the tone of their first voice; `spoken` has the voices that were asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.spoken: list[str] = []

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, languages=frozenset({"en-us", "en-gb"}), voice_mixing=True)

    @property
    def voices(self) -> Sequence[Voice]:
        return [
            Voice("low", "Low", "en-us", "male", "A calm tone", grade="A"),
            Voice("high", "High", "en-gb", "female", grade="B-"),
        ]

    def check(self, utterance: Utterance) -> None:
        for term in parse_mix(utterance.voice):
            if term.voice not in TONES:
                raise UnknownVoiceError(f"There is no voice {term.voice!r}; use low or high.", field="voice")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        self.spoken.append(utterance.voice)
        async for chunk in super().speak(replace(utterance, voice=parse_mix(utterance.voice)[0].voice)):
            yield chunk
