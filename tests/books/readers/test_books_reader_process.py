"""Manuscripts from strangers, read in a process of their own."""

import asyncio
import time

import pytest

from polyvox.books.manuscript import ManuscriptLimits
from polyvox.books.readers.reader_child import from_lines, to_lines
from polyvox.books.readers.reader_process import read_manuscript_apart
from polyvox.books.readers.reading import read_manuscript
from polyvox.errors import ManuscriptError
from tests.helpers.epubs import epub


def test_a_manuscript_comes_back_whole():
    apart = asyncio.run(read_manuscript_apart(epub(), "book.epub"))
    assert apart == read_manuscript(epub(), "book.epub")
    assert from_lines(to_lines(apart)) == apart


def test_a_refusal_keeps_its_words():
    with pytest.raises(ManuscriptError, match="no EPUB"):
        asyncio.run(read_manuscript_apart(b"nothing", "book.epub"))
    with pytest.raises(ManuscriptError, match="larger"):
        asyncio.run(read_manuscript_apart(b"long text", "book.txt", ManuscriptLimits(file_bytes=3)))


@pytest.mark.long
def test_a_file_that_takes_too_long_is_given_up_while_the_loop_goes_on():
    hostile = b"<p>a" * 4_000_000  # more tags than any Python reads in a second

    async def read():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        began = time.monotonic()
        try:
            with pytest.raises(ManuscriptError, match=r"cannot be read|too long"):
                await read_manuscript_apart(hostile, "book.html", ManuscriptLimits(seconds=1.0))
        finally:
            ticking.cancel()
        return ticks, time.monotonic() - began

    ticks, seconds = asyncio.run(read())
    assert ticks > 10
    assert seconds < 20
