"""A narration in a folder: durable, in order, and the same however often it is interrupted."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from polyvox.books.manuscript import Chapter, Manuscript
from polyvox.books.narration import Narration
from polyvox.books.options import NarrationOptions
from polyvox.errors import ConflictError, NotFoundError
from polyvox.types import AudioChunk, Span, WordTiming

BOOK = Manuscript(
    "A Short Book",
    "Ann Author",
    "en",
    None,
    (Chapter("One", ("Hello there. How are you?", "Fine.")), Chapter("Two", ("Yes. [voice:bert] No.",))),
)


async def tone(passage):
    """A tone as long as the passage's text, in silence."""
    count = len(passage.text) * 240
    pcm = np.zeros(count + 9_600, np.float32)
    pcm[4_800 : count + 4_800] = 0.2 * np.sin(np.arange(count) * (1 + passage.seed % 7) / 40)
    words = (WordTiming(passage.text.split()[0], 0.2, 0.25, Span(0, 1)),)
    yield AudioChunk(pcm, 24_000, 0, 0, words=words)


def test_a_narration_is_spoken_in_order_and_counts_its_sentences(tmp_path):
    narration = Narration.create(tmp_path / "book", BOOK, NarrationOptions(seed=3))
    seen = []
    asyncio.run(narration.narrate(tone, lambda progress: seen.append(progress.sentences_done)))
    assert seen == list(range(1, 8))
    opened = Narration.open(tmp_path / "book")
    assert opened.progress == narration.progress
    assert opened.progress.done
    assert [passage.voice for chapter in opened.plan.chapters for passage in chapter.passages][-2:] == [None, "bert"]


def test_a_folder_holds_one_narration(tmp_path):
    Narration.create(tmp_path, BOOK, NarrationOptions())
    with pytest.raises(ConflictError):
        Narration.create(tmp_path, BOOK, NarrationOptions())
    with pytest.raises(NotFoundError):
        Narration.open(Path(tmp_path) / "elsewhere")
