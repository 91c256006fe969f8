"""Parsers of foreign bytes, on a corpus and on what a few edits make of it: an answer, or the parser's own refusal.

`make attack` tries twenty times as many edits as `make test`. A file that a parser fell over belongs in `corpus`.
"""

import json
import struct
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from helpers.examples import examples
from polyvox.api.dialects.grpc import handlers
from polyvox.api.dialects.grpc.schema import COSYVOICE, SPEECH, class_of, methods_of
from polyvox.api.dialects.wyoming import event
from polyvox.api.requests.body import parse_json
from polyvox.api.sockets import json_socket
from polyvox.audio.decode import container_of
from polyvox.books.manuscript import ManuscriptLimits
from polyvox.books.narration.options import NarrationOptions
from polyvox.books.narration.plan import plan_chapters
from polyvox.books.pictures import picture_size, read_cover
from polyvox.books.readers.reading import read_manuscript
from polyvox.bundles.weights import read_weights
from polyvox.errors import BundleError, InvalidRequestError, PolyvoxError
from polyvox.text.dictionary.pls import read_pls
from polyvox.text.markup import inline_tags, markup, ssml
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import Warnings
from polyvox.voices.recording.decode_child import REFUSAL, REPLY, REQUEST, SAMPLES, TAGS, serve
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
MOST_SAMPLES = 50_000


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


def read_recording(data: bytes) -> None:
    """A prompt as it arrives: its first bytes at the door, all of it by the program that decodes."""
    with suppress(PolyvoxError):
        container_of(data)
    reply = BytesIO()
    serve(BytesIO(REQUEST.pack(1.0, True, 0, MOST_SAMPLES, len(data)) + data), reply)
    kind, rate, channels, size = REPLY.unpack(reply.getvalue()[: REPLY.size])
    tags = reply.getvalue()[REPLY.size + size :]
    assert isinstance(json.loads(tags[TAGS.size :]), dict)
    assert kind == REFUSAL or (kind == SAMPLES and rate and channels in (1, 2) and 0 < size <= 4 * MOST_SAMPLES)


def read_call(data: bytes) -> None:
    """The message of a gRPC call, as any of those that a call may begin with."""
    for method in (*methods_of(SPEECH).values(), *methods_of(COSYVOICE).values()):
        with suppress(InvalidRequestError):
            handlers._read(data, class_of(method.input_type))


def read_safetensors(data: bytes) -> dict[str, object]:
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        file.write(data)
        file.flush()
        return dict(read_weights(Path(file.name)))


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
    **{f"prompt.{kind}": Parser(read_recording) for kind in ("wav", "mp3", "ogg", "flac", "m4a")},
    "call.grpc": Parser(read_call),
    "weights.safetensors": Parser(read_safetensors, (BundleError,)),
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


def safetensors(header: object, data: bytes = bytes(16), length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(shape: list[int], *offsets: int, dtype: str = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": list(offsets)}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(safetensors({"a": tensor([4], 0, 16)}, length=2**63), id="a header longer than any file"),
        pytest.param(safetensors({"a": tensor([4], 0, 16)}, length=200_000_000), id="a header longer than this file"),
        pytest.param(safetensors(b"[" * 5_000), id="a deep header"),
        pytest.param(safetensors({"a": tensor([4], 0, 16), "b": tensor([2], 8, 16)}), id="tensors that overlap"),
        pytest.param(safetensors({"a": tensor([2], 0, 8), "b": tensor([1], 12, 16)}), id="a gap between tensors"),
        pytest.param(safetensors({"a": tensor([4], 0, 17)}), id="an offset behind the end"),
        pytest.param(safetensors({"a": tensor([4], 16, 0)}), id="offsets the wrong way round"),
        pytest.param(safetensors({"a": tensor([4], -16, 0)}), id="a negative offset"),
        pytest.param(safetensors({"a": tensor([2**62, 2**62], 0, 16)}), id="a shape whose size overflows"),
        pytest.param(safetensors({"a": tensor([-4], 0, 16)}), id="a negative dimension"),
        pytest.param(safetensors({"a": tensor([5], 0, 16)}), id="a shape of another size"),
        pytest.param(safetensors({"a": tensor([4], 0, 16, dtype="F33")}), id="an unknown type"),
        pytest.param(safetensors({"a": tensor([4], 0, 16)}, bytes(17)), id="bytes behind the last tensor"),
    ],
)
def test_a_file_of_weights_that_lies_about_itself_is_refused(data: bytes) -> None:
    with pytest.raises(BundleError):
        read_safetensors(data)


def test_every_type_that_a_file_of_weights_may_name_is_read_or_refused() -> None:
    bits = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8}
    bits |= {"I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32}
    bits |= {"F64": 64, "I64": 64, "U64": 64, "C64": 64}
    read = set()
    for dtype, each in bits.items():
        with suppress(BundleError):
            read |= read_safetensors(safetensors({dtype: tensor([8], 0, each, dtype=dtype)}, bytes(each))).keys()
    assert read >= {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"}


def test_every_file_of_the_corpus_has_its_parser() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(PARSERS)
