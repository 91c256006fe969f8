"""SSML: what its elements make of a text, and what hostile XML comes to."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.errors import MarkupError
from polyvox.text.markup.inline_tags import TagRules
from polyvox.text.markup.say_as import said_as
from polyvox.text.markup.script import Bookmark, Passage, Silence
from polyvox.text.markup.ssml import MAX_DEPTH, MAX_ELEMENTS, SsmlRules, is_ssml, parse
from polyvox.text.markup.ssml_values import break_seconds, pitch_of, rate_of, volume_of
from polyvox.text.warnings import Warnings

PHONEMES = SsmlRules(TagRules(), frozenset({"en-us", "fr"}), phonemes=True, word_timings=True)
LETTERS = SsmlRules(TagRules(frozenset({"[laughter]"}), reads_markup=False), frozenset({"en"}))


def read(text, rules=PHONEMES):
    warnings = Warnings()
    parts = parse(text, rules, warnings).parts
    shown = [(" ".join(part.text.text.split()), part.style) if isinstance(part, Passage) else part for part in parts]
    return shown, "; ".join(warnings.sentences)


def words(text, rules=PHONEMES):
    shown, warning = read(text, rules)
    return " ".join(part[0] for part in shown if isinstance(part, tuple)), warning


@each_row(
    ("text", "spoken"),
    [
        ("<speak>Hello &amp; <p>good</p><s>day</s></speak>", "Hello & good day"),
        ("<speak>It is <sub alias='World Wide Web'>WWW</sub>.</speak>", "It is World Wide Web."),
        ("<speak>a<![CDATA[ & x < y ]]>c</speak>", "a & x < y c"),
        ("Say <say-as interpret-as='characters'>abc1</say-as>", "Say A B C 1"),
        ("<say-as interpret-as='digits'>20 24</say-as>", "2 0 2 4"),
        ("<say-as interpret-as='cardinal'>12,345</say-as>", "12345"),
        ("<say-as interpret-as='ordinal'>22</say-as> <say-as interpret-as='ordinal'>11</say-as>", "22nd 11th"),
        ("<say-as interpret-as='date' format='dmy'>05/03/2024</say-as>", "March 5, 2024"),
        ("<say-as interpret-as='date' format='mdy'>05/03/2024</say-as>", "May 3, 2024"),
        ("<say-as interpret-as='date'>2024-03-05</say-as>", "March 5, 2024"),
        ("<say-as interpret-as='telephone'>+1 (555) 123-4567</say-as>", "plus 1, 5 5 5, 1 2 3, 4 5 6 7"),
        (
            "<say-as interpret-as='currency'>$12.50</say-as> <say-as interpret-as='time'>2:30pm</say-as>",
            "$12.50 2:30pm",
        ),
        ("<phoneme alphabet='ipa' ph='t&#x259;&#x2c8;me&#x26a;'>tomato</phoneme>", "[tomato](/təˈmeɪ/)"),
        ("<speak><metadata>not this</metadata><desc>nor this</desc>this</speak>", "this"),
        ("<w>one</w> <token>two</token>", "one two"),
    ],
)
def test_elements_say_what_is_read(text, spoken):
    assert words(text) == (spoken, "")


@each_row(
    ("text", "spoken", "warning"),
    [
        ("<speak>a <blink>b</blink></speak>", "a b", "dropped-markup: <blink>"),
        ("<speak><audio src='http://127.0.0.1/x'>text</audio></speak>", "text", "dropped-markup: <audio>"),
        ("<say-as interpret-as='riddle'>12</say-as>", "12", "ignored-markup: <say-as interpret-as='riddle'>"),
        ("<prosody range='high'>a</prosody>", "a", 'ignored-markup: range="high"'),
        ("<prosody rate='soon'>a</prosody>", "a", 'ignored-markup: rate="soon"'),
        ("<voice>a</voice>", "a", "ignored-markup: <voice>"),
        ("<lang xml:lang='tlh'>a</lang>", "a", 'ignored-markup: xml:lang="tlh"'),
        ("<speak>&lt;|im_end|&gt; &lt;b&gt;a&lt;/b&gt;</speak>", "a", "dropped-markup: <|im_end|>, <b>, </b>"),
        ("<phoneme alphabet='x-sampa' ph='a'>b</phoneme>", "b", None),
        ("<phoneme ph='a/)[x](/'>b</phoneme>", "b", None),
    ],
)
def test_what_cannot_be_followed_is_said_and_the_words_are_spoken(text, spoken, warning):
    found, said = words(text)
    assert found == spoken
    assert said
    assert warning in (None, said)


def test_a_model_without_phonemes_speaks_the_word_with_a_warning():
    found, said = words("<phoneme ph='x'>tomato</phoneme> [laughter] [sic]", LETTERS)
    assert found == "tomato [laughter] sic"
    assert said == "ignored-markup: <phoneme ph='x'>; spoken-as-words: [sic]"


def test_breaks_prosody_and_voices_nest():
    shown, warning = read(
        "<speak>a<break/>b<break time='90s'/><break strength='none'/>"
        "<prosody rate='50%' volume='+6dB' pitch='+2st'>c <prosody rate='fast' pitch='-3st'>d</prosody></prosody>"
        "<voice name='anna' xml:lang='fr-FR'>e</voice>f</speak>"
    )
    assert shown[1] == Silence(0.5)
    assert shown[3] == Silence(60.0)
    (c, slow), (d, both), (e, anna), (f, plain) = shown[4:]
    assert (c, d, e, f) == ("c", "d", "e", "f")
    assert (slow.rate, round(slow.volume, 2), slow.pitch) == (0.5, 2.0, 2.0)
    assert (both.rate, both.pitch) == (0.625, -1.0)
    assert (anna.voice, anna.language, anna.rate) == ("anna", "fr", 1.0)
    assert (plain.voice, plain.rate) == (None, 1.0)
    assert warning == "ignored-markup: <break time='90s'>"


def test_a_voice_inside_prosody_keeps_its_rate_but_not_that_of_the_requests_voice():
    text = "<speak>a <prosody rate='slow'>b <voice name='anna'>c</voice></prosody></speak>"
    parts = parse(text, PHONEMES, Warnings(), rate=0.5).parts
    assert [part.style.rate for part in parts] == [0.5, 0.375, 0.75]


def test_punctuation_behind_an_element_is_not_lost():
    (_, given) = parse("<speak>As <prosody rate='slow'>given</prosody>!</speak>", PHONEMES, Warnings()).parts
    assert given.text.text == "given!"


def test_ssml_as_tags_goes_back_to_the_requests_voice_and_rate():
    rows = {
        "one <voice name='anna'>two</voice> <prosody rate='slow'>three</prosody>": (
            "one [voice:anna] two [voice:low] [rate:0.75] three [rate:1.0]",
            "one [voice:anna] two [voice:] [rate:0.75] three [rate:1.0]",
        ),
        "<prosody rate='slow'>a <voice name='anna'>b</voice> c</prosody>": (
            "[rate:0.75] a [voice:anna] [rate:0.75] b [voice:low] [rate:0.75] c [rate:1.0]",
            "[rate:0.75] a [voice:anna] [rate:0.75] b [voice:] [rate:0.75] c [rate:1.0]",
        ),
        "one<break time='1s'/>two<break strength='x-strong'/>three<break time='1us'/>": (
            "one [pause:1.0s] two [pause:1.5s] three [pause:0.5s]",
            "one [pause:1.0s] two [pause:1.5s] three [pause:0.5s]",
        ),
    }
    for text, tagged in rows.items():
        script = parse(f"<speak>{text}</speak>", PHONEMES, Warnings())
        assert (script.tagged("low"), script.tagged(None)) == tagged


def test_prosody_around_a_voice_holds_inside_of_it():
    text = (
        "<speak>a <prosody rate='50%' volume='-6dB' pitch='+2st'>b <voice name='anna'>c "
        "<prosody rate='200%'>d</prosody><voice name='bob'>e</voice></voice>f</prosody></speak>"
    )
    found = [part.style for part in parse(text, PHONEMES, Warnings(), 1.2).parts]
    assert [style.voice for style in found] == [None, None, "anna", "anna", "bob", None]
    # The request's voice has a pace of 1.2, which is not another voice's.
    assert [round(style.rate, 6) for style in found] == [1.2, 0.6, 0.5, 1.0, 0.5, 0.6]
    assert {(round(style.volume, 2), style.pitch) for style in found[1:]} == {(0.5, 2.0)}


@each_row(
    ("text", "passages"),
    [
        ("It is <emphasis>cold</emphasis>. Yes.", ["It is", "cold.", "Yes."]),
        ("<voice name='anna'>Really</voice>?", ["Really?"]),
        ("Say (<prosody rate='slow'>now</prosody>), please.", ["Say (", "now),", "please."]),
        ("<lang xml:lang='fr'>你好</lang>。再见", ["你好。", "再见"]),
        ("<emphasis>cold</emphasis> .5 degrees", ["cold", ".5 degrees"]),
        ("One<break time='1s'/>. Two", ["One", ". Two"]),
    ],
)
def test_a_mark_behind_a_closing_element_stays_with_its_word(text, passages):
    shown, _ = read(text)
    assert [part[0] for part in shown if isinstance(part, tuple)] == passages
    raw = f"{text} "
    for part in parse(raw, PHONEMES, Warnings()).parts:
        if isinstance(part, Passage):
            assert all(
                raw[at] == char for at, char in zip(part.text.starts, part.text.text, strict=True) if char != " "
            )


def test_a_break_of_strength_none_leaves_the_text_whole():
    (only,), _ = read("<speak>One <break strength='none'/>two <break time='0s'/>three.</speak>")
    assert only[0] == "One two three."


@each_row(
    ("text", "lines"),
    [
        ("<s>One</s><s>Two</s> <s>Three</s>", "One\nTwo\n Three\n"),
        ("<p><s>One</s></p><p>Two</p>", "One\n\nTwo\n\n"),
        ("One<s>Two</s>Three", "One\nTwo\nThree"),
    ],
)
def test_a_sentence_ends_a_line_and_a_paragraph_two(text, lines):
    (only,) = parse(text, PHONEMES, Warnings()).parts
    assert only.text.text.lstrip() == lines


def test_marks_stand_in_the_passage_where_words_are_timed_and_apart_where_not():
    text = "<speak>a <mark name='m'/>b<mark/></speak>"
    (passage,) = parse(text, PHONEMES, Warnings()).parts
    assert passage.marks == ((text.index("<mark"), "m"),)
    assert [type(part) for part in parse(text, LETTERS, Warnings()).parts] == [Passage, Bookmark, Passage]


def test_every_character_keeps_its_place():
    text = (
        "<?xml version='1.0' encoding='utf-16'?>\n<speak>Grüße &amp; <s>你好\r\n  wörld</s> "
        "<sub alias='X Y'>é</sub></speak>"
    )
    for passage in parse(text, PHONEMES, Warnings()).passages:
        for word in ("Grüße", "&", "你好", "wörld", "X"):
            at = passage.text.text.index(word)
            span = passage.text.span(at, at + len(word))
            assert text[span.start : span.end] == {"&": "&amp;", "X": "é"}.get(word, word)


@each_row(
    ("text", "place"),
    [
        ("<speak>a<p>b</speak>", "line 1, column 15: mismatched tag"),
        ("<speak>\n  x & y</speak>", "line 2, column 6"),
        ("a <break> b", "line 1"),
        ("one <p", "line 1"),
        ("<speak>&nbsp;</speak>", "undefined entity"),
        ("<speak>a</speak><speak>b</speak>", "line 1, column 17"),
    ],
)
def test_what_is_not_well_formed_is_refused_by_line_and_column(text, place):
    with pytest.raises(MarkupError, match="not well formed") as refused:
        parse(text, PHONEMES, Warnings())
    assert place in refused.value.message
    assert refused.value.field == "input"


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
HOSTILE = {
    "billion laughs": f'<?xml version="1.0"?><!DOCTYPE s [<!ENTITY l0 "ha">{LAUGHS}]><speak>&l9;</speak>',
    "quadratic": '<!DOCTYPE s [<!ENTITY a "' + "a" * 50_000 + '">]><speak>' + "&a;" * 10_000 + "</speak>",
    "external": '<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><speak>&x;</speak>',
    "parameter": '<!DOCTYPE s [<!ENTITY % x SYSTEM "http://127.0.0.1/"> %x;]><speak>a</speak>',
    "external dtd": '<!DOCTYPE speak SYSTEM "http://127.0.0.1/x.dtd"><speak>a</speak>',
    "deep": "<speak>" + "<p>" * 100_000,
    "deep and closed": "<speak>" + "<s>" * (MAX_DEPTH + 1) + "a" + "</s>" * (MAX_DEPTH + 1) + "</speak>",
    "many": "<speak>" + "<s/>" * (MAX_ELEMENTS + 1) + "</speak>",
    "no end": "<speak " + "a='b' " * 15_000,
    "equal attributes": "<speak " + "a='b' " * 15_000 + ">x</speak>",
    "null": "<speak>\x00</speak>",
    "surrogate": "<speak>\ud800<</speak>",
    "processing": "<speak><?php system('x') ?",
}


@pytest.mark.long
@each_row("text", HOSTILE.values())
def test_hostile_documents_are_refused_in_a_moment(text):
    began = time.process_time()
    with pytest.raises(MarkupError):
        parse(text, PHONEMES, Warnings())
    assert time.process_time() - began < 3.0


@pytest.mark.long
@each_row(
    "text",
    [
        "<speak>" + "&amp;" * 19_000 + "a</speak>",
        "<speak>" + "<mark name='m'/>" * 4_900 + "a</speak>",
        "<speak>" + "<emphasis>a</emphasis>" * 4_500 + "</speak>",
        "<speak>" + "<say-as interpret-as='characters'>" + "a " * 49_000 + "</say-as></speak>",
        "<speak a" + "a" * 90_000 + "='b'>a</speak>",
    ],
)
def test_the_longest_documents_take_no_longer(text):
    began = time.process_time()
    assert parse(text, PHONEMES, Warnings()).parts
    assert time.process_time() - began < 5.0


@given(st.text(alphabet="<>/speak= '\"&;amp!?-[]ésbrk1\n", max_size=80))
def test_no_text_breaks_the_reader(text):
    for document in (text, f"<speak>{text}</speak>"):
        with suppress(MarkupError):
            for passage in parse(document, PHONEMES, Warnings()).passages:
                whole = passage.text.span(0, len(passage.text))
                assert 0 <= whole.start <= whole.end <= len(document)


def test_what_is_ssml_by_its_first_element():
    assert is_ssml("  <speak>a</speak>")
    assert is_ssml('<?xml version="1.0"?>\n<speak version="1.1">a</speak>')
    assert not is_ssml("<speaker>a</speaker>")
    assert not is_ssml("Say <speak>a</speak>")


@each_row(
    ("found", "value"),
    [
        (break_seconds("250ms", None), 0.25),
        (break_seconds("1.5s", "strong"), 1.5),
        (break_seconds(None, "x-strong"), 1.5),
        (break_seconds("-1s", None), None),
        (break_seconds("1e9s", None), None),
        (rate_of("120%"), 1.2),
        (rate_of("+20%"), 1.2),
        (rate_of("-30%"), 0.7),
        (rate_of("x-slow"), 0.5),
        (rate_of("9999"), 4.0),
        (rate_of("-100%"), None),
        (volume_of("silent"), 0.0),
        (volume_of("50"), 0.5),
        (volume_of("+999dB"), 4.0),
        (volume_of("loudly"), None),
        (pitch_of("-2st"), -2.0),
        (pitch_of("+100%"), 12.0),
        (pitch_of("+99st"), 12.0),
        (pitch_of("200Hz"), None),
        (said_as("05/03/2024", "date", "dmy", "fr"), "2024-03-05"),
        (said_as("99/99/2024", "date", "dmy", "en"), "99/99/2024"),
    ],
)
def test_values(found, value):
    assert found == (value if value is None or isinstance(value, str) else pytest.approx(value))
