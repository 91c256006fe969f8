"""Spanish, French, Italian and Portuguese as people write them, in the words that a person would say."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.linear_time import grows_linearly
from helpers.readings import Reading, readings
from helpers.tables import each_row
from polyvox.text.normalize import normalizer_for
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

LANGUAGES = ("es", "fr", "it", "pt")
CASES = [(language, reading) for language in LANGUAGES for reading in readings(language)]


def normalized(text: str, language: str, **options: bool) -> TrackedText:
    return normalizer_for(language)(TrackedText.of(text), NormalizationOptions(**options))


def spoken_words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.replace("-", " ").lower())) + " "


def pattern(heard: str) -> str:
    """The reading as a regular expression, `{one|two}` being alternatives."""
    signs = {"{": "(?:", "|": "|", "}": ")"}
    tokens = re.findall(r"[{|}]|[^\s{|}]+", heard)
    return "".join(signs.get(token) or f"(?:{re.escape(spoken_words(token))})" for token in tokens)


@each_row(("language", "reading"), CASES)
def test_reads_as_a_person_would(language: str, reading: Reading) -> None:
    found = normalized(reading.written, language).text
    assert re.fullmatch(pattern(reading.heard), spoken_words(found)), found


def test_there_are_many_cases_and_none_twice() -> None:
    for language in LANGUAGES:
        written = [reading.written for reading in readings(language)]
        assert len(written) == len(set(written)) > 90


@each_row("tag", ["es-419", "fr_CA", "pt-br", "IT"])
def test_a_tag_of_a_region_has_the_rules_of_its_language(tag: str) -> None:
    assert "2" not in normalizer_for(tag)(TrackedText.of("2"), NormalizationOptions()).text


@each_row("language", LANGUAGES)
def test_options_switch_their_parts_off(language: str) -> None:
    assert normalized("3 km", language, normalize=False).text == "3 km"
    assert "km" in normalized("3 km", language, unit_normalization=False).text


@pytest.mark.long
@each_row("language", LANGUAGES)
def test_no_two_numbers_sound_alike(language: str) -> None:
    values = [*range(1200), *(value * 997 for value in range(1200, 3000)), 10**6, 10**6 + 1, 2 * 10**9, 10**12]
    assert len({normalized(str(value), language).text for value in set(values)}) == len(set(values))


@each_row(
    ("language", "written"),
    [
        ("es", "Opción d es correcta"),
        ("es", "La variable x toma valores altos"),
        ("es", "Despeja t de la recta"),
        ("es", "Juega el Inter. Gana el Milan."),
        ("pt", "Se n é par, o ponto p do plano vale"),
        ("pt", "Ouvi um eco. Parou."),
    ],
)
def test_letters_and_words_that_are_short_for_nothing_stay(language: str, written: str) -> None:
    assert normalized(written, language).text == written


@each_row(
    ("written", "currency"),
    [
        ("Cuesta $5.", "dólares"),
        ("Cuesta $12.500.", "pesos"),
        ("Cuesta $12.500 en Miami.", "dólares"),
        ("En Monterrey cuesta $1,250.", "pesos"),
        ("Pagué $30 pesos y $20 de propina.", "pesos"),
        ("Compré US$ 100 a $1.350.", "pesos"),
    ],
)
def test_a_dollar_sign_is_of_the_money_of_its_text(written: str, currency: str) -> None:
    heard = spoken_words(normalized(written, "es").text)
    assert f" {currency} " in heard
    assert "dólares" in heard or currency == "pesos"


PIECES = [
    *"0123456789", *" .,-–/:;'’\"()#@&_+=<>%$€£°ºª½²\n", "km", "h", "p. m.", "Sr. ", "M. ", "n.º ", "I", "XIV", "XXe",
    " de ", "mayo", "mai ", "http://", "www.", ".com", "er", "e", "millones", "a", "é", "中", "😀", "\u200b", "\ue000",
]  # fmt: skip
anything = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


@given(anything, st.sampled_from(LANGUAGES))
@examples(150)
def test_any_text_loses_its_digits_and_keeps_its_spans(raw: str, language: str) -> None:
    result = normalized(raw, language)
    assert not any(char in "0123456789" for char in result.text)
    assert len(result.starts) == len(result.ends) == len(result.text)
    assert all(0 <= start < end <= len(raw) for start, end in zip(result.starts, result.ends, strict=True))
    assert list(result.starts) == sorted(result.starts)


HOSTILE = [
    "1",
    "1,111,",
    "1.111.",
    "1 111 ",
    "1-",
    "1/",
    "$1",
    "+1 ",
    "a.",
    "@",
    "a@",
    "www.",
    "1/2 ",
    "XI ",
    "12 34 ",
    "1h3",
    "código ",
    "PIN a b ",
    "AB1C",
    "1.1.",
    "(11) ",
    "1/2 a ",
    "mg/kg/",
    "1x",
    "(AB) ",
    "cat -a ",
    "plazas: 1 ",
    "fecha 1/2, ",
    "1 000 000 a ",
    "abierto 9-18h y ",
    "x q t a ",
    "cable 1 A ",
    "$1 pesos ",
    "1-1-",
    "25/21, ",
    "1:23/",
    "fix/a.",
    "c/ exp. mín. ",
]


@pytest.mark.long
@each_row("piece", HOSTILE)
def test_time_grows_with_the_length_alone(piece: str) -> None:
    def seconds(size: int) -> float:
        start = time.thread_time()
        normalized(piece * (size // len(piece)), "es")
        return time.thread_time() - start

    assert grows_linearly(seconds, 4_000, 16_000, at_most=8)


@pytest.mark.long
@each_row("language", LANGUAGES)
def test_time_grows_with_the_full_stops_of_a_text_without_spaces(language: str) -> None:
    def seconds(size: int) -> float:
        start = time.thread_time()
        normalized("a." * size, language)
        return time.thread_time() - start

    assert grows_linearly(seconds, 20_000, 80_000, at_most=8)
