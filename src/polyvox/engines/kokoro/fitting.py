"""A style for a recording's speaker, found by gradients through Kokoro and CAM++, both of which stay as they are.

Looked for is one offset that, added to every row of the built-in voice nearest to the speaker, makes short sentences
sound to CAM++ like the recording, spoken as high as the recording is, and no worse to Distill-MOS than without it. The
offset is written in the directions in which the built-in voices differ, each measured in how much they do, so that a
step goes far where voices differ and hardly anywhere where none does.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.audio.hearing import HEARING_RATE
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.vocabulary import IDS, PADDING
from polyvox.models.campplus import CampPlus
from polyvox.models.distillmos import WINDOW, DistillMos
from polyvox.models.hearing import Fbank, Resampler
from polyvox.models.kokoro import Kokoro, Line, Prosody

SENTENCES = (
    "ðə skˈI wʌz klˈɪɹ.",
    "bɹˈɪŋ mˌi ðə blˈu kˈʌp.",
    "wˌi ɡˌO hˈOm æt nˈun.",
    "ˌɪz ðˈæt jʊɹ ˈOld kˈɑɹ?",
    "hˌi fˈWnd ɐ pˈɛni.",
    "plˈiz wˈAt fɔɹ ˌʌs.",
    "tˈɛn bˈYz ʤˈʌmpt ˌʌp.",
    "wˌʌt ɐ lˈʌvli ɡˈɑɹdən.",
    "ʃˌi nˈɛvəɹ sˈɛd sˌO.",
    "ʧˈuz ði ˈʌðəɹ wˈʌn.",
    "mˌI fˈɑðəɹ wˈɜɹks hˈɑɹd.",
    "ðˌA θˈɔt ʌv ju.",
)
"""What is said while fitting, about a second each: what is learned by gradients costs as much for every second."""

_PITCH_LINES = 3
_LEAST_PITCH = 50.0


@dataclass(frozen=True, slots=True)
class FitPlan:
    """How a fit proceeds; the defaults are those that were tuned."""

    steps: int = 60
    seed: int = 0
    rate: float = 0.3
    """How far a step goes at first, in standard deviations of the built-in voices."""
    last_rate: float = 0.01
    pitch_steps: int = 12
    pitch_weight: float = 1.0
    quality_weight: float = 0.3
    """What it costs to fall by one point of the opinion scale behind the voice it starts from."""
    closeness: float = 0.01
    """What it costs to lie one standard deviation away in every direction."""
    averaged: int = 15
    """Over how many of the last steps the result is taken."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whom to sound like: an embedding of unit length, and the mean of the logarithm of their pitch, if it is known."""

    embedding: Tensor
    log_pitch: float | None


@dataclass(frozen=True, slots=True)
class Directions:
    """The directions in which rows of styles differ, each half's by themselves, and how much: [256, 256]."""

    matrix: Tensor

    @classmethod
    def of(cls, styles: npt.NDArray[np.float32]) -> "Directions":
        """Those of styles [voices, rows, 256]: of all rows of all voices, so that length plays its part too."""
        rows = styles.reshape(-1, styles.shape[-1]).astype(np.float64)
        halves = []
        for half in np.split(rows - rows.mean(axis=0), 2, axis=1):
            variances, axes = np.linalg.eigh(half.T @ half / len(half))
            halves.append(torch.from_numpy((axes * np.sqrt(np.maximum(variances, 0.0))).astype(np.float32)))
        return cls(torch.block_diag(*halves))  # type: ignore[no-untyped-call]


class Listeners:
    """Who hears what Kokoro says, [samples] at its own rate: CAM++, and Distill-MOS where it is installed."""

    def __init__(self, ear: CampPlus, judge: DistillMos | None) -> None:
        self._ear, self._judge = ear, judge
        self._resampler, self._fbank = Resampler(SAMPLE_RATE, HEARING_RATE), Fbank(HEARING_RATE)

    def speaker(self, heard: Tensor) -> Tensor:
        """The embedding of a recording at the rate of hearing."""
        embedding: Tensor = self._ear(self._fbank(heard[None]))[0]
        return embedding

    def hear(self, samples: Tensor) -> "Heard":
        heard = self._resampler(samples[None])
        opinion = None if self._judge is None else self._judge(heard[:, :WINDOW])[0]
        return Heard(self.speaker(heard[0]), opinion)


@dataclass(frozen=True, slots=True)
class Heard:
    """Who was heard, and how good it sounded."""

    embedding: Tensor
    opinion: Tensor | None


class Fit:
    """One fit on its way. `base` [rows, 256] is the voice to start from."""

    def __init__(
        self,
        kokoro: Kokoro,
        listeners: Listeners,
        base: Tensor,
        directions: Directions,
        speaker: Speaker,
        plan: FitPlan,
    ) -> None:
        self._kokoro, self._listeners = kokoro, listeners
        self._base, self._directions = base, directions
        self._speaker, self._plan = speaker, plan
        self._lines = [line_ids(sentence) for sentence in SENTENCES]
        self._place = torch.zeros(base.shape[1], requires_grad=True, device=base.device)
        self._last: deque[Tensor] = deque(maxlen=plan.averaged)
        self._noise = torch.Generator().manual_seed(plan.seed)
        self._unchanged: dict[int, Tensor] = {}

    @property
    def offset(self) -> Tensor:
        """What the fit has come to: what to add to every row."""
        return self._directions.matrix.to(self._base) @ torch.stack(tuple(self._last)).mean(dim=0)

    def run(self) -> Iterator[float]:
        """Goes step by step; each yields how alike the speaker one sentence was."""
        if self._speaker.log_pitch is not None:
            self._find_pitch()
        optimiser = torch.optim.Adam([self._place], betas=(0.9, 0.98))
        for step in range(self._plan.steps):
            done = step / self._plan.steps
            slope = self._plan.rate * (1 + math.cos(math.pi * done)) / 2 + self._plan.last_rate
            for group in optimiser.param_groups:
                group["lr"] = slope
            which = step % len(self._lines)
            prosody, heard = self._said(self._lines[which], self._offset)
            likeness = heard.embedding @ self._speaker.embedding
            loss = 1 - likeness + self._plan.closeness * self._place.square().mean()
            loss = loss + self._pitch_loss([prosody]) + self._quality_loss(which, heard)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            self._last.append(self._place.detach().clone())
            yield float(likeness.detach())

    def _find_pitch(self) -> None:
        """Before anything is heard: speak as high as the recording. That takes the predictor alone, so it is cheap."""
        optimiser = torch.optim.Adam([self._place], lr=self._plan.rate, betas=(0.9, 0.99))
        for step in range(self._plan.pitch_steps):
            first = step * _PITCH_LINES % len(self._lines)
            lines = [Line(ids, self._row(ids) + self._offset) for ids in self._lines[first : first + _PITCH_LINES]]
            optimiser.zero_grad()
            self._pitch_loss(self._kokoro.plan(lines)).backward()  # type: ignore[no-untyped-call]
            optimiser.step()

    @property
    def _offset(self) -> Tensor:
        return self._directions.matrix.to(self._base) @ self._place

    def _said(self, ids: Sequence[int], offset: Tensor) -> tuple[Prosody, Heard]:
        (prosody,) = self._kokoro.plan([Line(ids, self._row(ids) + offset)])
        noise = torch.randn(prosody.noise_shape, generator=self._noise)
        (samples,) = self._kokoro.sound([prosody], [noise])
        return prosody, self._listeners.hear(samples)

    def _row(self, ids: Sequence[int]) -> Tensor:
        return self._base[phonemes_of(ids) - 1]

    def _quality_loss(self, which: int, heard: Heard) -> Tensor:
        """How far the opinion of a sentence has fallen behind that of the voice the fit starts from."""
        if heard.opinion is None:
            return self._place.sum() * 0.0
        if which not in self._unchanged:
            with torch.no_grad():
                _, before = self._said(self._lines[which], torch.zeros_like(self._base[0]))
            assert before.opinion is not None
            self._unchanged[which] = before.opinion
        return self._plan.quality_weight * (self._unchanged[which] - heard.opinion).clamp(min=0.0)

    def _pitch_loss(self, prosodies: Sequence[Prosody]) -> Tensor:
        """The square of how far off the mean pitch is, in natural logarithms; nothing where nothing is voiced."""
        wanted = self._speaker.log_pitch
        voiced = torch.cat([prosody.pitch[prosody.pitch > _LEAST_PITCH] for prosody in prosodies])
        if wanted is None or not len(voiced):
            return self._place.sum() * 0.0
        return self._plan.pitch_weight * (voiced.log().mean() - wanted).square()


def line_ids(phonemes: str) -> list[int]:
    """The ids of a line, with the padding token at both ends."""
    return [PADDING, *(IDS[symbol] for symbol in phonemes), PADDING]


def phonemes_of(ids: Sequence[int]) -> int:
    """How many phonemes a padded line has; the row of a style is chosen by it."""
    return len(ids) - 2
