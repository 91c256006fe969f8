"""Utterances for an evaluation, spoken in this process or by a running server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np

from polyvox.api.requests.languages import language_tag
from polyvox.audio.encode import AudioFormat, encode
from polyvox.cli.speech.speech import SayRequest, remote_speech
from polyvox.config import Settings
from polyvox.errors import PolyvoxError
from polyvox.evaluate.evaluation import Speak
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.local_service import running_service
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Pcm, Utterance

MAX_AUDIO_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class SpeakerOptions:
    """Options of all utterances; None leaves the choice to the settings or to the server."""

    model: str | None = None
    language: str | None = None


@asynccontextmanager
async def local_speaker(settings: Settings, options: SpeakerOptions) -> AsyncIterator[Speak]:
    """Speak in this process; the model is loaded once."""
    tag = None if options.language is None else language_tag(options.language, "language")
    async with running_service(settings) as service:

        async def speak(voice: str, text: str) -> tuple[Pcm, int]:
            request = SpeechRequest(Utterance(text, voice, language=tag), model=options.model, door="cli")
            async with await service.open(request, LOCAL_CALL) as session:
                return await _whole((chunk.pcm async for chunk in session), session.sample_rate), session.sample_rate

        yield speak


@asynccontextmanager
async def remote_speaker(url: str, api_key: str | None, options: SpeakerOptions) -> AsyncIterator[Speak]:
    """Have a running server speak."""

    async def speak(voice: str, text: str) -> tuple[Pcm, int]:
        async with remote_speech(SayRequest(text, voice, options.model, options.language), url, api_key) as speech:
            pcm = await _whole((segment.pcm async for segment in speech.segments), speech.sample_rate)
            return pcm, speech.sample_rate

    yield speak


def keeping(speak: Speak, folder: Path) -> Speak:
    """A speaker that also writes its utterances to files: 0001.wav, 0002.wav ... in the order they are spoken."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = count(1)

    async def kept(voice: str, text: str) -> tuple[Pcm, int]:
        file = folder / f"{next(numbers):04}.wav"
        pcm, rate = await speak(voice, text)
        await asyncio.to_thread(lambda: file.write_bytes(encode(pcm, AudioFormat.WAV, rate)))
        return pcm, rate

    return kept


async def _whole(pieces: AsyncIterator[Pcm], rate: int) -> Pcm:
    parts: list[Pcm] = []
    length = 0
    async for piece in pieces:
        parts.append(piece)
        length += len(piece)
        if length > MAX_AUDIO_SECONDS * rate:
            raise PolyvoxError(f"The speech is longer than {MAX_AUDIO_SECONDS:g} seconds; give shorter texts.")
    if not length:
        raise PolyvoxError("The speech holds no audio.")
    return np.concatenate(parts)
