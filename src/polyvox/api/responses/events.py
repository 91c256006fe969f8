"""Speech as server-sent events, in the shapes that OpenAI's clients parse."""

import asyncio
import base64
import json
import math
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from polyvox.audio.encode import AudioFormat
from polyvox.errors import PolyvoxError, openai_body
from polyvox.service.encoding import EncodedChunk, encoded
from polyvox.service.session import Session
from polyvox.service.telemetry.chunk_record import chunk_ranges, pcm_hash
from polyvox.service.words.sounds import NO_SOUNDS, SoundChoice
from polyvox.service.words.viseme_track import VisemeTrack
from polyvox.types import AudioChunk, WordTiming

OUTPUT_TOKEN_SECONDS = 0.05
"""The length of audio that counts as one output token."""

# Many clients read events line by line with a limit of 64 KiB. A multiple of three keeps base64 free of padding, so
# that the deltas may be joined before or after decoding.
_DELTA_BYTES = 24_576


@dataclass(frozen=True, slots=True)
class SpeechEvents:
    """Audio in `speech.audio.delta` events, then one `speech.audio.done`.

    With `chunks` there is one delta for each chunk of the engine, with the chunk's position and hash, the `sounds` that
    are asked for, and the fields that `chunk_extra` gives.
    """

    format: AudioFormat
    characters: int
    chunks: bool
    chunk_extra: Callable[[AudioChunk], Mapping[str, Any]] = field(default=lambda chunk: {})
    sounds: SoundChoice = NO_SOUNDS
    media_type = "text/event-stream; charset=utf-8"
    buffered = False

    async def parts(self, session: Session) -> AsyncGenerator[bytes]:
        seconds, visemes = 0.0, VisemeTrack()
        async with aclosing(encoded(session, self.format)) as parts:
            async for part in parts:
                seconds += part.chunk.duration if part.chunk else 0.0
                if self.chunks and part.chunk is not None:
                    info = await chunk_info(part.chunk, phonemes=self.sounds.phonemes)
                    if self.sounds.visemes:
                        info["visemes"] = [viseme.fields for viseme in visemes.add(part.chunk)]
                    yield _event(_delta(part.data) | {"chunk": {**info, **self.chunk_extra(part.chunk)}})
                else:
                    for event in _deltas(part):
                        yield event
        done: dict[str, Any] = {"type": "speech.audio.done", "usage": self._usage(seconds)}
        if self.sounds.visemes and (last := visemes.finish()):
            done["visemes"] = [viseme.fields for viseme in last]
        yield _event(done)

    def error_tail(self, error: PolyvoxError) -> bytes:
        return _event({"type": "error", **openai_body(error)})

    def _usage(self, seconds: float) -> dict[str, int]:
        output_tokens = math.ceil(round(seconds / OUTPUT_TOKEN_SECONDS, 6))
        return {
            "input_tokens": self.characters,
            "output_tokens": output_tokens,
            "total_tokens": self.characters + output_tokens,
        }


def _event(content: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(content, separators=(",", ":")).encode() + b"\n\n"


def _delta(data: bytes) -> dict[str, Any]:
    return {"type": "speech.audio.delta", "audio": base64.b64encode(data).decode()}


def _deltas(part: EncodedChunk) -> Iterator[bytes]:
    for start in range(0, len(part.data), _DELTA_BYTES):
        yield _event(_delta(part.data[start : start + _DELTA_BYTES]))


def word_times(word: WordTiming, *, phonemes: bool) -> dict[str, Any]:
    """A word's start and end in seconds and, where they are asked for, those of its phonemes."""
    times: dict[str, Any] = {"start": round(word.start, 4), "end": round(word.end, 4)}
    if phonemes:
        times["phonemes"] = [
            {"phoneme": each.phoneme, "start": round(each.start, 4), "end": round(each.end, 4)}
            for each in word.phonemes
        ]
    return times


async def chunk_info(chunk: AudioChunk, *, phonemes: bool = False) -> dict[str, Any]:
    """A chunk's position in its utterance, its text, and the hash of its samples as 16-bit little-endian PCM."""
    info = {
        "index": chunk.index,
        "start": chunk.start,
        "end": chunk.end,
        "sample_rate": chunk.sample_rate,
        **chunk_ranges(chunk),
        "sha256": await asyncio.to_thread(pcm_hash, chunk.pcm),
        "text": chunk.text,
        "words": [{"word": word.word, **word_times(word, phonemes=phonemes)} for word in chunk.words],
    }
    if chunk.timing_source is not None:
        info["timing_source"] = chunk.timing_source
    if chunk.voice:
        info["voice"] = chunk.voice
    if chunk.marks:
        info["marks"] = [{"name": mark.name, "time": round(mark.time, 4)} for mark in chunk.marks]
    return info
