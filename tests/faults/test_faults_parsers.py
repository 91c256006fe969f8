"""Parsers of foreign bytes, on a corpus and on what a few edits make of it: an answer, or the parser's own refusal.

`make attack` tries twenty times as many edits as `make test`. A file that a parser fell over belongs in `corpus`.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from helpers.examples import examples
from polyvox.api.dialects.wyoming import event
from polyvox.api.requests.body import parse_json
from polyvox.api.sockets import json_socket
from polyvox.books.manuscript import ManuscriptLimits
from polyvox.books.narration.options import NarrationOptions
from polyvox.books.narration.plan import plan_chapters
from polyvox.books.pictures import picture_size, read_cover
from polyvox.books.readers.reading import read_manuscript
from polyvox.errors import PolyvoxError
from polyvox.text.dictionary.pls import read_pls
from polyvox.text.markup import inline_tags, markup, ssml
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import Warnings
from polyvox.voices.torch_file import TorchFileError, read_torch_file

CORPUS = Path(__file__).parent / "corpus"
LIMITS = ManuscriptLimits(file_bytes=100_000, text_chars=100_000, unpacked_bytes=1_000_000, document_bytes=200_000)
TOKENS = (
    b"",
    b"\0",
    b"\xff",
    b"<",
    b">",
    b"&",
    b"[",
    b"]",
    b'"',
    b"\n",
    b"\xed\xa0\x80",
    b"99999999999",
    b"-1",
    b"{" * 50,
)
EXAMPLES, MOST_EDITS = 30, 4


def read_book(name: str, data: bytes) -> None:
    plan_chapters(read_manuscript(data, name, LIMITS), NarrationOptions())


def read_text(data: bytes) -> None:
    """What the doors do with a text of somebody's."""
    text = data.decode("utf-8", "replace")
    for rules in (inline_tags.TagRules(), inline_tags.TagRules(frozenset(), reads_markup=False, voice_tags=True)):
        script = inline_tags.parse(text, rules, Warnings())
        for passage in script.passages:
            markup.check(passage.text)
    markup.parse(text)
    markup.check(TrackedText.of(text))


def read_ssml(data: bytes) -> None:
    ssml.parse(data.decode("utf-8", "replace"), ssml.SsmlRules(), Warnings())


def read_message(data: bytes) -> None:
    """A message of a WebSocket, and the same as the body of a request."""
    with suppress(json_socket.MessageError):
        json_socket._parsed(data.decode("utf-8", "replace"))
    parse_json(data)


@dataclass(frozen=True)
class Parser:
    """What reads a file of the corpus, and how it may refuse one."""

    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = (PolyvoxError,)


PARSERS = {
    **{f"book.{kind}": Parser(partial(read_book, f"book.{kind}")) for kind in ("epub", "md", "txt")},
    "page.html": Parser(partial(read_book, "page.html")),
    "tags.txt": Parser(read_text),
    "speech.ssml": Parser(read_ssml),
    "lexicon.pls": Parser(partial(read_pls, max_entries=100)),
    "message.json": Parser(read_message),
    "event.wyoming": Parser(event._object, (event.EventError,)),
    "voice.pt": Parser(partial(read_torch_file, max_bytes=100_000), (TorchFileError,)),
    "cover.png": Parser(lambda data: picture_size(read_cover(data))),
}


def edited(data: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    """The file with stretches of it replaced; a place is a share of its length."""
    for share, length, token in edits:
        at = int(share * len(data))
        data = data[:at] + token + data[at + length :]
    return data


EDITS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(0, 64),
        st.one_of(st.sampled_from(TOKENS), st.binary(max_size=8)),
    ),
    max_size=MOST_EDITS,
)


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_answers_or_refuses_whatever_a_file_became(name: str, scale: int) -> None:
    parser, data = PARSERS[name], (CORPUS / name).read_bytes()
    parser.read(data)  # the file itself is sound

    @examples(EXAMPLES * scale, suppress_health_check=[HealthCheck.too_slow], database=None)
    @given(EDITS)
    def fuzz(edits: list[tuple[float, int, bytes]]) -> None:
        try:
            parser.read(edited(data, edits))
        except parser.refusals:
            return

    fuzz()


def test_every_file_of_the_corpus_has_its_parser() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(PARSERS)
