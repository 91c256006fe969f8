"""Words of Whisper's transcripts and their times, by the attention of its decoder to the frames of the recording."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from polyvox.audio.word_layout import without_quiet_edges
from polyvox.types import Pcm, Span
from polyvox.voices.recognition.alignment import token_starts
from polyvox.voices.recognition.recogniser import RATE, RecognisedWord
from polyvox.voices.recognition.whisper_tokens import plain_text

FRAME_SAMPLES: Final = 320
_MEDIAN_FRAMES: Final = 7
_OPENING: Final = "([{¿¡“‘「『（"


@dataclass(frozen=True, slots=True)
class TokenGroup:
    """A word as its tokens spell it: its text, whether a space comes before it, and how many tokens it takes."""

    text: str
    spaced: bool
    tokens: int


def token_groups(pieces: Sequence[bytes], *, unspaced: bool) -> list[TokenGroup]:
    """The words of a transcript; in a language without spaces, its characters. Marks go with what they close."""
    groups: list[TokenGroup] = []
    held, count = b"", 0
    for piece in pieces:
        held, count = held + piece, count + 1
        try:
            written = held.decode()
        except UnicodeDecodeError:  # a character that goes on in the next token
            continue
        groups = _with(groups, written, count, unspaced=unspaced)
        held, count = b"", 0
    return _with(groups, held.decode(errors="replace"), count, unspaced=unspaced) if held else groups


def _with(groups: list[TokenGroup], written: str, tokens: int, *, unspaced: bool) -> list[TokenGroup]:
    text, spaced = plain_text(written.encode()), written[:1].isspace()
    last = groups[-1] if groups else None
    begins = spaced or (unspaced and any(char.isalnum() for char in text))
    opened = last is not None and last.text[-1:] in _OPENING
    if last is not None and (not text or opened or not begins):
        joined = f"{last.text}{' ' if spaced and text else ''}{text}"
        return [*groups[:-1], TokenGroup(joined, last.spaced, last.tokens + tokens)]
    return [*groups, TokenGroup(text, spaced, tokens)]


def timed_groups(
    groups: Sequence[TokenGroup], attention: npt.NDArray[np.float32], window: Pcm
) -> tuple[RecognisedWord, ...]:
    """The words with their times. `attention` [heads, tokens + 1, frames] ends with a row for the end of the text."""
    frames = min(attention.shape[2], -(-len(window) // FRAME_SAMPLES))
    starts, last = token_starts(_scores(attention[:, :, :frames]), whole=True)
    edges = [min(start * FRAME_SAMPLES, len(window)) for start in starts[: last + 1]]
    edges += [len(window)] * (attention.shape[1] - len(edges))
    words, at = [], 0
    for group in groups:
        span = Span(edges[at], max(edges[at], edges[at + group.tokens]))
        at += group.tokens
        trimmed = without_quiet_edges(span, window, RATE) if len(span) else span
        words.append(RecognisedWord(group.text, trimmed.start / RATE, trimmed.end / RATE, group.spaced))
    return tuple(words)


def _scores(attention: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Attention as scores [tokens, frames]: each head's relative to what it gives the frame on average, smoothed."""
    spread = attention.std(axis=1, keepdims=True)
    relative = (attention - attention.mean(axis=1, keepdims=True)) / np.maximum(spread, 1e-9)
    half = _MEDIAN_FRAMES // 2
    padded = np.pad(relative, ((0, 0), (0, 0), (half, half)), mode="edge")
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(padded, _MEDIAN_FRAMES, axis=2), axis=3)
    scores: npt.NDArray[np.float32] = smooth.mean(axis=0).astype(np.float32)
    return scores
