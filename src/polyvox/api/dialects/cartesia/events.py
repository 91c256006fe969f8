"""Events that carry speech: the same over a WebSocket and as server-sent events."""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from polyvox.api.dialects.cartesia.wording import error_fields
from polyvox.api.refusals import Refusal
from polyvox.errors import PolyvoxError
from polyvox.types import AudioChunk, PhonemeTiming

_PIECE_BYTES = 24_576
"""Whole samples of any encoding, base64 without padding, and lines and messages below every client's limit."""

Event = dict[str, Any]


def audio_events(data: bytes, chunk: AudioChunk | None) -> Iterator[Event]:
    """Audio in pieces; the time that it took to make goes with the first."""
    seconds = 0.0 if chunk is None else chunk.wall_seconds
    for start in range(0, len(data), _PIECE_BYTES):
        piece = base64.b64encode(data[start : start + _PIECE_BYTES]).decode()
        yield {
            "type": "chunk",
            "data": piece,
            "step_time": round(1_000 * seconds, 3),
            "status_code": 206,
            "done": False,
        }
        seconds = 0.0


def words_event(words: Mapping[str, Any]) -> Event:
    """Words and their times, in seconds from the start."""
    return {"type": "timestamps", "word_timestamps": words, "status_code": 206, "done": False}


def phonemes_event(phonemes: Sequence[PhonemeTiming]) -> Event:
    """Phonemes in IPA and their times, in seconds from the start."""
    timestamps = {
        "phonemes": [each.phoneme for each in phonemes],
        "start": [round(each.start, 4) for each in phonemes],
        "end": [round(each.end, 4) for each in phonemes],
    }
    return {"type": "phoneme_timestamps", "phoneme_timestamps": timestamps, "status_code": 206, "done": False}


def flush_event(flush_id: int) -> Event:
    """All audio of the text before a flush has been sent."""
    return {"type": "flush_done", "flush_done": True, "flush_id": flush_id, "status_code": 206, "done": False}


def done_event(warnings: Iterable[str]) -> Event:
    """The end, with what was done otherwise than asked, if anything was."""
    told = list(warnings)
    return {"type": "done", "status_code": 200, "done": True} | ({"warnings": told} if told else {})


def error_event(error: PolyvoxError, *, done: bool = True) -> Event:
    """The event of an error; `done` says whether it is the end of the context."""
    return {"type": "error", **error_fields(Refusal.of(error)), "done": done}
