"""Times of single characters, worked out from those of words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from polyvox.types import AudioChunk, WordTiming

CAMEL_CASE = MappingProxyType({"characters": "chars", "starts": "charStartTimesMs", "durations": "charDurationsMs"})
SNAKE_CASE = MappingProxyType(
    {"characters": "chars", "starts": "char_start_times_ms", "durations": "char_durations_ms"}
)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Characters with the seconds at which they start and end, from the start of the audio; never decreasing."""

    characters: tuple[str, ...] = ()
    starts: tuple[float, ...] = ()
    ends: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.characters)

    def __add__(self, later: "Alignment") -> "Alignment":
        return Alignment(self.characters + later.characters, self.starts + later.starts, self.ends + later.ends)

    def seconds(self) -> dict[str, Any]:
        """As HTTP answers have it."""
        return {
            "characters": list(self.characters),
            "character_start_times_seconds": [round(time, 3) for time in self.starts],
            "character_end_times_seconds": [round(time, 3) for time in self.ends],
        }

    def milliseconds(self, names: Mapping[str, str], origin: float = 0.0) -> dict[str, Any]:
        """As messages have it: whole milliseconds from `origin`, by the names of one socket."""
        starts = [_milliseconds(time - origin) for time in self.starts]
        ends = [_milliseconds(time - origin) for time in self.ends]
        durations = [end - start for start, end in zip(starts, ends, strict=True)]
        return {names["characters"]: list(self.characters), names["starts"]: starts, names["durations"]: durations}


class CharacterAligner:
    """Gives the characters of a text their times, chunk by chunk.

    Within a word they are interpolated; what lies between two words takes the time between them. A chunk without word
    timings has its characters spread over it evenly, which is an estimate. White space of any kind is a plain space.

    With `spaced`, for messages that clients read on their own, each chunk's characters end with a space and last until
    the end of its audio: clients take a word as complete at a space, and count time by the last character. Only
    silence before the first word has no characters, since it would become part of that word.

    With `late`, for words that are timed after they were spoken, a chunk has the characters of the words that come with
    it and no others, and they last until the last of these words ends.
    """

    def __init__(self, *, spaced: bool, late: bool = False) -> None:
        self._spaced = spaced
        self._late = late
        self._position = 0
        self.time = 0.0
        """End of the characters so far, in seconds."""

    def chunk(self, text: str, chunk: AudioChunk) -> Alignment:
        """The characters that a chunk adds; `text` is all of it that there is by now."""
        begin, end = chunk.start / chunk.sample_rate, chunk.end / chunk.sample_rate
        words = [word for word in chunk.words if word.span.end > self._position]
        stop = self._stop(text, words, chunk)
        if stop <= self._position:
            return self._silence(begin, end)
        bare = self._spaced and _lacks_space(text, stop)
        until = words[-1].end if words and (bare or self._late or not self._spaced) else end
        found = self._between(text, stop, words, self.time if self._late else max(begin, self.time), until)
        if bare:
            last = found.ends[-1]
            found += Alignment((" ",), (last,), (last if self._late else max(end, last),))
        self._position, self.time = stop, found.ends[-1]
        return found

    def _stop(self, text: str, words: Sequence[WordTiming], chunk: AudioChunk) -> int:
        """The place at which the chunk's characters end."""
        stop = max((word.span.end for word in words), default=self._position)
        if chunk.span is not None and not self._late:
            stop = max(stop, chunk.span.end)
        return _with_marks(text, min(stop, len(text))) if words or not self._late else self._position

    def rest(self, text: str) -> Alignment:
        """Characters behind the last that were spoken, at the time where those ended."""
        left = text[self._position :]
        self._position = len(text)
        return Alignment(_shown(left), (self.time,) * len(left), (self.time,) * len(left))

    def _silence(self, begin: float, end: float) -> Alignment:
        if not self._spaced or self._late or not self._position:
            return Alignment()
        start, self.time = max(begin, self.time), max(end, self.time)
        return Alignment((" ",), (start,), (self.time,))

    def _between(self, text: str, stop: int, words: Sequence[WordTiming], begin: float, end: float) -> Alignment:
        anchors = {self._position: begin, stop: end}
        for word in words:
            anchors[max(word.span.start, self._position)] = word.start
            anchors[word.span.end] = word.end
        places = sorted(place for place in anchors if self._position <= place <= stop)
        times = np.interp(range(self._position, stop + 1), places, [anchors[place] for place in places])
        bounds = np.maximum.accumulate(np.clip(times, begin, max(begin, end))).tolist()
        return Alignment(_shown(text[self._position : stop]), tuple(bounds[:-1]), tuple(bounds[1:]))


def joined(parts: Iterable[Alignment]) -> Alignment:
    """Alignments one after the other."""
    found = Alignment()
    for part in parts:
        found += part
    return found


def _with_marks(text: str, stop: int) -> int:
    """The end of a chunk's characters with the punctuation and the white space that follow."""
    while stop < len(text) and not text[stop].isalnum() and not text[stop].isspace():
        stop += 1
    while stop < len(text) and text[stop].isspace():
        stop += 1
    return stop


def _lacks_space(text: str, stop: int) -> bool:
    """Return whether a space is missing behind a word that is complete."""
    if text[stop - 1].isspace():
        return False
    return stop == len(text) or not (text[stop - 1].isalnum() and text[stop].isalnum())


def _shown(text: str) -> tuple[str, ...]:
    return tuple(" " if character.isspace() else character for character in text)


def _milliseconds(seconds: float) -> int:
    return max(0, round(seconds * 1_000))
