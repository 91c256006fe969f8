import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.evaluate.wer import WerResult, word_error_rate, words_of

WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat"]), max_size=12)


@each_row(
    ("text", "words"),
    [
        ("The birch canoe slid.", ["the", "birch", "canoe", "slid"]),
        ("It’s the man's “fall”!", ["it's", "the", "man's", "fall"]),
        ("well-kept, STRASSE/Straße", ["well", "kept", "strasse", "strasse"]),
        ("'quoted' snake_case", ["quoted", "snake", "case"]),
        ("naïve ＡＢ 42", ["naïve", "ab", "42"]),
        (" ... — !", []),
    ],
)
def test_words_are_compared_without_case_and_punctuation(text, words):
    assert words_of(text) == words


@each_row(
    ("reference", "hypothesis", "expected"),
    [
        ("the sun rose", "The sun rose.", WerResult(3, 0, 0, 0)),
        ("the sun rose", "the son rose", WerResult(3, 1, 0, 0)),
        ("the sun rose", "sun rose", WerResult(3, 0, 1, 0)),
        ("the sun rose", "the red sun rose", WerResult(3, 0, 0, 1)),
        ("the cat sat on the mat", "a cat sat the mat today", WerResult(6, 1, 1, 1)),
        ("the sun rose", "", WerResult(3, 0, 3, 0)),
        ("", "hello there", WerResult(0, 0, 0, 2)),
    ],
)
def test_errors_are_counted_by_kind(reference, hypothesis, expected):
    assert word_error_rate(reference, hypothesis) == expected


def test_the_rate_is_errors_per_word_of_the_reference():
    result = word_error_rate("one two three four", "one too three")
    assert (result.errors, result.words, result.rate) == (2, 4, 0.5)


def test_an_empty_reference_has_a_rate_too():
    assert word_error_rate("", "").rate == 0.0
    assert word_error_rate("", "noise").rate == 1.0


def test_results_add_up():
    total = word_error_rate("a cat", "a hat") + word_error_rate("on a mat", "on mat now")
    assert total == WerResult(5, 1, 1, 1)
    assert total.rate == pytest.approx(3 / 5)


@given(WORDS, WORDS)
def test_the_counts_fit_the_lengths(meant, heard):
    result = word_error_rate(" ".join(meant), " ".join(heard))
    assert result.words == len(meant)
    assert len(meant) - result.deletions + result.insertions == len(heard)
    assert abs(len(meant) - len(heard)) <= result.errors <= max(len(meant), len(heard))
    assert (result.errors == 0) == (meant == heard)


@given(WORDS, WORDS, WORDS)
def test_errors_are_a_distance(first, second, third):
    texts = [" ".join(words) for words in (first, second, third)]
    a, b, c = texts
    assert word_error_rate(a, b).errors == word_error_rate(b, a).errors
    assert word_error_rate(a, c).errors <= word_error_rate(a, b).errors + word_error_rate(b, c).errors
