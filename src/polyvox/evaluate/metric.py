"""What an evaluation can measure."""

from enum import StrEnum


class Metric(StrEnum):
    """What can be asked of a recording."""

    WER = "wer"
    SIMILARITY = "similarity"
    DISTILLMOS = "distillmos"
    DNSMOS = "dnsmos"

    @property
    def bundle(self) -> str:
        """The model that answers."""
        return {Metric.WER: "moonshine-base", Metric.SIMILARITY: "campplus"}.get(self, self.value)
