"""From the caller's raw text to spoken sentences, a stretch at a time."""

from collections.abc import Iterator
from itertools import pairwise
from threading import Lock

from polyvox.text import markup, split
from polyvox.text.normalize import normalizer_for
from polyvox.text.phonemes import phonemizer_for
from polyvox.text.spoken import Pause, Sentence
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

STRETCH_CHARS = 600


class Reader:
    """Reads texts of one language aloud, on paper: markup, normalisation, sentences, phonemes."""

    def __init__(self, language: str, *, espeak: str) -> None:
        self._normalize = normalizer_for(language)
        self._phonemize = phonemizer_for(language, espeak=espeak)

    def read(self, raw: str, options: NormalizationOptions) -> Iterator[Sentence]:
        """Yield the sentences in order; the text is worked on only as far as it is asked for."""
        marked = markup.parse(raw)
        for stretch in _stretches(marked.text):
            sentences = split.sentences(self._normalize(stretch, options))
            for sentence, following in pairwise([*sentences, None]):
                assert sentence is not None
                words = tuple(self._phonemize(sentence, marked.inserts))
                if any(isinstance(word, Pause) or not word.is_punctuation for word in words):
                    yield Sentence(words, _paragraph_between(sentence, following, raw))


class Readers:
    """One reader for each language, made when it is first needed. Safe to share between threads."""

    def __init__(self, *, espeak: str) -> None:
        self._espeak = espeak
        self._made: dict[str, Reader] = {}
        self._lock = Lock()

    def reader(self, language: str) -> Reader:
        with self._lock:
            if language not in self._made:
                self._made[language] = Reader(language, espeak=self._espeak)
            return self._made[language]


def _stretches(text: TrackedText) -> Iterator[TrackedText]:
    """Runs of whole sentences of a few hundred characters, so that a long text starts to speak at once."""
    start = end = 0
    for sentence in split.sentences(text):
        end += len(sentence)
        if end - start >= STRETCH_CHARS:
            yield text[start:end]
            start = end
    if end > start:
        yield text[start:end]


def _paragraph_between(sentence: TrackedText, following: TrackedText | None, raw: str) -> bool:
    end = max(sentence.ends, default=0)
    gap = raw[end : min(following.starts, default=end)] if following else raw[end : end + 16]
    trailing = sentence.text[len(sentence.text.rstrip()) :]
    return (trailing + gap).count("\n") > 1
