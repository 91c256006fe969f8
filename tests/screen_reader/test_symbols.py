from polyvox.screen_reader.message_settings import Capitals, Punctuation
from polyvox.screen_reader.symbols import character_name, key_name, spelled, with_capitals, with_punctuation


def test_each_level_of_punctuation_names_more_marks():
    text = "Mail (now): a@b, 50%."
    expected = {
        Punctuation.NONE: "Mail (now): a@b, 50%.",
        Punctuation.SOME: "Mail (now): a at b, 50 percent .",
        Punctuation.MOST: "Mail left paren now right paren colon: a at b, 50 percent .",
        Punctuation.ALL: "Mail left paren now right paren colon: a at b comma, 50 percent dot.",
    }
    assert {level: with_punctuation(text, level) for level in Punctuation} == expected


def test_a_mark_inside_of_a_word_is_named_without_a_pause():
    assert with_punctuation("3.5 and it's", Punctuation.ALL) == "3 dot 5 and it apostrophe s"


def test_characters_are_named():
    names = {"a": "A", "Z": "Z", "7": "7", " ": "space", ".": "dot", "é": "É", "ß": "ß", "汉": "汉"}
    assert {character: character_name(character) for character in names} == names


def test_capitals_are_told_where_that_is_asked_for():
    assert character_name("B", Capitals.SPELL) == "capital B"
    assert character_name("b", Capitals.SPELL) == "B"
    assert with_capitals("The cat of Ann", Capitals.SPELL) == "capital The cat of capital Ann"
    assert with_capitals("The cat", Capitals.ICON) == "The cat"


def test_a_spelled_text_is_its_characters():
    assert spelled("Ab 1.", Capitals.SPELL) == "capital A, B, 1, dot"


def test_keys_are_named_as_they_are_called():
    keys = {
        "control_a": "control A",
        "shift_kp-5": "shift keypad 5",
        "F12": "F 12",
        "underscore": "underscore",
        "_": "underscore",
        "alt_page-up": "alt page up",
    }
    assert {key: key_name(key) for key in keys} == keys
