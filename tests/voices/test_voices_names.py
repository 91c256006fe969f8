"""What a voice may be called, and what may be written about it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.errors import InvalidRequestError
from polyvox.voices.names import (
    MAX_NAME_CHARS,
    is_voice_id,
    name_key,
    new_voice_id,
    note_text,
    transcript_text,
    voice_language,
    voice_name,
    voice_tags,
)


@each_row(
    "name", ["my_voice", "Anna B.", "Grüße", "山田", "नीला", "voice-2 (calm)", "O'Brien", "a+b", "7", "𝒜da", "👋 hi"]
)
def test_names_that_people_use(name):
    assert voice_name(name) == unicodedata.normalize("NFC", name)


def test_a_name_is_trimmed_and_composed():
    assert voice_name("  Andre\u0301 ") == "Andr\u00e9"


@each_row(
    "name",
    [
        "",
        "   ",
        "../../etc/passwd",
        "..",
        ".",
        "a/b",
        "a\\b",
        "nul\0",
        "line\nbreak",
        "tab\tbed",
        "esc\x1b[31m",
        "del\x7f",
        "c1\x9b",
        "\u202egnp.exe",  # right-to-left override
        "a\u2066b",  # isolate
        "a\u200fb",  # right-to-left mark
        "zero\u200bwidth",
        "join\u200der",
        "\ufeffbom",
        "soft\u00adhyphen",
        "no\u00a0break",
        "line\u2028separator",
        "\u0301accent",
        "fill\u3164er",
        "braille\u2800blank",
        "selected\ufe0f",
        "private\ue000",
        "half\ud800",
        "\U000e0041tag",
        "---",
        "url+https://host/a.wav",
        "URL+https:host",
        "base64+AAAA",
        "data:audio",
        "file+name",
        "voice_0123456789abcdef0123456789abcdef",
        "x" * (MAX_NAME_CHARS + 1),
        "x" * 10_000,
        "e" + "\u0301" * 10_000,
    ],
)
def test_names_that_hide_something_are_refused(name):
    with pytest.raises(InvalidRequestError) as refused:
        voice_name(name)
    assert refused.value.field == "name"
    assert refused.value.message.isprintable()


@given(st.text(max_size=80))
def test_whatever_passes_is_visible_and_short_and_stays_the_same(text):
    try:
        name = voice_name(text)
    except InvalidRequestError:
        return
    assert 1 <= len(name) <= MAX_NAME_CHARS
    assert name.isprintable()
    assert "/" not in name
    assert voice_name(name) == name


@each_row(("one", "other"), [("Anna", "ANNA"), ("Straße", "STRASSE"), ("Ａnna", "anna"), ("ﬁn", "FIN")])
def test_case_and_compatibility_forms_make_no_other_name(one, other):
    assert name_key(one) == name_key(other)


def test_ids_are_opaque_and_never_names():
    one, other = new_voice_id(), new_voice_id()
    assert one != other
    assert is_voice_id(one)
    assert not is_voice_id(one.upper())
    assert not is_voice_id(f"{one}\n")
    with pytest.raises(InvalidRequestError):
        voice_name(one)


def test_tags_are_lower_case_and_unique():
    assert voice_tags(["Calm", "calm", " news "]) == ("calm", "news")


@each_row("tags", [["x"] * 17, [""], ["x" * 33], ["a\u202eb"]])
def test_tags_have_limits(tags):
    with pytest.raises(InvalidRequestError, match="tags"):
        voice_tags(tags)


@each_row(("given_tag", "stored"), [("EN_gb", "en-gb"), (" zh ", "zh"), ("", ""), ("pt-BR", "pt-br")])
def test_languages_are_tags(given_tag, stored):
    assert voice_language(given_tag) == stored


@each_row("tag", ["english!", "e", "en-", "../en", "en" * 40])
def test_other_things_are_not(tag):
    with pytest.raises(InvalidRequestError, match="language"):
        voice_language(tag)


def test_a_transcript_is_one_line_and_keeps_its_joiners():
    assert transcript_text(" The tide\n\nis\tout. ") == "The tide is out."
    assert transcript_text("می\u200cروم") == "می\u200cروم"
    assert transcript_text("") == ""


@each_row("text", ["nul\0", "\u202eabc", "bell\a", "x" * 2_001, "half\udc00"])
def test_a_transcript_hides_nothing(text):
    with pytest.raises(InvalidRequestError, match="transcript"):
        transcript_text(text)


def test_a_note_has_its_own_limit():
    assert note_text("Signed on paper, 3 May.") == "Signed on paper, 3 May."
    with pytest.raises(InvalidRequestError, match="1000"):
        note_text("x" * 1_001)
