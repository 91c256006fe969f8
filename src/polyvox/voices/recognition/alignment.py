"""Forced alignment: where each word of a known text is heard, by the cross-attention of Moonshine's decoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from polyvox.audio.analysis import ANALYSIS_RATE, mono_16k
from polyvox.bundles.validate import Bundle
from polyvox.onnx_session import open_session
from polyvox.types import Pcm
from polyvox.voices.recognition.moonshine_tokens import MoonshineTokenizer

MAX_SECONDS: Final = 24.0
"""Longest recording that is aligned at once; the network was trained on short ones, and the work grows with them."""

_START: Final = 1
_FRAME_SECONDS: Final = 384 / ANALYSIS_RATE
_LEAD: Final = np.zeros(int(0.2 * ANALYSIS_RATE), np.float32)
_TAIL: Final = np.zeros(int(0.3 * ANALYSIS_RATE), np.float32)
_LEAST_SAMPLES: Final = ANALYSIS_RATE // 10
_MAX_TOKENS: Final = 400
# Heads as (layer, head) that listen to the sound of the token they are given. Chosen on two of Kokoro's voices: of all
# groups of up to six of the best heads, one whose word starts agree most with the durations; checked on two others.
_HEADS: Final = ((1, 0), (3, 5), (5, 6), (6, 5))
_LAYERS: Final = tuple(layer for layer, _ in _HEADS)
# These heads turn to a token three frames after its sound begins.
_DELAY_SECONDS: Final = 3 * _FRAME_SECONDS
_FLOOR: Final = 1e-3
_NEIGHBOURS: Final = 2

Attention = npt.NDArray[np.float32]
"""Attention of each token to each frame: [tokens, frames]."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Start and end of words in seconds, in order; of a recording that breaks off, only of words that it reaches.

    `confidence` is the share of the attention that lies where the words were found, beyond chance. Measured: 0.33 and
    more where the recording says the text, in seven languages; 0.25 and less where it says another, 0.1 for noise.
    """

    words: tuple[tuple[float, float], ...]
    confidence: float


_NOTHING: Final = Alignment((), 0.0)


class MoonshineAligner:
    """Forced alignment to frames of 24 ms, in any language that it can spell: it follows the sound, not the sense.

    It has no state after loading, so several threads may use it.
    """

    def __init__(self, bundle: Bundle, threads: int = 1) -> None:
        from polyvox.voices.recognition.alignment_graph import alignment_graph  # it loads ONNX

        self._encoder = open_session(bundle.file("encoder_model.onnx"), threads, mem_pattern=False)
        graph = alignment_graph(bundle.file("decoder_model_merged.onnx"), _LAYERS)
        self._decoder = open_session(graph, threads, mem_pattern=False)
        self._tokenizer = MoonshineTokenizer.read(bundle.file("tokenizer.json"))

    def align(self, pcm: Pcm, sample_rate: int, words: Sequence[str], *, whole: bool = True) -> Alignment:
        """Align words, each with the mark behind it, to a recording of at most `MAX_SECONDS`.

        Without `whole` the recording may break off before the last word, and words beyond what it can hold are not
        looked at.
        """
        recording = mono_16k(pcm, sample_rate)
        ids, bounds = self._tokens(words)
        if not bounds or len(recording) < _LEAST_SAMPLES or (whole and len(bounds) < len(words)):
            return _NOTHING
        attention = self._attention(recording, ids)
        starts, last = token_starts(np.log(attention + _FLOOR), whole=whole)
        reached = [(first, end) for first, end in bounds if first <= last]
        if not reached or (whole and len(reached) < len(words)):
            return _NOTHING
        seconds = len(recording) / ANALYSIS_RATE
        edges = [min(max(_seconds(frame), 0.0), seconds) for frame in starts[: last + 1]] + [seconds]
        spans = tuple((edges[first], edges[min(end, last + 1)]) for first, end in reached)
        if not whole:  # what follows the audio is heard in the silence behind it
            spans = tuple((start, end) for start, end in spans if start < seconds)
        return Alignment(spans, _confidence(attention, [*starts[: last + 1], attention.shape[1]]))

    def _tokens(self, words: Sequence[str]) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids of the words behind the start token, and the first and end token of each; at most `_MAX_TOKENS`."""
        ids: list[int] = [_START]
        bounds: list[tuple[int, int]] = []
        for word in words:
            own = [each for part in word.split() for each in self._tokenizer.encode(part)]
            if len(ids) + len(own) > _MAX_TOKENS:
                break
            bounds.append((len(ids), len(ids) + len(own)))
            ids += own
        return ids, bounds

    def _attention(self, recording: Pcm, ids: Sequence[int]) -> Attention:
        padded = np.concatenate((_LEAD, recording, _TAIL))
        (states,) = self._encoder.run(None, {"input_values": padded[np.newaxis]})
        layers = self._decoder.run(None, {"input_ids": np.array([ids], np.int64), "encoder_hidden_states": states})
        mean: Attention = np.mean([layer[0, head] for layer, (_, head) in zip(layers, _HEADS, strict=True)], axis=0)
        return mean


def token_starts(scores: Attention, *, whole: bool) -> tuple[list[int], int]:
    """The frame at which each token begins on the best monotonic path, and the last token on the path.

    Each frame belongs to one token, tokens follow each other without a gap, and the path ends in the last token or,
    without `whole`, in the best one.
    """
    tokens, frames = scores.shape
    best = np.full(tokens, -np.inf, np.float32)
    best[0] = scores[0, 0]
    advances = np.zeros((frames, tokens), bool)
    for frame in range(1, frames):
        previous = np.concatenate((best[:1], best[:-1]))
        advances[frame, 1:] = previous[1:] > best[1:]
        best[1:] = np.maximum(previous, best)[1:]
        best += scores[:, frame]
    last = min(tokens, frames) - 1 if whole else int(best.argmax())
    starts, token = [0] * tokens, last
    for frame in range(frames - 1, 0, -1):
        if advances[frame, token]:
            starts[token] = frame
            token -= 1
    return starts, last


def _confidence(attention: Attention, edges: Sequence[int]) -> float:
    """The mean over the tokens, but for the start token, of their attention to their own frames and two beside.

    What even attention to all frames would give is taken off, which is much where the frames are few.
    """
    frames = attention.shape[1]
    own = [
        attention[token, max(0, start - _NEIGHBOURS) : end + _NEIGHBOURS].sum()
        - (min(frames, end + _NEIGHBOURS) - max(0, start - _NEIGHBOURS)) / frames
        for token, (start, end) in enumerate(pairwise(edges))
    ]
    return float(np.mean(own[1:])) if len(own) > 1 else 0.0


def _seconds(frame: int) -> float:
    return frame * _FRAME_SECONDS - len(_LEAD) / ANALYSIS_RATE - _DELAY_SECONDS
