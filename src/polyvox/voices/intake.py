"""The one way in for reference recordings: read within limits, cleaned, and judged."""

from dataclasses import dataclass

from polyvox.types import Pcm
from polyvox.voices.quality import QualityReport


@dataclass(frozen=True, slots=True)
class Recording:
    """A checked recording: mono, at the rate asked for, silence cut from its ends.

    `digest` is the SHA-256 of the file it came from, in hexadecimal digits.
    """

    pcm: Pcm
    sample_rate: int
    digest: str
    report: QualityReport
