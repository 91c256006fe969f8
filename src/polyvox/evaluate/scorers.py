"""The models that score recordings, one for each metric."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyvox.bundles.validate import Bundle, open_bundle
from polyvox.errors import BundleError, UnavailableError
from polyvox.evaluate.distillmos import DistillMos
from polyvox.evaluate.dnsmos import DnsMos, DnsScores
from polyvox.evaluate.metric import Metric
from polyvox.evaluate.wer import WerResult
from polyvox.evaluate.wording import compare_words
from polyvox.types import Pcm
from polyvox.voices.recognition.similarity import Embedding, SpeakerEncoder
from polyvox.voices.recognition.transcribe import Moonshine


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one recording; None where the metric was not asked for."""

    transcript: str | None = None
    words: WerResult | None = None
    embedding: Embedding | None = None
    distillmos: float | None = None
    dnsmos: DnsScores | None = None


@dataclass(frozen=True, slots=True)
class Scorers:
    """The scoring models that are loaded. All of them are immutable, so that threads may share them."""

    recogniser: Moonshine | None = None
    encoder: SpeakerEncoder | None = None
    distillmos: DistillMos | None = None
    dnsmos: DnsMos | None = None

    @classmethod
    def of(cls, metrics: Collection[Metric], models_dir: Path, threads: int) -> "Scorers":
        """Load the models of these metrics; `UnavailableError` names every one that is missing."""
        bundles = _opened(metrics, models_dir)
        return cls(
            Moonshine(bundles[Metric.WER], threads) if Metric.WER in metrics else None,
            SpeakerEncoder(bundles[Metric.SIMILARITY], threads) if Metric.SIMILARITY in metrics else None,
            DistillMos(bundles[Metric.DISTILLMOS], threads) if Metric.DISTILLMOS in metrics else None,
            DnsMos(bundles[Metric.DNSMOS], threads) if Metric.DNSMOS in metrics else None,
        )

    def score(self, pcm: Pcm, rate: int, forms: Sequence[str] | None) -> Scores:
        """Score a recording. `forms` are spoken forms of what was to be said, any of which is right.

        They are empty where nobody knows how the text is said, None where the recogniser does not know the language.
        """
        transcript = self.recogniser.transcribe(pcm, rate) if self.recogniser and forms is not None else None
        return Scores(
            transcript,
            compare_words(forms, transcript) if transcript is not None and forms else None,
            self.encoder.embed(pcm, rate) if self.encoder else None,
            self.distillmos.score(pcm, rate) if self.distillmos else None,
            self.dnsmos.score(pcm, rate) if self.dnsmos else None,
        )


def _opened(metrics: Collection[Metric], models_dir: Path) -> dict[Metric, Bundle]:
    found: dict[Metric, Bundle] = {}
    missing: list[str] = []
    for metric in Metric:
        if metric in metrics:
            try:
                found[metric] = open_bundle(metric.bundle, models_dir)
            except BundleError:
                missing.append(metric.bundle)
    if missing:
        commands = " && ".join(f"polyvox pull {name}" for name in missing)
        raise UnavailableError(
            f"Scoring models are missing in {models_dir}, or damaged: run `{commands}`, or use --metric."
        )
    return found
