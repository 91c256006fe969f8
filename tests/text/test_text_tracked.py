"""Text that remembers where each of its characters came from."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyvox.text.tracked import TrackedText
from polyvox.types import Span


def spans(text: TrackedText) -> list[tuple[str, int, int]]:
    return list(zip(text.text, text.starts, text.ends, strict=True))


def test_raw_text_points_at_itself() -> None:
    assert spans(TrackedText.of("abc")) == [("a", 0, 1), ("b", 1, 2), ("c", 2, 3)]


def test_a_replacement_points_at_the_whole_match() -> None:
    text = TrackedText.of("pay $5 now").sub(re.compile(r"\$5"), "five dollars")
    assert text.text == "pay five dollars now"
    assert text.span(4, 16) == Span(4, 6)
    assert text.span(9, 10) == Span(4, 6)
    assert text.span(17, 20) == Span(7, 10)


def test_rewritings_add_up() -> None:
    text = TrackedText.of("No. 5!").sub(re.compile(r"No\."), "number").sub(re.compile("5"), "five")
    assert text.text == "number five!"
    assert text.span(0, 6) == Span(0, 3)
    assert text.span(7, 11) == Span(4, 5)
    merged = text.sub(re.compile("number five"), "n")
    assert merged.span(0, 1) == Span(0, 5)


def test_a_deletion_leaves_the_rest_in_place() -> None:
    text = TrackedText.of("a**b").sub(re.compile(r"\*+"), "")
    assert spans(text) == [("a", 0, 1), ("b", 3, 4)]


def test_groups_can_be_used_in_a_replacement() -> None:
    assert TrackedText.of("k=v").sub(re.compile("(.)=(.)"), r"\2=\1").text == "v=k"


def test_a_callable_may_leave_its_match_alone() -> None:
    text = TrackedText.of("1 2 3").sub(re.compile(r"\d"), lambda match: "two" if match.group() == "2" else None)
    assert text.text == "1 two 3"


def test_text_without_a_match_is_returned_as_it_is() -> None:
    text = TrackedText.of("abc")
    assert text.sub(re.compile("x*"), "y") is text
    assert text.sub(re.compile("b"), "b") is text
    assert text.keep(re.compile("(?P<kept>x)"), "kept") is text


def test_keeping_a_group_keeps_its_own_places() -> None:
    text = TrackedText.of("see [the link](url) here").keep(re.compile(r"\[(?P<kept>[^]]*)\]\(.*?\)"), "kept")
    assert text.text == "see the link here"
    assert text.span(4, 7) == Span(5, 8)
    assert text.span(13, 17) == Span(20, 24)


def test_slices_and_strips_keep_their_places() -> None:
    text = TrackedText.of("  ab cd ")
    assert spans(text[5:7]) == [("c", 5, 6), ("d", 6, 7)]
    assert spans(text.strip()) == spans(text[2:7])
    assert TrackedText.of(" \n ").strip() == TrackedText("", (), ())
    assert len(text) == 8


def test_an_empty_text_has_no_span() -> None:
    with pytest.raises(ValueError):
        TrackedText.of("abc").span(1, 1)


@given(st.text("ab1 "), st.sampled_from(["a+", "b", r"\d", "a(?=b)", " *", "(?P<kept>b)1"]), st.text("xyz", max_size=3))
@settings(deadline=None)
def test_rewriting_agrees_with_the_standard_library(raw: str, pattern: str, new: str) -> None:
    compiled = re.compile(pattern)
    result = TrackedText.of(raw).sub(compiled, new)
    expected = "".join(new if match and match.group() else piece for piece, match in _pieces(compiled, raw))
    assert result.text == expected
    assert all(0 <= start < end <= len(raw) for start, end in zip(result.starts, result.ends, strict=True))
    assert list(result.starts) == sorted(result.starts)
    assert list(result.ends) == sorted(result.ends)


def _pieces(pattern: re.Pattern[str], raw: str) -> list[tuple[str, re.Match[str] | None]]:
    pieces: list[tuple[str, re.Match[str] | None]] = []
    done = 0
    for match in pattern.finditer(raw):
        pieces += [(raw[done : match.start()], None), (match.group(), match)]
        done = match.end()
    return [*pieces, (raw[done:], None)]
