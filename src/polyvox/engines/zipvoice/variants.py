"""The four models of the family and how they differ."""

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Variant:
    """One published model: its kind and its default options."""

    name: str
    steps: int
    guidance: float
    max_chunk_seconds: float
    """The longest chunk that is synthesized at once, the prompt included."""
    distilled: bool = False
    dialogue: bool = False
    channels: int = 1


LANGUAGES = frozenset(("en-us", "zh"))
TARGET_RMS = 0.1
"""The RMS of the models' training data."""

VARIANTS = MappingProxyType(
    {
        variant.name: variant
        for variant in (
            Variant("zipvoice", steps=16, guidance=1.0, max_chunk_seconds=25.0),
            Variant("zipvoice_distill", steps=8, guidance=3.0, max_chunk_seconds=25.0, distilled=True),
            Variant("zipvoice_dialog", steps=16, guidance=1.5, max_chunk_seconds=40.0, dialogue=True),
            Variant(
                "zipvoice_dialog_stereo", steps=16, guidance=1.5, max_chunk_seconds=40.0, dialogue=True, channels=2
            ),
        )
    }
)
