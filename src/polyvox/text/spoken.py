"""What the text room hands to an engine that speaks phonemes."""

from dataclasses import dataclass

from polyvox.types import Span


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word or punctuation mark.

    `text` is the spoken form ("five"), `span` points at what the caller wrote ("$5"), `phonemes` are symbols of the
    model's own alphabet (a punctuation mark stands for itself), `space` says whether white space follows.
    """

    text: str
    phonemes: str
    span: Span
    space: bool

    @property
    def is_punctuation(self) -> bool:
        return self.text != "" and not any(char.isalnum() for char in self.text)


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence that the caller asked for, in seconds."""

    seconds: float
    span: Span


Spoken = SpokenWord | Pause


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as it is spoken, and whether a paragraph ends with it."""

    words: tuple[Spoken, ...]
    ends_paragraph: bool
