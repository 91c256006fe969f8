"""Segmentation of text into units of a bounded size, shared by the frontends of all engines."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import add

from polyvox.text.markup import Insert, insert_at
from polyvox.text.split import sentences
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText


def sentence_blocks(text: TrackedText, min_chars: int) -> Iterator[TrackedText]:
    """Runs of whole sentences, each of `min_chars` characters or a sentence more; the last may be shorter.

    A frontend normalises block by block, so that the first audio of a long text does not wait for its end.
    """
    start = end = 0
    for sentence in sentences(text):
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
