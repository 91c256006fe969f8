"""Tags inside a text: the model's own stay, voices and pauses are obeyed, the rest is dropped with a warning."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.text.markup.inline_tags import TagRules, cleaned, may_begin_in, parse
from polyvox.text.markup.script import Passage, Silence, Style
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import Warnings

PLAIN = TagRules()
TAGGED = TagRules(frozenset({"[laughter]", "<strong>", "</strong>", "[AH0]", "[a]"}), reads_markup=False)
VOICES = TagRules(voice_tags=True)


def read(text, rules=PLAIN):
    warnings = Warnings()
    script = parse(text, rules, warnings)
    parts = [(part.text.text, part.style) if isinstance(part, Passage) else part for part in script.parts]
    return parts, "; ".join(warnings.sentences)


def words(text, rules=PLAIN):
    (part,), warning = read(text, rules)
    return part[0], warning


@each_row(
    ("text", "spoken", "warning"),
    [
        ("Say <b>it</b> <b>now</b>.", "Say it now.", "dropped-markup: <b> x2, </b> x2"),
        ("<|en|>Hello", "Hello", "dropped-markup: <|en|>"),
        ("one<|sep|>two", "one two", "dropped-markup: <|sep|>"),
        ("Wait<break time='1s'/>now", "Wait now", "dropped-markup: <break time='1s'/>"),
        ('<speak>Hi <prosody rate="slow">you</prosody></speak>', "\nHi you\n", None),
        ("line<br/>break", "line\nbreak", "dropped-markup: <br/>"),
        ("[voice:am_adam] Hi [rate:1.2]there", "Hi there", "dropped-markup: [voice:am_adam], [rate:1.2]"),
        ("Dear <name>, hello", "Dear , hello", "dropped-markup: <name>"),
        ("<!-- not this -->Hello<?xml version='1.0'?>", "Hello", None),
    ],
)
def test_markup_that_nobody_obeys_is_dropped_and_said_so(text, spoken, warning):
    found, said = words(text)
    assert found == spoken
    assert said.startswith("dropped-markup: ")
    assert warning in (None, said)


@each_row(
    "text",
    [
        "if a<b and c>d then",
        "x < y > z",
        "a List<int> of <https://example.org/x> and <me@example.org>",
        "I <3 you, 5 <= 6, -> and <- and <>",
        "See [1], [a b], [sic] and [pause:1s] [word](/wɜːd/) [text](http://x.org) - [x] done",
        "He said “[the] dog”.",
    ],
)
def test_what_is_no_markup_stays_as_it_is(text):
    assert words(text) == (text, "")


@each_row(
    ("text", "spoken", "warning"),
    [
        ("He [laughter] said <strong>so</strong> [AH0]", "He [laughter] said <strong>so</strong> [AH0]", ""),
        ("He [Laughter] [A]", "He [laughter] A", "spoken-as-words: [A]"),
        ("teh [sic] word", "teh sic word", "spoken-as-words: [sic]"),
        ("[gigglesnort]", "gigglesnort", "spoken-as-words: [gigglesnort]"),
        ("see [the page](https://example.org)", "see the page", "dropped-markup: (https://example.org)"),
        ("a [tomato](/təˈmɑːtəʊ/)", "a tomato", "dropped-markup: (/t??m??t??/)"),
    ],
)
def test_a_model_with_tags_is_given_only_those(text, spoken, warning):
    assert words(text, TAGGED) == (spoken, warning)


def test_pauses_are_obeyed_where_the_model_does_not_read_them():
    parts, warning = read("One. [pause:1.5s] Two. [pause 200ms]", TAGGED)
    assert parts == [("One. ", Style()), Silence(1.5), (" Two. ", Style()), Silence(0.2)]
    assert warning == ""


def test_voices_and_rates_hold_until_the_next():
    text = "Start. [voice:am_adam] Hi. [rate:1.5]Fast. [rate:2]Faster.[voice:bf_emma(2)+af_sky] Done."
    parts, warning = read(text, VOICES)
    assert parts == [
        ("Start. ", Style()),
        (" Hi. ", Style("am_adam")),
        ("Fast. ", Style("am_adam", 1.5)),
        ("Faster.", Style("am_adam", 2.0)),
        (" Done.", Style("bf_emma(2)+af_sky")),
    ]
    assert warning == ""


def test_a_voice_tag_without_a_name_returns_to_the_voice_of_the_request_and_its_pace():
    script = parse("One. [voice:am_adam][rate:2] Two. [voice:] Three. [rate:2] Four.", VOICES, Warnings(), 1.1)
    styles = [part.style for part in script.parts]
    assert styles == [Style(rate=1.1), Style("am_adam", 2.0), Style(rate=1.1), Style(rate=2.2)]


@each_row("tag", ["[rate:fast]", "[rate:-1]", "[rate:0]", "[rate:1e9]", "[rate:nan]"])
def test_a_value_that_cannot_be_followed_is_ignored_with_a_warning(tag):
    assert words(f"One {tag} two.", VOICES) == ("One two.", f"ignored-markup: {tag}")


def test_a_rate_beyond_the_range_is_the_nearest_in_it():
    parts, _ = read("[rate:99]a [rate:0.01]b", VOICES)
    assert [style.rate for _, style in parts] == [4.0, 0.25]


def test_a_text_in_one_piece_has_neither_voices_nor_pauses_of_its_own():
    warnings = Warnings()
    raw = "One [voice:x] two [pause:1s] [sic] <b>three</b>."
    text = cleaned(TrackedText.of(raw), TAGGED, warnings)
    assert text.text == "One two sic three."
    for word in ("One", "two", "sic", "three"):
        span = text.span(text.text.index(word), text.text.index(word) + len(word))
        assert raw[span.start : span.end] == word
    assert "[voice:x]" in warnings.sentences[0]
    assert "[pause:1s]" in warnings.sentences[0]


@given(st.text(alphabet="<>[]|/!-=:()\"' abvoicerate1.\n", max_size=200))
def test_spans_point_at_what_was_written(raw):
    for rules in (PLAIN, TAGGED, VOICES):
        try:
            script = parse(raw, rules, Warnings())
        except ValueError:
            pytest.fail("a text was refused")
        for part in script.parts:
            if isinstance(part, Passage):
                for index, char in enumerate(part.text.text):
                    span = part.text.span(index, index + 1)
                    assert 0 <= span.start < span.end <= len(raw)
                    assert len(span) > 1 or raw[span.start] == char


HOSTILE = [
    "<" * 100_000,
    "[" * 100_000,
    "<a " * 33_000,
    "<a" + " " * 99_990,
    "<a" + " a=b" * 25_000 + ">",
    '<a x="' * 14_000,
    "<!--" * 25_000,
    "<|" * 50_000,
    "[pause:" * 14_000,
    "[a](" * 25_000,
    "[a](/" * 20_000,
    "[voice:" * 14_000,
    "</" * 50_000,
    ("<a" + " a" * 490) * 100,
]


@pytest.mark.long
@each_row("text", HOSTILE)
def test_no_text_takes_more_than_a_moment(text):
    began = time.process_time()
    for rules in (PLAIN, TAGGED, VOICES):
        parse(text, rules, Warnings())
    assert time.process_time() - began < 3.0


def test_every_kind_of_markup_is_seen_by_the_cheap_look_for_it():
    marks = ("<|en|>", "<!-- x -->", "<![CDATA[", "]]>", "<?xml?>", "<b>", "</b>", "[rate:2]", "[x](/y/)", "[pause:1s]")
    for mark in (*marks, "[here](https://example.org)", "[laughter]", "<speak>"):
        assert may_begin_in(f"Say {mark} now.")
        assert (
            words(f"Say {mark} now.", TagRules(frozenset(), reads_markup=False, pauses=False))[0] != f"Say {mark} now."
        )
    assert not may_begin_in("Two > one, (a) {b} a] b/c | d.")
