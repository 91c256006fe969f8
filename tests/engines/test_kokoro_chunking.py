from itertools import pairwise, takewhile

from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.engines.kokoro.chunking import Break, split_chunks
from polyvox.engines.kokoro.phrases import phrase_words
from polyvox.engines.kokoro.vocabulary import MAX_PHONEMES
from polyvox.text.spoken import Pause, Sentence, SpokenWord
from polyvox.types import ChunkPolicy, Span

POLICY = ChunkPolicy(first=32, growth=2.0, maximum=200)
MARKS = ",.;:!?…—"


def sentence(text, *, ends_paragraph=False):
    """Words of a text with as many phonemes as letters; `|2` is a pause of two seconds."""
    words = []
    position = 0
    for token in text.split():
        if token.startswith("|"):
            words.append(Pause(float(token[1:]), Span(position, position + len(token))))
            position += len(token) + 1
            continue
        body = token.rstrip(MARKS)
        parts = [body, *token[len(body) :]] if body else list(token)
        for place, part in enumerate(parts):
            phonemes = part if part in MARKS else "a" * len(part)
            words.append(SpokenWord(part, phonemes, Span(position, position + len(part)), place == len(parts) - 1))
            position += len(part)
        position += 1
    return Sentence(tuple(words), ends_paragraph)


def chunks(*sentences, policy=POLICY):
    return list(split_chunks(iter(sentences), policy, phrases=phrase_words("en-us")))


def said(chunk):
    return " ".join(word.text for word in chunk.words)


def test_a_short_text_is_one_chunk():
    (only,) = chunks(sentence("Hello there, world."))
    assert said(only) == "Hello there , world ."
    assert only.ends is Break.SENTENCE


def test_the_first_chunk_ends_at_the_clause_nearest_the_target_size():
    first, *_ = chunks(
        sentence("When the sun goes down behind hills, the birds fly home and nobody hears them any more at all.")
    )
    assert said(first).endswith("hills ,")


def test_without_a_mark_the_first_chunk_ends_before_a_word_that_opens_a_phrase():
    first, second, *_ = chunks(
        sentence("Nobody who lived here had heard of anything like it before the war came and took them all away.")
    )
    assert first.ends is Break.PHRASE
    assert second.words[0].text == "of"


def test_later_chunks_grow_but_not_past_the_maximum():
    text = sentence("one two three four, " * 60 + "end.")
    lengths = [len(chunk.phonemes) for chunk in chunks(text)]
    assert lengths[0] <= 32 * 1.25
    assert all(later <= max(32, 2 * earlier) * 1.25 for earlier, later in pairwise(lengths))
    assert max(lengths) <= 200 * 1.25


@each_row("words", range(8, 33, 2))
def test_while_chunks_grow_none_waits_long_for_a_mark(words):
    """On two cores Kokoro makes about 1.8 seconds of audio a second: a chunk must be ready when the one before ends."""
    text = sentence((" ".join(["alpha"] * words) + ", ") * 40 + "end.")
    policy = ChunkPolicy(first=32, growth=1.4, maximum=200)
    lengths = [len(chunk.phonemes) for chunk in chunks(text, policy=policy)]
    growing = list(takewhile(lambda pair: pair[0] * 1.4 < 200, pairwise(lengths)))
    assert len(growing) >= 3
    assert all(later <= max(32, (earlier + 1) * 1.4) * 1.4 for earlier, later in growing)


def test_no_chunk_starts_with_a_mark_that_belongs_to_the_word_before():
    for chunk in chunks(sentence("alpha, beta, gamma, delta; " * 30 + "end.")):
        assert not chunk.words[0].is_punctuation


def test_a_pause_that_is_asked_for_ends_its_chunk_and_lasts_as_long_as_asked():
    first, second = chunks(sentence("One two |1.5 three four."))
    assert first.pause(speed=2.0) == 1.5
    assert said(second) == "three four ."


def test_a_pause_before_all_words_is_a_chunk_of_silence():
    first, second = chunks(sentence("|2 Hello."))
    assert first.words == ()
    assert first.pause(speed=1.0) == 2.0
    assert said(second) == "Hello ."


def test_the_natural_pause_follows_the_mark_and_the_speed():
    (end,) = chunks(sentence("Done."))
    (paragraph,) = chunks(sentence("Done.", ends_paragraph=True))
    assert end.pause(1.0) < paragraph.pause(1.0)
    assert end.pause(2.0) == end.pause(1.0) / 2


def test_a_word_longer_than_the_model_takes_is_split_and_loses_nothing():
    word = SpokenWord("x", "a" * 1300, Span(0, 1), True)
    parts = chunks(Sentence((word,), False))
    assert sum(len(chunk.phonemes.replace(" ", "")) for chunk in parts) == 1300
    assert all(0 < len(chunk.phonemes) <= MAX_PHONEMES for chunk in parts)


def test_the_text_is_read_only_as_far_as_the_next_split_needs():
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield sentence("This is one more sentence of the tale.")

    next(split_chunks(endless(), POLICY))
    assert read <= 3


words = st.text(alphabet="abcdefgh", min_size=1, max_size=14)
tokens = st.tuples(words, st.sampled_from(["", "", "", ",", ".", ";", "…", "—"])).map("".join)


@given(st.lists(st.lists(tokens, min_size=1, max_size=40).map(" ".join), min_size=1, max_size=8))
def test_every_word_is_said_once_in_order_and_every_call_fits_the_model(texts):
    sentences = [sentence(text) for text in texts]
    result = chunks(*sentences)
    before = [(word.text, word.phonemes) for part in sentences for word in part.words]
    after = [(word.text, word.phonemes) for chunk in result for word in chunk.words]
    assert after == before
    assert all(len(chunk.phonemes) <= MAX_PHONEMES for chunk in result)
    assert result == chunks(*sentences)
