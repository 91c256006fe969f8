"""A style for a recording's speaker, found by gradients through Kokoro and CAM++, both of which stay as they are.

Looked for is one offset that, added to every row of the built-in voice nearest to the speaker, makes short sentences
sound to CAM++ like the recording, spoken as high as the recording is, and no worse to Distill-MOS than without it. The
offset is written in the directions in which the built-in voices differ, each measured in how much they do, so that a
step goes far where voices differ and hardly anywhere where none does.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from polyvox.audio.hearing import HEARING_RATE
from polyvox.engines.kokoro.fit_texts import LONG, USUAL
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.engines.kokoro.vocabulary import IDS, PADDING
from polyvox.models.campplus import CampPlus
from polyvox.models.distillmos import WINDOW, DistillMos
from polyvox.models.hearing import Fbank, Resampler
from polyvox.models.kokoro import Kokoro, Line, Prosody

_PITCH_LINES = 3
_LEAST_PITCH = 50.0
# Lines of so many phonemes the rows of a style are drawn from, short lines as often as long ones.
_FEWEST, _MOST = 12, 160
_MOST_QUALITY = 3.0
# Half a second. A GPU's library prepares each convolution anew for every length that it has not met before, which takes
# longer than the convolution does; so there are few lengths.
_GRAIN = 20


@dataclass(frozen=True, slots=True)
class FitPlan:
    """How a fit proceeds; the defaults are those that were tuned."""

    steps: int = 48
    seed: int = 0
    sentences: tuple[str, ...] = USUAL
    batch: int = 1
    """Sentences in one step; they are cut to one length, the shortest's or up to half a second less."""
    mixed_rows: bool = True
    """Whether a sentence is said in the style of any length of line, and not only in that of its own."""
    rate: float = 0.3
    """How far a step goes at first, in standard deviations of the built-in voices."""
    last_rate: float = 0.01
    pitch_steps: int = 12
    pitch_weight: float = 4.0
    quality_weight: float = 0.3
    """What it costs at first to fall by one point of the opinion scale behind a built-in voice."""
    quality_gain: float = 0.05
    """By how much that rises in a step for each point that the fall is deeper than allowed; it sinks likewise."""
    allowed_fall: float = 0.1
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
        heard = self._resampler(samples)
        opinions = None if self._judge is None else self._judge(heard[:, :WINDOW])
        return Heard(self._ear(self._fbank(heard)), opinions)


@dataclass(frozen=True, slots=True)
class Heard:
    """Who was heard, [batch, 192], and how good it sounded, [batch]."""

    embeddings: Tensor
    opinions: Tensor | None


class Fit:
    """One fit on its way. `base` [rows, 256] is the voice to start from, `stock` a built-in one to sound as good as."""

    def __init__(
        self,
        kokoro: Kokoro,
        listeners: Listeners,
        base: Tensor,
        stock: Tensor,
        directions: Directions,
        speaker: Speaker,
        plan: FitPlan,
    ) -> None:
        self._kokoro, self._listeners = kokoro, listeners
        self._base, self._stock = base, stock
        self._matrix = directions.matrix.to(base)
        self._speaker, self._plan = speaker, plan
        self._batches = _batches([line_ids(sentence) for sentence in plan.sentences], plan.batch)
        self._long = [line_ids(line) for line in LONG]
        self._place = torch.zeros(base.shape[1], requires_grad=True, device=base.device)
        self._last: deque[Tensor] = deque(maxlen=plan.averaged)
        self._chance = torch.Generator(base.device).manual_seed(plan.seed)
        self._unchanged: dict[int, Tensor] = {}
        self._quality = plan.quality_weight

    @property
    def offset(self) -> Tensor:
        """What the fit has come to: what to add to every row."""
        return self._matrix @ torch.stack(tuple(self._last)).mean(dim=0)

    def run(self) -> Iterator[float]:
        """Goes step by step; each yields how alike the speaker its sentences were."""
        if self._speaker.log_pitch is not None:
            self._find_pitch()
        optimiser = torch.optim.Adam([self._place], betas=(0.9, 0.98))
        for step in range(self._plan.steps):
            done = step / self._plan.steps
            slope = self._plan.rate * (1 + math.cos(math.pi * done)) / 2 + self._plan.last_rate
            for group in optimiser.param_groups:
                group["lr"] = slope
            likeness, loss = self._loss(step)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            self._last.append(self._place.detach().clone())
            yield float(likeness.detach())

    def _loss(self, step: int) -> tuple[Tensor, Tensor]:
        """How alike a step's sentences are, and everything that is to become less."""
        which = step % len(self._batches)
        lines = self._batches[which]
        plan, heard = self._said(lines, self._drawn_rows(lines) + self._offset)
        likeness = (heard.embeddings @ self._speaker.embedding).mean()
        loss = 1 - likeness + self._plan.closeness * self._place.square().mean()
        if heard.opinions is not None:
            loss = loss + self._quality_loss(which, heard.opinions)
        if self._speaker.log_pitch is not None:
            loss = loss + self._pitch_loss([*plan, *self._planned([self._long[step % len(self._long)]])])
        return likeness, loss

    def _find_pitch(self) -> None:
        """Before anything is heard: speak as high as the recording. That takes the predictor alone, so it is cheap."""
        optimiser = torch.optim.Adam([self._place], lr=self._plan.rate, betas=(0.9, 0.99))
        lines = [ids for batch in self._batches for ids in batch]
        for step in range(self._plan.pitch_steps):
            first = step * _PITCH_LINES % len(lines)
            chosen = [*lines[first : first + _PITCH_LINES], self._long[step % len(self._long)]]
            optimiser.zero_grad()
            self._pitch_loss(self._planned(chosen)).backward()  # type: ignore[no-untyped-call]
            optimiser.step()

    @property
    def _offset(self) -> Tensor:
        return self._matrix @ self._place

    def _planned(self, lines: Sequence[Sequence[int]]) -> list[Prosody]:
        """How lines will be said, each in the style of its own length."""
        offset = self._offset
        return self._kokoro.plan([Line(ids, self._base[phonemes_of(ids) - 1] + offset) for ids in lines])

    def _said(self, lines: Sequence[Sequence[int]], styles: Tensor) -> tuple[list[Prosody], Heard]:
        plan = self._kokoro.plan([Line(ids, style) for ids, style in zip(lines, styles, strict=True)])
        even = _even(plan)
        shape = len(even), *even[0].noise_shape
        noise = torch.randn(shape, generator=self._chance, device=self._base.device)
        return plan, self._listeners.hear(torch.stack(self._kokoro.sound(even, list(noise))))

    def _own_rows(self, style: Tensor, lines: Sequence[Sequence[int]]) -> Tensor:
        return torch.stack([style[phonemes_of(ids) - 1] for ids in lines])

    def _drawn_rows(self, lines: Sequence[Sequence[int]]) -> Tensor:
        """Rows of the start for lines: what is found must do for all of them, and short lines are cheaper to say."""
        if not self._plan.mixed_rows:
            return self._own_rows(self._base, lines)
        exponents = torch.rand(len(lines), generator=self._chance, device=self._base.device)
        return self._base[(_FEWEST * (_MOST / _FEWEST) ** exponents).long() - 1]

    def _quality_loss(self, which: int, opinions: Tensor) -> Tensor:
        """How far opinions have fallen behind those of the built-in voice, at a price that follows the fall."""
        if which not in self._unchanged:
            lines = self._batches[which]
            with torch.no_grad():
                _, before = self._said(lines, self._own_rows(self._stock, lines))
            assert before.opinions is not None
            self._unchanged[which] = before.opinions
        fall = self._unchanged[which] - opinions
        deeper = float(fall.detach().mean()) - self._plan.allowed_fall
        self._quality = min(max(self._quality + self._plan.quality_gain * deeper, 0.0), _MOST_QUALITY)
        return self._quality * fall.clamp(min=0.0).mean()

    def _pitch_loss(self, plan: Sequence[Prosody]) -> Tensor:
        """The squares of how far off the lines' mean pitches are, in natural logarithms; none is voiced: nothing."""
        assert self._speaker.log_pitch is not None
        pitch = pad_sequence([line.pitch for line in plan], batch_first=True)
        voiced = pitch > _LEAST_PITCH
        counts = voiced.sum(dim=1)
        means = (pitch.clamp(min=_LEAST_PITCH).log() * voiced).sum(dim=1) / counts.clamp(min=1)
        squares = (means - self._speaker.log_pitch).square() * (counts > 0)
        return self._plan.pitch_weight * squares.sum() / (counts > 0).sum().clamp(min=1)


def _batches(lines: Sequence[Sequence[int]], size: int) -> list[Sequence[Sequence[int]]]:
    """Lines in batches of about the same length."""
    ordered = sorted(lines, key=len) if size > 1 else lines
    return [ordered[first : first + size] for first in range(0, len(ordered), size)]


def _even(plan: Sequence[Prosody]) -> list[Prosody]:
    """Lines cut to one length, so that they need no masks and the listeners hear them in one batch."""
    shortest = min(line.frames for line in plan)
    frames = shortest // _GRAIN * _GRAIN or shortest
    return [
        replace(line, text=line.text[:, :frames], pitch=line.pitch[: 2 * frames], energy=line.energy[: 2 * frames])
        for line in plan
    ]


def line_ids(phonemes: str) -> list[int]:
    """The ids of a line, with the padding token at both ends."""
    return [PADDING, *(IDS[symbol] for symbol in phonemes), PADDING]


def phonemes_of(ids: Sequence[int]) -> int:
    """How many phonemes a padded line has; the row of a style is chosen by it."""
    return len(ids) - 2
