"""PhraseCache: short phrases that have been spoken, such as letters and keys."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Final

import numpy as np

from polyvox.screen_reader.synthesizer import Phrase, Samples, Synthesizer

MAX_CHARS: Final = 24
"""The longest phrase that is kept."""
MAX_BYTES: Final = 32_000_000


class PhraseCache:
    """Speaks phrases, and keeps the short ones; the least recently heard make room."""

    def __init__(self, synthesizer: Synthesizer, max_bytes: int = MAX_BYTES) -> None:
        self._synthesizer = synthesizer
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[Phrase, Samples] = OrderedDict()

    def __contains__(self, phrase: Phrase) -> bool:
        return phrase in self._kept

    async def speak(self, phrase: Phrase) -> AsyncGenerator[Samples, None]:
        """The audio of a phrase; it is kept when it has been made to its end."""
        if (kept := self._kept.get(phrase)) is not None:
            self._kept.move_to_end(phrase)
            yield kept
            return
        pieces: list[Samples] = []
        async with aclosing(self._synthesizer.speak(phrase)) as made:
            async for samples in made:
                if len(phrase.text) <= MAX_CHARS:
                    pieces.append(samples)
                yield samples
        if pieces:
            self._keep(phrase, Samples(np.concatenate([piece.pcm for piece in pieces]), pieces[0].sample_rate))

    async def warm(self, phrases: Iterable[Phrase]) -> None:
        """Make phrases before they are asked for; cancelled when somebody wants to hear something."""
        for phrase in phrases:
            if phrase not in self._kept:
                async with aclosing(self.speak(phrase)) as made:
                    async for _ in made:
                        await asyncio.sleep(0)

    def _keep(self, phrase: Phrase, samples: Samples) -> None:
        if phrase in self._kept:
            return
        self._kept[phrase] = samples
        self._bytes += samples.pcm.nbytes
        while self._bytes > self._max_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].pcm.nbytes
