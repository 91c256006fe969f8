"""SoundChoice: the times of sounds that a caller wants beside those of words."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SoundChoice:
    """Phonemes, visemes, both or neither; true where any are wanted."""

    phonemes: bool = False
    visemes: bool = False

    def __bool__(self) -> bool:
        return self.phonemes or self.visemes


NO_SOUNDS: Final = SoundChoice()
