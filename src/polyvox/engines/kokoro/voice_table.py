"""VoiceTable: the style vectors of Kokoro's installed voices, and of their mixes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polyvox.engines.kokoro.voices import resolved
from polyvox.types import Voice
from polyvox.voices.mixing import MixTerm, parse_mix

VoicePack = npt.NDArray[np.float32]
"""The style vectors of a voice: float32 [510, 1, 256], one for each number of phonemes."""


class VoiceTable:
    """The voice packs of an installed bundle, read once; mixes are computed from them."""

    def __init__(self, folder: Path, voices: Sequence[Voice]) -> None:
        self._packs = {
            voice.id: np.fromfile(folder / f"{voice.id}.bin", dtype="<f4").reshape(510, 1, 256) for voice in voices
        }

    def style(self, expression: str) -> VoicePack:
        """The voice pack of a voice name or a mix expression."""
        return self.blend(parse_mix(expression))

    def blend(self, mix: Sequence[MixTerm]) -> VoicePack:
        """The voice pack of a mix: the weighted mean of its voices."""
        parts = resolved(mix)
        if len(parts) == 1:
            return self._packs[parts[0].voice]
        mixed = sum((np.float32(part.share) * self._packs[part.voice] for part in parts), np.float32(0))
        return np.asarray(mixed, dtype=np.float32)
