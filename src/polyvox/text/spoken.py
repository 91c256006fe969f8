"""The units of text for engines that read phonemes: words, pauses, sentences."""

from dataclasses import dataclass

from polyvox.types import Span


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word or punctuation mark.

    `text` is the normalised form ("five"), `span` what the caller wrote for it ("$5"), `phonemes` are symbols of the
    model's alphabet (a punctuation mark is its own symbol), `space` says whether white space follows.
    """

    text: str
    phonemes: str
    span: Span
    space: bool

    @property
    def is_punctuation(self) -> bool:
        # Of nearly all words the first character tells.
        return self.text != "" and not (self.text[0].isalnum() or any(char.isalnum() for char in self.text))


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence that the caller asked for, in seconds."""

    seconds: float
    span: Span


Spoken = SpokenWord | Pause


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of phonemized words, and whether a paragraph ends with it."""

    words: tuple[Spoken, ...]
    ends_paragraph: bool
