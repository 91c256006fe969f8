"""Chunks of whole sentences, and the openings of long ones."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from polyvox.engines.kokoro.chunking import Break, split_chunks
from polyvox.engines.kokoro.phrases import PhraseWords
from polyvox.engines.kokoro.vocabulary import MAX_PHONEMES
from polyvox.text.spoken import Pause, Sentence, SpokenWord
from polyvox.types import ChunkPolicy, Span

POLICY = ChunkPolicy(first=32, growth=2.0, maximum=200, whole_sentences=True)
LONGEST = 250


def sentence(lengths):
    """Words of so many phonemes each, and a full stop."""
    words = [SpokenWord("x" * length, "a" * length, Span(0, 1), True) for length in lengths[:-1]]
    last = SpokenWord("x" * lengths[-1], "a" * lengths[-1], Span(0, 1), False)
    return Sentence((*words, last, SpokenWord(".", ".", Span(0, 1), True)), False)


def of_length(length):
    """A sentence of so many phonemes, its spaces and stop included."""
    return sentence([4] * (length // 5 - 1) + [4 + length % 5 - 1])


def chunks(*sentences, policy=POLICY):
    return list(split_chunks(iter(sentences), policy))


def test_no_sentence_that_fits_a_chunk_is_cut():
    for length in range(10, LONGEST, 7):
        (only,) = chunks(of_length(length))
        assert only.ends is Break.SENTENCE
        result = chunks(of_length(60), of_length(length), of_length(90), of_length(length))
        assert all(chunk.ends is Break.SENTENCE for chunk in result), length


def test_a_sentence_that_is_too_long_is_cut_into_long_parts():
    result = chunks(of_length(600))
    assert [chunk.ends for chunk in result[:-1]] == [Break.WORD] * (len(result) - 1)
    assert all(100 <= len(chunk.phonemes) <= LONGEST for chunk in result)


def test_a_long_first_sentence_has_an_opening_and_a_short_one_has_none():
    assert chunks(of_length(48))[0].opening is None
    for length in range(50, LONGEST, 9):
        (only,) = chunks(of_length(length))
        assert 13 <= only.opening.heard < only.opening.planned <= 33
        assert only.opening.planned - only.opening.heard >= 8
        ends = list(accumulate(len(word.phonemes) + word.space for word in only.words))
        assert only.opening.heard in ends
        assert only.opening.planned + 1 in ends


def test_an_opening_ends_at_a_mark_where_there_is_one():
    words = ["When", "evening", "came", ",", "nobody", "remembered", "who", "had", "locked", "the", "iron", "gate", "."]
    spaced = [
        SpokenWord(w, w if w in ",." else "a" * len(w), Span(0, 1), n != ",")
        for w, n in zip(words, [*words[1:], ""], strict=True)
    ]
    (only,) = chunks(Sentence(tuple(spaced), False))
    assert only.opening.heard == len("When evening came, ")


def test_a_very_short_sentence_is_spoken_with_the_next():
    (only,) = chunks(of_length(8), of_length(90))
    assert only.opening is not None


def test_a_pause_that_is_asked_for_ends_a_chunk_of_sentences():
    said = of_length(30).words
    first, second = chunks(Sentence((*said[:3], Pause(1.0, Span(0, 1)), *said[3:]), False))
    assert first.pause(1.0) == 1.0
    assert second.ends is Break.SENTENCE


def test_where_nobody_waits_chunks_are_long_from_the_first_one_on_and_have_no_opening():
    result = chunks(*[of_length(70)] * 6, policy=ChunkPolicy(32, 1.4, 200).unhurried())
    assert [len(chunk.phonemes) for chunk in result] == [209, 209]
    assert all(chunk.opening is None and chunk.ends is Break.SENTENCE for chunk in result)


def test_the_text_is_read_only_as_far_as_the_next_chunk_needs():
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield of_length(120)

    next(split_chunks(endless(), POLICY))
    assert read == 1


@given(st.lists(st.lists(st.integers(1, 14), min_size=1, max_size=60), min_size=1, max_size=8), st.booleans())
def test_every_word_is_said_once_in_order_and_every_call_fits_the_model(texts, patient):
    sentences = [sentence(lengths) for lengths in texts]
    policy = POLICY.unhurried() if patient else POLICY
    result = chunks(*sentences, policy=policy)
    assert [word.phonemes for chunk in result for word in chunk.words] == [
        word.phonemes for part in sentences for word in part.words
    ]
    assert all(len(chunk.phonemes) <= MAX_PHONEMES for chunk in result)
    assert result == chunks(*sentences, policy=policy)


def test_an_opening_may_end_inside_a_phrase_but_not_where_another_place_is_near():
    said = sentence([4] * 18)
    tied = PhraseWords(leading=frozenset(["x" * 4]))
    (only,) = split_chunks(iter([said]), POLICY, phrases=tied)
    assert only.opening.planned <= 33
    loose = SpokenWord("y" * 4, "a" * 4, Span(0, 1), True)
    words = (*said.words[:3], loose, *said.words[4:])
    (only,) = split_chunks(iter([Sentence(words, False)]), POLICY, phrases=tied)
    assert only.opening.heard == 20
