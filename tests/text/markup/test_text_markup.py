"""Phonemes, pauses and Markdown in the caller's text."""

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.linear_time import grows_linearly
from helpers.tables import each_row
from polyvox.errors import MarkupError
from polyvox.text.markup.code_blocks import announcement
from polyvox.text.markup.markup import MAX_PHONEME_CHARS, InlinePhonemes, insert_at, parse
from polyvox.text.placeholders import MAX_PLACEHOLDERS
from polyvox.text.spoken import Pause
from polyvox.types import CodeBlocks


def plain(raw: str) -> str:
    return parse(raw).text.text


def test_phonemes_become_one_character() -> None:
    raw = "Say [tomato](/təmˈɑːtoʊ/) now."
    result = parse(raw)
    assert result.text.text == "Say \ue000 now."
    (insert,) = result.inserts
    assert isinstance(insert, InlinePhonemes)
    assert (insert.text, insert.phonemes) == ("tomato", "təmˈɑːtoʊ")
    assert raw[insert.span.start : insert.span.end] == "tomato"
    assert raw[result.text.starts[4] : result.text.ends[4]] == "[tomato](/təmˈɑːtoʊ/)"


@each_row(
    ("written", "seconds"),
    [
        ("[pause:1.5s]", 1.5),
        ("[pause:500ms]", 0.5),
        ("[pause 1s]", 1.0),
        ("[pause: 2 s]", 2.0),
        ("[PAUSE:0s]", 0.0),
        ("[pause:.25s]", 0.25),
        ("[pause:10s]", 10.0),
        ("[pause 2 seconds]", 2.0),
    ],
)
def test_pauses(written: str, seconds: float) -> None:
    raw = f"One {written} two."
    result = parse(raw)
    assert result.text.text == "One \ue000 two."
    (insert,) = result.inserts
    assert isinstance(insert, Pause)
    assert insert.seconds == seconds
    assert raw[insert.span.start : insert.span.end] == written


def test_inserts_are_numbered_in_order() -> None:
    result = parse("[a](/x/) [pause:1s] [b](/y/)")
    assert result.text.text == "\ue000 \ue001 \ue002"
    assert insert_at("\ue002", result.inserts) is result.inserts[2]
    assert insert_at("\ue003", result.inserts) is None
    assert insert_at("a", result.inserts) is None


@each_row("written", ["[pause:61s]", "[pause:60001ms]", "[pause:-1s]", f"[pause:{'9' * 500}s]", "[pause 90s]"])
def test_a_pause_out_of_bounds_names_the_limit(written: str) -> None:
    with pytest.raises(MarkupError, match="0 to 60 seconds") as caught:
        parse(written)
    assert caught.value.field == "input"


@each_row("written", ["[pause:]", "[pause:soon]", "[pause:1]", "[pause:1m]", "[pause 5 minutes]"])
def test_a_pause_without_a_length_is_refused(written: str) -> None:
    with pytest.raises(MarkupError, match=r"\[pause:1\.5s\]"):
        parse(written)


def test_phonemes_have_a_limit() -> None:
    parse(f"[a](/{'x' * MAX_PHONEME_CHARS}/)")
    with pytest.raises(MarkupError, match=str(MAX_PHONEME_CHARS)):
        parse(f"[a](/{'x' * (MAX_PHONEME_CHARS + 1)}/)")


@each_row("written", ["[a](/x\ny/)", "[a](//)", "[ ](/x/)", "[a](/ /)"])
def test_phonemes_that_say_nothing_are_refused(written: str) -> None:
    with pytest.raises(MarkupError):
        parse(written)


def test_the_number_of_inserts_has_a_limit() -> None:
    assert len(parse("[pause:1ms]" * MAX_PLACEHOLDERS).inserts) == MAX_PLACEHOLDERS
    with pytest.raises(MarkupError, match=str(MAX_PLACEHOLDERS)):
        parse("[pause:1ms]" * (MAX_PLACEHOLDERS + 1))


def test_the_pauses_of_a_text_are_limited_together():
    assert len(parse("[pause:10s]" * 60).inserts) == 60
    with pytest.raises(MarkupError, match="600 s together"):
        parse("[pause:10s]" * 61)


def test_a_forged_insert_is_removed() -> None:
    result = parse("a\ue000b [pause:1s]")
    assert result.text.text == "ab \ue000"
    assert len(result.inserts) == 1


@each_row(
    ("raw", "text"),
    [
        ("# Title", "Title"),
        ("## Title ##", "Title"),
        ("Title\n=====\nText", "Title\n\nText"),
        ("**bold** and *soft* and ***both***", "bold and soft and both"),
        ("__bold__ and _soft_", "bold and soft"),
        ("~~gone~~ `code` ``more``", "gone code more"),
        ("snake_case and 2 * 3 and 4*5", "snake_case and 2 * 3 and 4*5"),
        ("f*** that", "f that"),
        ("fill in ____ here", "fill in ____ here"),
        ("- one\n* two\n+ three\n• four", "one\ntwo\nthree\nfour"),
        ("- [ ] open\n- [x] done", "open\ndone"),
        ("1. one\n2) two", "1. one\n2. two"),
        ("> quoted\n> more", "quoted\nmore"),
        ("> > deep", "deep"),
        ("a\n\n---\n\nb", "a\n\nb"),
        ("a\n***\nb", "a\n\nb"),
        ("```python\nx = 1\n```", "\nx = 1\n"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a, b\n1, 2"),
        ("a | b\n--- | ---\n1 | 2", "a, b\n1, 2"),
        ("[text](https://example.com)", "text"),
        ("[text](https://x.org/a_(b))", "text"),
        ("[text](/docs/page/)", "text"),
        ("[text](/docs)", "text"),
        ("[text][1]", "text"),
        ("![a picture](p.png)", "a picture"),
        ("[![alt](a.png)](https://x.org)", "alt"),
        ("<https://example.com>", "https://example.com"),
        ("a note[^1] here", "a note here"),
        (r"\*not soft\*", "*not soft*"),
        ("[sic] [pause] [pause for effect]", "[sic] [pause] [pause for effect]"),
        ("a &amp; b &lt; c", "a & b < c"),
        ("one<br>two", "one\ntwo"),
        ('<p>A <b>bold</b> <a href="x.html">link</a></p>', "\nA bold link\n"),
        ("a <name> b", "a <name> b"),
        ("-5 degrees, #hashtag, >5", "-5 degrees, #hashtag, >5"),
    ],
)
def test_markdown_is_reduced_to_its_words(raw: str, text: str) -> None:
    assert plain(raw) == text


@each_row(
    ("raw", "text"),
    [
        ("a\x00b\x07c", "abc"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("soft\xadhyphen", "softhyphen"),
        ("a\tb\xa0c\u3000d", "a b c d"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\u2029b", "a\n\nb"),
        ("a\n\n\n\n b", "a\n\nb"),
        ("a  b   c", "a b c"),
        ("cafe\u0301", "café"),
        ("\ud800lone", "lone"),
        ("\u202eright to left", "right to left"),
    ],
)
def test_what_cannot_be_heard_is_dropped(raw: str, text: str) -> None:
    assert plain(raw) == text


WRAPPED = "It was the best of times, it was the worst of times, it was the age"


@each_row(
    ("raw", "text"),
    [
        (f"{WRAPPED}\nof wisdom", f"{WRAPPED} of wisdom"),
        (f"{WRAPPED}\nWisdom", f"{WRAPPED} Wisdom"),
        (f"{WRAPPED} \nof wisdom", f"{WRAPPED} of wisdom"),
        (f"{WRAPPED}  \nof wisdom", f"{WRAPPED}\nof wisdom"),
        (f"{WRAPPED}.\nWisdom", f"{WRAPPED}.\nWisdom"),
        (f"{WRAPPED}\n\nof wisdom", f"{WRAPPED}\n\nof wisdom"),
        (f"{WRAPPED}\n- of wisdom", f"{WRAPPED}\nof wisdom"),
        (f"# {WRAPPED}\nof wisdom", f"{WRAPPED}\nof wisdom"),
        ("milk\neggs\nbread", "milk\neggs\nbread"),
        ("My love is like a rose\nThat newly springs in June", "My love is like a rose\nThat newly springs in June"),
    ],
)
def test_only_line_ends_that_wrap_a_sentence_are_joined(raw: str, text: str) -> None:
    assert plain(raw) == text


def test_words_keep_their_exact_places() -> None:
    raw = "## A **bold** [link text](https://x.org) | [w](/x/)\n> - quoted _word_"
    result = parse(raw).text
    for word in ("A", "bold", "link", "text", "quoted", "word"):
        at = result.text.index(word)
        span = result.span(at, at + len(word))
        assert raw[span.start : span.end] == word


PIECES = [
    *" \n*_`~#>|-+[]()!\\/:.", "1", "a", "word", "pause", "[pause:1s]", "[pause 1", "[w](/x/)", "](/", "/)", "](",
    "- ", "# ", "http://x", "<br>", "&amp;", "| - |", "---", "\x00", "\u200b", "\ue000", "e\u0301", "\ud800", "\r\n",
]  # fmt: skip
anything = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


@given(anything)
@examples(200)
def test_any_text_parses_or_is_refused_by_name(raw: str) -> None:
    try:
        result = parse(raw)
    except MarkupError:
        return
    text = result.text
    assert all(0 <= start < end <= len(raw) for start, end in zip(text.starts, text.ends, strict=True))
    assert list(text.starts) == sorted(text.starts)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in text.text.replace("\n", ""))
    used = [char for char in text.text if "\ue000" <= char <= "\uf8ff"]
    assert all(insert_at(char, result.inserts) for char in used)
    assert all(0 <= insert.span.start < insert.span.end <= len(raw) for insert in result.inserts)


@given(st.lists(st.from_regex(r"[A-Za-z]{1,12}", fullmatch=True), min_size=1).map(" ".join))
@settings(deadline=None)
def test_plain_words_stay(words: str) -> None:
    assert plain(words) == words


@pytest.mark.long
@each_row(
    "piece",
    ["[", "](", "[a](", "[a](/", "[a](/x", "[pause", "[pause:", "[pause 1", "*", "_", "`", "~", "|", "|-", "| ", "> ",
     "# ", "- ", " ", "\n", "\n ", "\\", "<", "<a@", "e\u0301", "\u0301", "!["],
)  # fmt: skip
def test_time_grows_with_the_length_alone(piece: str) -> None:
    def seconds(size: int) -> float:
        start = time.thread_time()
        parse((piece * size)[:size])
        return time.thread_time() - start

    assert grows_linearly(seconds, 8_000, 16_000)


def test_closing_tags_of_any_name_are_dropped():
    assert parse("Red</font> and x</my-tag>.").text.text == "Red and x."


BLOCKS = [
    ("Before.\n```python\nx = 1\n```\nAfter.", "Before.\n\nCODE\n\nAfter."),
    ("Before.\n```\nx = 1\nAfter, though the fence is open.", "Before.\n\nx = 1\nAfter, though the fence is open."),
    ("```js\nlost\n```python\nx\n```\nAfter.", "lost\n\nCODE\n\nAfter."),
    ("~~~\n```\ncode\n~~~\nAfter.", "CODE\n\nAfter."),
    ("> ```\n> quoted\n> ```\nAfter.", "CODE\n\nAfter."),
    ("````\n```\ninner\n```\n````\nAfter.", "CODE\n\nAfter."),
    ("One ```inline``` two.", "One inline two."),
    ("```one```\nTwo.\n```\nx\n```\nThree.", "one\nTwo.\n\nCODE\n\nThree."),
    ("```\na\n``` Then restart it.\n```\nb\n```\nEnd.", "CODE\nThen restart it.\n\nCODE\n\nEnd."),
    ("```\na\n```\nMiddle.\n```\nb\n```\nEnd.", "CODE\n\nMiddle.\n\nCODE\n\nEnd."),
]


@each_row(
    ("raw", "plain"),
    [
        ("See ```x\n``` after", "See x\nafter"),
        ("See:\n```py\nx\n``` after\nEnd.", "See:\n\nx\nafter\nEnd."),
        ("``` py\nx\n```\n``` js\ny\n```\nEnd.", "x\n\ny\n\nEnd."),
        ("~~~ py\nx\n~~~ after", "x\nafter"),
        ("One ```two``` three.\n``` py\nx\n```", "One two three.\n\nx"),
    ],
)
def test_a_word_behind_a_closing_fence_is_kept_and_a_language_is_not(raw: str, plain: str) -> None:
    assert parse(raw).text.text.strip() == plain


@each_row(("raw", "plain"), BLOCKS)
def test_a_block_of_code_is_announced_and_nothing_behind_it_is_lost(raw: str, plain: str) -> None:
    assert parse(raw, "CODE").text.text.strip() == plain


@each_row(("raw", "plain"), BLOCKS)
def test_a_block_of_code_can_be_left_out(raw: str, plain: str) -> None:
    assert parse(raw, "").text.text.split() == plain.replace("CODE", "").split()


def test_the_announcement_points_at_the_block() -> None:
    raw = "Before.\n```\nx = 1\n```\nAfter."
    text = parse(raw, "CODE").text
    at = text.text.index("CODE")
    span = text.span(at, at + 4)
    assert raw[span.start : span.end] == "```\nx = 1\n```"
    assert raw[text.starts[-6] :] == "After."


@each_row(
    ("choice", "language", "said"),
    [
        (None, "en-us", "Code block."),
        (CodeBlocks.ANNOUNCE, "ms", "Blok kod."),
        (CodeBlocks.ANNOUNCE, "xx", "Code block."),
        (CodeBlocks.SKIP, "fr-fr", ""),
        (CodeBlocks.READ, "fr-fr", None),
    ],
)
def test_blocks_of_code_are_announced_in_the_language_of_the_text(
    choice: CodeBlocks | None, language: str, said: str | None
) -> None:
    assert announcement(choice, language) == said


@pytest.mark.long
@each_row("piece", ["```\n", "```a\n", "~~~\n```\n", "````\n```\n", "> ```\n"])
def test_many_fences_take_time_by_their_number_alone(piece: str) -> None:
    start = time.thread_time()
    parse(piece * (100_000 // len(piece)), "CODE")
    assert time.thread_time() - start < 5
