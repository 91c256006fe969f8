"""Streamed text is split where the whole text would be, and as early as that is certain."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyvox.text.assembler import MAX_SEGMENT_CHARS, TextAssembler

TEXT = (
    'Dr. Smith paid $3.50 at 5 p.m. on Monday. "Why?" he asked... Then: silence! 你好。你好吗？好！\n\n'
    "1. First of all\n2. And so on, e.g. this… and that… Yes."
)


def split(*pieces, **options):
    assembler = TextAssembler(**options)
    segments = [segment for piece in pieces for segment in assembler.push(piece)]
    return segments + list(assembler.finish())


def test_sentences_are_those_of_the_whole_text():
    assert [segment.text for segment in split(TEXT)] == [
        "Dr. Smith paid $3.50 at 5 p.m. on Monday.",
        '"Why?" he asked...',
        "Then: silence!",
        "你好。",
        "你好吗？",
        "好！",
        "1. First of all",
        "2. And so on, e.g. this… and that…",
        "Yes.",
    ]


WILD = st.text(st.sampled_from(" \n.,!?…。，\"'”)aB5é你Dr"), max_size=900)
PROSE = st.lists(st.sampled_from(["the ", "wall, ", "it's ", "5 ", "Dr. ", "end. ", "好，", "墙", "I ", "so\n"])).map(
    "".join
)


@settings(max_examples=60, deadline=None)
@given(WILD | PROSE, st.lists(st.integers(0, 900), max_size=12), st.booleans())
def test_splits_do_not_depend_on_how_the_text_was_sent(raw, places, phrases):
    cuts = [0, *sorted(min(place, len(raw)) for place in places), len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(cuts)]
    options = {"phrases": phrases, "max_chars": 80 if phrases else MAX_SEGMENT_CHARS}
    segments = split(*pieces, **options)
    assert segments == split(raw, **options) == split(*raw, **options)
    assert all(raw[segment.start : segment.start + len(segment.text)] == segment.text for segment in segments)
    assert "".join("".join(segment.text for segment in segments).split()) == "".join(raw.split())
    assert all(len(segment.text) < MAX_SEGMENT_CHARS + 64 for segment in segments)


@pytest.mark.parametrize(
    ("sent", "known"),
    [
        ("It rained.", []),
        ("It rained. ", ["It rained."]),
        ("It rained at 5 p.m. ", []),
        ("It rained at 5 p.m. The", []),
        ("It rained at 5 p.m. The ", ["It rained at 5 p.m."]),
        ("It rained! ", ["It rained!"]),
        ("It rained\n", ["It rained"]),
        ("It rained.\n", ["It rained."]),
        ("See Dr. Who ", []),
        ("下雨了。", []),
        ("下雨了。他", ["下雨了。"]),
    ],
)
def test_a_sentence_is_yielded_once_nothing_can_change_its_end(sent, known):
    assert [segment.text for segment in TextAssembler().push(sent)] == known


def test_a_sentence_without_end_is_split_at_a_clause_or_a_word_or_anywhere():
    clause, word, none = "one two three, " * 60, "word " * 200, "x" * 900
    _, second, *_ = split(clause)
    assert second.text.endswith("three,")
    assert 300 < len(second.text) <= MAX_SEGMENT_CHARS
    assert {segment.text[-4:] for segment in split(word)} == {"word"}
    assert [len(segment.text) for segment in split(none)] == [400, 400, 100]


@pytest.mark.parametrize(
    ("raw", "segments"),
    [
        ("we saw the old man there.", ["we saw the", "old man there."]),
        ("On May 5, 2024 we saw the old man there.", ["On May 5, 2024 we saw the", "old man there."]),
        ("he paid about 5 km later on", ["he paid about 5 km later on"]),
        ("we asked for old Dr. Smith again.", ["we asked for old Dr. Smith again."]),
        ("今天下雨，我们在家。", ["今天下雨，", "我们在家。"]),
        ("一共3，000元。", ["一共3，000元。"]),
    ],
)
def test_phrases_are_split_off_only_where_what_follows_does_not_matter(raw, segments):
    assert [segment.text for segment in split(raw, phrases=True)] == segments
    assert [segment.ends_sentence for segment in split(raw, phrases=True)] == [False] * (len(segments) - 1) + [True]
