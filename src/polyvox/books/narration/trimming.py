"""The audio of a passage without the engine's own silence at its edges, which the pauses of the book replace."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from polyvox.audio.edges import speech_span, with_faded_edges
from polyvox.books.narration.journal import SpokenPassage
from polyvox.types import AudioChunk, WordTiming

_LEAD_SECONDS: Final = 0.03
_TAIL_SECONDS: Final = 0.08
"""Kept before the first and behind the last audible sample, for soft consonants and the room."""
_FADE_SECONDS: Final = 0.01
_PAUSE_MARK: Final = "[pause"


def joined_passage(chunks: Sequence[AudioChunk], text: str) -> SpokenPassage:
    """The chunks of a passage as one. Silence that its text asks for stays, and comes on top of the book's pauses."""
    if not chunks:
        return SpokenPassage.silent()
    pcm, rate = np.concatenate([chunk.pcm for chunk in chunks]), chunks[0].sample_rate
    words = tuple(word for chunk in chunks for word in chunk.words)
    mono = pcm if pcm.ndim == 1 else np.abs(pcm).max(axis=1)
    audible = speech_span(mono, rate)
    if _PAUSE_MARK in text.lower() or not len(audible):
        return SpokenPassage(pcm, rate, words)
    start = max(0, audible.start - round(_LEAD_SECONDS * rate))
    end = min(len(pcm), audible.end + round(_TAIL_SECONDS * rate))
    fade = round(_FADE_SECONDS * rate)
    lead, tail = audible.start - start, end - audible.end
    kept = pcm[start:end] if pcm.ndim > 1 else with_faded_edges(pcm[start:end], min(fade, lead), min(fade, tail))
    return SpokenPassage(kept, rate, _moved(words, -start / rate, (end - start) / rate), lead, tail)


def _moved(words: Sequence[WordTiming], by: float, end: float) -> tuple[WordTiming, ...]:
    """The words at other times, none beyond the audio."""
    moved = ((word, max(0.0, word.start + by), max(0.0, word.end + by)) for word in words)
    return tuple(replace(word, start=min(first, end), end=min(max(first, last), end)) for word, first, last in moved)
