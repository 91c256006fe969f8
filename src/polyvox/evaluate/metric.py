"""The metrics of an evaluation."""

from enum import StrEnum


class Metric(StrEnum):
    """A metric of a recording."""

    WER = "wer"
    SIMILARITY = "similarity"
    DISTILLMOS = "distillmos"
    DNSMOS = "dnsmos"

    @property
    def bundle(self) -> str:
        """The model that computes it."""
        return {Metric.WER: "moonshine-base", Metric.SIMILARITY: "campplus"}.get(self, self.value)
