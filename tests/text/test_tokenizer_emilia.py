"""ZipVoice's tokens against the original's, token by token."""

import json
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.examples import examples
from helpers.tables import each_row
from polyvox.errors import BundleError
from polyvox.text.tokenizers.emilia import (
    EmiliaTokenizer,
    SegmentKind,
    TokenizerSegment,
    chinese_tokens,
    plain,
    segments,
)
from polyvox.text.tokenizers.vocabulary import TokenVocabulary, read_vocabulary

FOLDER = Path(__file__).parents[1] / "golden" / "zipvoice_frontend"
RECORDED = json.loads((FOLDER / "text.json").read_text(encoding="utf-8"))
# The original expands figures and abbreviations by rules of its own. Here they arrive spelled out, by better ones;
# these are the words that its rules make of them.
SPELLED = {
    "Mr. King paid $5.20 for 3/4 of it in 2019, i.e. 90% off!": (
        "mister. King paid five dollars, twenty cents for three quarters of it in twenty nineteen, i.e. ninety percent "
        "off!"
    ),
    "The 21st of May 2005, at 1,234 km": "The twenty-first of May two thousand five, at twelve thirty-four km",
}
espeak_installed = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
CASES = pytest.mark.parametrize("case", RECORDED["emilia"], ids=lambda case: case["text"])


@pytest.fixture(scope="module")
def vocabulary() -> TokenVocabulary:
    return read_vocabulary(FOLDER / "tokens.txt")


@pytest.fixture(scope="module")
def tokenizer() -> EmiliaTokenizer:
    return EmiliaTokenizer("espeak-ng")


@CASES
def test_a_text_falls_into_the_originals_segments(case: dict) -> None:
    assert [[part.text, part.kind.value] for part in segments(plain(case["text"]))] == case["segments"]


@espeak_installed
@CASES
def test_tokens_and_their_numbers_are_the_originals(
    case: dict, tokenizer: EmiliaTokenizer, vocabulary: TokenVocabulary
) -> None:
    tokens = tokenizer.tokens(SPELLED.get(case["text"], case["text"]))
    assert tokens == case["tokens"]
    assert list(vocabulary.encode(tokens).ids) == case["ids"]


@espeak_installed
@pytest.mark.parametrize("case", RECORDED["dialog"], ids=lambda case: case["text"])
def test_dialogues(case: dict, tokenizer: EmiliaTokenizer) -> None:
    assert tokenizer.tokens(case["text"]) == case["tokens"]


@espeak_installed
def test_marks_are_kept_between_clauses_and_spaces_only_behind_commas(tokenizer: EmiliaTokenizer) -> None:
    assert "".join(tokenizer.tokens("So: yes, no; well. Fine")) == "sˈoʊ: jˈɛs, nˈoʊ; wˈɛl.fˈaɪn"
    assert "".join(tokenizer.tokens("So … yes - no")) == "sˈoʊ jˈɛs nˈoʊ"


@espeak_installed
def test_figures_alone_are_read_as_english(tokenizer: EmiliaTokenizer) -> None:
    assert "".join(tokenizer.tokens("42")) == "fˈoːɹɾi tˈuː"


def test_what_the_model_does_not_know_is_reported_and_the_pad_is_nobodys_to_write(vocabulary: TokenVocabulary) -> None:
    numbered = vocabulary.encode(["a", "[laugh]", "_", "ж", "b"])
    assert numbered.ids == (vocabulary["a"], vocabulary["b"])
    assert numbered.unknown == ("[laugh]", "_", "ж")


def test_chinese_needs_no_espeak() -> None:
    assert EmiliaTokenizer("no-such-program").tokens("你好") == ["n0", "i2", "h0", "ao3"]


def test_chinese_figures_are_read_however_many_they_are() -> None:
    assert chinese_tokens("9") == ["j0", "iu3"]
    assert len(chinese_tokens("9" * 40)) == 80


def test_only_what_looks_like_pinyin_or_a_tag_is_a_mark() -> None:
    assert TokenizerSegment("<chang2>", SegmentKind.PINYIN) in segments("<chang2>")
    for text in ("<chang9>", "<b>", "[1]", "[" + "a" * 30 + "]"):
        assert all(part.kind is SegmentKind.ENGLISH for part in segments(text))


@given(st.text(max_size=60))
@examples(60)
def test_segments_hold_the_whole_text(text: str) -> None:
    assert "".join(part.text for part in segments(text)) == text


@each_row("bad", ["<" * 50_000, "[S1" * 20_000, " " * 50_000, "a." * 25_000, "-" * 50_000])
def test_hostile_texts_take_linear_time(bad: str) -> None:
    started = time.thread_time()
    segments(plain(bad))
    assert time.thread_time() - started < 2.0


@pytest.mark.parametrize(
    "content",
    ["", "_\t0\na\t2\n", "a\t0\n_\t1\n", "_\t0\n_\t1\n", "_ 0\n", "_\tzero\n", "_\t0\n\xff\t1\n"],
    ids=["empty", "gap", "pad not first", "twice", "no tab", "no number", "not UTF-8"],
)
def test_a_broken_list_of_tokens_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokens.txt"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(BundleError, match="fetch the model again"):
        read_vocabulary(path)
