"""A text on its way to the network: read in its language, and split into chunks of phonemes."""

from collections.abc import Iterator
from dataclasses import dataclass

from polyvox.engines.kokoro.chunking import PausePolicy, PhonemeChunk, split_chunks
from polyvox.engines.kokoro.phrases import phrase_words
from polyvox.text.phoneme_frontend import PhonemeFrontend, PhonemeFrontends
from polyvox.types import ChunkPolicy, NormalizationOptions


@dataclass(frozen=True, slots=True)
class UnreadText:
    """A text, its language, and how it is to be read and split."""

    text: str
    language: str
    normalization: NormalizationOptions
    policy: ChunkPolicy
    pauses: PausePolicy


class TextReader:
    """Reads texts of all languages. Safe to share between threads."""

    def __init__(self, espeak: str) -> None:
        self._frontends = PhonemeFrontends(espeak=espeak)

    def frontend(self, language: str) -> PhonemeFrontend:
        """The frontend of a language, loaded."""
        return self._frontends.frontend(language)

    def chunks(self, given: UnreadText) -> Iterator[PhonemeChunk]:
        """The chunks in order; the text is worked on only as far as they are asked for."""
        sentences = self.frontend(given.language).read(given.text, given.normalization)
        return split_chunks(sentences, given.policy, given.pauses, phrase_words(given.language))
