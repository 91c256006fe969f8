"""English as people write it, read as a person would say it: judged by phonemes."""

import pytest

from helpers.readings import Reading, is_read, phonemes, readings, words
from helpers.tables import each_row

READINGS = readings("en")


@pytest.mark.long
@each_row("reading", READINGS)
def test_a_person_would_say_the_same(reading: Reading) -> None:
    assert is_read(reading), words(reading.written)


def test_there_are_many_cases_and_none_twice() -> None:
    assert len({reading.written for reading in READINGS}) == len(READINGS) > 900


@each_row(
    ("written", "heard"),
    [
        ("The lead singer left.", "the lead/lˈɛd/ singer left"),
        ("Call 911.", "call nine hundred eleven"),
        ("I use it.", "I use/jˈus/ it"),
        ("Wait.", "wait a minute"),
    ],
)
def test_the_judge_finds_a_wrong_reading(written: str, heard: str) -> None:
    assert not is_read(Reading("judge", written, heard))


def test_the_judge_accepts_alternatives_and_what_may_be_left_out() -> None:
    assert is_read(Reading("judge", "It costs 105 dollars.", "it costs {one hundred {and|} five|one oh five} dollars"))
    assert "ˌ" not in phonemes("information")
