"""Marks of answers: what they say, that they cost no promise, and how they are read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyvox.provenance.marks import SYNTHETIC, Marks, derived_id, is_content_id
from polyvox.provenance.notary import Notary

NOON = 1_795_003_200.0
SESSION = "f" * 32


def test_the_same_speech_has_the_same_marks_all_day_and_other_speech_has_others():
    times = iter([NOON, NOON + 3_600, NOON + 86_400])
    notary = Notary(clock=lambda: next(times))
    noon, later, tomorrow = (notary.marks(SESSION, "wren", "the key of some speech") for _ in range(3))
    assert noon == later
    assert (noon.made, tomorrow.made) == ("2026-11-18", "2026-11-19")
    assert noon.content_id == tomorrow.content_id == derived_id("the key of some speech")


def test_speech_that_is_new_each_time_has_the_id_of_its_session():
    assert Notary(clock=lambda: NOON).marks(SESSION, "wren", None).content_id == SESSION


def test_cached_speech_keeps_the_day_on_which_it_was_made():
    assert Notary(clock=lambda: NOON + 86_400).marks(SESSION, "wren", "key", NOON).made == "2026-11-18"


def test_a_server_that_marks_nothing_gives_no_marks():
    assert Notary(marks=False).marks(SESSION, "wren", "key") is None


def test_the_header_is_one_line_of_printable_ascii_whatever_the_model_is_called():
    header = Marks.of_day(SESSION, 'mo"d\\el\r\nX-Evil: 模型', NOON).header
    assert header.isascii()
    assert header.isprintable()
    assert header.startswith(f'synthetic=?1, source="{SYNTHETIC}", software="Polyvox ')
    assert 'model="mo\\"d\\\\el??X-Evil: ??"' in header


@given(st.dictionaries(st.text(), st.text()))
def test_tags_of_strangers_give_marks_or_none(tags):
    for found in (Marks.found_in(tags), Marks.found_in({**tags, "digitalsourcetype": "x"})):
        assert found is None or not found.content_id or is_content_id(found.content_id)


def test_marks_are_found_again_whatever_the_case_of_their_names():
    marks = Marks.of_day(SESSION, "wren", NOON)
    for change in (str.upper, str.lower, str.title):
        assert Marks.found_in({change(name): value for name, value in marks.tags.items()}) == marks


@pytest.mark.parametrize("text", ["", "../../etc/passwd", "F" * 32, "f" * 31, "f" * 33, "f" * 31 + "\n", "０" * 32])
def test_no_other_text_is_taken_for_a_content_id(text):
    assert not is_content_id(text)
