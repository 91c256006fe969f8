"""A style for a recording's speaker, found by gradients through Kokoro and CAM++, both of which stay as they are.

Looked for is one offset that, added to every row of the built-in voice nearest to the speaker, makes short sentences
sound to CAM++ like the recording, spoken as high as the recording is, and no worse to Distill-MOS than without it. The
offset is written in the directions in which the built-in voices differ, each measured in how much they do, so that a
step goes far where voices differ and hardly anywhere where none does.
"""

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.engines.kokoro.fit_descent import Descent
from polyvox.engines.kokoro.fit_listeners import Listeners
from polyvox.engines.kokoro.fit_plan import FitPlan
from polyvox.engines.kokoro.fit_speaker import Speaker
from polyvox.engines.kokoro.fit_step import Script, Step
from polyvox.engines.kokoro.fit_texts import LONG
from polyvox.engines.kokoro.vocabulary import IDS, PADDING
from polyvox.models.kokoro.model import FRAME, HARMONICS, Kokoro, Line
from polyvox.runtime.executors.cuda_graphs import Replay

_PITCH_LINES = 3
# Lines of so many phonemes the rows of a style are drawn from, short lines as often as long ones.
_FEWEST, _MOST = 12, 160
# How much longer than before the fit a line may become in a box.
_ROOM = 1.25


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


class Fit:
    """One fit on its way. `base` [rows, 256] is the voice to start from, `stock` a built-in one to sound as good as.

    With `replay`, what a step computes has one shape throughout and is left to it.
    """

    def __init__(
        self,
        kokoro: Kokoro,
        listeners: Listeners,
        base: Tensor,
        stock: Tensor,
        directions: Directions,
        speaker: Speaker,
        plan: FitPlan,
        replay: Replay | None = None,
    ) -> None:
        self._base, self._stock, self._plan = base, stock, plan
        self._matrix = directions.matrix.to(base)
        self._sentences = len(plan.sentences)
        self._lines = [line_ids(phonemes) for phonemes in (*plan.sentences, *LONG)]
        self._script = Script.of(kokoro, self._lines)
        box = None if replay is None else self._box(kokoro)
        self._step = Step(kokoro, listeners, self._matrix, speaker, plan, box)
        self._run: Replay = _directly if replay is None else replay
        self._seeks_pitch, self._judged = speaker.log_pitch is not None, listeners.judging
        self._place = torch.zeros_like(base[0])
        self._price = base.new_tensor(plan.quality_weight)
        self._last: deque[Tensor] = deque(maxlen=plan.averaged)
        self._chance = torch.Generator(base.device).manual_seed(plan.seed)
        self._before: dict[int, Tensor] = {}

    @property
    def offset(self) -> Tensor:
        """What the fit has come to: what to add to every row."""
        return self._matrix @ torch.stack(tuple(self._last)).mean(dim=0)

    def run(self) -> Iterator[float]:
        """Goes step by step; each yields how alike the speaker its sentences were."""
        if self._seeks_pitch:
            self._find_pitch()
        descent = Descent(self._place, 0.9, 0.98)
        for step in range(self._plan.steps):
            rate = self._plan.rate * (1 + math.cos(math.pi * step / self._plan.steps)) / 2 + self._plan.last_rate
            heard = self._heard(step)
            self._price.copy_(heard[1])
            descent.step(heard[2:], rate)
            self._last.append(self._place.clone())
            yield float(heard[0])

    def _heard(self, step: int) -> Tensor:
        """A step's sentences are heard; one more line is only planned, in which the pitch counts as well."""
        batch = self._plan.batch
        chosen = [place % self._sentences for place in range(step * batch, (step + 1) * batch)]
        before = self._opinions_before(chosen)
        long = self._long(step)
        rows = torch.cat((self._drawn_rows(batch), self._own_rows(self._base, [long])))
        given = self._place, self._price, before, self._noise(chosen), rows, *self._script.lines([*chosen, long])
        return self._run("heard", self._step.heard, given)

    def _find_pitch(self) -> None:
        """Before anything is heard: speak as high as the recording. That takes the predictor alone, so it is cheap."""
        descent = Descent(self._place, 0.9, 0.99)
        for step in range(self._plan.pitch_steps):
            first = step * _PITCH_LINES
            chosen = [*(place % self._sentences for place in range(first, first + _PITCH_LINES)), self._long(step)]
            given = self._place, self._own_rows(self._base, chosen), *self._script.lines(chosen)
            descent.step(self._run("pitched", self._step.pitched, given), self._plan.rate)

    @torch.no_grad()
    def _box(self, kokoro: Kokoro) -> int:
        """Frames that no line is likely to exceed."""
        rows = self._own_rows(self._base, range(len(self._lines)))
        lines = [Line(ids, row) for ids, row in zip(self._lines, rows, strict=True)]
        return math.ceil(_ROOM * max(line.frames for line in kokoro.understood(lines)))

    def _long(self, step: int) -> int:
        """One of the lines of all lengths."""
        return self._sentences + step % (len(self._lines) - self._sentences)

    def _opinions_before(self, chosen: Sequence[int]) -> Tensor:
        """How good the built-in voice says lines, which is found out when they first come up; 0 if nobody judges."""
        if not self._judged:
            return self._base.new_zeros(len(chosen))
        if not all(place in self._before for place in chosen):
            rows = self._own_rows(self._stock, chosen)
            opinions = self._step.opinions(self._noise(chosen), rows, *self._script.lines(chosen))
            self._before |= dict(zip(chosen, opinions, strict=True))
        return torch.stack([self._before[place] for place in chosen])

    def _noise(self, chosen: Sequence[int]) -> Tensor:
        shape = len(chosen), self._plan.window * FRAME, HARMONICS
        return torch.randn(shape, generator=self._chance, device=self._base.device)

    def _own_rows(self, style: Tensor, chosen: Sequence[int]) -> Tensor:
        """The rows that lines are said in when they are really said."""
        return torch.stack([style[phonemes_of(self._lines[place]) - 1] for place in chosen])

    def _drawn_rows(self, count: int) -> Tensor:
        """Rows of the start for lines: what is found must do for all of them, and short lines are cheaper to say."""
        exponents = torch.rand(count, generator=self._chance, device=self._base.device)
        return self._base[(_FEWEST * (_MOST / _FEWEST) ** exponents).long() - 1]


def _directly(
    key: Hashable, work: Callable[..., Tensor], given: Sequence[Tensor], idle: Sequence[Tensor] | None = None
) -> Tensor:
    return work(*given)


def line_ids(phonemes: str) -> list[int]:
    """The ids of a line, with the padding token at both ends."""
    return [PADDING, *(IDS[symbol] for symbol in phonemes), PADDING]


def phonemes_of(ids: Sequence[int]) -> int:
    """How many phonemes a padded line has; the row of a style is chosen by it."""
    return len(ids) - 2
