"""Segmentation of text into units of a bounded size, shared by the frontends of all engines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import add
from typing import Final

from polyvox.text.markup.markup import Insert, insert_at
from polyvox.text.segmentation.split import clauses, sentences
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText

MAX_SENTENCE_CHARS: Final = 1_000
"""Characters that normalisers and phonemizers see at once; some of them take the square of it."""


def bounded_sentences(text: TrackedText) -> Iterator[TrackedText]:
    """The sentences of a text; one over the limit is cut at a clause, else between words, else within one."""
    for sentence in sentences(text):
        start = 0
        while len(sentence) - start > MAX_SENTENCE_CHARS:
            end = start + _bounded_cut(sentence[start : start + MAX_SENTENCE_CHARS])
            yield sentence[start:end]
            start = end
        yield sentence[start:]


def _bounded_cut(text: TrackedText) -> int:
    *before, last = clauses(text) or [text]
    cut = len(text) - len(last)
    return cut if before and cut > len(text) // 2 else word_boundary(text.text, len(text))


def sentence_blocks(text: TrackedText, min_chars: int) -> Iterator[TrackedText]:
    """Runs of whole sentences, each of `min_chars` characters or a sentence more; the last may be shorter.

    A frontend normalises block by block, so that the first audio of a long text does not wait for its end.
    """
    start = end = 0
    for sentence in bounded_sentences(text):
        end += len(sentence)
        if end - start >= min_chars:
            yield text[start:end]
            start = end
    if end > start:
        yield text[start:end]


def split_at_pauses(text: TrackedText, inserts: Sequence[Insert]) -> Iterator[TrackedText | Pause]:
    """The pauses of a text and what stands before, between and behind them, which may be empty."""
    start = 0
    for index, char in enumerate(text.text if inserts else ""):
        insert = insert_at(char, inserts)
        if isinstance(insert, Pause):
            yield text[start:index]
            yield insert
            start = index + 1
    yield text[start:]


def merge(
    parts: Iterable[TrackedText],
    fits: Callable[[TrackedText, TrackedText], bool],
    join: Callable[[TrackedText, TrackedText], TrackedText] = add,
) -> Iterator[TrackedText]:
    """Join neighbours greedily, as long as `fits(merged so far, next)`; reads one part ahead."""
    merged: TrackedText | None = None
    for part in parts:
        if merged is not None and not fits(merged, part):
            yield merged
            merged = None
        merged = part if merged is None else join(merged, part)
    if merged is not None:
        yield merged


def word_boundary(text: str, limit: int) -> int:
    """The cut position of a text longer than `limit`: behind the last space before the limit, or at the limit."""
    return text.rfind(" ", 1, limit) + 1 or limit
