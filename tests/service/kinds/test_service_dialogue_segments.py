"""Segments of a dialogue: which turns are one utterance, and how spans map back."""

import re

from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.service.kinds.dialogue_segments import (
    DialogueSegment,
    DialogueTurn,
    dialogue_text,
    pair_segments,
    turn_segments,
    turn_starts,
)
from polyvox.types import Span


def turns(voices: str) -> list[DialogueTurn]:
    return [DialogueTurn(voice, f"Words of {voice}, number {index}.") for index, voice in enumerate(voices)]


def voices_of(voices: str) -> list[tuple[str, ...]]:
    return [segment.voices for segment in pair_segments(turns(voices), 0.0)]


def test_two_voices_make_one_segment_with_tags_by_voice() -> None:
    (segment,) = pair_segments(
        [DialogueTurn("a", "One."), DialogueTurn("a", "Two."), DialogueTurn("b", "Three."), DialogueTurn("a", "Four.")],
        0.0,
    )
    assert segment.voices == ("a", "b")
    assert segment.text == "[S1] One.\n[S1] Two.\n[S2] Three.\n[S1] Four."


def test_a_pause_is_written_between_the_turns_of_a_segment() -> None:
    (segment,) = pair_segments([DialogueTurn("a", "One."), DialogueTurn("b", "Two.")], 0.25)
    assert segment.text == "[S1] One. [pause:250ms] \n[S2] Two."


def test_one_voice_needs_no_tags() -> None:
    (segment,) = pair_segments(turns("aaa"), 0.0)
    assert segment.voices == ("a",)
    assert "[S" not in segment.text


@each_row(
    ("voices", "expected"),
    [
        ("abab", [("a", "b")]),
        ("abac", [("a", "b"), ("c",)]),
        ("abcbc", [("a", "b"), ("c", "b")]),  # b was second and stays there
        ("abcaca", [("a", "b"), ("a", "c")]),  # a was first and stays there
        ("abcd", [("a", "b"), ("c", "d")]),
    ],
)
def test_more_voices_make_more_segments_and_a_voice_in_two_of_them_keeps_its_tag(
    voices: str, expected: list[tuple[str, ...]]
) -> None:
    assert voices_of(voices) == expected


def test_turn_segments_hold_one_turn_each() -> None:
    segments = turn_segments(turns("aab"))
    assert [(segment.voices, segment.first_turn) for segment in segments] == [(("a",), 0), (("a",), 1), (("b",), 2)]
    assert [segment.text for segment in segments] == [turn.text for turn in turns("aab")]


@given(st.text("abc", min_size=1, max_size=12), st.booleans(), st.sampled_from([0.0, 1.5]))
def test_every_word_of_a_segment_maps_to_the_same_word_of_the_whole(voices: str, paired: bool, pause: float) -> None:
    said = turns(voices)
    whole = dialogue_text(said)
    segments: list[DialogueSegment] = pair_segments(said, pause) if paired else turn_segments(said)
    assert [turn_span.turn for segment in segments for turn_span in segment.turn_spans] == list(range(len(said)))
    for segment in segments:
        for turn_span in segment.turn_spans:
            assert segment.text[turn_span.span.start : turn_span.span.end] == said[turn_span.turn].text
            for word in re.finditer(r"\w+", said[turn_span.turn].text):
                inside = Span(turn_span.span.start + word.start(), turn_span.span.start + word.end())
                found = segment.in_whole(inside)
                assert whole[found.start : found.end] == word.group()
                assert found.start == turn_starts(said)[turn_span.turn] + word.start()


def test_text_between_turns_maps_to_an_empty_span() -> None:
    (segment,) = pair_segments([DialogueTurn("a", "One."), DialogueTurn("b", "Two.")], 1.0)
    start = segment.text.index("[pause")
    assert not segment.in_whole(Span(start, start + len("[pause:1000ms]")))
    assert segment.in_whole(Span(0, len(segment.text))) == Span(0, len("One.\nTwo."))
