"""The text frontend of models that read phonemes: markup, normalisation, sentences, phonemes."""

from collections.abc import Iterator
from itertools import pairwise
from threading import Lock

from polyvox.text.markup import markup
from polyvox.text.markup.code_blocks import announcement
from polyvox.text.normalize import normalizer_for
from polyvox.text.phonemes import phonemizer_for
from polyvox.text.segmentation import split
from polyvox.text.segmentation.segment import sentence_blocks
from polyvox.text.spoken import Pause, Sentence
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

BLOCK_CHARS = 600


class PhonemeFrontend:
    """From raw texts of one language to sentences of phonemized words."""

    def __init__(self, language: str, *, espeak: str) -> None:
        self._language = language
        self._normalize = normalizer_for(language)
        self._phonemize = phonemizer_for(language, espeak=espeak)

    def read(self, raw: str, options: NormalizationOptions) -> Iterator[Sentence]:
        """Yield the sentences in order; the text is worked on only as far as it is asked for."""
        marked = markup.parse(raw, announcement(options.code_blocks, self._language))
        for block in sentence_blocks(marked.text, BLOCK_CHARS):
            sentences = split.sentences(self._normalize(block, options))
            for sentence, following in pairwise([*sentences, None]):
                assert sentence is not None
                words = tuple(self._phonemize(sentence, marked.inserts))
                if any(isinstance(word, Pause) or not word.is_punctuation for word in words):
                    yield Sentence(words, _paragraph_between(sentence, following, raw))


class PhonemeFrontends:
    """One frontend for each language, made when it is first needed. Safe to share between threads."""

    def __init__(self, *, espeak: str) -> None:
        self._espeak = espeak
        self._made: dict[str, PhonemeFrontend] = {}
        self._lock = Lock()

    def frontend(self, language: str) -> PhonemeFrontend:
        with self._lock:
            if language not in self._made:
                self._made[language] = PhonemeFrontend(language, espeak=self._espeak)
            return self._made[language]


def _paragraph_between(sentence: TrackedText, following: TrackedText | None, raw: str) -> bool:
    end = max(sentence.ends, default=0)
    gap = raw[end : min(following.starts, default=end)] if following else raw[end : end + 16]
    trailing = sentence.text[len(sentence.text.rstrip()) :]
    return (trailing + gap).count("\n") > 1
