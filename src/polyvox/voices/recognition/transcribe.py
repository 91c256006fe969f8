"""Speech recognition with Moonshine on ONNX Runtime."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from polyvox.audio.analysis import ANALYSIS_RATE, is_silent, mono_16k
from polyvox.bundles.validate import Bundle
from polyvox.onnx_session import open_session
from polyvox.types import Pcm
from polyvox.voices.recognition.recogniser import Recognition, RecognitionTask
from polyvox.voices.recognition.speech_windows import quietest

SAMPLE_RATE = ANALYSIS_RATE
ENGLISH = "en"

_START, _END = 1, 2
# Of one recording in some hundreds the network says nothing at all; behind a longer silence it writes every word.
_LEADS = tuple(np.zeros(int(seconds * SAMPLE_RATE), dtype=np.float32) for seconds in (0.2, 0.5))
_TAIL = np.zeros(int(0.3 * SAMPLE_RATE), dtype=np.float32)
_WINDOW_SECONDS = 20.0
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

    @property
    def longest(self) -> float:
        return _WINDOW_SECONDS

    def recognise(self, window: Pcm, task: RecognitionTask, check: Callable[[], None]) -> Recognition:
        """The words of a window, always the likeliest; of the task only `language` matters, which must be English."""
        assert task.language in (None, ENGLISH)
        assert not task.translate
        tokens, log_probs = [], []
        for token, log_prob in () if is_silent(window) else self._decoded(window):
            check()
            tokens.append(token)
            log_probs.append(log_prob)
        mean = float(np.mean(log_probs)) if log_probs else 0.0
        return Recognition(self._detokenizer.text(tokens), ENGLISH, tuple(tokens), mean)

    def _transcribe_window(self, window: Pcm) -> str:
        if is_silent(window):
            return ""
        return self._detokenizer.text(token for token, _ in self._decoded(window))

    def _decoded(self, window: Pcm) -> Iterator[tuple[int, float]]:
        for lead in _LEADS:
            spoken = False
            for token in self._decoded_behind(lead, window):
                spoken = True
                yield token
            if spoken:
                return

    def _decoded_behind(self, lead: Pcm, window: Pcm) -> Iterator[tuple[int, float]]:
        padded = np.concatenate((lead, window, _TAIL))
        (states,) = self._encoder.run(None, {"input_values": padded[np.newaxis]})
        limit = int(len(padded) / SAMPLE_RATE * _TOKENS_PER_SECOND) + _SPARE_TOKENS
        return self._decode(states, limit)

    def _decode(self, states: npt.NDArray[np.float32], limit: int) -> Iterator[tuple[int, float]]:
        """Tokens and their log probabilities, by greedy decoding.

        The cross-attention keys and values are computed once, at the first step.
        """
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
            yield token, float(-np.log(np.exp(logits[0, -1] - logits[0, -1, token]).sum()))
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
        cut = limit // 2 + quietest(rest[limit // 2 : limit])
        yield rest[:cut]
        rest = rest[cut:]
    yield rest
