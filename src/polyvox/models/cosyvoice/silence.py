"""Runs of silent speech tokens, which CosyVoice 3 shortens before they are decoded to audio."""

from dataclasses import dataclass

SILENT_TOKENS = frozenset({1, 2, 28, 29, 55, 248, 494, 2241, 2242, 2322, 2323})


@dataclass(frozen=True, slots=True)
class SilentRun:
    """Length of the current run of silent tokens, and how many of one are decoded at most."""

    length: int = 0
    most: int = 5

    def after(self, token: int) -> "SilentRun":
        """The run with one token more."""
        return SilentRun(self.length + 1 if token in SILENT_TOKENS else 0, self.most)

    @property
    def too_long(self) -> bool:
        """True if the last token is dropped from the audio; the language model keeps it in its context."""
        return self.length > self.most
