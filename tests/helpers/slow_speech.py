"""A tone engine that takes its time over some texts, so that they can be interrupted."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from helpers.fakes import PlainToneEngine
from helpers.sounding import SoundingToneEngine
from polyvox.types import AudioChunk, Utterance

SLOWLY = "slowly"


class SlowWordEngine(SoundingToneEngine):
    """Speaks a text with the word "slowly" in 200 chunks, each after `pause` seconds, and any other at once."""

    def __init__(self, pause: float = 0.02, **options: Any) -> None:
        super().__init__(**options)
        self._slow = PlainToneEngine(chunks=200, delay=pause)
        self._quick = SoundingToneEngine(**options)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        self.heard.append(utterance)
        self.speaking += 1
        try:
            async with aclosing((self._slow if SLOWLY in utterance.text else self._quick).speak(utterance)) as speech:
                async for chunk in speech:
                    yield chunk
        finally:
            self.speaking -= 1
            self.closed += 1
