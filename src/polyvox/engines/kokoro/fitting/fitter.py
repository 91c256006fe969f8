"""Load the networks and voices that a fit needs, fit, and validate the result."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from polyvox.audio.analysis import speech_mono_16k
from polyvox.audio.pitch import voiced_f0
from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.bundles.listener_weights import read_campplus, read_distillmos
from polyvox.bundles.validate import open_bundle
from polyvox.engines.kit.recording import captured_or_eager
from polyvox.engines.kokoro.fitting.config import FitConfig
from polyvox.engines.kokoro.fitting.scoring import SpeechScorer, TargetSpeaker
from polyvox.engines.kokoro.fitting.style_fit import StyleBasis, StyleFit
from polyvox.engines.kokoro.fitting.validation import Validator
from polyvox.engines.kokoro.speakers import read_speakers
from polyvox.engines.kokoro.voice_table import VoiceTable
from polyvox.engines.kokoro.voices import VOICES
from polyvox.errors import BundleError
from polyvox.models.kokoro.model import Kokoro, KokoroConfig, load_kokoro
from polyvox.models.listeners.campplus import CampPlusConfig, load_campplus
from polyvox.models.listeners.distillmos import DistillMosConfig, DistillMosNetwork, load_distillmos
from polyvox.models.loading import StateDict
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.types import Pcm
from polyvox.voices.fitted import FittedStyle
from polyvox.voices.recognition.similarity import BUNDLE as CAMPPLUS
from polyvox.voices.recognition.transcribe import Moonshine

MODEL = "kokoro"
RECOGNISER = "moonshine-base"
MOS_PREDICTOR = "distillmos"
"""These two guard against unclear voices where they are installed."""

OnStep = Callable[[int, float], None]
"""Called after each step with its number and the similarity of its sentences."""

_FEWEST_PITCHES = 20
# Measured log pitch of speech minus the mean that was predicted for it: pitch is detected best in loud syllables, which
# are high.
_MEASURED_HIGHER = 0.04
# On a GPU several sentences take hardly longer than one, and give a better gradient. A CPU pays for each; there, many
# noisy steps get further than few exact ones.
_CONFIGS = {"cpu": FitConfig(steps=48), "cuda": FitConfig(steps=60, batch=8)}
# Without a workspace of a fixed size, cuBLAS is not deterministic.
_WORKSPACE = ("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


class Fitter:
    """Loaded once; several fits may follow each other."""

    def __init__(self, models_dir: Path) -> None:
        kokoro, campplus = open_bundle(MODEL, models_dir), open_bundle(CAMPPLUS, models_dir)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if self._device.type == "cuda":
            os.environ.setdefault(*_WORKSPACE)
        self._kokoro = _differentiable(read_kokoro(kokoro.file("model.onnx"))).to(self._device)
        encoder = load_campplus(CampPlusConfig(), read_campplus(campplus.file("model.onnx"))).to(self._device)
        predictor = _mos_predictor(models_dir)
        self._scorer = SpeechScorer(encoder, None if predictor is None else predictor.to(self._device))
        self._voices = VoiceTable(kokoro.folder / "voices", VOICES)
        self._basis = StyleBasis.of(np.stack([self._voices.style(voice.id)[:, 0] for voice in VOICES]))
        self._speakers = read_speakers()
        self._validator = Validator(self._kokoro, self._scorer, _recogniser(models_dir))

    @property
    def default_steps(self) -> int:
        """Number of steps that suits this device."""
        return _CONFIGS[self._device.type].steps

    def fit(self, pcm: Pcm, rate: int, *, steps: int, seed: int, on_step: OnStep) -> FittedStyle:
        """Fit a style; the same recording, steps and seed give the same one on the same machine."""
        speaker, pitch = self._speaker(pcm, rate)
        mix, nearest = self._speakers.nearest(speaker.embedding.cpu().numpy(), pitch)
        expression = "+".join(f"{part.voice}({part.share:g})" for part in mix)
        base, stock = self._rows(expression), self._rows(mix[0].voice)
        config = replace(_CONFIGS[self._device.type], steps=steps, seed=seed)
        make = partial(StyleFit, self._kokoro, self._scorer, base, stock, self._basis, speaker, config)
        with _deterministic(self._device, allow_tf32=True):
            offset = run_captured(make, on_step, CudaGraphs) if self._device.type == "cuda" else _run(make(), on_step)
        with _deterministic(self._device, allow_tf32=False):
            validated = self._validator.validate(base, offset, stock, speaker)
        return FittedStyle(
            model=MODEL,
            base=expression,
            offset=validated.offset.cpu().numpy(),
            similarity=validated.similarity,
            base_similarity=nearest,
            word_errors=validated.word_errors,
            steps=steps,
            seed=seed,
        )

    def _rows(self, voice: str) -> Tensor:
        return torch.from_numpy(self._voices.style(voice)[:, 0]).to(self._device)

    def _speaker(self, pcm: Pcm, rate: int) -> tuple[TargetSpeaker, float | None]:
        samples = torch.from_numpy(speech_mono_16k(pcm, rate)).to(self._device)
        with torch.no_grad():
            embedding = self._scorer.embed(samples)
        pitches = voiced_f0(pcm, rate)
        pitch = float(np.median(pitches)) if len(pitches) >= _FEWEST_PITCHES else None
        return TargetSpeaker(embedding, None if pitch is None else float(np.log(pitch)) - _MEASURED_HIGHER), pitch


def run_captured(make: Callable[[Replay | None], StyleFit], on_step: OnStep, recorder: Callable[[], Replay]) -> Tensor:
    """The offset of a fit whose steps are captured as CUDA graphs; where that fails, of one that runs eagerly."""
    offset, _ = captured_or_eager("The fit", lambda: _run(make(recorder()), on_step), lambda: _run(make(None), on_step))
    return offset


def _run(fit: StyleFit, on_step: OnStep) -> Tensor:
    for step, similarity in enumerate(fit.run(), start=1):
        on_step(step, similarity)
    return fit.offset


def _differentiable(state: StateDict) -> Kokoro:
    """The network in single precision, with LSTMs in training mode, as cuDNN needs for gradients."""
    network = load_kokoro(KokoroConfig(), state, prosody_dtype=torch.float32)
    for module in network.modules():
        if isinstance(module, nn.LSTM):
            module.train()
    return network


@contextmanager
def _deterministic(device: torch.device, *, allow_tf32: bool) -> Iterator[None]:
    """On a GPU, deterministic algorithms, and TF32 convolutions where a rough gradient will do.

    PyTorch's settings hold for the process, so they are set for one fit only.
    """
    if device.type == "cpu":
        yield
        return
    algorithms = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    filling = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    # Warn only: the operations without a deterministic form, reflected edges, add two terms, whose order is no matter.
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    try:
        with (
            torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=allow_tf32),
            sdpa_kernel(SDPBackend.MATH),
        ):
            yield
    finally:
        torch.use_deterministic_algorithms(algorithms[0], warn_only=algorithms[1])
        torch.utils.deterministic.fill_uninitialized_memory = filling  # type: ignore[attr-defined]


def _mos_predictor(models_dir: Path) -> DistillMosNetwork | None:
    try:
        bundle = open_bundle(MOS_PREDICTOR, models_dir)
    except BundleError:
        return None
    return load_distillmos(DistillMosConfig(), read_distillmos(bundle.file("model.onnx")))


def _recogniser(models_dir: Path) -> Moonshine | None:
    try:
        return Moonshine(open_bundle(RECOGNISER, models_dir))
    except BundleError:
        return None
