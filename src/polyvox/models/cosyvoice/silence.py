"""Runs of silent speech tokens, which CosyVoice 3 cuts short before they become sound."""

from dataclasses import dataclass

SILENT_TOKENS = frozenset({1, 2, 28, 29, 55, 248, 494, 2241, 2242, 2322, 2323})


@dataclass(frozen=True, slots=True)
class SilentRun:
    """How many of the last tokens were silent, any of them after any other."""

    length: int = 0
    most: int = 5

    def after(self, token: int) -> "SilentRun":
        """The run with one token more."""
        return SilentRun(self.length + 1 if token in SILENT_TOKENS else 0, self.most)

    @property
    def too_long(self) -> bool:
        """Whether the last token is to be left out of the sound; the language model has seen it all the same."""
        return self.length > self.most
