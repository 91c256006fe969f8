"""Speech recognition with Whisper on ONNX Runtime: 99 languages, and translation to English."""

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from polyvox.audio.analysis import is_silent
from polyvox.audio.features import hann_window, slaney_filters
from polyvox.bundles.ctranslate2_file import read_ctranslate2
from polyvox.bundles.validate import Bundle
from polyvox.onnx_session import open_session
from polyvox.types import Pcm
from polyvox.voices.recognition.languages import UNSPACED
from polyvox.voices.recognition.recogniser import RATE, HeardWindow, Recognition, RecognitionTask
from polyvox.voices.recognition.whisper_tokens import WhisperTokenizer
from polyvox.voices.recognition.whisper_words import timed_groups, token_groups

if TYPE_CHECKING:
    from polyvox.bundles.onnx_graphs.whisper import WhisperShape

Tensors = dict[str, npt.NDArray[np.float32]]

_PARTS: Final = ("model.bin.part1", "model.bin.part2")
_SPECIFICATION: Final = "WhisperSpec"
_WINDOW_SECONDS: Final = 30.0
_WINDOW_SAMPLES: Final = round(_WINDOW_SECONDS * RATE)
_FFT: Final = 400
_HOP: Final = 160
_CONTEXT: Final = 448
_MAX_PROMPT: Final = _CONTEXT // 2 - 1
_FALLBACK: Final = (0.0, 0.4, 0.8)
"""Temperatures that are tried in turn until a transcript is plausible, where none is asked for."""
_MAX_COMPRESSION: Final = 2.4
_MIN_LOG_PROB: Final = -1.0
_SEED: Final = 0


_SCRIPT_PROMPTS: Final = {"zh": "下面用简体中文记录一段谈话。", "hi": "नमस्ते, आप कैसे हैं? मैं ठीक हूँ।"}
"""Sentences that a transcript follows, to go on in their script: by itself Whisper mixes simplified characters
with traditional ones, and writes Hindi in the letters of Urdu."""
_TRADITIONAL_PROMPT: Final = "下面用繁體中文記錄一段談話。"


class Whisper:
    """Multilingual recognition. It has no state after loading, so several threads may use it at once.

    Samples are drawn from a generator with a fixed seed: the same recording has the same transcript every time.
    """

    def __init__(self, bundle: Bundle, threads: int = 1) -> None:
        # ONNX takes a tenth of a second to import; a server that nobody speaks to does without.
        from polyvox.bundles.onnx_graphs.whisper import WhisperShape, whisper_decoder_graph, whisper_encoder_graph

        weights = read_ctranslate2([bundle.file(part) for part in _PARTS], _SPECIFICATION)
        known = json.loads(bundle.file("config.json").read_text(encoding="utf-8"))
        heads = [(int(layer), int(head)) for layer, head in known["alignment_heads"]]
        self._shape = WhisperShape.of(weights)
        self._encoder = open_session(whisper_encoder_graph(weights), threads)
        self._decoder = open_session(whisper_decoder_graph(weights, heads), threads, mem_pattern=False)
        self._tokenizer = WhisperTokenizer.read(bundle.file("tokenizer.json"))
        self._filters = slaney_filters(RATE, _FFT, self._shape.bins)
        special = self._tokenizer.special
        timestamps = range(special.no_timestamps + 1, self._shape.vocabulary)
        self._never = np.array([*known["suppress_ids"], special.no_timestamps, *timestamps])
        self._never_first = np.array(known["suppress_ids_begin"])

    @property
    def longest(self) -> float:
        return _WINDOW_SECONDS

    def recognise(self, window: Pcm, task: RecognitionTask, check: Callable[[], None]) -> Recognition:
        """The words of a window in its language, or in English where they are translated."""
        if is_silent(window):
            return Recognition("", task.language or "en")
        if task.language is None:
            return self.listen(window).recognise(task, check)
        return self._recognised(window, self._encoded(window), (task.language, 1.0), task, check)

    def listen(self, window: Pcm) -> HeardWindow:
        """The window with its language, and what the encoder heard in it."""
        cross = self._encoded(window)
        found = self._language(cross)
        return HeardWindow(*found, partial(self._recognised, window, cross, found))

    def _encoded(self, window: Pcm) -> Tensors:
        names = [output.name for output in self._encoder.get_outputs()]
        return dict(zip(names, self._encoder.run(None, {"mel": self._log_mel(window)}), strict=True))

    def _recognised(
        self,
        window: Pcm,
        cross: Tensors,
        found_language: tuple[str, float],
        task: RecognitionTask,
        check: Callable[[], None],
    ) -> Recognition:
        check()
        language, probability = found_language
        start = self._start(language, task)
        found = self._plausible(cross, start, task, check)
        text = self._tokenizer.text(found.tokens)
        words = None
        if task.words:
            groups = token_groups(
                [self._tokenizer.piece(token) for token in found.tokens],
                unspaced=language in UNSPACED and not task.translate,
            )
            words = timed_groups(groups, self._attention(cross, start, found.tokens), window) if text else ()
        return Recognition(text, language, tuple(found.tokens), found.log_prob, found.temperature, words, probability)

    def _log_mel(self, window: Pcm) -> npt.NDArray[np.float32]:
        """Log mel energies [1, bins, frames] of 30 seconds, silence behind the window, at most 80 dB apart."""
        whole = np.zeros(_WINDOW_SAMPLES, np.float32)
        whole[: len(window)] = window[: len(whole)]
        padded = np.pad(whole, _FFT // 2, mode="reflect")
        frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[:_WINDOW_SAMPLES:_HOP]
        power = np.square(np.abs(np.fft.rfft(frames * hann_window(_FFT))))
        logs = np.log10(np.maximum(power @ self._filters.T, 1e-10))
        mel: npt.NDArray[np.float32] = ((np.maximum(logs, logs.max() - 8.0) + 4.0) / 4.0).T.astype(np.float32)
        return np.ascontiguousarray(mel[np.newaxis])

    def _start(self, language: str, task: RecognitionTask) -> list[int]:
        """The tokens before a transcript."""
        special = self._tokenizer.special
        chosen = special.translate if task.translate else special.transcribe
        start = [special.start, special.languages[language], chosen, special.no_timestamps]
        prompt = task.prompt.strip()
        if not task.translate:
            prompt = f"{_script_prompt(language, task)} {prompt}".strip()
        if not prompt:
            return start
        return [special.previous, *self._tokenizer.encode(" " + prompt)[-_MAX_PROMPT:], *start]

    def _language(self, cross: Tensors) -> tuple[str, float]:
        """The likeliest language of what the encoder heard, and its probability among all."""
        special = self._tokenizer.special
        logits = self._run(_Cache(self._shape), cross, [special.start])["logits"][0]
        code = max(special.languages, key=lambda each: logits[special.languages[each]])
        rivals = logits[list(special.languages.values())]
        return code, float(1 / np.exp(rivals - logits[special.languages[code]]).sum())

    def _plausible(
        self, cross: Tensors, start: Sequence[int], task: RecognitionTask, check: Callable[[], None]
    ) -> "_Attempt":
        """The first attempt that neither repeats itself nor is unlikely; failing that, the likeliest."""
        attempts = []
        for temperature in (task.temperature,) if task.temperature else _FALLBACK:
            attempts.append(self._decode(cross, start, temperature, check))
            if attempts[-1].log_prob >= _MIN_LOG_PROB and not self._repeats(attempts[-1].tokens):
                return attempts[-1]
        return max(attempts, key=lambda each: (not self._repeats(each.tokens), each.log_prob))

    def _repeats(self, tokens: Sequence[int]) -> bool:
        text = self._tokenizer.text(tokens).encode()
        return len(text) > _MAX_COMPRESSION * len(zlib.compress(text))

    def _decode(
        self, cross: Tensors, start: Sequence[int], temperature: float, check: Callable[[], None]
    ) -> "_Attempt":
        cache, attempt, ahead = _Cache(self._shape), _Attempt(temperature), list(start)
        rng = np.random.default_rng(_SEED)
        total = 0.0
        while len(start) + len(attempt.tokens) < _CONTEXT:
            check()
            logits = self._run(cache, cross, ahead)["logits"][0]
            logits[self._never] = -np.inf
            if not attempt.tokens:
                logits[self._never_first] = -np.inf
            logs = logits - logits.max()
            logs -= np.log(np.exp(logs).sum())
            token = (
                int((logs / temperature + rng.gumbel(size=len(logs))).argmax()) if temperature else int(logs.argmax())
            )
            total += float(logs[token])
            attempt.log_prob = total / (len(attempt.tokens) + 1)
            if token == self._tokenizer.special.end:
                break
            attempt.tokens.append(token)
            ahead = [token]
        return attempt

    def _attention(self, cross: Tensors, start: Sequence[int], tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        """The attention [heads, tokens + 1, frames] with which each token was chosen, and then the end."""
        heard = self._run(_Cache(self._shape), cross, [*start, *tokens])["attention"]
        return heard[:, len(start) - 1 :]

    def _run(self, cache: "_Cache", cross: Tensors, tokens: Sequence[int]) -> Tensors:
        """Decode tokens behind those of the cache, which takes them in."""
        count, past = len(tokens), cache.length
        feed: dict[str, npt.NDArray[Any]] = {
            "tokens": np.array([tokens], np.int64),
            "positions": np.arange(past, past + count),
            "mask": np.triu(np.full((count, past + count), -np.inf, np.float32), k=past + 1),
        }
        names = [output.name for output in self._decoder.get_outputs()]
        found: Tensors = dict(zip(names, self._decoder.run(None, {**feed, **cross, **cache.tensors}), strict=True))
        cache.tensors = {name: found[f"new_{name}"] for name in cache.tensors}
        return found


def _script_prompt(language: str, task: RecognitionTask) -> str:
    return _TRADITIONAL_PROMPT if language == "zh" and task.traditional else _SCRIPT_PROMPTS.get(language, "")


@dataclass(slots=True)
class _Attempt:
    """Tokens that were chosen at a temperature, and their mean log probability."""

    temperature: float
    tokens: list[int] = field(default_factory=list)
    log_prob: float = 0.0


class _Cache:
    """Keys and values of the tokens so far, by layer."""

    def __init__(self, shape: "WhisperShape") -> None:
        empty = np.zeros((shape.heads, 0, shape.width // shape.heads), np.float32)
        self.tensors: Tensors = {f"{kind}_{layer}": empty for layer in range(shape.layers) for kind in ("key", "value")}

    @property
    def length(self) -> int:
        return int(self.tensors["key_0"].shape[1])
