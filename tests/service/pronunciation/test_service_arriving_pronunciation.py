"""Dictionaries for text that arrives in pieces: the pieces do not decide what is found."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.fakes import ToneEngine, tone_settings
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.pronunciation.arriving_pronunciation import ArrivingPronunciation
from polyvox.service.pronunciation.dictionaries import Dictionaries
from polyvox.service.pronunciation.pronunciation import Pronunciation
from polyvox.text.dictionary import Dictionary, DictionaryEntry, EntryKind, Lexicon
from polyvox.text.warnings import Warnings
from polyvox.types import AudioChunk, PhonemeShare, Span, Utterance, WordTiming

TEXT = (
    "In New York, Nguyen's <b title='New York'>New\nYork</b> [pause:1s] is new. New Yorkshire [New](/x/) York New York"
)
SAID = (
    "In Noo Yawk City, win's <b title='New York'>Noo Yawk City</b> [pause:1s] is new. New Yorkshire [New](/x/) York "
    "Noo Yawk City"
)
ENTRIES = (
    DictionaryEntry(EntryKind.WORD, "Nguyen", "win"),
    DictionaryEntry(EntryKind.PHRASE, "New York", "Noo Yawk City"),
)


def arriving() -> ArrivingPronunciation:
    lexicon = Lexicon([Dictionary("a", ENTRIES)])
    pronunciation = Pronunciation(Dictionaries(tone_settings(), OperatorAccess()), lexicon, "", 100_000)
    return ArrivingPronunciation(pronunciation, ToneEngine(), Utterance("", "low"), Warnings())


async def spoken(made: ArrivingPronunciation, cuts: list[int]) -> list[str]:
    async def pieces():
        for start, end in zip([0, *cuts], [*cuts, len(TEXT)], strict=True):
            yield TEXT[start:end]

    return [piece async for piece in made.rewritten(pieces())]


@pytest.mark.long
@given(st.lists(st.integers(0, len(TEXT)), max_size=40).map(sorted))
@examples(60)
def test_what_is_found_does_not_depend_on_the_pieces(cuts: list[int]) -> None:
    assert "".join(asyncio.run(spoken(arriving(), cuts))) == SAID


@pytest.mark.anyio
async def test_words_and_spans_are_those_of_the_whole_text() -> None:
    made = arriving()
    pieces = await spoken(made, list(range(1, len(TEXT), 3)))
    said = "".join(pieces)
    assert pieces[0] == "In "
    starts = [said.index(word) for word in ("In", "Noo", "Yawk", "City,", "win's")]
    ends = [start + len(word) for start, word in zip(starts, ("In", "Noo", "Yawk", "City", "win's"), strict=True)]
    words = tuple(
        WordTiming(said[start:end], at, at + 1, Span(start, end), shares=(PhonemeShare(said[start], 0.5, 1.0),))
        for at, (start, end) in enumerate(zip(starts, ends, strict=True))
    )
    found = made.in_raw(AudioChunk(np.zeros(1, np.float32), 24_000, 0, 0, words=words))
    assert [(word.word, word.start, word.end, TEXT[word.span.start : word.span.end]) for word in found.words] == [
        ("In", 0, 1, "In"),
        ("New York", 1, 4, "New York"),
        ("Nguyen's", 4, 5, "Nguyen's"),
    ]
    assert [(each.phoneme, each.start, each.end) for each in found.words[1].phonemes] == [
        ("N", 1.5, 2),
        ("Y", 2.5, 3),
        ("C", 3.5, 4),
    ]
