"""Differentiable scores of Kokoro's speech: speaker embedding and predicted MOS."""

from dataclasses import dataclass

from torch import Tensor

from polyvox.audio.analysis import ANALYSIS_RATE
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.models.listeners.campplus import CampPlus
from polyvox.models.listeners.distillmos import WINDOW, DistillMosNetwork
from polyvox.models.listeners.fbank import Fbank, Resampler


@dataclass(frozen=True, slots=True)
class TargetSpeaker:
    """The speaker to fit: an embedding of unit length, and the natural logarithm of the pitch, if it is known."""

    embedding: Tensor
    log_pitch: float | None


@dataclass(frozen=True, slots=True)
class SpeechScores:
    """Speaker embeddings [batch, 192], and MOS [batch] where it is predicted."""

    embeddings: Tensor
    mos: Tensor | None


class SpeechScorer:
    """CAM++, and Distill-MOS where it is installed."""

    def __init__(self, speaker_encoder: CampPlus, mos_predictor: DistillMosNetwork | None) -> None:
        self._speaker_encoder, self._mos_predictor = speaker_encoder, mos_predictor
        device = next(speaker_encoder.parameters()).device
        self._resampler = Resampler(SAMPLE_RATE, ANALYSIS_RATE, device)
        self._fbank = Fbank(ANALYSIS_RATE, device=device)

    @property
    def predicts_mos(self) -> bool:
        return self._mos_predictor is not None

    def embed(self, samples: Tensor) -> Tensor:
        """The embedding of a recording [samples] at `ANALYSIS_RATE`."""
        embedding: Tensor = self._speaker_encoder(self._fbank(samples[None]))[0]
        return embedding

    def score(self, samples: Tensor) -> SpeechScores:
        """Score samples [batch, time] at Kokoro's own rate."""
        resampled = self._resampler(samples)
        mos = None if self._mos_predictor is None else self._mos_predictor(resampled[:, :WINDOW])
        return SpeechScores(self._speaker_encoder(self._fbank(resampled)), mos)
