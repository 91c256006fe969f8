"""The words of a text that is timed after it was spoken."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.text.timed_words import timed_words
from polyvox.types import NormalizationOptions

OPTIONS = NormalizationOptions()


def written(text: str, language: str | None = "en", tags: frozenset[str] = frozenset()) -> list[str]:
    return [text[word.span.start : word.span.end] for word in timed_words(text, OPTIONS, language, tags)]


def test_words_are_those_that_the_caller_wrote():
    text = "I paid $5 at 3:05 pm, *twice*, to Dr. [Nguyen](/wˈɪn/)."
    assert written(text) == ["I", "paid", "$5", "at", "3:05 pm", "twice", "to", "Dr.", "Nguyen"]


def test_a_word_has_what_is_said_for_it():
    (_, five) = timed_words("Only $5", OPTIONS, "en")
    assert five.spoken == "five dollars"


def test_a_mark_or_a_pause_behind_a_word_is_noted():
    words = timed_words("Wait, there [pause:2s] or here.", OPTIONS, "en")
    assert [word.breaks for word in words] == [True, True, False, True]


@each_row(
    ("text", "words"),
    [
        ("你好，世界。", ["你", "好", "世", "界"]),
        ("ここは静か", list("ここは静か")),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("안녕 세상", ["안녕", "세상"]),
    ],
)
def test_other_scripts_have_words(text, words):
    assert written(text, None) == words


def test_tags_are_no_words():
    assert written("[S1] Well [laughter] then", tags=frozenset({"[S1]", "[laughter]"})) == ["Well", "then"]


def test_what_is_no_markup_to_the_engine_is_text():
    assert written("[pause:99999s] go")[-1] == "go"


@given(st.text(st.sampled_from("ab 1$.,[]()/:*\n—你か😀'’-%"), max_size=60))
def test_every_word_has_letters_of_its_own_in_the_order_of_the_text(text):
    spans = [word.span for word in timed_words(text, OPTIONS, "en")]
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))
