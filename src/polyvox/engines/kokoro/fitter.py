"""What a fit takes: the two networks, the built-in voices, and ears that check what came out."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import structlog
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from polyvox.audio.analysis import speech_mono_16k
from polyvox.audio.pitch import voiced_f0
from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.bundles.listener_weights import read_campplus, read_distillmos
from polyvox.bundles.validate import open_bundle
from polyvox.engines.kokoro.fit_listeners import Listeners
from polyvox.engines.kokoro.fit_plan import FitPlan
from polyvox.engines.kokoro.fit_speaker import Speaker
from polyvox.engines.kokoro.fit_trial import Trial
from polyvox.engines.kokoro.fitting import Directions, Fit
from polyvox.engines.kokoro.speakers import read_speakers
from polyvox.engines.kokoro.voices import VoiceBook, catalogue
from polyvox.errors import BundleError
from polyvox.models.kokoro.model import Kokoro, KokoroConfig, load_kokoro
from polyvox.models.listeners.campplus import CampPlusConfig, load_campplus
from polyvox.models.listeners.distillmos import DistillMos, DistillMosConfig, load_distillmos
from polyvox.models.loading import StateDict
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.types import Pcm
from polyvox.voices.fitted import FittedStyle
from polyvox.voices.similarity import BUNDLE as CAMPPLUS
from polyvox.voices.transcribe import Moonshine

MODEL = "kokoro"
RECOGNISER = "moonshine-base"
JUDGE = "distillmos"
"""Guards that are used where they are installed."""

Told = Callable[[int, float], None]
"""Told of each step done, and how alike its sentences were."""

_log = structlog.get_logger(__name__)
_FEWEST_PITCHES = 20
# By how much, in natural logarithms, speech is heard higher than its lines are planned on the mean: loud syllables, in
# which a pitch is told best, are high.
_HEARD_HIGHER = 0.04
# On a GPU several sentences take hardly longer than one, and lead better. A CPU pays for each; many small steps lead
# it further than few that are sure.
_PLANS = {"cpu": FitPlan(steps=48), "cuda": FitPlan(steps=60, batch=8)}
# Products of matrices on a GPU come out the same every time only with a workspace of a fixed size.
_WORKSPACE = ("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


class Fitter:
    """Loaded once; several fits may follow each other."""

    def __init__(self, models_dir: Path) -> None:
        kokoro, campplus = open_bundle(MODEL, models_dir), open_bundle(CAMPPLUS, models_dir)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if self._device.type == "cuda":
            os.environ.setdefault(*_WORKSPACE)
        self._kokoro = _learning(read_kokoro(kokoro.file("model.onnx"))).to(self._device)
        ear = load_campplus(CampPlusConfig(), read_campplus(campplus.file("model.onnx"))).to(self._device)
        judge = _judge(models_dir)
        self._listeners = Listeners(ear, None if judge is None else judge.to(self._device))
        self._book = VoiceBook(kokoro.folder / "voices", catalogue())
        self._directions = Directions.of(np.stack([self._book.style(voice.id)[:, 0] for voice in catalogue()]))
        self._speakers = read_speakers()
        self._trial = Trial(self._kokoro, self._listeners, _recogniser(models_dir))

    @property
    def usual_steps(self) -> int:
        """How many steps a fit takes on this device."""
        return _PLANS[self._device.type].steps

    def fit(self, pcm: Pcm, rate: int, *, steps: int, seed: int, told: Told) -> FittedStyle:
        """The style for a recording; the same recording, steps and seed give the same one on the same machine."""
        speaker, pitch = self._speaker(pcm, rate)
        mix, nearest = self._speakers.nearest(speaker.embedding.cpu().numpy(), pitch)
        written = "+".join(f"{part.voice}({part.share:g})" for part in mix)
        base, stock = self._rows(written), self._rows(mix[0].voice)
        plan = replace(_PLANS[self._device.type], steps=steps, seed=seed)
        begun = partial(Fit, self._kokoro, self._listeners, base, stock, self._directions, speaker, plan)
        with _repeatably(self._device, roughly=True):
            offset = recorded_run(begun, told, CudaGraphs) if self._device.type == "cuda" else _run(begun(), told)
        with _repeatably(self._device, roughly=False):
            verdict = self._trial.verdict(base, offset, stock, speaker)
        return FittedStyle(
            model=MODEL,
            base=written,
            offset=verdict.offset.cpu().numpy(),
            similarity=verdict.likeness,
            base_similarity=nearest,
            word_errors=verdict.word_errors,
            steps=steps,
            seed=seed,
        )

    def _rows(self, voice: str) -> Tensor:
        return torch.from_numpy(self._book.style(voice)[:, 0]).to(self._device)

    def _speaker(self, pcm: Pcm, rate: int) -> tuple[Speaker, float | None]:
        samples = torch.from_numpy(speech_mono_16k(pcm, rate)).to(self._device)
        with torch.no_grad():
            embedding = self._listeners.speaker(samples)
        pitches = voiced_f0(pcm, rate)
        pitch = float(np.median(pitches)) if len(pitches) >= _FEWEST_PITCHES else None
        return Speaker(embedding, None if pitch is None else float(np.log(pitch)) - _HEARD_HIGHER), pitch


def recorded_run(begun: Callable[[Replay | None], Fit], told: Told, recorder: Callable[[], Replay]) -> Tensor:
    """What a fit comes to whose steps are recorded; where that does not work, one whose steps are not."""
    try:
        return _run(begun(recorder()), told)
    except RuntimeError as error:
        _log.warning("a fit could not be recorded and takes longer", error=str(error))
    return _run(begun(None), told)


def _run(fit: Fit, told: Told) -> Tensor:
    for step, likeness in enumerate(fit.run(), start=1):
        told(step, likeness)
    return fit.offset


def _learning(state: StateDict) -> Kokoro:
    """The network in single precision, which has to do, with LSTMs that a GPU gives gradients of as well."""
    network = load_kokoro(KokoroConfig(), state, planning=torch.float32)
    for module in network.modules():
        if isinstance(module, nn.LSTM):
            module.train()
    return network


@contextmanager
def _repeatably(device: torch.device, *, roughly: bool) -> Iterator[None]:
    """On a GPU, the same sums in the same order every time; convolutions of figures with ten bits, or all they have.

    A slope may be rough. The library's defaults hold for the process, so they are set for one fit only.
    """
    if device.type == "cpu":
        yield
        return
    algorithms = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    filling = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    # Where no such order is declared, a warning has to do: those sums, of mirrored edges, have two terms.
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    try:
        with (
            torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=roughly),
            sdpa_kernel(SDPBackend.MATH),
        ):
            yield
    finally:
        torch.use_deterministic_algorithms(algorithms[0], warn_only=algorithms[1])
        torch.utils.deterministic.fill_uninitialized_memory = filling  # type: ignore[attr-defined]


def _judge(models_dir: Path) -> DistillMos | None:
    try:
        bundle = open_bundle(JUDGE, models_dir)
    except BundleError:
        return None
    return load_distillmos(DistillMosConfig(), read_distillmos(bundle.file("model.onnx")))


def _recogniser(models_dir: Path) -> Moonshine | None:
    try:
        return Moonshine(open_bundle(RECOGNISER, models_dir))
    except BundleError:
        return None
