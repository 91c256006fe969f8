"""Messages that the server sends on the socket."""

import base64
from collections.abc import Sequence
from typing import Any

from polyvox.api.dialects.realtime.frames import AudioPiece
from polyvox.api.dialects.realtime.messages import Start
from polyvox.api.responses.events import word_times
from polyvox.errors import OverloadedError, PolyvoxError, UnavailableError, status_of
from polyvox.service.speech_request import SpeechOutput
from polyvox.service.words.viseme_track import Viseme
from polyvox.types import AudioChunk

Event = dict[str, Any]


def started(start: Start, number: int, output: SpeechOutput, request_id: str | None) -> Event:
    """The context is open, and this is the form of its audio; `number` stands for it in binary frames."""
    return {
        "type": "started",
        "context": start.context,
        "number": number,
        "model": output.model,
        "format": str(start.audio_format),
        "sample_rate": output.sample_rate,
        "channels": output.channels,
        "warnings": list(output.warnings),
        "request_id": request_id,
    }


def audio(context: str, sequence: int, piece: AudioPiece) -> Event:
    """Bytes of audio in base64."""
    return {
        "type": "audio",
        "context": context,
        "sequence": sequence,
        "start_sample": piece.start_sample,
        "end_sample": piece.end_sample,
        "data": base64.b64encode(piece.data).decode(),
    }


def words(context: str, chunk: AudioChunk, *, phonemes: bool) -> Event:
    """Times of a chunk's words, in seconds of the context's audio, and where they stand in its text."""
    listed = [
        {
            "word": timing.word,
            **word_times(timing, phonemes=phonemes),
            "span": [timing.span.start, timing.span.end],
        }
        for timing in chunk.words
    ]
    return {"type": "words", "context": context, "words": listed, "timing_source": chunk.timing_source}


def visemes(context: str, shown: Sequence[Viseme]) -> Event:
    """Shapes of the mouth, each from its offset in the context's audio on."""
    return {"type": "visemes", "context": context, "visemes": [viseme.fields for viseme in shown]}


def flushed(context: str, flush_id: str | int) -> Event:
    """All audio of the text before a flush has been sent."""
    return {"type": "flushed", "context": context, "id": flush_id}


def done(
    context: str, *, samples: int, chunks: int, sample_rate: int, characters: int, warnings: Sequence[str]
) -> Event:
    """The context has ended: all of its audio has been sent."""
    return {
        "type": "done",
        "context": context,
        "samples": samples,
        "chunks": chunks,
        "usage": {"characters": characters, "audio_seconds": round(samples / sample_rate, 3)},
        "warnings": list(warnings),
    }


def cancelled(context: str, samples: int, chunks: int) -> Event:
    """The context is cancelled: no more of its audio follows."""
    return {"type": "cancelled", "context": context, "samples": samples, "chunks": chunks}


def pong(ping_id: str | int | None) -> Event:
    return {"type": "pong"} if ping_id is None else {"type": "pong", "id": ping_id}


def error(problem: PolyvoxError, context: str | None, *, ended: bool) -> Event:
    """An error, with a message or with a context; `ended` says whether the context has ended with it."""
    event: Event = {
        "type": "error",
        "context": context,
        "code": status_of(problem).code,
        "message": problem.message,
        "param": problem.field,
        "ended": ended,
    }
    if isinstance(problem, OverloadedError | UnavailableError) and problem.retry_after is not None:
        event["retry_after"] = round(problem.retry_after, 1)
    return event
