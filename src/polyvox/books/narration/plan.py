"""The plan of a narration: every passage of a book in order, with its voice and the pause behind it."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from typing import Final

from polyvox.books.manuscript import Chapter, Manuscript
from polyvox.books.narration.options import NarrationOptions, Pauses
from polyvox.books.words import VOICE_TAG, pieces, speakable
from polyvox.errors import InvalidRequestError, ManuscriptError, MarkupError, TextError
from polyvox.text.markup import markup
from polyvox.text.segmentation.segment import bounded_sentences
from polyvox.text.tracked import TrackedText

_SEED_BITS: Final = 63


class Gap(StrEnum):
    """The pause behind a passage, by what follows."""

    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"
    SCENE = "scene"
    TITLE = "title"
    CHAPTER = "closing"

    def seconds(self, pauses: Pauses) -> float:
        return float(getattr(pauses, self.value))


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence, or the part of one that a voice speaks. `index` counts through the book; `voice` is None for the
    book's own."""

    text: str
    voice: str | None
    index: int
    seed: int
    gap: Gap = Gap.SENTENCE


@dataclass(frozen=True, slots=True)
class PlannedChapter:
    """A chapter's title, empty where it has none, and its passages."""

    title: str
    passages: tuple[Passage, ...]


CheckPassage = Callable[[Passage], None]
"""Raises an InvalidRequestError for a passage that cannot be spoken."""


def passage_seed(seed: int, index: int) -> int:
    """The seed of one passage, which does not depend on any other."""
    digest = hashlib.sha256(f"{seed}/passage/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _SEED_BITS)


def plan_chapters(manuscript: Manuscript, options: NarrationOptions) -> tuple[PlannedChapter, ...]:
    """The passages of a book; chapters with nothing to speak are left out.

    `MarkupError` for a passage whose markup cannot be obeyed, however late in the book it comes.
    """
    indices = count()
    planned: list[PlannedChapter] = []
    for chapter in manuscript.chapters:
        parts = list(_parts(chapter, titles=options.titles))
        if not parts:
            continue
        parts[-1] = (*parts[-1][:2], Gap.CHAPTER)
        passages = [
            Passage(text, voice, index, passage_seed(options.seed, index), gap)
            for (text, voice, gap), index in zip(parts, indices, strict=False)
        ]
        planned.append(PlannedChapter(chapter.title.strip(), tuple(passages)))
    if not planned:
        raise ManuscriptError("The manuscript holds no words to speak; check that it is the right file.", field="file")
    check_passages(planned, _check_markup)
    return tuple(planned)


def check_passages(chapters: Iterable[PlannedChapter], check: CheckPassage) -> None:
    """Check each passage; the error of the first that is refused names its chapter and sentence."""
    for number, chapter in enumerate(chapters, 1):
        for passage in chapter.passages:
            try:
                check(passage)
            except InvalidRequestError as error:
                told = f"Sentence {passage.index + 1}, in chapter {number}: {error.message}"
                mark = error.mark if isinstance(error, MarkupError) else None
                raise MarkupError(told, field="text", mark=mark) from error


def corrected(
    chapters: tuple[PlannedChapter, ...], index: int, text: str, options: NarrationOptions
) -> tuple[PlannedChapter, ...]:
    """The chapters with another text in place of one passage, spoken by the same voice; those behind it move."""
    indices = count()
    found: list[PlannedChapter] = []
    for chapter in chapters:
        passages: list[Passage] = []
        for passage in chapter.passages:
            for part in _replacements(passage, text) if passage.index == index else (passage,):
                number = next(indices)
                passages.append(replace(part, index=number, seed=passage_seed(options.seed, number)))
        found.append(replace(chapter, passages=tuple(passages)))
    check_passages(found, _check_markup)
    return tuple(found)


def _replacements(passage: Passage, text: str) -> Iterator[Passage]:
    """The passages of a text that stands in place of one; the pause behind that one follows the last of them."""
    sentences = list(_sentences(" ".join(text.split()), passage.voice, passage.voice))
    if not sentences:
        raise TextError("The text holds no words to speak; send the sentence as it should be.", field="text")
    for number, (sentence, voice) in enumerate(sentences, 1):
        gap = passage.gap if number == len(sentences) else Gap.SENTENCE
        yield replace(passage, text=sentence, voice=voice, gap=gap)


def _check_markup(passage: Passage) -> None:
    if "[" in passage.text:
        markup.check(TrackedText.of(passage.text))


Part = tuple[str, str | None, Gap]


def _parts(chapter: Chapter, *, titles: bool) -> Iterator[Part]:
    """The passages of a chapter, each with its voice and what follows it."""
    if titles and speakable(chapter.title):
        yield " ".join(chapter.title.split()), chapter.voice, Gap.TITLE
    voice = chapter.voice
    held: Part | None = None
    for paragraph in chapter.paragraphs:
        if not speakable(paragraph):
            held = None if held is None else (*held[:2], Gap.SCENE)
            continue
        for text, voice in _sentences(paragraph, voice, chapter.voice):  # noqa: B020 - the voice stays
            if held is not None:
                yield held
            held = (text, voice, Gap.SENTENCE)
        held = None if held is None else (*held[:2], Gap.PARAGRAPH)
    if held is not None:
        yield held


def _sentences(paragraph: str, voice: str | None, own: str | None) -> Iterator[tuple[str, str | None]]:
    """The sentences of a paragraph that can be spoken, and their voices."""
    for turn, speaker in _turns(paragraph, voice, own):
        for text in pieces(turn):
            for sentence in bounded_sentences(TrackedText.of(text)):
                if speakable(sentence.text):
                    yield sentence.text.strip(), speaker


def _turns(paragraph: str, voice: str | None, own: str | None) -> Iterator[tuple[str, str | None]]:
    """The stretches of a paragraph between voice tags; a tag without a name goes back to the chapter's `own` voice."""
    done = 0
    for tag in VOICE_TAG.finditer(paragraph):
        yield paragraph[done : tag.start()], voice
        voice, done = tag["name"].strip() or own, tag.end()
    yield paragraph[done:], voice
