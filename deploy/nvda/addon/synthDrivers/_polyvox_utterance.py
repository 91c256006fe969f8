"""What NVDA wants spoken, as texts, pauses and marks."""

import array
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from speech.commands import BreakCommand, IndexCommand, LangChangeCommand, PitchCommand, RateCommand, VolumeCommand

_PROSODY = {PitchCommand: "pitch", RateCommand: "rate", VolumeCommand: "volume"}
COMMANDS = frozenset({BreakCommand, IndexCommand, LangChangeCommand, *_PROSODY})
"""The commands of NVDA that are obeyed."""
_SLOWEST, _FASTEST = 0.25, 4.0
"""The speeds that a server takes."""
_LONGEST_PAUSE_MS = 10_000


@dataclass(frozen=True)
class Prosody:
    """NVDA's settings, each from 0 to 100."""

    rate: int = 50
    pitch: int = 50
    volume: int = 100

    def changed(self, name: str, value: float) -> "Prosody":
        """Another value of one of them, within its limits."""
        return replace(self, **{name: max(0, min(100, int(value)))})


@dataclass(frozen=True)
class Text:
    """A text, its voice, and how it is to sound."""

    text: str
    voice: str
    prosody: Prosody

    @property
    def pitch_factor(self) -> float:
        """From 4 semitones below the voice's own pitch to 4 above it."""
        return 2.0 ** ((self.prosody.pitch - 50) / 150)

    @property
    def speed(self) -> float:
        """0.5 at the lowest rate, 1 in the middle, 4 at the highest, once the pitch has been made by playing faster."""
        rate = self.prosody.rate - 50
        speed = 2.0 ** (rate / (50 if rate < 0 else 25))
        return max(_SLOWEST, min(_FASTEST, speed / self.pitch_factor))

    @property
    def gain(self) -> float:
        """The factor of the samples."""
        return self.prosody.volume / 100


@dataclass(frozen=True)
class Pause:
    """Silence."""

    milliseconds: int


@dataclass(frozen=True)
class Mark:
    """A place that NVDA wants to be told of."""

    index: int


Item = Text | Pause | Mark


def items_of(
    sequence: Sequence[object], voice: str, prosody: Prosody, voice_for: Callable[[str | None], str]
) -> list[Item]:
    """A sequence of texts and commands; texts between two commands are one text, so that it is read as one."""
    items: list[Item] = []
    words: list[str] = []
    now_voice, now = voice, prosody

    def flush() -> None:
        if any(character.isalnum() for character in "".join(words)):
            items.append(Text(_readable(" ".join(words)), now_voice, now))
        words.clear()

    for element in sequence:
        if isinstance(element, str):
            words.append(element)
            continue
        flush()
        if isinstance(element, IndexCommand):
            items.append(Mark(element.index))
        elif isinstance(element, BreakCommand):
            items.append(Pause(min(element.time, _LONGEST_PAUSE_MS)))
        elif isinstance(element, LangChangeCommand):
            now_voice = voice_for(element.lang) if element.lang else voice
        elif name := _PROSODY.get(type(element)):
            now = now.changed(name, getattr(prosody, name) if element.isDefault else element.newValue)
    flush()
    return items


def _readable(text: str) -> str:
    """The text; a single letter is written large, because a small `a` is read as the article."""
    bare = text.strip()
    return bare.upper() if len(bare) == 1 and len(bare.upper()) == 1 else text


def quieter(pcm: bytes, gain: float) -> bytes:
    """16-bit samples, little-endian, by a factor of at most 1."""
    if gain >= 1:
        return pcm
    samples = array.array("h", pcm)
    if sys.byteorder == "big":
        samples.byteswap()
    quiet = array.array("h", [int(sample * gain) for sample in samples])
    if sys.byteorder == "big":
        quiet.byteswap()
    return quiet.tobytes()
