"""Who hears what Kokoro says while a voice is fitted."""

from dataclasses import dataclass

from torch import Tensor

from polyvox.audio.analysis import ANALYSIS_RATE
from polyvox.engines.kokoro.render import SAMPLE_RATE
from polyvox.models.listeners.campplus import CampPlus
from polyvox.models.listeners.distillmos import WINDOW, DistillMos
from polyvox.models.listeners.hearing import Fbank, Resampler


@dataclass(frozen=True, slots=True)
class Heard:
    """Who was heard, [batch, 192], and how good it sounded, [batch]."""

    embeddings: Tensor
    opinions: Tensor | None


class Listeners:
    """CAM++, and Distill-MOS where it is installed."""

    def __init__(self, ear: CampPlus, judge: DistillMos | None) -> None:
        self._ear, self._judge = ear, judge
        device = next(ear.parameters()).device
        self._resampler = Resampler(SAMPLE_RATE, ANALYSIS_RATE, device)
        self._fbank = Fbank(ANALYSIS_RATE, device=device)

    @property
    def judging(self) -> bool:
        """Whether anybody says how good it sounds."""
        return self._judge is not None

    def speaker(self, heard: Tensor) -> Tensor:
        """The embedding of a recording [samples] at the rate of hearing."""
        embedding: Tensor = self._ear(self._fbank(heard[None]))[0]
        return embedding

    def hear(self, samples: Tensor) -> Heard:
        """Of samples [batch, time] at Kokoro's own rate."""
        heard = self._resampler(samples)
        opinions = None if self._judge is None else self._judge(heard[:, :WINDOW])
        return Heard(self._ear(self._fbank(heard)), opinions)
