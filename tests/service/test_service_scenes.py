"""Which turns of a dialogue are spoken in one go, and where what is heard was written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyvox.service.scenes import Scene, Turn, in_pairs, one_by_one, turn_starts, whole_text
from polyvox.types import Span


def turns(voices: str) -> list[Turn]:
    return [Turn(voice, f"Words of {voice}, number {index}.") for index, voice in enumerate(voices)]


def casts(voices: str) -> list[tuple[str, ...]]:
    return [scene.cast for scene in in_pairs(turns(voices), 0.0)]


def test_two_voices_are_one_scene_and_who_speaks_goes_by_the_voice_not_by_the_turn() -> None:
    (scene,) = in_pairs([Turn("a", "One."), Turn("a", "Two."), Turn("b", "Three."), Turn("a", "Four.")], 0.0)
    assert scene.cast == ("a", "b")
    assert scene.text == "[S1] One.\n[S1] Two.\n[S2] Three.\n[S1] Four."


def test_a_pause_is_written_between_the_turns_of_a_scene() -> None:
    (scene,) = in_pairs([Turn("a", "One."), Turn("b", "Two.")], 0.25)
    assert scene.text == "[S1] One. [pause:250ms] \n[S2] Two."


def test_one_voice_needs_no_tags() -> None:
    (scene,) = in_pairs(turns("aaa"), 0.0)
    assert scene.cast == ("a",)
    assert "[S" not in scene.text


@pytest.mark.parametrize(
    ("voices", "expected"),
    [
        ("abab", [("a", "b")]),
        ("abac", [("a", "b"), ("c",)]),
        ("abcbc", [("a", "b"), ("c", "b")]),  # b was second and stays there
        ("abcaca", [("a", "b"), ("a", "c")]),  # a was first and stays there
        ("abcd", [("a", "b"), ("c", "d")]),
    ],
)
def test_more_voices_make_more_scenes_and_who_goes_on_keeps_their_place(
    voices: str, expected: list[tuple[str, ...]]
) -> None:
    assert casts(voices) == expected


def test_turn_by_turn_each_is_its_own_scene() -> None:
    scenes = one_by_one(turns("aab"))
    assert [(scene.cast, scene.first_turn) for scene in scenes] == [(("a",), 0), (("a",), 1), (("b",), 2)]
    assert [scene.text for scene in scenes] == [turn.text for turn in turns("aab")]


@given(st.text("abc", min_size=1, max_size=12), st.booleans(), st.sampled_from([0.0, 1.5]))
def test_every_word_of_a_scene_points_at_the_same_word_of_the_whole(voices: str, paired: bool, pause: float) -> None:
    said = turns(voices)
    whole = whole_text(said)
    scenes: list[Scene] = in_pairs(said, pause) if paired else one_by_one(said)
    assert [place.turn for scene in scenes for place in scene.places] == list(range(len(said)))
    for scene in scenes:
        for place in scene.places:
            assert scene.text[place.span.start : place.span.end] == said[place.turn].text
            for word in re.finditer(r"\w+", said[place.turn].text):
                inside = Span(place.span.start + word.start(), place.span.start + word.end())
                found = scene.in_whole(inside)
                assert whole[found.start : found.end] == word.group()
                assert found.start == turn_starts(said)[place.turn] + word.start()


def test_what_lies_between_turns_is_nobodys() -> None:
    (scene,) = in_pairs([Turn("a", "One."), Turn("b", "Two.")], 1.0)
    start = scene.text.index("[pause")
    assert not scene.in_whole(Span(start, start + len("[pause:1000ms]")))
    assert scene.in_whole(Span(0, len(scene.text))) == Span(0, len("One.\nTwo."))
