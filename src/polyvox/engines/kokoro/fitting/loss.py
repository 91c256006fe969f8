"""Loss and gradient of one step as functions of tensors, so that they can be captured as CUDA graphs."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.engines.kokoro.fitting.config import FitConfig
from polyvox.engines.kokoro.fitting.scoring import SpeechScorer, SpeechScores, TargetSpeaker
from polyvox.engines.kokoro.vocabulary import PADDING
from polyvox.models.kokoro.model import FRAME, Kokoro
from polyvox.models.kokoro.ragged import Ragged, StaticRagged

_LEAST_PITCH = 50.0
_MAX_MOS_WEIGHT = 3.0


@dataclass(frozen=True, slots=True)
class EncodedSentences:
    """The style-independent encodings of sentences, [sentences, tokens, width] each, and their lengths."""

    bert: Tensor
    text: Tensor
    ends: Tensor

    @classmethod
    @torch.no_grad()
    def of(cls, kokoro: Kokoro, sentences: Sequence[Sequence[int]]) -> "EncodedSentences":
        """Encode sentences of ids, with the padding token at both ends."""
        device = kokoro.device
        ragged = Ragged([len(ids) for ids in sentences], device)
        padded = [[*ids, *[PADDING] * (ragged.longest - len(ids))] for ids in sentences]
        return cls(*kokoro.encode_text(torch.tensor(padded, device=device), ragged), ragged.ends)

    def select(self, indices: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Some of the sentences, as a `StyleLoss` takes them."""
        chosen = torch.tensor(indices, device=self.ends.device)
        return self.bert[chosen], self.text[chosen], self.ends[chosen]


@dataclass(frozen=True, slots=True)
class _BatchProsody:
    """Text [sentences, width, frames], pitch and energy [sentences, 2 frames] of a batch, and its lengths."""

    text: Tensor
    pitch: Tensor
    energy: Tensor
    frames: Ragged

    def first(self, count: int, window: int) -> tuple[Tensor, Tensor, Tensor]:
        """The first sentences, each `window` frames long: cut there, or padded with its last frame."""
        ends, doubled = self.frames.ends[:count], self.frames.scaled(2).ends[:count]
        return (
            _fit_length(self.text[:count], ends, window),
            _fit_length(self.pitch[:count, None], doubled, 2 * window)[:, 0],
            _fit_length(self.energy[:count, None], doubled, 2 * window)[:, 0],
        )


class StyleLoss:
    """The loss of an offset in the coordinates of a style basis, and its gradient.

    With a padded length in frames (`padded`), all shapes are static, and a sentence that is predicted to be longer is
    cut there. `sentences` are those of `EncodedSentences.select`, `rows` the style vectors that they are spoken in,
    [sentences, 256], and `noise` [scored, window, 9] is that of the first sentences, the only ones that are decoded.
    """

    def __init__(
        self,
        kokoro: Kokoro,
        scorer: SpeechScorer,
        basis: Tensor,
        speaker: TargetSpeaker,
        config: FitConfig,
        padded: int | None,
    ) -> None:
        self._kokoro, self._scorer = kokoro, scorer
        self._basis, self._speaker, self._config = basis, speaker, config
        self._padded = padded

    def step(
        self,
        coordinates: Tensor,
        mos_weight: Tensor,
        stock_mos: Tensor,
        noise: Tensor,
        rows: Tensor,
        *sentences: Tensor,
    ) -> Tensor:
        """Similarity to the speaker, the new weight of a drop below `stock_mos`, and the gradient, concatenated."""
        coordinates = coordinates.detach().requires_grad_()
        prosody, scores = self._scores(rows + self._basis @ coordinates, sentences, noise)
        similarity = (scores.embeddings @ self._speaker.embedding).mean()
        loss = 1 - similarity + self._config.weight_decay * coordinates.square().mean()
        if scores.mos is not None:
            drop = stock_mos - scores.mos
            excess = drop.detach().mean() - self._config.allowed_mos_drop
            mos_weight = (mos_weight + self._config.mos_weight_rate * excess).clamp(0.0, _MAX_MOS_WEIGHT)
            loss = loss + mos_weight * drop.clamp(min=0.0).mean()
        if self._speaker.log_pitch is not None:
            loss = loss + self._pitch_loss(prosody, self._speaker.log_pitch)
        (gradient,) = torch.autograd.grad(loss, coordinates)
        return torch.cat((similarity.detach()[None], mos_weight[None], gradient))

    def pitch_gradient(self, coordinates: Tensor, rows: Tensor, *sentences: Tensor) -> Tensor:
        """The gradient of the pitch loss alone, for which nothing has to be decoded."""
        assert self._speaker.log_pitch is not None
        coordinates = coordinates.detach().requires_grad_()
        prosody = self._predict_prosody(rows + self._basis @ coordinates, *sentences)
        (gradient,) = torch.autograd.grad(self._pitch_loss(prosody, self._speaker.log_pitch), coordinates)
        return gradient

    @torch.no_grad()
    def mos(self, noise: Tensor, rows: Tensor, *sentences: Tensor) -> Tensor:
        """The predicted MOS of sentences, [scored]."""
        _, scores = self._scores(rows, sentences, noise)
        assert scores.mos is not None
        return scores.mos

    def _scores(self, styles: Tensor, sentences: Sequence[Tensor], noise: Tensor) -> tuple[_BatchProsody, SpeechScores]:
        prosody = self._predict_prosody(styles, *sentences)
        count, window = len(noise), noise.shape[1] // FRAME
        acoustic = styles[:count].chunk(2, dim=1)[0]
        even = Ragged([window] * count, noise.device)
        samples = self._kokoro.waveform(*prosody.first(count, window), acoustic, noise, even)
        return prosody, self._scorer.score(samples)

    def _predict_prosody(self, styles: Tensor, bert: Tensor, text: Tensor, ends: Tensor) -> _BatchProsody:
        tokens = self._lengths(ends, bert.shape[1])
        speeds = torch.ones_like(styles[:, 0])
        encoding = self._kokoro.add_durations(
            bert[:, : tokens.longest], text[:, : tokens.longest], styles, speeds, tokens
        )
        frames = self._lengths(encoding[:, :, -1].sum(dim=1).long(), self._padded)
        return _BatchProsody(*self._kokoro.frame_features(encoding, styles, frames), frames)

    def _lengths(self, ends: Tensor, padded: int | None) -> Ragged:
        """Static lengths where shapes must be static, and may be known to the device alone; otherwise as they are."""
        if self._padded is None or padded is None:
            return Ragged(ends.tolist(), ends.device)
        return StaticRagged(ends.clamp(max=padded), padded)

    def _pitch_loss(self, prosody: _BatchProsody, target: float) -> Tensor:
        """Mean squared error of the sentences' mean log pitches; sentences without voiced frames do not count."""
        pitch = prosody.frames.scaled(2).masked(prosody.pitch[:, None])[:, 0]
        voiced = pitch > _LEAST_PITCH
        counts = voiced.sum(dim=1)
        means = (pitch.clamp(min=_LEAST_PITCH).log() * voiced).sum(dim=1) / counts.clamp(min=1)
        squares = (means - target).square() * (counts > 0)
        return self._config.pitch_weight * squares.sum() / (counts > 0).sum().clamp(min=1)


def _fit_length(rows: Tensor, ends: Tensor, length: int) -> Tensor:
    """Rows [batch, channels, time] cut or padded to `length`, with each row's last value."""
    positions = torch.arange(length, device=rows.device).clamp(max=ends[:, None] - 1)
    return rows.gather(2, positions[:, None].expand(-1, rows.shape[1], -1))
