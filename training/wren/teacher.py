"""The teacher: Kokoro in PyTorch, synthesizing training speech. All that training takes of Kokoro is imported here."""

import json
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.models.kokoro.adain import AdaIN
from polyvox.models.kokoro.model import Kokoro, KokoroConfig, Prosody, StyledTokens, load_kokoro
from training.wren.features import Features
from training.wren.lines import PhonemeLines
from training.wren.pool import SpeechPool
from training.wren.voices import StyleTables

_PADDING = 0
_UNIT_SPEED_PROBABILITY = 0.55
_SLOWEST, _FASTEST = 0.7, 1.45
_LOG_SPECTRUM_TOLERANCE, _LOG_FLOOR = 0.2, 0.1


@dataclass(frozen=True, slots=True)
class Request:
    """Phoneme ids without padding, style [256] and speed of one utterance."""

    ids: Sequence[int]
    style: Tensor
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class Example:
    """Features of one utterance and the samples that the teacher's decoder makes of them."""

    features: Features
    samples: Tensor


class Teacher:
    """Kokoro on one device."""

    def __init__(self, model: Path, device: torch.device) -> None:
        self.device = device
        self._state = read_kokoro(model)
        self.network = self._load(torch.float32)

    def _load(self, decoder_dtype: torch.dtype) -> Kokoro:
        network = load_kokoro(KokoroConfig(), self._state, prosody_dtype=torch.float32, decoder_dtype=decoder_dtype)
        return network.to(self.device).eval()

    def optimize(self, requests: Sequence[Request]) -> str:
        """On a GPU, switch to the fastest decoder whose spectra of these utterances match float32; say which."""
        if self.device.type != "cuda":
            return "float32"
        reference, prosody = self.network, self._predict(requests)
        wanted = self._log_spectrum(prosody)
        for dtype, fused in ((torch.float16, True), (torch.float16, False), (torch.float32, True)):
            try:
                self.network = self._load(dtype)
                if fused:
                    _fuse_norms(self.network)
                error = (self._log_spectrum(prosody) - wanted).abs().mean().item()
            except Exception as failure:  # noqa: BLE001 - whatever a compiler raises, a plainer variant is left
                error = math.nan
                print(json.dumps({"teacher": str(failure)[:300]}), flush=True)
            if error < _LOG_SPECTRUM_TOLERANCE:
                return f"{dtype}, {'fused' if fused else 'eager'} norms, log-spectrum error {error:.3f}"
        self.network = reference
        return "float32"

    def predict(self, requests: Sequence[Request]) -> list[Features]:
        """Features of utterances, without decoding them."""
        return [_features(prosody) for prosody in self._predict(requests)]

    def synthesize(self, requests: Sequence[Request]) -> list[Example]:
        """Features and samples of a batch of utterances."""
        prosody = self._predict(requests)
        decoded = self._decode(prosody)
        return [Example(_features(row), samples) for row, samples in zip(prosody, decoded, strict=True)]

    @torch.no_grad()
    def _predict(self, requests: Sequence[Request]) -> list[Prosody]:
        return self.network.predict_prosody(
            [StyledTokens([_PADDING, *row.ids, _PADDING], row.style, row.speed) for row in requests]
        )

    @torch.no_grad()
    def _decode(self, prosody: Sequence[Prosody]) -> list[Tensor]:
        noise = [torch.randn(row.noise_shape, device=self.device) for row in prosody]
        return self.network.decode(prosody, noise)

    def _log_spectrum(self, prosody: Sequence[Prosody]) -> Tensor:
        """Log-magnitudes of decoded utterances, by the same noise at every call."""
        torch.manual_seed(0)
        joined = torch.cat(self._decode(prosody)).float()
        window = torch.hann_window(1024, device=joined.device)
        return torch.log(torch.stft(joined, 1024, 256, window=window, return_complex=True).abs() + _LOG_FLOOR)


def _features(prosody: Prosody) -> Features:
    return Features(prosody.text, prosody.pitch, prosody.energy, prosody.style)


def _fuse_norms(network: Kokoro) -> None:
    from polyvox.models.kokoro.adain_kernels import adain_activated

    for module in network.modules():
        if isinstance(module, AdaIN):
            module.kernel = adain_activated


def fill_pool(
    pool: SpeechPool, teacher: Teacher, lines: PhonemeLines, voices: StyleTables, seconds: float, seed: int
) -> None:
    """Synthesize random utterances into the pool, until it is full or the time is up; at least one batch."""
    began, rng = time.monotonic(), random.Random(seed)  # noqa: S311 - not for cryptography
    while pool.frames == 0 or time.monotonic() - began < seconds:
        requests = [
            Request(ids, voices.sample(language, len(ids), rng), _random_speed(rng))
            for ids, language in lines.sample(rng)
        ]
        examples = teacher.synthesize(requests)
        finite = torch.stack([example.samples.isfinite().all() for example in examples]).tolist()
        kept = [example for example, fine in zip(examples, finite, strict=True) if fine]
        if not pool.add([row.features for row in kept], [row.samples for row in kept]):
            break


def _random_speed(rng: random.Random) -> float:
    """Speed 1, or log-uniform over the range that users ask for."""
    if rng.random() < _UNIT_SPEED_PROBABILITY:
        return 1.0
    return float(_SLOWEST * (_FASTEST / _SLOWEST) ** rng.random())
