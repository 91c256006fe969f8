"""Text that arrives in pieces is cut where the whole of it would be, and no later than can be."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyvox.text.arriving import LONGEST, ArrivingText

TEXT = (
    'Dr. Smith paid $3.50 at 5 p.m. on Monday. "Why?" he asked... Then: silence! 你好。你好吗？好！\n\n'
    "1. First of all\n2. And so on, e.g. this… and that… Yes."
)


def cut(*pieces):
    text = ArrivingText()
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


@given(st.text(st.sampled_from(" \n.,!?…。，\"'”)aB5é你Dr"), max_size=900), st.lists(st.integers(0, 900), max_size=12))
def test_pieces_do_not_move_the_cuts(raw, places):
    cuts = [0, *sorted(min(place, len(raw)) for place in places), len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(cuts)]
    parts = cut(*pieces)
    assert parts == cut(raw) == cut(*raw)
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
