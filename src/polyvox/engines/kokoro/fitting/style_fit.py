"""Optimise a style for a recording's speaker, by gradients through a decoder and CAM++, whose weights are frozen.

The parameter is one offset that is added to every row of a mix of the built-in voices nearest to the speaker. Its
prosodic half is fitted first, to the recording's pitch, and then stays, so that text, pitch and energy of the sentences
are predicted once. The loss of the acoustic half asks that sentences have the recording's speaker embedding, and a
predicted MOS no lower than a built-in voice. The offset is written in the principal components of the built-in voices,
each scaled by its standard deviation, so that a step is large where voices differ and small where they do not.
"""

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from polyvox.engines.kokoro.fitting.adam import Adam
from polyvox.engines.kokoro.fitting.config import FitConfig
from polyvox.engines.kokoro.fitting.decoding import Decode
from polyvox.engines.kokoro.fitting.loss import StyleLoss
from polyvox.engines.kokoro.fitting.pitch_fit import fit_pitch, shifted
from polyvox.engines.kokoro.fitting.scoring import SpeechScorer, TargetSpeaker
from polyvox.engines.kokoro.fitting.sentences import LONG
from polyvox.engines.kokoro.vocabulary import IDS, PADDING
from polyvox.models.kokoro.model import FRAME, HARMONICS, Kokoro, StyledTokens
from polyvox.runtime.executors.cuda_graphs import Replay

# Style rows are drawn for so many phonemes, log-uniformly: short sentences as often as long ones.
_FEWEST_PHONEMES, _MOST_PHONEMES = 12, 160


@dataclass(frozen=True, slots=True)
class StyleBasis:
    """Principal components of the rows of voice packs, for each half of the style, scaled by their deviation.

    `matrix` is [256, 256].
    """

    matrix: Tensor

    @property
    def halves(self) -> tuple[Tensor, Tensor]:
        """The acoustic and the prosodic half, [128, 128] each."""
        half = len(self.matrix) // 2
        return self.matrix[:half, :half], self.matrix[half:, half:]

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

    Steps go through `decode`. Where that is not Kokoro's own decoder, the last ones see what Kokoro's would change: the
    difference in features is measured when a sentence comes up, and stays. Values are then Kokoro's, and only their
    gradients are those of `decode`. With `replay`, each step's work is left to it; all steps have the same shapes.
    """

    def __init__(
        self,
        kokoro: Kokoro,
        decode: Decode,
        scorer: SpeechScorer,
        base: Tensor,
        stock: Tensor,
        basis: StyleBasis,
        speaker: TargetSpeaker,
        config: FitConfig,
        replay: Replay | None = None,
    ) -> None:
        self._kokoro, self._config = kokoro, config
        self._drawn: dict[tuple[int, ...], tuple[Tensor, Tensor, Tensor]] = {}
        self._base, self._stock = base.chunk(2, dim=1)[0], stock.chunk(2, dim=1)[0]
        self._sentences = [styled_sentence(phonemes, base) for phonemes in config.sentences]
        self._longer = [styled_sentence(phonemes, base) for phonemes in LONG]
        self._log_pitch = speaker.log_pitch
        self._acoustic_basis, self._prosodic_basis = (half.to(base) for half in basis.halves)
        self._loss = StyleLoss(decode, scorer, self._acoustic_basis, speaker.embedding, config)
        self._replay: Replay = _eager if replay is None else replay
        self._predicts_mos = scorer.predicts_mos
        self._mos_weight = base.new_tensor(config.mos_weight)
        self._prosodic_offset = torch.zeros_like(self._base[0])
        self._coordinates = torch.zeros_like(self._base[0])
        self._last: deque[Tensor] = deque(maxlen=config.averaged)
        self._generator = torch.Generator(base.device).manual_seed(config.seed)
        self._stock_mos: dict[int, Tensor] = {}

    @property
    def offset(self) -> Tensor:
        """The result: what to add to every row."""
        return torch.cat((self._acoustic_basis @ torch.stack(tuple(self._last)).mean(dim=0), self._prosodic_offset))

    def run(self) -> Iterator[float]:
        """Optimise step by step; each step yields the similarity of its sentences to the speaker."""
        if self._log_pitch is not None:
            sentences, steps = (*self._longer, *self._sentences), self._config.pitch_steps
            self._prosodic_offset = fit_pitch(self._kokoro, sentences, self._prosodic_basis, self._log_pitch, steps)
        curves = self._predict_curves()
        optimizer = Adam(self._coordinates, 0.9, 0.98)
        for step in range(self._config.steps):
            cosine = (1 + math.cos(math.pi * step / self._config.steps)) / 2
            similarity, gradient = self._step(step, curves)
            optimizer.step(gradient, self._config.learning_rate * cosine + self._config.final_learning_rate)
            self._last.append(self._coordinates.clone())
            yield float(similarity)

    @torch.no_grad()
    def _predict_curves(self) -> tuple[Tensor, Tensor, Tensor]:
        """Text, pitch and energy of all sentences, `window` frames of each. No step changes them."""
        prosodies = self._kokoro.predict_prosody(shifted(self._sentences, self._prosodic_offset))
        window = self._config.window
        return (
            torch.stack([fit_length(each.text, window) for each in prosodies]),
            torch.stack([fit_length(each.pitch, 2 * window) for each in prosodies]),
            torch.stack([fit_length(each.energy, 2 * window) for each in prosodies]),
        )

    def _step(self, step: int, curves: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Similarity and gradient of a batch of sentences."""
        batch, count = self._config.batch, len(self._sentences)
        chosen = [index % count for index in range(step * batch, (step + 1) * batch)]
        own = [curve[chosen] for curve in curves]
        given = *self._draw(step, tuple(chosen), own), *own
        if not self._predicts_mos or step % self._config.mos_every:
            result = self._replay("step", self._loss.step, (self._coordinates, *given))
            return result[0], result[1:]
        stock_mos = self._mos_of_stock(chosen, own)
        scored = self._coordinates, self._mos_weight, stock_mos, *given
        result = self._replay("step with MOS", self._loss.step_with_mos, scored)
        self._mos_weight.copy_(result[1])
        return result[0], result[2:]

    def _draw(self, step: int, chosen: tuple[int, ...], curves: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Noise, rows and defect of a step; in the corrected steps, a batch that comes again has the same ones."""
        if chosen in self._drawn:
            return self._drawn[chosen]
        noise, rows = self._noise(len(chosen)), self._drawn_rows(len(chosen))
        if step < self._config.steps - self._config.corrected_steps:
            return noise, rows, rows.new_zeros(())
        defect = self._loss.defect(self._kokoro.waveform, self._coordinates, noise, rows, *curves)
        return self._drawn.setdefault(chosen, (noise, rows, defect))

    def _mos_of_stock(self, chosen: Sequence[int], curves: Sequence[Tensor]) -> Tensor:
        """The MOS of the built-in voice's timbre, predicted when a sentence first comes up."""
        if not all(index in self._stock_mos for index in chosen):
            rows = torch.stack([self._stock[phoneme_count(self._sentences[index].ids) - 1] for index in chosen])
            mos = self._loss.mos(self._noise(len(chosen)), rows, *curves)
            self._stock_mos |= dict(zip(chosen, mos, strict=True))
        return torch.stack([self._stock_mos[index] for index in chosen])

    def _noise(self, count: int) -> Tensor:
        shape = count, self._config.window * FRAME, HARMONICS
        return torch.randn(shape, generator=self._generator, device=self._base.device)

    def _drawn_rows(self, count: int) -> Tensor:
        """Acoustic rows of random lengths: the offset must do for all of them."""
        exponents = torch.rand(count, generator=self._generator, device=self._base.device)
        return self._base[(_FEWEST_PHONEMES * (_MOST_PHONEMES / _FEWEST_PHONEMES) ** exponents).long() - 1]


def _eager(
    key: Hashable, work: Callable[..., Tensor], given: Sequence[Tensor], idle: Sequence[Tensor] | None = None
) -> Tensor:
    return work(*given)


def fit_length(curve: Tensor, length: int) -> Tensor:
    """A curve [..., time] cut to `length`, or padded with its last value."""
    positions = torch.arange(length, device=curve.device).clamp(max=curve.shape[-1] - 1)
    return curve[..., positions]


def styled_sentence(phonemes: str, style: Tensor) -> StyledTokens:
    """A sentence in the row of a style that its length selects."""
    ids = padded_ids(phonemes)
    return StyledTokens(ids, style[phoneme_count(ids) - 1])


def padded_ids(phonemes: str) -> list[int]:
    """The ids of a sentence, with the padding token at both ends."""
    return [PADDING, *(IDS[symbol] for symbol in phonemes), PADDING]


def phoneme_count(ids: Sequence[int]) -> int:
    """Number of phonemes of a padded sentence, which selects the row of a voice pack."""
    return len(ids) - 2
