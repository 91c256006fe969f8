"""Sentences as people write them are read as people would read them."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.linear_time import grows_linearly
from helpers.reading_corpus import load, misread
from helpers.tables import each_row
from polyvox.text.normalize import normalizer_for
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

CORPORA = {"ms": 400, "zh": 150, "hi": 60}
CLASSES = [
    (language, kind) for language in CORPORA for kind in dict.fromkeys(line.kind for line in load(f"{language}.tsv"))
]


@pytest.mark.long
@each_row(("language", "kind"), CLASSES)
def test_sentences_of_every_class_are_read_as_people_read_them(language: str, kind: str) -> None:
    def spoken(text: str) -> str:
        return normalizer_for(language)(TrackedText.of(text), NormalizationOptions()).text

    assert misread([line for line in load(f"{language}.tsv") if line.kind == kind], spoken) == {}


@each_row(("language", "fewest"), CORPORA.items())
def test_there_are_many_sentences_and_none_twice(language: str, fewest: int) -> None:
    written = [line.written for line in load(f"{language}.tsv")]
    assert len(written) == len(set(written)) >= fewest


PIECES = [
    *"0123456789", *" .,-–/:;'()#@&*_~^+=<>|%$€£¥₹°½²年月日時分円本〒〜\n", "12/8", "1,00,000", "(株)", "No.", "km",
    "℃", "から", "日本", "です。", "को", " बजे", "वीं", "डॉ.", "रु.", "लाख", "किमी", "हिन्दी", "AM", "www.", ".com", "a",
    "B", "\ue000", "😀", "３",
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("language", ["ja", "hi"])
@given(raw=st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join)))
@examples(150)
def test_spans_stay_inside_the_text_and_in_order(language: str, raw: str) -> None:
    result = normalizer_for(language)(TrackedText.of(raw), NormalizationOptions())
    assert len(result.starts) == len(result.ends) == len(result.text)
    assert all(0 <= start < end <= len(raw) for start, end in zip(result.starts, result.ends, strict=True))
    assert list(result.starts) == sorted(result.starts)
    assert list(result.ends) == sorted(result.ends)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in result.text.replace("\n", ""))


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join)))
@examples(150)
def test_hindi_leaves_no_figure(raw: str) -> None:
    heard = normalizer_for("hi")(TrackedText.of(raw), NormalizationOptions()).text
    assert not any(char.isascii() and char.isdigit() for char in heard)


@pytest.mark.long
@each_row("piece", ["1", "1,", "1.", "1-", "1/", "1:", "¥1", "₹1", "1,00,", "0120-", "1月", "रु. ", "〒1", "a@", "www."])
@each_row("language", ["ja", "hi"])
def test_time_grows_with_the_length_alone(language: str, piece: str) -> None:
    def seconds(size: int) -> float:
        text = TrackedText.of((piece * size)[:size])
        start = time.thread_time()
        normalizer_for(language)(text, NormalizationOptions())
        return time.thread_time() - start

    assert grows_linearly(seconds, 4_000, 8_000)


@each_row(
    ("language", "raw", "word", "written"),
    [
        ("hi", "उसने ₹500 दिए।", "सौ", "₹500"),
        ("ja", "価格は¥1,500です。", "円", "¥1,500"),
        ("ms", "Jumpa 12/8 nanti", "Ogos", "12/8"),
        ("ms", "Emel ali@um.org ya", "org", "ali@um.org"),
        ("ms", "Saya ada 3个.", "三", "3"),
        ("zh", "共RM5。", "令", "RM5"),
    ],
)
def test_a_word_points_at_what_was_written(language: str, raw: str, word: str, written: str) -> None:
    result = normalizer_for(language)(TrackedText.of(raw), NormalizationOptions())
    at = result.text.index(word)
    span = result.span(at, at + len(word))
    assert raw[span.start : span.end] == written
