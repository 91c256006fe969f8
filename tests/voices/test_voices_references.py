import base64
import time
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import each_row
from polyvox.errors import InvalidRequestError, RequestTooLargeError
from polyvox.voices.references import (
    InlineVoice,
    RegisteredVoice,
    UploadedVoice,
    UrlVoice,
    VoiceReference,
    parse_reference,
)

AUDIO = bytes(range(256)) * 3 + b"\xfb\xff"
ENCODED = base64.b64encode(AUDIO).decode()
LIMIT = 1_000


def parsed(voice: str) -> VoiceReference:
    return parse_reference(voice, max_bytes=LIMIT)


@each_row(
    ("voice", "reference"),
    [
        ("af_heart", RegisteredVoice("af_heart")),
        ("af_bella(2)+af_sky(1)", RegisteredVoice("af_bella(2)+af_sky(1)")),
        ("Grüße aus Köln", RegisteredVoice("Grüße aus Köln")),
        ("profile+mine", RegisteredVoice("profile+mine")),
        ("database", RegisteredVoice("database")),
        ("url+https://voices.example/a.wav?x=1+2", UrlVoice("https://voices.example/a.wav?x=1+2")),
        ("URL+ https://voices.example/a.wav ", UrlVoice("https://voices.example/a.wav")),
        ("url+file:///etc/passwd", UrlVoice("file:///etc/passwd")),
        ("file+sample", UploadedVoice("sample")),
        ("file+../../etc/passwd", UploadedVoice("../../etc/passwd")),
    ],
)
def test_each_kind_of_reference_is_parsed_and_nothing_is_looked_up(voice: str, reference: VoiceReference) -> None:
    assert parsed(voice) == reference


@each_row(
    "voice",
    [
        f"base64+{ENCODED}",
        f"Base64+{ENCODED}",
        f"base64+{ENCODED.rstrip('=')}",
        f"base64+{base64.urlsafe_b64encode(AUDIO).decode()}",
        f"base64+{base64.encodebytes(AUDIO).decode()}",
        f"data:audio/wav;base64,{ENCODED}",
        f"DATA:Audio/X-WAV;Base64,{ENCODED}",
        f"data:audio/ogg;codecs=opus;base64,{ENCODED}",
        f"data:application/octet-stream;base64,{ENCODED}",
        f"data:audio/mpeg;base64,{ENCODED.replace('+', '%2B').replace('/', '%2F').replace('=', '%3D')}",
    ],
)
def test_an_inline_recording_is_read_in_any_common_spelling(voice: str) -> None:
    assert parsed(voice) == InlineVoice(AUDIO)


@given(st.binary(min_size=1, max_size=LIMIT))
def test_any_bytes_within_the_limit_come_through(data: bytes) -> None:
    assert parsed("base64+" + base64.b64encode(data).decode()) == InlineVoice(data)


BROKEN = {
    "nothing": "",
    "spaces": "  \t",
    "an address that is missing": "url+",
    "a part that is missing": "file+ ",
    "base64 of nothing": "base64+",
    "base64 of five letters": "base64+AAAAA",
    "base64 with a strange letter": f"base64+{ENCODED}!",
    "base64 with a letter beyond ASCII": f"base64+{ENCODED[:8]}é",
    "base64 with padding in the middle": "base64+AA==AAAA",
    "base64 with padding without end": "base64+AAAA=====",
    "base64 with a null": "base64+AAAA\0AAAA",
    "percent signs that mean nothing": "base64+%zz%zz",
    "a data URL and no more": "data:",
    "a data URL without a comma": f"data:audio/wav;base64{ENCODED}",
    "a data URL whose kind never ends": "data:audio/wav;" + "x" * 100_000 + ",AAAA",
    "a data URL of a web page": "data:text/html;base64,PGh0bWw+",
    "a data URL of a drawing": "data:image/svg+xml;base64,PHN2Zz4=",
    "a data URL of no kind": f"data:;base64,{ENCODED}",
    "a data URL of several kinds": "data:audio/wav audio/mp3;base64,AAAA",
    "a data URL of plain text": "data:audio/wav,RIFF",
    "a data URL of broken base64": "data:audio/wav;base64,@@@@",
}


@each_row("voice", BROKEN.values())
def test_what_is_broken_is_refused_with_the_field_at_fault(voice: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        parse_reference(voice, max_bytes=LIMIT, field="speaker")
    assert caught.value.field == "speaker"
    assert caught.value.message.startswith("speaker ")


@each_row("extra", [1, 100, 5_000_000])
@each_row("head", ["base64+", "data:audio/wav;base64,"])
def test_more_bytes_than_allowed_are_refused(head: str, extra: int) -> None:
    with pytest.raises(RequestTooLargeError, match="1000 bytes"):
        parsed(head + base64.b64encode(bytes(LIMIT + extra)).decode())


@given(st.text(max_size=300))
def test_no_text_whatever_raises_anything_but_a_refusal(text: str) -> None:
    for voice in (text, f"base64+{text}", f"data:{text}", f"data:audio/wav;base64,{text}", f"url+{text}"):
        with suppress(InvalidRequestError, RequestTooLargeError):
            parsed(voice)


@pytest.mark.long
def test_a_text_full_of_percent_signs_costs_no_more_than_a_look_at_it() -> None:
    bomb = "base64+" + "%" * 17_000_000
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(InvalidRequestError, match="base64"):
        parse_reference(bomb, max_bytes=10_485_760)
    seconds, (_, peak) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000_000
    assert seconds < 3
