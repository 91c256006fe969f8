"""The trial of a model: it speaks sentences alone, as a whole, and four at once."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from polyvox.evaluate.soundness.spoken_sentence import SpokenSentence, TrialVoice

AT_ONCE = 4
_EQUAL = 1e-3
"""Two samples that differ by no more are the same but for rounding."""


class Speaks(Protocol):
    """Speaks a text; an error is noted in the sentence."""

    async def __call__(self, voice: TrialVoice, text: str, *, whole: bool = False) -> SpokenSentence: ...


@dataclass(frozen=True, slots=True)
class Difference:
    """Two speeches of one text, compared: whether their samples are equal, and by how much the second is longer."""

    equal: bool
    longer: float

    @classmethod
    def of(cls, one: SpokenSentence, other: SpokenSentence) -> "Difference | None":
        """None where one of them failed."""
        if one.error or other.error:
            return None
        same = len(one.pcm) == len(other.pcm) and bool(np.abs(one.pcm - other.pcm).max(initial=0.0) <= _EQUAL)
        return cls(same, other.seconds / one.seconds - 1.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """Everything that a model has spoken. The first voice has also spoken one text as a stream and as a whole.

    `together` are the first sentences again, all at once, which took `together_seconds`.
    """

    voices: tuple[TrialVoice, ...]
    alone: tuple[SpokenSentence, ...]
    stream_and_whole: Difference | None
    together: tuple[SpokenSentence, ...]
    together_seconds: float

    def of_voice(self, voice: TrialVoice) -> list[SpokenSentence]:
        return [sentence for sentence in self.alone if sentence.voice == voice.label]

    @property
    def alone_and_together(self) -> list[Difference | None]:
        """The first sentences, spoken alone and at once with others."""
        return [Difference.of(*pair) for pair in zip(self.alone, self.together, strict=False)]


def steps_of(voices: Sequence[TrialVoice], sentences: Sequence[str]) -> int:
    """Steps of a trial, for its progress."""
    return len(voices) * len(sentences) + 2


async def run_trial(
    speak: Speaks, voices: Sequence[TrialVoice], sentences: Sequence[str], on_step: Callable[[], None]
) -> Trial:
    """Let a model speak. What each voice prepares is prepared before the clock runs."""
    alone: list[SpokenSentence] = []
    for voice in voices:
        await speak(voice, sentences[0])
        for text in sentences:
            alone.append(await speak(voice, text))
            on_step()
    first, paragraph = voices[0], " ".join(sentences[:2])
    streamed, whole = await speak(first, paragraph), await speak(first, paragraph, whole=True)
    on_step()
    loop = asyncio.get_running_loop()
    began = loop.time()
    together = await asyncio.gather(*(speak(first, text) for text in sentences[:AT_ONCE]))
    seconds = loop.time() - began
    on_step()
    return Trial(tuple(voices), tuple(alone), Difference.of(streamed, whole), tuple(together), seconds)
