"""Speaks the sentences of a check through a running service, with the clock at hand."""

import asyncio
from dataclasses import replace
from functools import partial

import numpy as np

from polyvox.errors import PolyvoxError
from polyvox.evaluate.soundness.spoken_sentence import SpokenSentence, TrialVoice
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Pcm, Utterance
from polyvox.voices.records import SHARED_OWNER
from polyvox.voices.references import RegisteredVoice

_UNCACHED = replace(LOCAL_CALL, use_cache=False)
_SEED = 1
_LONGEST_SECONDS = 60.0
"""Speech beyond this is that of a model that does not end."""


class ServiceSpeaker:
    """Speaks with one model; the same text in the same voice has always the same seed."""

    def __init__(self, service: SpeechService, voices: VoiceService, timeout: float) -> None:
        self._service = service
        self._voices = voices
        self._timeout = timeout

    async def __call__(self, voice: TrialVoice, text: str, *, whole: bool = False) -> SpokenSentence:
        sentence = SpokenSentence(voice.label, text)
        try:
            async with asyncio.timeout(self._timeout):
                return await self._spoken(sentence, self._request(voice, text), whole=whole)
        except TimeoutError:
            return replace(sentence, error=f"It was not spoken within {self._timeout:g} seconds.")
        except PolyvoxError as error:
            return replace(sentence, error=error.message)

    def _request(self, voice: TrialVoice, text: str) -> SpeechRequest:
        resolve = partial(
            self._voices.resolver.resolve, voice.reference, SHARED_OWNER, transcript=voice.transcript, wordless=True
        )
        name = voice.reference.name if isinstance(voice.reference, RegisteredVoice) else ""
        utterance = Utterance(text, name, language=voice.language, seed=_SEED)
        return SpeechRequest(utterance, door="check", resolve_voice=resolve)

    async def _spoken(self, sentence: SpokenSentence, request: SpeechRequest, *, whole: bool) -> SpokenSentence:
        clock = asyncio.get_running_loop().time
        began, first, parts, samples = clock(), 0.0, list[Pcm](), 0
        async with await self._service.open(request, _UNCACHED, whole=whole) as session:
            async for chunk in session:
                first = first or clock() - began
                parts.append(chunk.pcm if chunk.pcm.ndim == 1 else chunk.pcm.mean(axis=1, dtype=np.float32))
                samples += len(chunk.pcm)
                if samples > _LONGEST_SECONDS * session.sample_rate:
                    raise PolyvoxError(f"The speech did not end within {_LONGEST_SECONDS:g} seconds of audio.")
        if not samples:
            raise PolyvoxError("The speech holds no audio.")
        wall = clock() - began
        return replace(
            sentence, pcm=np.concatenate(parts), rate=session.sample_rate, first_seconds=first, wall_seconds=wall
        )
