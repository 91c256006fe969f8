"""Optimise a style for a recording's speaker, by gradients through Kokoro and CAM++, whose weights are frozen.

The parameter is one offset that is added to every row of the built-in voice nearest to the speaker. The loss asks that
short sentences have the recording's speaker embedding and pitch, and a predicted MOS no lower than without the offset.
The offset is written in the principal components of the built-in voices, each scaled by its standard deviation, so that
a step is large where voices differ and small where they do not.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.engines.kokoro.fitting.adam import Adam
from polyvox.engines.kokoro.fitting.config import FitConfig
from polyvox.engines.kokoro.fitting.loss import EncodedSentences, StyleLoss
from polyvox.engines.kokoro.fitting.scoring import SpeechScorer, TargetSpeaker
from polyvox.engines.kokoro.fitting.sentences import LONG
from polyvox.engines.kokoro.vocabulary import IDS, PADDING
from polyvox.models.kokoro.model import FRAME, HARMONICS, Kokoro, StyledTokens
from polyvox.runtime.executors.cuda_graphs import Replay, eagerly

_PITCH_SENTENCES = 3
# Style rows are drawn for so many phonemes, log-uniformly: short sentences as often as long ones.
_FEWEST_PHONEMES, _MOST_PHONEMES = 12, 160
# How much longer than before the fit a sentence may become where shapes are static.
_LENGTH_MARGIN = 1.25


@dataclass(frozen=True, slots=True)
class StyleBasis:
    """Principal components of the rows of voice packs, for each half of the style, scaled by their deviation.

    `matrix` is [256, 256].
    """

    matrix: Tensor

    @classmethod
    def of(cls, packs: npt.NDArray[np.float32]) -> "StyleBasis":
        """The basis of voice packs [voices, rows, 256], over all rows, so that it covers the effect of length too."""
        rows = packs.reshape(-1, packs.shape[-1]).astype(np.float64)
        halves = []
        for half in np.split(rows - rows.mean(axis=0), 2, axis=1):
            variances, axes = np.linalg.eigh(half.T @ half / len(half))
            halves.append(torch.from_numpy((axes * np.sqrt(np.maximum(variances, 0.0))).astype(np.float32)))
        return cls(torch.block_diag(*halves))  # type: ignore[no-untyped-call]


class StyleFit:
    """One fit. `base` [rows, 256] is the voice to start from, `stock` the built-in one whose MOS is the reference.

    With `replay`, all shapes are static and each step's work is left to it.
    """

    def __init__(
        self,
        kokoro: Kokoro,
        scorer: SpeechScorer,
        base: Tensor,
        stock: Tensor,
        basis: StyleBasis,
        speaker: TargetSpeaker,
        config: FitConfig,
        replay: Replay | None = None,
    ) -> None:
        self._base, self._stock, self._config = base, stock, config
        self._basis = basis.matrix.to(base)
        self._training = len(config.sentences)
        self._sentences = [padded_ids(phonemes) for phonemes in (*config.sentences, *LONG)]
        self._encoded = EncodedSentences.of(kokoro, self._sentences)
        padded = None if replay is None else self._padded_frames(kokoro)
        self._loss = StyleLoss(kokoro, scorer, self._basis, speaker, config, padded)
        self._run: Replay = eagerly if replay is None else replay
        self._fits_pitch, self._fits_mos = speaker.log_pitch is not None, scorer.predicts_mos
        self._coordinates = torch.zeros_like(base[0])
        self._mos_weight = base.new_tensor(config.mos_weight)
        self._last: deque[Tensor] = deque(maxlen=config.averaged)
        self._generator = torch.Generator(base.device).manual_seed(config.seed)
        self._stock_mos: dict[int, Tensor] = {}

    @property
    def offset(self) -> Tensor:
        """The result: what to add to every row."""
        return self._basis @ torch.stack(tuple(self._last)).mean(dim=0)

    def run(self) -> Iterator[float]:
        """Optimise step by step; each step yields the similarity of its sentences to the speaker."""
        if self._fits_pitch:
            self._fit_pitch()
        optimizer = Adam(self._coordinates, 0.9, 0.98)
        for step in range(self._config.steps):
            cosine = (1 + math.cos(math.pi * step / self._config.steps)) / 2
            result = self._step(step)
            self._mos_weight.copy_(result[1])
            optimizer.step(result[2:], self._config.learning_rate * cosine + self._config.final_learning_rate)
            self._last.append(self._coordinates.clone())
            yield float(result[0])

    def _step(self, step: int) -> Tensor:
        """The loss of a batch that is decoded and scored, and of the pitch of one more sentence."""
        batch = self._config.batch
        chosen = [index % self._training for index in range(step * batch, (step + 1) * batch)]
        stock_mos = self._mos_of_stock(chosen)
        long = self._long(step)
        rows = torch.cat((self._drawn_rows(batch), self._own_rows(self._base, [long])))
        sentences = self._encoded.select([*chosen, long])
        given = self._coordinates, self._mos_weight, stock_mos, self._noise(chosen), rows, *sentences
        return self._run("step", self._loss.step, given)

    def _fit_pitch(self) -> None:
        """First fit the pitch alone, which takes the prosody predictor only and is cheap."""
        optimizer = Adam(self._coordinates, 0.9, 0.99)
        for step in range(self._config.pitch_steps):
            first = step * _PITCH_SENTENCES
            chosen = [*(index % self._training for index in range(first, first + _PITCH_SENTENCES)), self._long(step)]
            given = self._coordinates, self._own_rows(self._base, chosen), *self._encoded.select(chosen)
            optimizer.step(self._run("pitch", self._loss.pitch_gradient, given), self._config.learning_rate)

    @torch.no_grad()
    def _padded_frames(self, kokoro: Kokoro) -> int:
        """A length in frames that no sentence is likely to exceed."""
        rows = self._own_rows(self._base, range(len(self._sentences)))
        tokens = [StyledTokens(ids, row) for ids, row in zip(self._sentences, rows, strict=True)]
        return math.ceil(_LENGTH_MARGIN * max(each.frames for each in kokoro.predict_durations(tokens)))

    def _long(self, step: int) -> int:
        """The index of one of the sentences of all lengths."""
        return self._training + step % (len(self._sentences) - self._training)

    def _mos_of_stock(self, chosen: Sequence[int]) -> Tensor:
        """The MOS of the built-in voice, predicted when a sentence first comes up; 0 without a predictor."""
        if not self._fits_mos:
            return self._base.new_zeros(len(chosen))
        if not all(index in self._stock_mos for index in chosen):
            rows = self._own_rows(self._stock, chosen)
            mos = self._loss.mos(self._noise(chosen), rows, *self._encoded.select(chosen))
            self._stock_mos |= dict(zip(chosen, mos, strict=True))
        return torch.stack([self._stock_mos[index] for index in chosen])

    def _noise(self, chosen: Sequence[int]) -> Tensor:
        shape = len(chosen), self._config.window * FRAME, HARMONICS
        return torch.randn(shape, generator=self._generator, device=self._base.device)

    def _own_rows(self, style: Tensor, chosen: Sequence[int]) -> Tensor:
        """The rows that sentences are spoken in when they are synthesised."""
        return torch.stack([style[phoneme_count(self._sentences[index]) - 1] for index in chosen])

    def _drawn_rows(self, count: int) -> Tensor:
        """Rows of random lengths: the offset must do for all of them, and short sentences are cheaper to decode."""
        exponents = torch.rand(count, generator=self._generator, device=self._base.device)
        return self._base[(_FEWEST_PHONEMES * (_MOST_PHONEMES / _FEWEST_PHONEMES) ** exponents).long() - 1]


def padded_ids(phonemes: str) -> list[int]:
    """The ids of a sentence, with the padding token at both ends."""
    return [PADDING, *(IDS[symbol] for symbol in phonemes), PADDING]


def phoneme_count(ids: Sequence[int]) -> int:
    """Number of phonemes of a padded sentence, which selects the row of a voice pack."""
    return len(ids) - 2
