"""SoundChoice: the times of sounds that a caller wants beside those of words."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SoundChoice:
    """Phonemes, visemes, both or neither."""

    phonemes: bool = False
    visemes: bool = False


NO_SOUNDS: Final = SoundChoice()
