"""One chunk as operators and callers see it: its ranges, its hash, its times."""

import hashlib
from dataclasses import asdict
from typing import Any

from polyvox.audio.pcm import to_pcm16
from polyvox.types import AudioChunk, ChunkPolicy, Pcm, Seconds, Span


def chunk_ranges(chunk: AudioChunk) -> dict[str, Any]:
    """The position of a chunk: half-open ranges of samples, of tokens and mel frames, and of the caller's text."""
    return {
        "samples": [chunk.start, chunk.end],
        "tokens": _pair(chunk.tokens),
        "frames": _pair(chunk.frames),
        "span": _pair(chunk.span),
    }


def chunk_times(chunk: AudioChunk) -> dict[str, Any]:
    """The cost of a chunk, in seconds; null for a stage that the model does not have."""
    return {
        "wall_seconds": round(chunk.wall_seconds, 6),
        "device_seconds": round(chunk.device_seconds, 6),
        "lm": _times(chunk.stages.lm),
        "flow": _times(chunk.stages.flow),
        "vocoder": _times(chunk.stages.vocoder),
    }


def policy_fields(policy: ChunkPolicy | None) -> dict[str, float] | None:
    return None if policy is None else asdict(policy)


def pcm_hash(pcm: Pcm) -> str:
    """The SHA-256 of the samples as 16-bit little-endian PCM, which is what a caller that asks for `pcm` receives."""
    return hashlib.sha256(to_pcm16(pcm)).hexdigest()


def _pair(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]


def _times(seconds: Seconds | None) -> dict[str, float | None] | None:
    if seconds is None:
        return None
    device = None if seconds.device is None else round(seconds.device, 6)
    return {"wall_seconds": round(seconds.wall, 6), "device_seconds": device}
