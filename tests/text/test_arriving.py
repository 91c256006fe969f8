"""Text that arrives in pieces is cut where the whole of it would be, and no later than can be."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyvox.text.arriving import LONGEST, ArrivingText

TEXT = (
    'Dr. Smith paid $3.50 at 5 p.m. on Monday. "Why?" he asked... Then: silence! 你好。你好吗？好！\n\n'
    "1. First of all\n2. And so on, e.g. this… and that… Yes."
)


def cut(*pieces, **options):
    text = ArrivingText(**options)
    parts = [part for piece in pieces for part in text.push(piece)]
    return parts + list(text.finish())


def test_sentences_are_those_of_the_whole_text():
    assert [part.text for part in cut(TEXT)] == [
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
def test_pieces_do_not_move_the_cuts(raw, places, phrases):
    cuts = [0, *sorted(min(place, len(raw)) for place in places), len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(cuts)]
    options = {"phrases": phrases, "longest": 80 if phrases else LONGEST}
    parts = cut(*pieces, **options)
    assert parts == cut(raw, **options) == cut(*raw, **options)
    assert all(raw[part.start : part.start + len(part.text)] == part.text for part in parts)
    assert "".join("".join(part.text for part in parts).split()) == "".join(raw.split())
    assert all(len(part.text) < LONGEST + 64 for part in parts)


@pytest.mark.parametrize(
    ("arrived", "known"),
    [
        ("It rained.", []),
        ("It rained. ", []),
        ("It rained. The", []),
        ("It rained. The ", ["It rained."]),
        ("It rained! ", ["It rained!"]),
        ("It rained\n", ["It rained"]),
        ("It rained.\n", ["It rained."]),
        ("See Dr. Who ", []),
        ("下雨了。", []),
        ("下雨了。他", ["下雨了。"]),
    ],
)
def test_a_sentence_is_given_away_once_nothing_can_change_its_end(arrived, known):
    assert [part.text for part in ArrivingText().push(arrived)] == known


def test_a_sentence_without_end_is_cut_at_a_clause_or_a_word_or_anywhere():
    clause, word, none = "one two three, " * 60, "word " * 200, "x" * 900
    assert next(iter(cut(clause))).text.endswith("three,")
    assert 300 < len(next(iter(cut(clause))).text) <= LONGEST
    assert {part.text[-4:] for part in cut(word)} == {"word"}
    assert [len(part.text) for part in cut(none)] == [400, 400, 100]


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        ("we saw the old man there.", ["we saw the", "old man there."]),
        ("On May 5, 2024 we saw the old man there.", ["On May 5, 2024 we saw the", "old man there."]),
        ("he paid about 5 km later on", ["he paid about 5 km later on"]),
        ("we asked for old Dr. Smith again.", ["we asked for old Dr. Smith again."]),
        ("今天下雨，我们在家。", ["今天下雨，", "我们在家。"]),
        ("一共3，000元。", ["一共3，000元。"]),
    ],
)
def test_phrases_are_cut_off_only_where_what_follows_does_not_matter(raw, parts):
    assert [part.text for part in cut(raw, phrases=True)] == parts
    assert [part.ends for part in cut(raw, phrases=True)] == [False] * (len(parts) - 1) + [True]
