"""Listens to spoken sentences and counts the words that were heard otherwise than they are written."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from polyvox.audio.analysis import mono_16k
from polyvox.errors import NotServedError
from polyvox.runtime.cancellation import current_token
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.listening.recognisers import Recognisers
from polyvox.service.speech import SpeechService
from polyvox.types import AudioChunk, Pcm
from polyvox.voices.recognition.heard_words import HeardWords, compare_heard
from polyvox.voices.recognition.languages import LANGUAGES, UNSPACED
from polyvox.voices.recognition.recogniser import RecognitionTask
from polyvox.voices.recognition.transcribe import windows

_UNHEARD: Final = frozenset({"hi"})
"""Languages in which recognisers err so often that a check says nothing: Whisper writes Hindi in Urdu's letters."""
_MOST_WRONG: Final = 0.05
"""Share of a sentence's words that may be heard otherwise, so that one of 20 is no reason to speak it again."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The transcript of a take, and its words compared with those of its text."""

    heard: str
    words: HeardWords

    @property
    def passed(self) -> bool:
        return self.words.wrong <= _MOST_WRONG * self.words.words


class Proofreader:
    """Hears one sentence at a time, on a thread of the lowest priority; what it finds depends on nothing else."""

    def __init__(self, recognisers: Recognisers, *, espeak: str) -> None:
        self._recognisers = recognisers
        self._espeak = espeak
        self._executor = DeviceExecutor("polyvox-proofreader", 1, niceness=DeviceExecutor.LOWEST)

    @classmethod
    def for_service(cls, service: SpeechService) -> "Proofreader":
        """One that hears with the recognisers of a service."""
        return cls(service.listening.recognisers, espeak=service.settings.espeak)

    async def check_language(self, language: str) -> None:
        """Refuse a language that no installed recogniser hears; the message has the command that mends it."""
        await asyncio.to_thread(self._recognisers.choose, None, RecognitionTask(_known(language)))

    async def read(self, text: str, take: Sequence[AudioChunk], language: str) -> Proof:
        """Hear the take of a text; `NotServedError` where no installed recogniser knows its language."""
        pcm, rate = np.concatenate([chunk.pcm for chunk in take]), take[0].sample_rate
        return await self._executor.run(partial(self._read, text, pcm, rate, language))

    async def close(self) -> None:
        """End the thread, once what it hears has ended."""
        await asyncio.to_thread(self._executor.close)

    def _read(self, text: str, pcm: Pcm, rate: int, language: str) -> Proof:
        code = _known(language)
        task = RecognitionTask(code)
        recogniser = self._recognisers.load(self._recognisers.choose(None, task).model)
        check = current_token().check
        parts = windows(mono_16k(pcm, rate), recogniser.longest)
        texts = [recogniser.recognise(part, task, check).text for part in parts]
        heard = ("" if code in UNSPACED else " ").join(filter(None, texts))
        return Proof(heard, compare_heard(text, heard, language, espeak=self._espeak))


def _known(language: str) -> str:
    """The recognisers' code of a language; `NotServedError` for one that they do not hear, or hear badly."""
    code = language.lower().replace("_", "-").partition("-")[0]
    code = {"cmn": "zh"}.get(code, code)
    if code not in LANGUAGES or code in _UNHEARD:
        raise NotServedError(
            f"Speech in the language {language[:20]!r} cannot be verified: no recogniser hears it well."
        )
    return code
