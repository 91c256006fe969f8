"""A text as ZipVoice will say it: cut into clauses, each by one speaker, with the caller's marks and pauses."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from polyvox.errors import TextError
from polyvox.text import markup, split
from polyvox.text.detect import detect_language
from polyvox.text.markup import FIRST_INSERT, MAX_INSERTS, Insert, Spelled, insert_at
from polyvox.text.normalize import normalizer_for
from polyvox.text.phonemes.scripts import HAN
from polyvox.text.spoken import Pause
from polyvox.text.tokenizers.emilia import MARK
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions, Span

MAX_PIECE_WEIGHT: Final = 80
"""A clause heavier than this is cut between words: no more than some eight seconds of speech."""

_MARK: Final = re.compile(MARK)
_INSERT: Final = re.compile("[\ue000-\uf8ff]")
_WORD: Final = re.compile(rf"\s*(?:[{HAN}]|[^\s{HAN}]{{1,{MAX_PIECE_WEIGHT}}})\s*")
_HAN: Final = re.compile(f"[{HAN}]")
_SPEAKER: Final = re.compile(r"\[S([12])\]")
_TRAILING_BREAK: Final = re.compile(r"[\s—…,;:]+$")
_CLOSED: Final = re.compile(r"[.?!,;:。？！，；：][\"'”’)\]]*\s*$")
_SPEAKABLE: Final = re.compile(r"[^\W_]|[\ue000-\uf8ff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A clause, or a part of a long one: `text` is spelled out, `span` is where the caller wrote it."""

    text: str
    span: Span
    ends_sentence: bool
    speaker: int = 0
    """1 or 2 in a dialogue, else 0."""

    @property
    def weight(self) -> int:
        """About as many tokens as it has."""
        return weight_of(self.text)


def weight_of(text: str) -> int:
    """One for a letter, two for a Chinese character."""
    return len(text) + len(_HAN.findall(text))


@dataclass(frozen=True, slots=True)
class Script:
    """A text with its marks and inserts taken out, each leaving one private-use character behind."""

    text: TrackedText
    inserts: tuple[Insert, ...]
    marks: tuple[str, ...]

    def tokens_of(self, text: str) -> Iterator[str | Spelled]:
        """A piece's text with the caller's marks put back, cut at words whose phonemes were given."""
        words = ""
        for char in text:
            insert = insert_at(char, self.inserts)
            if isinstance(insert, Spelled):
                if words:
                    yield words
                yield insert
                words = ""
            else:
                index = ord(char) - FIRST_INSERT - len(self.inserts)
                words += self.marks[index] if 0 <= index < len(self.marks) else char
        if words:
            yield words


def parse(raw: str) -> Script:
    """Take out what normalisers must not touch: phonemes, pauses, spelled syllables and tags."""
    marked = markup.parse(raw)
    first = FIRST_INSERT + len(marked.inserts)
    marks: list[str] = []

    def take(match: re.Match[str]) -> str:
        if len(marked.inserts) + len(marks) == MAX_INSERTS:
            raise TextError(f"A text may hold at most {MAX_INSERTS} marks.", field="input")
        marks.append(match.group())
        return chr(first + len(marks) - 1)

    return Script(marked.text.sub(_MARK, take), marked.inserts, tuple(marks))


def pieces(
    script: Script, options: NormalizationOptions, language: str | None, *, dialogue: bool
) -> Iterator[Piece | Pause]:
    """The clauses in order; the text is worked on only as far as it is asked for.

    In a dialogue, `[S1]` and `[S2]` say who speaks from there on; the first speaker begins.
    """
    normalize = normalizer_for(language or detect_language(script.text.text))
    speaker = 1 if dialogue else 0
    for raw in split.sentences(script.text):
        for sentence in split.sentences(normalize(raw, options)):
            for turn in _turns(sentence, script, speaker) if dialogue else [(0, sentence)]:
                speaker, words = turn
                yield from _clauses(words, script.inserts, speaker)


def _turns(sentence: TrackedText, script: Script, speaker: int) -> Iterator[tuple[int, TrackedText]]:
    """A sentence cut where the speaker changes."""
    start = 0
    for match in _INSERT.finditer(sentence.text):
        index = ord(match.group()) - FIRST_INSERT - len(script.inserts)
        tag = _SPEAKER.fullmatch(script.marks[index]) if 0 <= index < len(script.marks) else None
        if tag is not None:
            yield speaker, sentence[start : match.start()]
            speaker, start = int(tag[1]), match.end()
    yield speaker, sentence[start:]


def _clauses(sentence: TrackedText, inserts: Sequence[Insert], speaker: int) -> Iterator[Piece | Pause]:
    clauses = [part for clause in split.clauses(sentence) for part in _short(clause)]
    for index, clause in enumerate(clauses):
        last = index == len(clauses) - 1
        for part in _around_pauses(clause, inserts):
            if isinstance(part, Pause):
                yield part
            elif _SPEAKABLE.search(part.text):
                words = part.strip()
                yield Piece(_closed(words.text, last), words.span(0, len(words)), last, speaker)


def _short(clause: TrackedText) -> Iterator[TrackedText]:
    """A clause cut between words, or between Chinese characters, into parts of a bounded weight."""
    start = end = weight = 0
    for word in _WORD.finditer(clause.text):
        weight += weight_of(word.group())
        if weight > MAX_PIECE_WEIGHT and end > start:
            yield clause[start:end]
            start, weight = end, weight_of(word.group())
        end = word.end()
    if end > start:
        yield clause[start:end]


def _around_pauses(clause: TrackedText, inserts: Sequence[Insert]) -> Iterator[TrackedText | Pause]:
    start = 0
    for match in _INSERT.finditer(clause.text):
        insert = insert_at(match.group(), inserts)
        if isinstance(insert, Pause):
            yield clause[start : match.start()]
            yield insert
            start = match.end()
    yield clause[start:]


def _closed(text: str, ends_sentence: bool) -> str:
    """A sentence ends with a mark that the model knows; so does a clause that broke off with a dash or dots."""
    if _CLOSED.search(text):
        return text
    stripped = _TRAILING_BREAK.sub("", text)
    if ends_sentence:
        return f"{stripped}."
    return text if stripped == text else f"{stripped},"
