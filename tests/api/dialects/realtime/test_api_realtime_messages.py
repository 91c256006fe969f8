"""The messages of Polyvox's own socket: strict, with the name of what is wrong."""

from typing import Any

import pytest

from helpers.tables import each_row
from polyvox.api.dialects.realtime.messages import DEFAULT_CONTEXT, Flush, Ping, Start, TextFragment, parsed_message
from polyvox.audio.encode import AudioFormat
from polyvox.errors import InvalidRequestError, PolyvoxError, UnknownFormatError


def test_a_start_becomes_a_body_without_a_text() -> None:
    message = parsed_message(
        {
            "type": "start",
            "context": "a",
            "model": "tone",
            "voice": "high",
            "speed": 2,
            "format": "mp3",
            "sample_rate": 16_000,
            "language": "en-gb",
            "volume": 0.5,
            "loudness": -16.0,
            "seed": 7,
            "instructions": "Softly.",
            "word_timings": True,
        }
    )
    assert isinstance(message, Start)
    body = message.speech_body()
    assert (body.input, body.model, body.voice_name, body.speed) == ("", "tone", "high", 2.0)
    assert (body.audio_format, body.sample_rate, body.lang_code) == (AudioFormat.MP3, 16_000, "en-gb")
    assert (body.volume_multiplier, body.loudness, body.seed, body.instructions) == (0.5, -16.0, 7, "Softly.")


def test_nothing_has_to_be_given_and_null_is_nothing() -> None:
    for values in ({}, {"context": None, "voice": None, "speed": None, "max_wait": None}):
        message = parsed_message({"type": "start", **values})
        assert isinstance(message, Start)
        assert (message.context, message.audio_format, message.binary) == (DEFAULT_CONTEXT, AudioFormat.PCM, False)


def test_text_may_end_in_half_a_character() -> None:
    message = parsed_message({"type": "text", "text": "A smile: \ud83d"})
    assert isinstance(message, TextFragment)
    assert message.text.endswith("\ud83d")


@each_row("given", ["end of turn", 7, None])
def test_ids_are_the_clients_own(given: object) -> None:
    flush, ping = (parsed_message({"type": kind, "id": given}) for kind in ("flush", "ping"))
    assert isinstance(flush, Flush)
    assert isinstance(ping, Ping)
    assert flush.id == ping.id == given


@each_row(
    ("values", "field"),
    [
        ({}, "type"),
        ({"type": None}, "type"),
        ({"type": ["start"]}, "type"),
        ({"type": "speak"}, "type"),
        ({"type": "start", "volumen": 1}, "volumen"),
        ({"type": "start", "x\ud83d": 1}, "x?"),
        ({"type": "start", "speed": "fast"}, "speed"),
        ({"type": "start", "speed": "1"}, "speed"),
        ({"type": "start", "speed": 1e9}, "speed"),
        ({"type": "start", "speed": float("nan")}, "speed"),
        ({"type": "start", "sample_rate": 96_000}, "sample_rate"),
        ({"type": "start", "seed": -1}, "seed"),
        ({"type": "start", "volume": 0}, "volume"),
        ({"type": "start", "binary": 1}, "binary"),
        ({"type": "start", "max_delay_ms": -1}, "max_delay_ms"),
        ({"type": "start", "max_wait": -1}, "max_wait"),
        ({"type": "start", "context": ""}, "context"),
        ({"type": "start", "context": "a\nb"}, "context"),
        ({"type": "start", "context": "\ud83d"}, "context"),
        ({"type": "start", "context": "x" * 129}, "context"),
        ({"type": "start", "context": 7}, "context"),
        ({"type": "start", "model": "x" * 201}, "model"),
        ({"type": "text"}, "text"),
        ({"type": "text", "text": ["a"]}, "text"),
        ({"type": "text", "text": "a\x00b"}, "text"),
        ({"type": "text", "text": "a", "flush": "yes"}, "flush"),
        ({"type": "flush", "id": 2**54}, "id"),
        ({"type": "flush", "id": "\ud83d"}, "id"),
        ({"type": "flush", "id": 1.5}, "id"),
        ({"type": "end", "text": "more"}, "text"),
        ({"type": "ping", "context": "a"}, "context"),
    ],
)
def test_what_is_wrong_is_named(values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequestError) as error:
        parsed_message(values)
    assert error.value.field == field
    assert f"'{field}'" in error.value.message
    assert error.value.message.endswith(".")
    error.value.message.encode()


def test_an_unknown_field_is_answered_with_those_there_are() -> None:
    with pytest.raises(InvalidRequestError, match="'flsh' is no field of 'text', which has context, type, text, flush"):
        parsed_message({"type": "text", "text": "a", "flsh": True})


def test_an_unknown_format_is_named_by_the_messages_own_field() -> None:
    message = parsed_message({"type": "start", "format": "ogg"})
    assert isinstance(message, Start)
    with pytest.raises(UnknownFormatError) as error:
        message.speech_body()
    assert isinstance(error.value, PolyvoxError)
    assert error.value.field == "format"
