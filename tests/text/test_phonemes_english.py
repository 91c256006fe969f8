"""English text becomes phonemes of the model's alphabet, word by word, and no word is lost."""

import re
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.tables import each_row
from polyvox.text.markup import markup
from polyvox.text.phonemes.alphabet import ALPHABET
from polyvox.text.phonemes.base import MAX_WORD_PHONEMES
from polyvox.text.phonemes.english.lexicon import Variant
from polyvox.text.phonemes.english.phonemizer import EnglishPhonemizer
from polyvox.text.spoken import Pause, SpokenWord
from polyvox.text.tracked import TrackedText
from polyvox.types import Span

READERS: dict[Variant, EnglishPhonemizer] = {"us": EnglishPhonemizer("us"), "gb": EnglishPhonemizer("gb")}


def said(text: str, variant: Variant = "us") -> str:
    parts = READERS[variant](TrackedText.of(text), ())
    return "".join(part.phonemes + " " * part.space for part in parts if isinstance(part, SpokenWord))


def words(text: str) -> list[SpokenWord]:
    return [part for part in READERS["us"](TrackedText.of(text), ()) if isinstance(part, SpokenWord)]


@each_row(
    ("text", "american", "british"),
    [
        (
            "The quick brown fox jumps over the lazy dog.",
            "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ.",
            "ðə kwˈɪk bɹˈWn fˈɒks ʤˈʌmps ˈQvə ðə lˈAzi dˈɒɡ.",
        ),
        ("Hello, world!", "həlˈO, wˈɜɹld!", "həlˈQ, wˈɜːld!"),
        ("better water", "bˈɛTəɹ wˈɔTəɹ", "bˈɛtə wˈɔːtə"),
    ],
)
def test_known_words_sound_as_the_dictionary_says(text: str, american: str, british: str) -> None:
    assert said(text) == american
    assert said(text, "gb") == british


@each_row(
    ("text", "phonemes"),
    [
        ("the apple", "ði ˈæpᵊl"),
        ("the pear", "ðə pˈɛɹ"),
        ("the hour", "ði ˈWəɹ"),
        ("the unit", "ðə jˈunət"),
        ("a pear", "ɐ pˈɛɹ"),
        ("an apple", "ɐn ˈæpᵊl"),
        ("to eat", "tʊ ˈit"),
        ("to go", "tə ɡˌO"),
        ("where to?", "wˌɛɹ tu?"),
        ("I am", "ˌI æm"),
        ("I am here", "ˌI ɐm hˈɪɹ"),
        ("come in.", "kˈʌm ˈɪn."),
        ("in town", "ɪn tˈWn"),
        ("vitamin A", "vˈITəmən ˈA"),
        ("yes I can.", "jˈɛs ˌI kˈæn."),
        ("I can go", "ˌI kæn ɡˌO"),
        ("us vs them", "ˌʌs vˈɜɹsəs ðˌɛm"),
    ],
)
def test_little_words_lean_on_what_follows(text: str, phonemes: str) -> None:
    assert said(text) == phonemes


@each_row(
    ("text", "phonemes"),
    [
        ("NASA", "nˈæsə"),
        ("NATO", "nˈATO"),
        ("FBI", "ˌɛfbˌiˈI"),
        ("GPU", "ʤˌipˌijˈu"),
        ("GPUs", "ʤˌipˌijˈuz"),
        ("the FBI's", "ði ˌɛfbˌiˈIz"),
        ("HTTP", "ˌAʧtˌitˌipˈi"),
        ("NVIDIA", "ɛnvˈɪdiə"),
        ("JSON", "ʤˈAsən"),
        ("the IT department", "ði ˌItˈi dəpˈɑɹtmənt"),
        ("the US economy", "ðə jˌuˈɛs ikˈɑnəmi"),
        ("HI there", "hˈI ðˈɛɹ"),
        ("AAA batteries", "tɹˌɪpᵊlˈA bˈæTəɹiz"),
        ("WWW", "dˌʌbᵊljudˌʌbᵊljudˈʌbᵊlju"),
        ("U.S. law", "jˌuˈɛs lˈɔ"),
        ("in the U.S.", "ɪn ðə jˌuˈɛs."),
        ("THIS IS NOT A DRILL", "ðˈɪs ˈɪz nˈɑt ɐ dɹˈɪl"),
        ("LENOVO", "lˈɛnəvˌO"),
    ],
)
def test_capitals_are_words_or_letters(text: str, phonemes: str) -> None:
    assert said(text) == phonemes


@each_row(
    ("text", "phonemes"),
    [
        ("iPhone", "ˈIfˌOn"),
        ("McDonald", "məkdˈɑnəld"),
        ("McDonald's", "məkdˈɑnəldz"),
        ("OpenAI", "ˌOpᵊnˌAˈI"),
        ("YouTube", "jˈutˌub"),
        ("MacBook", "mˈækbˌʊk"),
        ("WebGPU", "wˌɛbʤˌipˌijˈu"),
        ("well-known", "wˌɛlnˈOn"),
        ("Coca-Cola", "kˌOkəkˈOlə"),
        ("state-of-the-art", "stˈAt ʌv ði ˈɑɹt"),
        ("man-of-the-match", "mˈæn ʌv ðə mˈæʧ"),
        ("don't", "dˈOnt"),
        ("don’t", "dˈOnt"),
        ("that'll", "ðæTᵊl"),
        ("runnin'  late", "ɹˈʌnɪn lˈAt"),
        ("rock 'n' roll", "ɹˈɑk ən ɹˈOl"),
        ("sooo good", "sˌO ɡˈʊd"),
        ("noooo", "nˈO"),
    ],
)
def test_mixed_case_compounds_and_contractions(text: str, phonemes: str) -> None:
    assert said(text) == phonemes


@each_row(
    ("text", "phonemes"),
    [
        ("MP3", "ˌɛmpˈi θɹˈi"),
        ("COVID-19", "kˈOvˌɪd nˌIntˈin"),
        ("B2B", "bˈi tu bˈi"),
        ("H200", "ˈAʧ tˈu hˈʌndɹəd"),
        ("1984", "nˌIntˈin ˈATi fˈɔɹ"),
        ("3.5", "θɹˈi pˈYnt fˈIv"),
        ("007", "zˈɪɹO zˈɪɹO sˈɛvən"),
        ("Q&A", "kjˈu ænd ˈA"),
        ("50%", "fˈɪfti pəɹsˈɛnt"),
        (".NET", "dˈɑt nˈɛt"),
        ("A/B test", "ˈA bˈi tˈɛst"),
        ("PCIe", "pˌisˌiˌIˈi"),
        ("node.js", "nˈOd dˈɑt ʤˌAˈɛs"),
        ("½", "wˈʌn hˈæf"),
        ("①", "wˈʌn"),
        ("5 km²", "fˈIv kˌAˈɛm skwˈɛɹd"),
        ("٣", "θɹˈi"),
    ],
)
def test_numbers_and_signs_that_no_normaliser_has_spoken_for(text: str, phonemes: str) -> None:
    assert said(text) == phonemes


@each_row(
    ("text", "phonemes"),
    [
        ("café", "kæfˈA"),
        ("naïve", "nɑˈiv"),
        ("Zürich", "zˈuɹɪk"),
        ("cafe\u0301", "kæfˈA"),
        ("résumé", "ɹˈɛzəmˌA"),
        ("ﬁne", "fˈIn"),
        ("Ｈｅｌｌｏ", "həlˈO"),
        ("α", "ˈælfə"),
    ],
)
def test_letters_outside_a_to_z_are_folded(text: str, phonemes: str) -> None:
    assert said(text) == phonemes


@each_row("text", ["Москва", "привет мир", "καλημέρα", "שלום", "안녕", "さくら", "नमस्ते", "مرحبا", "ไทย"])
def test_other_scripts_are_said_somehow(text: str) -> None:
    assert said(text).strip()


@pytest.mark.long
def test_chinese_inside_english_is_read_as_chinese() -> None:
    assert said("the word 你好 means hello") == "ðə wˈɜɹd ni↓xau↓ mˈinz həlˈO"


@each_row(
    ("text", "phonemes"),
    [
        ('He said "no".', "hˌi sˈɛd “nˈO”."),
        ("Wait... what?!", "wˈAt… wˌʌt?!"),
        ("No!!!", "nˈO!"),
        ("yes - no", "jˈɛs — nˈO"),
        ("yes–no", "jˈɛs—nˈO"),
        ("(well) [then]", "(wˈɛl) (ðˈɛn)"),
        ("and/or", "ænd ɔɹ"),
        ("‘quoted’ text", "kwˈOTᵻd tˈɛkst"),
        ("yes，no。", "jˈɛs,nˈO."),
        ("😀", ""),
        ("~ ^ _", ""),
    ],
)
def test_marks_are_heard_or_silent(text: str, phonemes: str) -> None:
    assert said(text) == phonemes


def test_each_word_points_at_its_place_in_the_callers_text() -> None:
    text = "Dr. Smith's well-known MP3, “yes”."
    normal = TrackedText.of(text).sub(re.compile(r"Dr\."), "Doctor")
    spoken = [part for part in READERS["us"](normal, ()) if isinstance(part, SpokenWord)]
    places = [text[part.span.start : part.span.end] for part in spoken]
    assert places == ["Dr.", "Smith's", "well-known", "MP3", "MP3", ",", "“", "yes", "”", "."]
    assert [part.text for part in spoken][:2] == ["Doctor", "Smith's"]


def test_spaces_are_those_of_the_text_or_keep_words_apart() -> None:
    spaces = {part.text: part.space for part in words("one, two/three “four” ")}
    assert spaces == {"one": False, ",": True, "two": True, "three": True, "“": False, "four": False, "”": True}


def test_inserts_are_said_as_given() -> None:
    marked = markup.parse("Say [tomato](/təmˈɑːtoʊ/) [pause:0.5s] now.")
    spoken = READERS["us"](marked.text, marked.inserts)
    assert SpokenWord("tomato", "təmˈɑːtO", Span(5, 11), True) in spoken
    assert [part.seconds for part in spoken if isinstance(part, Pause)] == [0.5]
    assert [part.text for part in spoken if isinstance(part, SpokenWord)] == ["Say", "tomato", "now", "."]


def test_a_pause_is_a_break_for_the_word_before_it() -> None:
    marked = markup.parse("I can [pause:1s] go")
    spoken = READERS["us"](marked.text, marked.inserts)
    assert [part.phonemes for part in spoken if isinstance(part, SpokenWord)] == ["ˌI", "kˈæn", "ɡˌO"]


def test_phonemes_that_the_model_does_not_know_leave_the_word_to_be_read_as_usual() -> None:
    marked = markup.parse("[tomato](/123/)")
    (word,) = READERS["us"](marked.text, marked.inserts)
    assert isinstance(word, SpokenWord)
    assert word.phonemes == "təmˈATO"


@pytest.mark.long
@given(st.text(max_size=60), st.sampled_from(["us", "gb"]))
@examples(300)
def test_any_text_becomes_words_of_the_alphabet_in_order(text: str, variant: Variant) -> None:
    spoken = READERS[variant](TrackedText.of(text), ())
    place = 0
    for part in spoken:
        assert isinstance(part, SpokenWord)
        assert part.phonemes
        assert len(part.phonemes) <= MAX_WORD_PHONEMES
        assert set(part.phonemes) <= ALPHABET
        assert place <= part.span.start < part.span.end <= len(text)
        place = part.span.start


LATIN_WORD = st.text(st.characters(min_codepoint=0x41, max_codepoint=0x17F, categories=["Lu", "Ll"]), min_size=1)


@pytest.mark.long
@example(["Œ"])
@given(st.lists(LATIN_WORD, min_size=1, max_size=6))
@examples(200)
def test_no_word_is_dropped(texts: list[str]) -> None:
    text = " ".join(texts)
    covered = {index for part in words(text) for index in range(part.span.start, part.span.end)}
    assert all(index in covered for index, char in enumerate(text) if not char.isspace())


@pytest.mark.long
@each_row(
    "piece",
    [
        "read ",
        "!",
        "नमस्ते",
        "aB",
        "abcdefghij",
        "QXZ",
        "a-",
        "a.",
        "a'",
        "a's",
        "A'S",
        "1",
        "1.2,",
        '"',
        "'",
        "a",
        "é",
        "e\u0301",
    ],
)
def test_hostile_texts_take_time_in_proportion(piece: str) -> None:
    def seconds(length: int) -> float:
        text = TrackedText.of((piece * length)[:length])
        began = time.thread_time()
        READERS["us"](text, ())
        return time.thread_time() - began

    seconds(100)
    assert seconds(16_000) < 40 * max(seconds(1_600), 0.005)


def test_a_paragraph_takes_milliseconds() -> None:
    paragraph = " ".join(["The committee objected to the estimate, but others were content to close the meeting."] * 5)
    text = TrackedText.of(paragraph)
    READERS["us"](text, ())
    began = time.thread_time()
    for _ in range(10):
        READERS["us"](text, ())
    reading = (time.thread_time() - began) / 10
    began = time.thread_time()
    for _ in range(10):
        for char in paragraph * 20:
            unicodedata.category(char)
    yardstick = (time.thread_time() - began) / 10
    assert reading < 0.03 or reading < 20 * yardstick
