"""A tone engine that knows when its phonemes are heard."""

from collections.abc import AsyncIterator
from dataclasses import replace

from helpers.fakes import ToneEngine
from polyvox.types import AudioChunk, Capabilities, PhonemeShare, Utterance, WordTiming


class SoundingToneEngine(ToneEngine):
    """Every letter of a word is a phoneme, all of one length; a fifth of a word at its end is silence."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, phoneme_timings=True)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async for chunk in super().speak(utterance):
            yield replace(chunk, words=tuple(_sounding(word) for word in chunk.words))


def _sounding(word: WordTiming) -> WordTiming:
    letters = [letter for letter in word.word.lower() if letter.isalpha()]
    share = 0.8 / max(1, len(letters))
    return replace(
        word, shares=tuple(PhonemeShare(each, at * share, (at + 1) * share) for at, each in enumerate(letters))
    )
