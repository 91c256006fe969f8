"""Blocks of sentences, splits at pauses, greedy merging and cuts between words, which several frontends share."""

import re

import pytest

from helpers.tables import each_row
from polyvox.errors import TextError
from polyvox.text.markup import markup
from polyvox.text.placeholders import MAX_PLACEHOLDERS, mask
from polyvox.text.segmentation.segment import merge, sentence_blocks, split_at_pauses, word_boundary
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import Span


def test_blocks_are_whole_sentences_and_together_the_text():
    text = TrackedText.of("One two. " * 7 + "End")
    blocks = list(sentence_blocks(text, 20))
    assert [len(block) for block in blocks] == [27, 27, 12]
    assert "".join(block.text for block in blocks) == text.text
    assert blocks[1].starts[0] == 27


def test_a_text_without_inserts_is_not_split():
    text = TrackedText.of("One two.")
    assert list(split_at_pauses(text, ())) == [text]


def test_pauses_split_a_text_and_other_inserts_do_not():
    marked = markup.parse("[pause:1s]Say [tomato](/təmˈɑːtoʊ/)[pause:2s] now.")
    units = list(split_at_pauses(marked.text, marked.inserts))
    assert [unit.seconds if isinstance(unit, Pause) else unit.text for unit in units] == [
        "",
        1.0,
        "Say \ue001",
        2.0,
        " now.",
    ]


def test_neighbours_are_joined_as_long_as_they_fit():
    parts = [TrackedText.of("abcdefgh")[at : at + 2] for at in range(0, 8, 2)]
    merged = list(merge(parts, lambda one, other: len(one) + len(other) <= 5))
    assert [part.text for part in merged] == ["abcd", "efgh"]
    assert merged[1].span(0, 4) == Span(4, 8)
    assert list(merge([], lambda one, other: True)) == []


def test_merging_reads_one_part_ahead():
    read = []

    def parts():
        for char in "abc":
            read.append(char)
            yield TrackedText.of(char)

    assert next(merge(parts(), lambda one, other: False)).text == "a"
    assert read == ["a", "b"]


@each_row(("text", "cut"), [("one two three", 8), ("onetwothree", 9), (" onetwothree", 9)])
def test_a_cut_is_behind_the_last_space_or_at_the_limit(text, cut):
    assert word_boundary(text, 9) == cut


def test_there_are_only_so_many_placeholders():
    text = TrackedText.of("xy")
    refused = TextError("too many", field="input")
    pattern = re.compile("[xy]")
    masked, values = mask(text, pattern, lambda match: match[0], taken=MAX_PLACEHOLDERS - 2, too_many=refused)
    assert (masked.text, values) == ("\uf8fe\uf8ff", ("x", "y"))
    with pytest.raises(TextError, match="too many"):
        mask(text, pattern, lambda match: match[0], taken=MAX_PLACEHOLDERS - 1, too_many=refused)
