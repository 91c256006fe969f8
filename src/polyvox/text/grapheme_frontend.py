"""The text frontend of models that read letters: markup, normalisation, and segments that are spoken in one go."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final

from polyvox.text.markup import markup
from polyvox.text.markup.code_blocks import announcement
from polyvox.text.markup.markup import Insert, insert_at
from polyvox.text.normalize import Normalizer, normalizer_for
from polyvox.text.placeholders import PLACEHOLDERS, placeholder_pattern
from polyvox.text.segmentation.segment import merge, sentence_blocks, split_at_pauses, word_boundary
from polyvox.text.segmentation.split import clauses, sentences
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions, Span

LANGUAGE: Final = "ms"
"""The default language: Malay, with the English that is mixed into it."""
SEGMENT_CHARS: Final = 400
BLOCK_CHARS: Final = 2_000

_WHITE: Final = re.compile(r"\s+")
_SPOKEN: Final = re.compile(r"\w")
_CLOSED: Final = re.compile(r"[.!?…:;,。！？；：，、؟।॥][\"'”’»)\]}」』）]*$")
_PLACEHOLDER: Final = re.compile(f"[{PLACEHOLDERS}]")


class GraphemeFrontend:
    """Texts of callers on their way to a model; `normalizer` gives the normaliser of a language."""

    def __init__(self, normalizer: Callable[[str], Normalizer] = normalizer_for) -> None:
        self._normalizer = normalizer

    def normalized(self, raw: str, options: NormalizationOptions, language: str | None = None) -> str:
        """The normalised text in one line, without pauses, ended by a mark of punctuation."""
        return one_line(self.normalized_blocks(raw, options, language))

    def normalized_blocks(self, raw: str, options: NormalizationOptions, language: str | None = None) -> Iterator[str]:
        """The same block by block, to be put together by `one_line`; each is made when it is asked for."""
        marked = _without_phonemes(markup.parse(raw, announcement(options.code_blocks, language or LANGUAGE)))
        normalize = self._normalizer(language or LANGUAGE)
        for block in sentence_blocks(marked.text, BLOCK_CHARS):
            yield _without_pauses(normalize(block, options), marked.inserts).text

    def segments(
        self, raw: str, options: NormalizationOptions, language: str | None = None, most_chars: int = SEGMENT_CHARS
    ) -> Iterator[TrackedText | Pause]:
        """Segments that can be spoken and pauses, in order; the text is normalised only as far as it is asked for.

        A segment has no more characters than `most_chars`."""
        marked = _without_phonemes(markup.parse(raw, announcement(options.code_blocks, language or LANGUAGE)))
        normalize = self._normalizer(language or LANGUAGE)
        units = (
            unit
            for block in sentence_blocks(marked.text, BLOCK_CHARS)
            for sentence in sentences(normalize(block, options))
            for unit in split_at_pauses(sentence, marked.inserts)
        )
        for segment in _segments(units, most_chars):
            if isinstance(segment, Pause):
                yield segment
            elif _SPOKEN.search(segment.text):
                line = segment.sub(_WHITE, " ").strip()
                yield line if _CLOSED.search(line.text) else line.appended(".", _behind(line))


def one_line(blocks: Iterable[str]) -> str:
    """Normalised blocks as one line, ended by a mark of punctuation."""
    return _closed(_WHITE.sub(" ", " ".join(blocks)).strip())


def _without_phonemes(marked: markup.Markup) -> markup.Markup:
    """Put back words whose phonemes the caller gave, since the model reads letters."""

    def word(match: re.Match[str]) -> str | None:
        insert = insert_at(match[0], marked.inserts)
        return None if insert is None or isinstance(insert, Pause) else insert.text

    text = marked.text.sub(_PLACEHOLDER, word) if marked.inserts else marked.text
    return markup.Markup(text, marked.inserts)


def _segments(units: Iterator[TrackedText | Pause], most: int) -> Iterator[TrackedText | Pause]:
    """Units cut to at most so many characters and joined up to as many; none goes across a pause."""
    parts = (part for unit in units for part in ((unit,) if isinstance(unit, Pause) else _short(unit, most)))
    for pauses, run in groupby(parts, key=lambda part: isinstance(part, Pause)):
        if pauses:
            yield from run
        else:
            texts = (part for part in run if isinstance(part, TrackedText))
            yield from merge(texts, lambda one, other: len(one) + len(other) <= most, _joined)


def _short(text: TrackedText, most: int) -> Iterator[TrackedText]:
    if len(text) <= most:
        yield text
        return
    for clause in clauses(text):
        while len(clause) > most:
            cut = word_boundary(clause.text, most)
            yield clause[:cut]
            clause = clause[cut:]
        yield clause


def _joined(one: TrackedText, other: TrackedText) -> TrackedText:
    if one.text and not one.text[-1].isspace():
        one = one.appended(" ", _behind(one))
    return one + other


def _behind(text: TrackedText) -> Span:
    """The empty span behind the last character."""
    return Span(text.ends[-1], text.ends[-1])


def _without_pauses(text: TrackedText, inserts: tuple[Insert, ...]) -> TrackedText:
    return text.sub(placeholder_pattern(len(inserts)), " ") if inserts else text


def _closed(line: str) -> str:
    return line if not line or _CLOSED.search(line) else f"{line}."
