"""What a fit takes: the two networks, the built-in voices, and ears that check what came out."""

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from polyvox.audio.hearing import heard_speech
from polyvox.audio.pitch import voiced_pitches
from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.bundles.listener_weights import read_campplus, read_distillmos
from polyvox.bundles.validate import open_bundle
from polyvox.engines.kokoro.fitting import Directions, Fit, FitPlan, Listeners, Speaker, line_ids, phonemes_of
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.speakers import read_speakers
from polyvox.engines.kokoro.voices import VoiceBook, catalogue
from polyvox.errors import BundleError, PromptError
from polyvox.models.campplus import CampPlusConfig, load_campplus
from polyvox.models.distillmos import DistillMos, DistillMosConfig, load_distillmos
from polyvox.models.kokoro import KokoroConfig, Line, load_kokoro
from polyvox.types import Pcm
from polyvox.voices.fitted import FittedStyle
from polyvox.voices.similarity import BUNDLE as CAMPPLUS
from polyvox.voices.transcribe import Moonshine

MODEL = "kokoro"
RECOGNISER = "moonshine-base"
JUDGE = "distillmos"
"""Guards that are used where they are installed."""
TRIAL = {
    "the kettle whistled before anyone found the cups": "ðə kˈɛTᵊl wˈɪsᵊld bəfˈɔɹ ˈɛniwˌʌn fˈWnd ðə kˈʌps.",
    "every winter the lake freezes hard enough to cross": "ˈɛvəɹi wˈɪntəɹ ðə lˈAk fɹˈizᵻz hˈɑɹd ɪnˈʌf tə kɹˈɔs.",
}
"""What a fitted voice is judged by, and never fitted to: sentences and their phonemes."""

Told = Callable[[int, float], None]
"""Told of each step done, and how alike its sentence was."""

_FEWEST_PITCHES = 20
# How much of the way from the start a voice keeps: the most that costs neither words nor much of an opinion.
_WAYS = (1.0, 0.8, 0.65, 0.5, 0.35)
_MOST_LOST, _MOST_WORSE = 0.07, 0.25


@dataclass(frozen=True, slots=True)
class Trial:
    """How like the speaker a style sounds, what listeners think of it, and the share of words that are not made out."""

    likeness: float
    opinion: float | None
    lost: float | None


class Fitter:
    """Loaded once; several fits may follow each other."""

    def __init__(self, models_dir: Path) -> None:
        kokoro, campplus = open_bundle(MODEL, models_dir), open_bundle(CAMPPLUS, models_dir)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._kokoro = load_kokoro(KokoroConfig(), read_kokoro(kokoro.file("model.onnx")), planning=torch.float32).to(
            self._device
        )
        ear = load_campplus(CampPlusConfig(), read_campplus(campplus.file("model.onnx"))).to(self._device)
        judge = _judge(models_dir)
        self._listeners = Listeners(ear, None if judge is None else judge.to(self._device))
        self._book = VoiceBook(kokoro.folder / "voices", catalogue())
        self._directions = Directions.of(np.stack([self._book.style(voice.id)[:, 0] for voice in catalogue()]))
        self._speakers = read_speakers()
        self._recogniser = _recogniser(models_dir)

    def fit(self, pcm: Pcm, rate: int, *, steps: int, seed: int, told: Told) -> FittedStyle:
        """The style for a recording; the same recording, steps and seed give the same one on the same machine."""
        speaker, pitch = self._speaker(pcm, rate)
        mix, nearest = self._speakers.nearest(speaker.embedding.cpu().numpy(), pitch)
        written = "+".join(f"{part.voice}({part.share:g})" for part in mix)
        base = torch.from_numpy(self._book.style(written)[:, 0]).to(self._device)
        fit = Fit(self._kokoro, self._listeners, base, self._directions, speaker, FitPlan(steps=steps, seed=seed))
        for step, likeness in enumerate(fit.run(), start=1):
            told(step, likeness)
        offset, trial = self._kept(base, fit.offset, speaker)
        return FittedStyle(
            model=MODEL,
            base=written,
            offset=offset.cpu().numpy(),
            similarity=trial.likeness,
            base_similarity=nearest,
            word_errors=trial.lost,
            steps=steps,
            seed=seed,
        )

    def _kept(self, base: Tensor, offset: Tensor, speaker: Speaker) -> tuple[Tensor, "Trial"]:
        """As much of an offset as leaves speech clear, and how it fares."""
        before = self.tried(base, speaker)
        for way in _WAYS:
            trial = self.tried(base + way * offset, speaker)
            worse = 0.0 if trial.opinion is None or before.opinion is None else before.opinion - trial.opinion
            if (trial.lost or 0.0) <= _MOST_LOST and (worse <= _MOST_WORSE or way == _WAYS[-1]):
                return way * offset, trial
        raise PromptError("No clear voice could be fitted to the recording; send a longer or cleaner one.")

    @torch.no_grad()
    def tried(self, style: Tensor, speaker: Speaker) -> "Trial":
        """How a style, [rows, 256], says the trial's sentences."""
        ids = [line_ids(phonemes) for phonemes in TRIAL.values()]
        plan = self._kokoro.plan([Line(line, style[phonemes_of(line) - 1]) for line in ids])
        noise = torch.Generator().manual_seed(0)
        spoken = self._kokoro.sound(plan, [torch.randn(line.noise_shape, generator=noise) for line in plan])
        heard = [self._listeners.hear(samples) for samples in spoken]
        opinions = [float(one.opinion) for one in heard if one.opinion is not None]
        return Trial(
            likeness=float(np.mean([float(one.embedding @ speaker.embedding) for one in heard])),
            opinion=float(np.mean(opinions)) if opinions else None,
            lost=self._lost([samples.cpu().numpy() for samples in spoken]),
        )

    def _speaker(self, pcm: Pcm, rate: int) -> tuple[Speaker, float | None]:
        samples = torch.from_numpy(heard_speech(pcm, rate)).to(self._device)
        with torch.no_grad():
            embedding = self._listeners.speaker(samples)
        pitches = voiced_pitches(pcm, rate)
        pitch = float(np.median(pitches)) if len(pitches) >= _FEWEST_PITCHES else None
        return Speaker(embedding, None if pitch is None else float(np.log(pitch))), pitch

    def _lost(self, spoken: list[Pcm]) -> float | None:
        if self._recogniser is None:
            return None
        wanted = [word for sentence in TRIAL for word in sentence.split()]
        heard = [
            word
            for pcm in spoken
            for word in re.findall("[a-z]+", self._recogniser.transcribe(pcm, SAMPLE_RATE).lower())
        ]
        found = difflib.SequenceMatcher(None, wanted, heard, autojunk=False).get_matching_blocks()
        return 1 - sum(block.size for block in found) / len(wanted)


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
