"""Loss and gradient of one step as functions of tensors, so that they can be captured as CUDA graphs."""

import torch
from torch import Tensor

from polyvox.engines.kokoro.fitting.config import FitConfig
from polyvox.engines.kokoro.fitting.decoding import Decode
from polyvox.engines.kokoro.fitting.scoring import SpeechScorer
from polyvox.models.kokoro.model import FRAME
from polyvox.models.kokoro.ragged import Ragged

_MAX_MOS_WEIGHT = 3.0


class StyleLoss:
    """The loss of an acoustic offset in the coordinates of a style basis, and its gradient.

    `noise` [batch, window samples, 9] and the `curves` (text, pitch and energy of `window` frames) are those of the
    sentences, and `rows` [batch, half] the acoustic styles that the offset is added to. A `defect` is added to the
    features that `decode` leads to.
    """

    def __init__(
        self, decode: Decode, scorer: SpeechScorer, basis: Tensor, embedding: Tensor, config: FitConfig
    ) -> None:
        self._decode, self._scorer = decode, scorer
        self._basis, self._embedding, self._config = basis, embedding, config

    def step(self, coordinates: Tensor, noise: Tensor, rows: Tensor, defect: Tensor, *curves: Tensor) -> Tensor:
        """Similarity to the speaker and the gradient, concatenated; the MOS is left out."""
        coordinates = coordinates.detach().requires_grad_()
        samples = self._samples(self._decode, coordinates, noise, rows, *curves)
        similarity = self._similarity(samples, defect)
        (gradient,) = torch.autograd.grad(self._distance(similarity, coordinates), coordinates)
        return torch.cat((similarity.detach()[None], gradient))

    def step_with_mos(
        self,
        coordinates: Tensor,
        mos_weight: Tensor,
        stock_mos: Tensor,
        noise: Tensor,
        rows: Tensor,
        defect: Tensor,
        *curves: Tensor,
    ) -> Tensor:
        """`step`, but with the new weight of a drop below `stock_mos` behind the similarity."""
        config = self._config
        coordinates = coordinates.detach().requires_grad_()
        samples = self._samples(self._decode, coordinates, noise, rows, *curves)
        similarity = self._similarity(samples, defect)
        drop = stock_mos - self._scorer.mos(samples)
        excess = drop.detach().mean() - config.allowed_mos_drop
        mos_weight = (mos_weight + config.mos_every * config.mos_weight_rate * excess).clamp(0.0, _MAX_MOS_WEIGHT)
        loss = self._distance(similarity, coordinates) + mos_weight * drop.clamp(min=0.0).mean()
        (gradient,) = torch.autograd.grad(loss, coordinates)
        return torch.cat((similarity.detach()[None], mos_weight[None], gradient))

    @torch.no_grad()
    def mos(self, noise: Tensor, rows: Tensor, *curves: Tensor) -> Tensor:
        """The predicted MOS of sentences without an offset, [batch]."""
        return self._scorer.mos(self._samples(self._decode, torch.zeros_like(rows[0]), noise, rows, *curves))

    @torch.no_grad()
    def defect(self, reference: Decode, coordinates: Tensor, noise: Tensor, rows: Tensor, *curves: Tensor) -> Tensor:
        """The features that another decoder leads to, less those of the one that steps go through."""
        by_reference, by_own = (
            self._scorer.features(self._samples(decode, coordinates, noise, rows, *curves))
            for decode in (reference, self._decode)
        )
        return by_reference - by_own

    def _similarity(self, samples: Tensor, defect: Tensor) -> Tensor:
        return (self._scorer.embeddings(self._scorer.features(samples) + defect) @ self._embedding).mean()

    def _distance(self, similarity: Tensor, coordinates: Tensor) -> Tensor:
        return 1 - similarity + self._config.weight_decay * coordinates.square().mean()

    def _samples(
        self,
        decode: Decode,
        coordinates: Tensor,
        noise: Tensor,
        rows: Tensor,
        text: Tensor,
        pitch: Tensor,
        energy: Tensor,
    ) -> Tensor:
        frames = Ragged([noise.shape[1] // FRAME] * len(noise), noise.device)
        return decode(text, pitch, energy, rows + self._basis @ coordinates, noise, frames)
