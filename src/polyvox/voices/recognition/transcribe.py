"""Speech recognition with Moonshine on ONNX Runtime: transcripts of reference recordings, and of evaluated speech."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from polyvox.audio.analysis import ANALYSIS_RATE, is_silent, mono_16k
from polyvox.bundles.validate import Bundle
from polyvox.onnx_session import open_session
from polyvox.types import Pcm

SAMPLE_RATE = ANALYSIS_RATE

_START, _END = 1, 2
_LEAD = np.zeros(int(0.2 * SAMPLE_RATE), dtype=np.float32)
_TAIL = np.zeros(int(0.3 * SAMPLE_RATE), dtype=np.float32)
_WINDOW_SECONDS = 20.0
_FRAME = SAMPLE_RATE // 50
_SMOOTHED_FRAMES = 15
_TOKENS_PER_SECOND = 7
_SPARE_TOKENS = 8


class Moonshine:
    """English speech recognition. It has no state after loading, so several threads may use it at once."""

    def __init__(self, bundle: Bundle, threads: int = 1) -> None:
        self._encoder = open_session(bundle.file("encoder_model.onnx"), threads)
        self._decoder = open_session(bundle.file("decoder_model_merged.onnx"), threads)
        self._detokenizer = Detokenizer.read(bundle.file("tokenizer.json"))
        self._past = {
            tensor.name: (tensor.shape[1], tensor.shape[3])
            for tensor in self._decoder.get_inputs()
            if tensor.name.startswith("past_key_values.")
        }

    def transcribe(self, pcm: Pcm, sample_rate: int) -> str:
        """The transcript, with capitals and punctuation; an empty string for silence."""
        texts = (self._transcribe_window(window) for window in windows(mono_16k(pcm, sample_rate)))
        return " ".join(text for text in texts if text)

    def _transcribe_window(self, window: Pcm) -> str:
        if is_silent(window):
            return ""
        padded = np.concatenate((_LEAD, window, _TAIL))
        (states,) = self._encoder.run(None, {"input_values": padded[np.newaxis]})
        limit = int(len(padded) / SAMPLE_RATE * _TOKENS_PER_SECOND) + _SPARE_TOKENS
        return self._detokenizer.text(self._decode(states, limit))

    def _decode(self, states: npt.NDArray[np.float32], limit: int) -> Iterator[int]:
        """Greedy decoding. The cross-attention keys and values are computed once, at the first step."""
        past = {name: np.zeros((1, heads, 0, size), np.float32) for name, (heads, size) in self._past.items()}
        token = _START
        for step in range(limit):
            feed = {
                "input_ids": np.array([[token]]),
                "encoder_hidden_states": states,
                "use_cache_branch": np.array([step > 0]),
                **past,
            }
            logits, *present = self._decoder.run(None, feed)
            token = int(logits[0, -1].argmax())
            if token == _END:
                return
            yield token
            for name, value in zip(past, present, strict=True):
                if step == 0 or ".decoder." in name:
                    past[name] = value


class Detokenizer:
    """Token ids to text."""

    def __init__(self, by_id: dict[int, bytes]) -> None:
        self._by_id = by_id

    @classmethod
    def read(cls, path: Path) -> "Detokenizer":
        """From a `tokenizer.json` with sentence-piece marks and byte pieces such as `<0x0A>`."""
        content = json.loads(path.read_text(encoding="utf-8"))
        special = {token["id"] for token in content["added_tokens"] if token["special"]}
        vocabulary = cast(dict[str, int], content["model"]["vocab"])
        return cls({number: _bytes_of(piece) for piece, number in vocabulary.items() if number not in special})

    def text(self, ids: Iterable[int]) -> str:
        """The text of a token sequence; special tokens and ids beyond the vocabulary are skipped."""
        joined = b"".join(self._by_id.get(number, b"") for number in ids)
        return joined.decode("utf-8", errors="replace").strip()


def _bytes_of(piece: str) -> bytes:
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes([int(piece[3:5], 16)])
    return piece.replace("▁", " ").encode()


def windows(pcm: Pcm, longest: float = _WINDOW_SECONDS) -> Iterator[Pcm]:
    """Cut speech at 16 kHz into windows of at most `longest` seconds, at the quietest points."""
    limit = int(longest * SAMPLE_RATE)
    rest = pcm
    while len(rest) > limit:
        cut = limit // 2 + _quietest(rest[limit // 2 : limit])
        yield rest[:cut]
        rest = rest[cut:]
    yield rest


def _quietest(pcm: Pcm) -> int:
    """The middle of the quietest run of frames, in samples."""
    frames = pcm[: len(pcm) // _FRAME * _FRAME].reshape(-1, _FRAME)
    energy = np.square(frames).mean(axis=1)
    calm = np.convolve(energy, np.ones(_SMOOTHED_FRAMES), mode="valid")
    return (int(calm.argmin()) + _SMOOTHED_FRAMES // 2) * _FRAME
