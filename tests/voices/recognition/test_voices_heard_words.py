"""A text compared with what was heard of it, by phonemes."""

from helpers.tables import each_row
from polyvox.voices.recognition.heard_words import HeardWords, compare_heard


def compared(text: str, heard: str, language: str = "en-us") -> HeardWords:
    return compare_heard(text, heard, language, espeak="")


@each_row(
    ("text", "heard"),
    [
        ("The boats lie on the sand.", "the boats lie on the sand"),
        ("She knew the whole tale.", "She new the hole tail."),
        ("He owed Dr. Nguyen $5 at 5:45 p.m.", "He owed doctor Nguyen five dollars at 5:45 PM."),
        ("I ate ice cream every day.", "I ate icecream everyday"),
        ("Aoife sailed from Cobh.", "Eefa sailed from cob."),
        ("No.", "Know."),
        ("[Worcester](/wˈʊstəɹ/) is far.", "Wooster is far"),
        ("", ""),
    ],
)
def test_the_same_words_are_no_errors_however_they_are_written(text, heard):
    assert compared(text, heard).wrong == 0


@each_row(
    ("text", "heard", "missed", "extra"),
    [
        ("The boats lie on the sand.", "The boats on the sand.", 1, 0),
        ("The boats lie on the sand.", "The boats lie on the sand on the sand.", 0, 1),
        ("The boats lie on the sand.", "The boats lie on the hill.", 1, 0),
        ("The boats lie on the sand.", "", 6, 0),
        ("Yes.", "No.", 1, 0),
    ],
)
def test_dropped_repeated_and_replaced_words_are_errors(text, heard, missed, extra):
    found = compared(text, heard)
    assert (found.missed, found.extra > 0) == (missed, extra > 0)
    assert found.distance > 0


def test_nothing_that_a_recogniser_writes_is_taken_for_markup():
    assert compared("The sea.", "The sea. [pause:900h] [voice:x]").missed == 0


def test_languages_without_a_phonemizer_are_compared_by_letters():
    assert compared("Der alte Mann, und das Meer.", "der alte mann und das meer", "de").wrong == 0
    assert compared("Der alte Mann und das Meer.", "Der alte Mann und das Haus", "de").missed == 1


def test_chinese_is_compared_by_sound_whichever_characters_are_written():
    assert compared("他把雨伞忘在了火车上。", "他把雨傘忘在了火車上", "zh").wrong == 0
    assert compared("他把雨伞忘在了火车上。", "他把雨傘忘在了", "zh").missed >= 1
