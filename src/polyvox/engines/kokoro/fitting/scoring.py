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

    def features(self, samples: Tensor) -> Tensor:
        """Log energies [batch, frames, bands] of samples [batch, time] at Kokoro's own rate, for `embeddings`."""
        return self._fbank(self._resampler(samples))

    def embeddings(self, features: Tensor) -> Tensor:
        """Speaker embeddings [batch, 192]."""
        embeddings: Tensor = self._speaker_encoder(features)
        return embeddings

    def mos(self, samples: Tensor) -> Tensor:
        """Predicted MOS [batch] of samples [batch, time] at Kokoro's own rate; only where `predicts_mos`."""
        assert self._mos_predictor is not None
        mos: Tensor = self._mos_predictor(self._resampler(samples)[:, :WINDOW])
        return mos
