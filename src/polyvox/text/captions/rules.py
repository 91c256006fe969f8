"""Limits of a cue: its text, and the time for which it is shown."""

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CueRules:
    """The rules of professional subtitlers; times in seconds.

    A line holds `line_chars` characters, or `wide_line_chars` full-width ones. A cue whose words are over stays for
    `min_seconds`, or until it can be read at `chars_per_second` (`wide_chars_per_second` for full-width ones), where no
    other follows. Cues closer than `chain_seconds` are drawn together up to `gap_seconds`. Speech that is silent for
    `max_silence` seconds goes on in another cue.
    """

    max_lines: int = 2
    line_chars: int = 42
    wide_line_chars: int = 18
    min_seconds: float = 1.0
    max_seconds: float = 7.0
    gap_seconds: float = 0.08
    chain_seconds: float = 0.5
    max_silence: float = 2.0
    chars_per_second: float = 17.0
    wide_chars_per_second: float = 7.0

    @property
    def line_width(self) -> int:
        """The width of a full line, in the unit of `width`."""
        return self.line_chars * self.wide_line_chars

    def width(self, text: str) -> int:
        """The width of a text in a line; accents above and below others take nothing."""
        return sum(map(self._char_width, text))

    def reading_seconds(self, text: str) -> float:
        """Seconds that it takes to read a text."""
        wide = sum(is_wide(char) for char in text)
        return (len(text) - wide) / self.chars_per_second + wide / self.wide_chars_per_second

    def _char_width(self, char: str) -> int:
        if char < "\u0300":
            return self.wide_line_chars
        if unicodedata.category(char) in ("Mn", "Me", "Cf"):
            return 0
        return self.line_chars if is_wide(char) else self.wide_line_chars


def is_wide(char: str) -> bool:
    """Return whether a character is as wide as it is high."""
    return char >= "\u1100" and unicodedata.east_asian_width(char) in "WF"
