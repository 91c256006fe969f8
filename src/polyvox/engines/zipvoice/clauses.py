"""A text as ZipVoice speaks it: normalised clauses, each by one speaker, and the pauses between them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from polyvox.engines.zipvoice.variants import LANGUAGES
from polyvox.errors import TextError
from polyvox.text.characters import HAN
from polyvox.text.detect import detect_language
from polyvox.text.markup import markup
from polyvox.text.markup.markup import InlinePhonemes, Insert, insert_at
from polyvox.text.normalize import normalizer_for
from polyvox.text.placeholders import MAX_PLACEHOLDERS, PLACEHOLDERS, mask, placeholder_index
from polyvox.text.segmentation import split
from polyvox.text.segmentation.segment import bounded_sentences, split_at_pauses
from polyvox.text.spoken import Pause
from polyvox.text.tokenizers.emilia import MARK
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions, Span

MAX_CLAUSE_WEIGHT: Final = 80
"""A clause heavier than this is cut between words: no more than some eight seconds of speech."""

_MARK: Final = re.compile(MARK)
_PLACEHOLDER: Final = re.compile(f"[{PLACEHOLDERS}]")
_WORD: Final = re.compile(rf"\s*(?:[{HAN}]|[^\s{HAN}]{{1,{MAX_CLAUSE_WEIGHT}}})\s*")
_HAN: Final = re.compile(f"[{HAN}]")
_SPEAKER: Final = re.compile(r"\[S([12])\]")
_TRAILING_BREAK: Final = re.compile(r"[\s—…,;:]+$")
_CLOSED: Final = re.compile(r"[.?!,;:。？！，；：][\"'”’)\]]*\s*$")
_SPEAKABLE: Final = re.compile(rf"[^\W_]|[{PLACEHOLDERS}]")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause, or a part of a long one: `text` is normalised, `span` is where the caller wrote it."""

    text: str
    span: Span
    ends_sentence: bool
    speaker: int = 0
    """1 or 2 in a dialogue, else 0."""

    @property
    def weight(self) -> int:
        """About its number of tokens."""
        return weight_of(self.text)


def weight_of(text: str) -> int:
    """One for a letter, two for a Chinese character."""
    return len(text) + len(_HAN.findall(text))


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text whose inserts, and behind them in number its marks, are masked by placeholders."""

    text: TrackedText
    inserts: tuple[Insert, ...]
    marks: tuple[str, ...]

    def unmasked(self, text: str) -> Iterator[str | InlinePhonemes]:
        """A clause's text with the caller's marks put back, cut at words whose phonemes were given."""
        words = ""
        for char in text:
            insert = insert_at(char, self.inserts)
            if isinstance(insert, InlinePhonemes):
                if words:
                    yield words
                yield insert
                words = ""
            else:
                words += self.mark_at(char) or char
        if words:
            yield words

    def mark_at(self, char: str) -> str | None:
        """The mark that a character stands for, if it stands for one."""
        index = placeholder_index(char) - len(self.inserts)
        return self.marks[index] if 0 <= index < len(self.marks) else None


def parse(raw: str, code: str | None = None) -> MaskedText:
    """Mask what normalisers must not touch: phonemes, pauses, syllables in pinyin and tags.

    `code` is said in place of a fenced block of code.
    """
    marked = markup.parse(raw, code)
    too_many = TextError(f"A text may hold at most {MAX_PLACEHOLDERS} marks.", field="input")
    text, marks = mask(marked.text, _MARK, lambda match: match.group(), taken=len(marked.inserts), too_many=too_many)
    return MaskedText(text, marked.inserts, marks)


def clauses(
    masked: MaskedText, options: NormalizationOptions, language: str | None, *, dialogue: bool
) -> Iterator[Clause | Pause]:
    """The clauses in order; the text is normalised only as far as it is asked for.

    In a dialogue, `[S1]` and `[S2]` say who speaks from there on; the first speaker begins.
    """
    normalize = normalizer_for(language or detect_language(masked.text.text, LANGUAGES))
    speaker = 1 if dialogue else 0
    for raw in bounded_sentences(masked.text):
        for sentence in split.sentences(normalize(raw, options)):
            for turn in _turns(sentence, masked, speaker) if dialogue else [(0, sentence)]:
                speaker, words = turn
                yield from _clauses(words, masked.inserts, speaker)


def _turns(sentence: TrackedText, masked: MaskedText, speaker: int) -> Iterator[tuple[int, TrackedText]]:
    """A sentence cut where the speaker changes."""
    start = 0
    for match in _PLACEHOLDER.finditer(sentence.text):
        tag = _SPEAKER.fullmatch(masked.mark_at(match.group()) or "")
        if tag is not None:
            yield speaker, sentence[start : match.start()]
            speaker, start = int(tag[1]), match.end()
    yield speaker, sentence[start:]


def _clauses(sentence: TrackedText, inserts: Sequence[Insert], speaker: int) -> Iterator[Clause | Pause]:
    parts = [part for clause in split.clauses(sentence) for part in _short(clause)]
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        for unit in split_at_pauses(part, inserts):
            if isinstance(unit, Pause):
                yield unit
            elif _SPEAKABLE.search(unit.text):
                words = unit.strip()
                yield Clause(_closed(words.text, last), words.span(0, len(words)), last, speaker)


def _short(clause: TrackedText) -> Iterator[TrackedText]:
    """A clause cut between words, or between Chinese characters, into parts of a bounded weight."""
    start = end = weight = 0
    for word in _WORD.finditer(clause.text):
        weight += weight_of(word.group())
        if weight > MAX_CLAUSE_WEIGHT and end > start:
            yield clause[start:end]
            start, weight = end, weight_of(word.group())
        end = word.end()
    if end > start:
        yield clause[start:end]


def _closed(text: str, ends_sentence: bool) -> str:
    """A sentence ends with a mark that the model knows; so does a clause that broke off with a dash or dots."""
    if _CLOSED.search(text):
        return text
    stripped = _TRAILING_BREAK.sub("", text)
    if ends_sentence:
        return f"{stripped}."
    return text if stripped == text else f"{stripped},"
