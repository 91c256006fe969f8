"""The HTTP client, both flavours, against the application itself."""

import asyncio
import contextlib
import io
import wave
from collections.abc import AsyncIterator, Callable, Iterator

import httpx
import pytest

from helpers.cloning import Studio, sample
from helpers.fakes import ToneEngine, missing_bundle, running, tone_service
from helpers.serving import decoded_seconds, served, wait_for
from helpers.tables import each_row
from polyvox.api.app import create_app
from polyvox.client import AsyncClient, Client, server_address
from polyvox.client_messages import audio_headers
from polyvox.errors import ApiConnectionError, ApiError, InvalidRequestError, PolyvoxError
from polyvox.service.speech import SpeechService

NOBODY = "http://127.0.0.1:9"
SECONDS = 0.3
"""What a `ToneEngine` makes of any text."""


@contextlib.contextmanager
def connected(service: SpeechService, **options) -> Iterator[Client]:
    with served(service) as url, Client(url, **options) as client:
        yield client


@contextlib.asynccontextmanager
async def in_process(service: SpeechService, **options) -> AsyncIterator[AsyncClient]:
    transport = httpx.ASGITransport(app=create_app(service), raise_app_exceptions=False)
    async with running(service), AsyncClient("http://door", transport=transport, **options) as client:
        yield client


def wav_seconds(data: bytes) -> float:
    with wave.open(io.BytesIO(data)) as file:
        return file.getnframes() / file.getframerate()


def test_speech_is_a_whole_file() -> None:
    with connected(tone_service()) as client:
        assert wav_seconds(client.speech("Hello.", "low", response_format="wav")) == pytest.approx(SECONDS)
        assert decoded_seconds(client.speech("Hello.", "low")) == pytest.approx(SECONDS, abs=0.05)


@pytest.mark.anyio
async def test_speech_is_a_whole_file_asynchronously() -> None:
    async with in_process(tone_service()) as client:
        assert wav_seconds(await client.speech("Hello.", "low", response_format="wav")) == pytest.approx(SECONDS)


def test_options_reach_the_engine() -> None:
    engine = ToneEngine()
    with connected(tone_service(engine)) as client:
        client.speech("Hi.", "high", model="tone", speed=2.0, language="en-GB", seed=7, extra={"num_steps": 4})
    (utterance,) = engine.heard
    assert (utterance.text, utterance.voice, utterance.speed) == ("Hi.", "high", 2.0)
    assert (utterance.language, utterance.seed, utterance.tuning) == ("en-gb", 7, {"num_steps": 4.0})


@pytest.mark.long
def test_a_stream_brings_audio_before_the_last_chunk_is_made() -> None:
    engine = ToneEngine(chunks=50, delay=0.02)
    with connected(tone_service(engine)) as client:
        with client.stream("Hello.", "low", response_format="pcm") as stream:
            assert (stream.media_type, stream.sample_rate, stream.channels) == ("audio/pcm", 24_000, 1)
            first = next(iter(stream))
            assert 0 < len(first) < 2 * 24_000 * 5
            assert engine.speaking == 1
            rest = b"".join(stream)
        assert len(first + rest) == 2 * 24_000 * 5


def test_leaving_a_stream_ends_the_speech() -> None:
    engine = ToneEngine(chunks=10_000, delay=0.01)
    with connected(tone_service(engine)) as client:
        with client.stream("Hello.", "low", response_format="pcm") as stream:
            next(iter(stream))
        wait_for(lambda: engine.closed == 1)
        engine.chunks = 3
        assert client.speech("Hello.", "low")


@pytest.mark.anyio
async def test_leaving_a_stream_ends_the_speech_asynchronously() -> None:
    engine = ToneEngine(chunks=10_000, delay=0.01)
    with served(tone_service(engine)) as url:
        async with AsyncClient(url) as client, client.stream("Hello.", "low", response_format="pcm") as stream:
            async for data in stream:
                assert data
                break
        await asyncio.to_thread(wait_for, lambda: engine.closed == 1)


@pytest.mark.anyio
async def test_a_stream_holds_the_whole_audio_asynchronously() -> None:
    async with in_process(tone_service()) as client, client.stream("Hi.", "low", response_format="pcm") as stream:
        data = b"".join([data async for data in stream])
    assert len(data) == pytest.approx(2 * 24_000 * SECONDS)


@pytest.mark.long
def test_a_stream_that_breaks_off_is_an_error() -> None:
    service = tone_service(ToneEngine(chunks=20, fail_at=10, delay=0.02))
    broken = pytest.raises(ApiConnectionError, match="broke off")
    with connected(service) as client, client.stream("Hi.", "low", response_format="pcm") as stream, broken:
        list(stream)


def test_a_dialogue_has_a_voice_for_each_turn() -> None:
    engine = ToneEngine()
    turns = [("low", "Is the tide out?"), {"voice": "high", "text": "It is."}]
    with connected(tone_service(engine)) as client:
        data = client.dialogue(turns, pause=0.5, response_format="wav")
        with client.stream_dialogue(turns, pause=0.5, response_format="pcm") as stream:
            streamed = b"".join(stream)
    assert [heard.voice for heard in engine.heard] == ["low", "high"] * 2
    assert wav_seconds(data) == pytest.approx(2 * SECONDS + 0.5)
    assert len(streamed) == 2 * round(24_000 * (2 * SECONDS + 0.5))


@pytest.mark.anyio
async def test_a_dialogue_has_a_voice_for_each_turn_asynchronously() -> None:
    async with in_process(tone_service()) as client:
        data = await client.dialogue(
            [("low", "Is the tide out?"), ("high", "It is.")], pause=0.5, response_format="wav"
        )
        async with client.stream_dialogue([("low", "Yes.")], response_format="pcm") as stream:
            assert b"".join([data async for data in stream])
    assert wav_seconds(data) == pytest.approx(2 * SECONDS + 0.5)


def test_lists_are_typed() -> None:
    with connected(tone_service()) as client:
        assert [(voice.id, voice.name, voice.language) for voice in client.voices()] == [
            ("low", "Low", "en-us"),
            ("high", "High", "en-us"),
        ]
        (model,) = client.models()
    assert (model.id, model.available, model.reason) == ("tone", True, "")
    assert model.capabilities is not None
    assert model.capabilities["sample_rate"] == 24_000


@pytest.mark.anyio
async def test_lists_are_typed_asynchronously() -> None:
    async with in_process(tone_service()) as client:
        assert [voice.id for voice in await client.voices("tone")] == ["low", "high"]
        assert [model.id for model in await client.models()] == ["tone"]


@pytest.mark.long
def test_a_server_is_alive_and_ready_or_not() -> None:
    with connected(tone_service()) as client:
        assert client.health()
        assert client.ready()
        assert client.ready().models == {"tone": True}
    with connected(tone_service(ToneEngine(start_error=missing_bundle()))) as client:
        assert client.health()
        state = client.ready()
        assert not state
        assert "polyvox pull tone" in state.reasons["tone"]
    with Client(NOBODY) as client:
        assert not client.health()
        with pytest.raises(ApiConnectionError, match="polyvox serve"):
            client.ready()


@pytest.mark.anyio
async def test_a_server_is_alive_and_ready_or_not_asynchronously() -> None:
    async with in_process(tone_service()) as client:
        assert await client.health()
        assert await client.ready()
    async with AsyncClient(NOBODY) as client:
        assert not await client.health()


def test_a_voice_is_registered_and_deleted(tmp_path) -> None:
    studio = Studio(tmp_path)
    with served(studio.speech, studio.voices) as url, Client(url) as client:
        voice = client.register_voice("Anna", sample(1), transcript="Some words.", tags=["calm"], consent=True)
        assert (voice.name, voice.transcript, voice.tags) == ("Anna", "Some words.", ("calm",))
        assert voice.id in [listed.id for listed in client.voices()]
        client.delete_voice(voice.id)
        with pytest.raises(ApiError) as missing:
            client.delete_voice(voice.id)
    assert (missing.value.status, missing.value.code) == (404, "not_found")


REFUSALS: list[tuple[Callable[[Client], object], int, str, str | None]] = [
    (lambda client: client.speech("Hello.", "nobody"), 400, "voice_not_found", "voice"),
    (lambda client: client.speech("+ = +", "low"), 400, "invalid_text", "input"),
    (
        lambda client: client.speech("Hi.", "low", response_format="docx"),
        400,
        "format_not_supported",
        "response_format",
    ),
    (lambda client: client.speech("Hi.", "low", model="nothing"), 404, "model_not_found", "model"),
    (lambda client: client.voices("nothing"), 404, "model_not_found", "model"),
    (lambda client: client.stream("Hello.", "nobody").__enter__(), 400, "voice_not_found", "voice"),
]


@pytest.mark.long
@each_row(("call", "status", "code", "field"), REFUSALS)
def test_an_error_has_the_servers_words(call, status, code, field) -> None:
    with connected(tone_service()) as client, pytest.raises(ApiError) as caught:
        call(client)
    error = caught.value
    assert (error.status, error.code, error.field, error.retry_after) == (status, code, field, None)
    assert error.message.endswith(".")
    assert isinstance(error, PolyvoxError)


@pytest.mark.anyio
async def test_an_error_has_the_servers_words_asynchronously() -> None:
    async with in_process(tone_service()) as client:
        with pytest.raises(ApiError) as whole:
            await client.speech("Hello.", "nobody")
        with pytest.raises(ApiError) as streamed:
            async with client.stream("Hello.", "nobody"):
                pass
    assert (
        (whole.value.status, whole.value.code)
        == (streamed.value.status, streamed.value.code)
        == (
            400,
            "voice_not_found",
        )
    )


def test_an_overloaded_server_says_when_to_come_again() -> None:
    engine = ToneEngine(chunks=10_000, delay=0.01)
    service = tone_service(engine, max_sessions=1, max_queue=0)
    with connected(service) as client, client.stream("Hello.", "low", response_format="pcm") as stream:
        next(iter(stream))
        with pytest.raises(ApiError) as refused:
            client.speech("Hello.", "low")
    assert (refused.value.status, refused.value.code) == (429, "overloaded")
    assert refused.value.retry_after is not None
    assert refused.value.retry_after >= 1


def test_a_key_is_sent() -> None:
    service = tone_service(api_keys=["sesame"])
    with served(service) as url:
        with Client(url) as client, pytest.raises(ApiError) as refused:
            client.speech("Hello.", "low")
        assert refused.value.code == "invalid_api_key"
        with Client(url, "sesame") as client:
            assert client.speech("Hello.", "low")


def test_a_server_that_is_silent_too_long_is_given_up() -> None:
    service, silent = tone_service(ToneEngine(delay=5.0)), pytest.raises(ApiConnectionError, match="raise the timeout")
    with connected(service, timeout=0.3) as client, silent:
        client.speech("Hello.", "low")


def answering(status: int, content: bytes, headers: dict[str, str] | None = None) -> Client:
    transport = httpx.MockTransport(lambda request: httpx.Response(status, content=content, headers=headers))
    return Client("http://door", transport=transport)


@each_row("body", [b"<html>", b"{}", b'{"error": "no"}', b'{"error": null}', b"[]"])
def test_an_error_of_another_shape_is_told_by_its_status(body: bytes) -> None:
    with answering(502, body) as client, pytest.raises(ApiError, match="The server answered 502 Bad Gateway") as caught:
        client.speech("Hello.")
    assert (caught.value.code, caught.value.field) == ("", None)


def test_a_server_of_another_kind_is_an_error_not_a_crash() -> None:
    for body in (b"<html>", b"{}", b"[]", b'{"voices": [{"id": 1}], "data": [{}]}'):
        with answering(200, body) as client:
            for call in (client.voices, client.models, client.ready):
                with pytest.raises(ApiError, match="check the address"):
                    call()


def test_a_header_that_makes_no_sense_is_an_error_not_a_crash() -> None:
    for name in ("x-audio-sample-rate", "x-audio-channels"):
        for value in ("0", "-1", "many", ""):
            client = answering(200, b"", {name: value})
            with pytest.raises(ApiError, match=name), client.stream("Hello."):
                pass
    assert audio_headers(httpx.Headers()) == ("", 24_000, 1, "", "", "")


@each_row("url", ["http://door", "http://door/", "http://door/v1", "http://door/v1/"])
def test_an_address_may_end_as_users_write_it(url: str) -> None:
    assert server_address(url) == "http://door"


@each_row("url", ["door:8880", "ftp://door", "http://", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidRequestError, match="http://HOST:PORT"):
        Client(url)


@pytest.mark.anyio
async def test_captions_come_alone_or_beside_a_stream() -> None:
    async with in_process(tone_service()) as client:
        alone = await client.captions("One, two!", "low", format="vtt")
        async with client.stream("One, two!", "low", extra={"captions": "vtt"}) as audio:
            async for _ in audio:
                pass
        beside = await client.download(audio.captions)
    assert "One, two!" in alone
    assert beside.decode() == alone


def test_a_download_is_never_fetched_from_elsewhere() -> None:
    with Client(NOBODY, "secret") as client, pytest.raises(InvalidRequestError, match="a path on the server"):
        client.download("http://elsewhere.example/file")
