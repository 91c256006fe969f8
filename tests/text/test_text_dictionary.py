"""Dictionaries: what entries match, what is said in place of it, and spans that stay those of the caller's text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.tables import each_row
from polyvox.errors import InvalidRequestError, TextError
from polyvox.text.dictionary import (
    CaseRule,
    Dictionary,
    DictionaryEntry,
    EntryKind,
    Lexicon,
    LexiconRules,
    PatternMatch,
    checked_entry,
    read_pls,
    write_pls,
)
from polyvox.text.grapheme_frontend import GraphemeFrontend
from polyvox.text.markup.script import Passage
from polyvox.text.phoneme_frontend import PhonemeFrontend
from polyvox.text.spoken import SpokenWord
from polyvox.text.timed_words import timed_words
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions, Span


def word(match: str, say: str = "", phonemes: str = "", language: str = "", case: CaseRule = CaseRule.AUTO):
    kind = EntryKind.PHRASE if " " in match else EntryKind.WORD
    return DictionaryEntry(kind, match, say, phonemes, language, case)


def spoken(text: str, *entries: DictionaryEntry, language: str = "en", phonemes: bool = False) -> str:
    lexicon = Lexicon([Dictionary("test", entries)])
    return lexicon.rewrite(TrackedText.of(text), LexiconRules(language, phonemes)).text.text


@each_row(
    ("text", "said"),
    [
        ("Nguyen came.", "win came."),
        ("Nguyen's and Nguyens and NGUYEN", "win's and wins and win"),
        ("Nguyenx xNguyen nguyen", "Nguyenx xNguyen nguyen"),
        ("(Nguyen)-Nguyen/Nguyen", "(win)-win/win"),
        ("l'Nguyen d’Nguyen", "l'win d’win"),
        ("O'Nguyen Nguyen'x", "O'Nguyen Nguyen'x"),
        ("Nguyen_1 1Nguyen", "Nguyen_1 1Nguyen"),
        ("我和Nguyen去", "我和win去"),
    ],
)
def test_a_word_is_found_as_a_whole_word(text: str, said: str) -> None:
    assert spoken(text, word("Nguyen", "win")) == said


def test_letters_with_loose_accents_are_those_of_the_entry() -> None:
    assert spoken("Nguye\u0302\u0303n came", word("Nguyễn", "win")) == "win came"


@each_row(
    ("case", "text", "said"),
    [
        (CaseRule.AUTO, "US us Us", "you ess us Us"),
        (CaseRule.EXACT, "US us", "you ess us"),
        (CaseRule.ANY, "US us Us", "you ess you ess you ess"),
    ],
)
def test_capitals_count_as_the_rule_says(case: CaseRule, text: str, said: str) -> None:
    assert spoken(text, word("US", "you ess", case=case)) == said


def test_an_entry_in_small_letters_matches_any_but_no_plural() -> None:
    assert spoken("Live LIVE live lives", word("live", "lyve")) == "lyve lyve lyve lives"


def test_the_longest_entry_wins_and_the_first_of_equal_ones() -> None:
    entries = (word("New York", "one"), word("New York City", "two"), word("york", "three"), word("New York", "four"))

    assert spoken("New\nYork  City, New York. York", *entries) == "two, one. three"


def test_what_is_said_is_not_rewritten_again() -> None:
    assert spoken("a b", word("a", "b"), word("b", "a")) == "b a"


@each_row(
    ("text", "said"),
    [
        ("我去重庆吧", "我去崇庆吧"),
        ("重庆重庆", "崇庆崇庆"),
    ],
)
def test_chinese_needs_no_spaces_around_it(text: str, said: str) -> None:
    assert spoken(text, word("重庆", "崇庆"), language="zh") == said


@each_row(
    ("text", "said"),
    [
        ("Googlenya Googlelah Google-nya", "gugelnya gugellah gugel-nya"),
        ("diGoogle keGoogle", "digugel kegugel"),
        ("Googlex", "Googlex"),
    ],
)
def test_malay_affixes_stay_beside_the_word(text: str, said: str) -> None:
    assert spoken(text, word("Google", "gugel"), language="ms") == said
    assert spoken("Googlenya", word("Google", "gugel"), language="en") == "Googlenya"


def test_an_entry_of_a_language_holds_in_its_texts_and_regions_alone() -> None:
    entries = (word("tomato", "one", language="en-gb"), word("tomato", "two", language="en"))

    assert spoken("tomato", *entries, language="en-gb") == "one"
    assert spoken("tomato", *entries, language="en-us") == "two"
    assert spoken("tomato", *entries, language="de") == "tomato"


@each_row(
    ("text", "said"),
    [
        ("GIF GIFs GIF's", "[GIF](/dʒɪf/) [GIFs](/dʒɪfs/) [GIF's](/dʒɪfs/)"),
    ],
)
def test_phonemes_become_markup_for_models_that_take_them(text: str, said: str) -> None:
    assert spoken(text, word("GIF", "jif", "dʒɪf"), phonemes=True) == said
    assert spoken(text, word("GIF", "jif", "dʒɪf")) == "jif jifs jif's"


def test_phonemes_that_the_model_cannot_take_leave_the_word_and_are_reported() -> None:
    lexicon = Lexicon([Dictionary("a", (word("GIF", phonemes="dʒɪf"),))])
    found = lexicon.rewrite(TrackedText.of("A GIF."), LexiconRules("en"))

    assert (found.text.text, found.unpronounced) == ("A GIF.", ("GIF",))


@each_row(
    "text",
    [
        "[win](/wɪn/) [pause:1s]",
        "https://win.example/win?q=win www.win.org me@win.org",
        "<win> <a href='win'>",
        "[laughter]",
    ],
)
def test_markup_and_addresses_are_left_alone(text: str) -> None:
    entries = (word("win", "x"), word("pause", "x"), word("laughter", "x"), word("href", "x"))
    lexicon = Lexicon([Dictionary("a", entries)])

    assert lexicon.rewrite(TrackedText.of(text), LexiconRules("en", tags=frozenset({"[laughter]"}))).text.text == text


def test_what_the_markup_says_in_place_of_a_word_is_left_alone() -> None:
    alias = TrackedText.of("").appended("win win", TrackedText.of("W3C").span(0, 3))

    assert Lexicon([Dictionary("a", (word("win", "x"),))]).rewrite(alias, LexiconRules("en")).text.text == "win win"


def test_patterns_say_their_groups() -> None:
    entry = DictionaryEntry(EntryKind.REGEX, r"(\d+)k", r"\1 thousand $2")
    found = [[PatternMatch(2, 5, ("12k", "12"))]]
    lexicon = Lexicon([Dictionary("a", (entry, word("12k", "no")))])

    assert lexicon.rewrite(TrackedText.of("a 12k b"), LexiconRules("en"), found).text.text == "a no b"
    alone = Lexicon([Dictionary("a", (entry,))])
    assert alone.rewrite(TrackedText.of("a 12k b"), LexiconRules("en"), found).text.text == "a 12 thousand  b"


def test_a_text_that_grows_beyond_its_limit_is_refused_before_it_is_made() -> None:
    lexicon = Lexicon([Dictionary("a", (word("a", "b" * 200),))])

    with pytest.raises(TextError, match="more than 1,000 characters"):
        lexicon.rewrite(TrackedText.of("a " * 400), LexiconRules("en", max_chars=1_000))


_ENTRIES = (word("ab", "long words"), word("a b", "phrase"), word("日", "x"), word("B", phonemes="bˈi"))


@given(st.text(st.sampled_from(list("abAB 日'\n[](/).")), max_size=60), st.booleans())
@examples(120)
def test_spans_always_are_those_of_the_callers_text(text: str, phonemes: bool) -> None:
    found = Lexicon([Dictionary("a", _ENTRIES)]).rewrite(TrackedText.of(text), LexiconRules("en", phonemes))
    spans = list(zip(found.text.starts, found.text.ends, strict=True))

    assert len(found.text.text) == len(spans)
    assert spans == sorted(spans)
    covered = {at for start, end in spans for at in range(start, end)}
    assert covered == set(range(len(text)))
    for at, (start, end) in enumerate(spans):
        if not any(match.start <= start < match.end for match in found.matches):
            assert found.text.text[at] == text[start:end]


# --- Entries ---


@each_row(
    ("entry", "field"),
    [
        (word("", "x"), "match"),
        (word("...", "x"), "match"),
        (word("a"), "say"),
        (word("a" * 101, "x"), "match"),
        (word("a", "x" * 201), "say"),
        (word("a", "[pause:9s]"), "say"),
        (word("a", "<b>"), "say"),
        (word("a", phonemes="a/)x"), "phonemes"),
        (word("a\x00", "x"), "match"),
        (word("a", "x\u202e"), "say"),
        (word("a", "x", language="english please"), "language"),
        (DictionaryEntry(EntryKind.WORD, "two words", "x"), "match"),
    ],
)
def test_entries_that_cannot_be_used_are_refused(entry: DictionaryEntry, field: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        checked_entry(entry, "entries[3]")
    assert refused.value.field == f"entries[3].{field}"


# --- PLS ---

PLS = b"""<?xml version="1.0" encoding="UTF-8"?>
<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en-GB">
  <meta name="x" content="y"/>
  <lexeme><grapheme>GIF</grapheme><grapheme>gif</grapheme><phoneme>d\xca\x92\xc9\xaaf</phoneme>
    <phoneme prefer="true">\xc9\xa1\xc9\xaaf</phoneme></lexeme>
  <lexeme><grapheme>W3C</grapheme><alias>World Wide Web Consortium</alias></lexeme>
  <lexeme><grapheme>Rock &amp; Roll</grapheme><alias>rock and roll</alias></lexeme>
</lexicon>"""


def test_a_lexicon_of_the_w3c_is_read() -> None:
    entries = read_pls(PLS, 10)

    assert [(entry.kind, entry.match, entry.say, entry.phonemes, entry.language) for entry in entries] == [
        ("word", "GIF", "", "ɡɪf", "en-gb"),
        ("word", "gif", "", "ɡɪf", "en-gb"),
        ("word", "W3C", "World Wide Web Consortium", "", "en-gb"),
        ("phrase", "Rock & Roll", "rock and roll", "", "en-gb"),
    ]


def test_what_is_written_is_read_back() -> None:
    entries = read_pls(PLS, 10)

    assert read_pls(write_pls(Dictionary("a", entries), "en-gb").encode(), 10) == entries


_GRAPHEME = b"<lexeme><grapheme>a</grapheme>"
_HEAD = b'<lexicon xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa">'


@each_row(
    ("data", "reason"),
    [
        (b"<!DOCTYPE lexicon [<!ENTITY x 'y'>]><lexicon>&x;</lexicon>", "document type"),
        (b'<!DOCTYPE lexicon SYSTEM "file:///etc/passwd"><lexicon/>', "document type"),
        (b"<html/>", "begin with <lexicon>"),
        (b"<lexicon>", "well formed"),
        (b"", "well formed"),
        (b"\xff\xfe\x00", "well formed"),
        (b'<?xml version="1.0" encoding="nonsense"?><lexicon/>', "well formed|encoding"),
        (b"<lexicon>" + b"<a>" * 50, "inside each other"),
        (_HEAD + b"<lexeme><grapheme>" + b"a" * 5_000 + b"</grapheme></lexeme></lexicon>", "2,000 characters"),
        (
            _HEAD + 11 * (_GRAPHEME + b"<alias>b</alias></lexeme>") + b"</lexicon>",
            "more than 10 entries",
        ),
        (
            _HEAD + _GRAPHEME + b'<phoneme alphabet="x-sampa">b</phoneme></lexeme></lexicon>',
            "x-sampa",
        ),
        (_HEAD + b"<lexeme><grapheme>a</grapheme></lexeme></lexicon>", "says nothing"),
    ],
)
def test_hostile_and_useless_lexicons_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidRequestError, match=re.compile(reason)):
        read_pls(data, 10)


# --- The readers of all engines ---


def _rewritten(text: str, *, phonemes: bool) -> Passage:
    entries = (
        word("SQL", "see quill", "sˈikwəl"),
        word("Dr. Who", "the Doctor"),
        word("tide", "tyde", language="en"),
    )
    lexicon = Lexicon([Dictionary("a", entries)])
    return Passage(lexicon.rewrite(TrackedText.of(text), LexiconRules("en-us", phonemes)).text)


TEXT = "The SQL's **tide** costs $5, says Dr. Who!\n\nSQL [pause:1s] again; 3 SQLs."
WRITTEN = ["The", "SQL's", "tide", "costs", "$5", "says", "Dr. Who", "SQL", "again", "3", "SQLs"]


def _once(spans: list[Span]) -> list[str]:
    """The texts of the spans, those of one place once."""
    return [TEXT[span.start : span.end] for at, span in enumerate(spans) if not at or span != spans[at - 1]]


@each_row("phonemes", [True, False])
def test_words_of_the_phoneme_reader_are_those_of_the_callers_text(phonemes: bool) -> None:
    passage = _rewritten(TEXT, phonemes=phonemes)
    sentences = PhonemeFrontend("en-us", espeak="").read(passage.text.text, NormalizationOptions())
    words = [word for sentence in sentences for word in sentence.words if isinstance(word, SpokenWord)]
    spans = [passage.in_whole(word.span) for word in words if not word.is_punctuation]

    assert _once(spans) == WRITTEN
    said = "".join(word.phonemes for word in words if "SQL" in TEXT[slice(*_ends(passage, word))])
    assert (said.count("sˈikwəl") == 3) is phonemes


def _ends(passage: Passage, word: SpokenWord) -> tuple[int, int]:
    span = passage.in_whole(word.span)
    return span.start, span.end


def test_words_that_are_timed_afterwards_are_those_of_the_callers_text() -> None:
    passage = _rewritten(TEXT, phonemes=False)
    words = timed_words(passage.text.text, NormalizationOptions(), "en")

    assert _once([passage.in_whole(word.span) for word in words]) == WRITTEN


def test_segments_of_the_letter_reader_cover_the_callers_text() -> None:
    passage = _rewritten(TEXT, phonemes=False)
    segments = list(GraphemeFrontend().segments(passage.text.text, NormalizationOptions(), "en"))
    texts = [segment for segment in segments if isinstance(segment, TrackedText)]

    assert "see quill's tyde costs five dollars" in texts[0].text
    whole = [passage.in_whole(segment.span(0, len(segment))) for segment in texts]
    assert TEXT[whole[0].start : whole[0].end].startswith("The SQL's **tide**")
    assert TEXT[whole[-1].start : whole[-1].end].endswith("SQLs.")
