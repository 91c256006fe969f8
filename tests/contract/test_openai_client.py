"""OpenAI's own Python client against a real server."""

import base64
import io
import json
import wave
from collections.abc import Iterator

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from helpers.fakes import ToneEngine, tone, tone_service
from helpers.serving import decoded_seconds, served, wait_for
from polyvox.audio.pcm import to_pcm16

SAMPLES = to_pcm16(tone(220.0, 0, 7_200, 24_000))
WISH = {"model": "gpt-4o-mini-tts", "voice": "low", "input": "One two three."}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tone_service(models_dir=tmp_path_factory.mktemp("no_models"))) as address:
        yield address + "/v1"


@pytest.fixture
def client(url: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=url, api_key="none", max_retries=0) as ready:
        yield ready


def test_create_returns_the_whole_audio(client):
    assert client.audio.speech.create(**WISH, response_format="pcm").content == SAMPLES


@pytest.mark.parametrize("audio_format", ["mp3", "opus", "aac", "flac", "wav"])
def test_every_format_of_the_client_plays(client, audio_format, tmp_path):
    file = tmp_path / f"speech.{audio_format}"
    client.audio.speech.create(**WISH, response_format=audio_format).write_to_file(file)
    assert decoded_seconds(file.read_bytes()) == pytest.approx(0.3, abs=0.1)


def test_a_streaming_response_gives_headers_first_then_pieces(client):
    with client.audio.speech.with_streaming_response.create(**WISH, response_format="pcm") as response:
        assert response.headers["content-type"] == "audio/pcm"
        assert response.headers["x-audio-sample-rate"] == "24000"
        assert b"".join(response.iter_bytes()) == SAMPLES


def test_a_streaming_response_goes_to_a_file(client, tmp_path):
    file = tmp_path / "speech.mp3"
    with client.audio.speech.with_streaming_response.create(**WISH) as response:
        response.stream_to_file(file)
    assert decoded_seconds(file.read_bytes()) == pytest.approx(0.3, abs=0.1)


def test_a_voice_object_and_all_other_fields(client):
    response = client.audio.speech.create(
        model="tts-1",
        input="One two three.",
        voice={"id": "low"},
        instructions="Calm.",
        response_format="pcm",
        speed=2.0,
        stream_format="audio",
    )
    assert len(response.content) == len(SAMPLES) / 2


def test_extra_fields_travel_in_the_extra_body(client):
    extra = {"sample_rate": 8_000, "stream": False, "lang_code": "b"}
    response = client.audio.speech.create(**WISH, response_format="wav", extra_body=extra)
    with wave.open(io.BytesIO(response.content)) as file:
        assert (file.getframerate(), file.getnframes()) == (8_000, 2_400)


@pytest.mark.anyio
async def test_the_async_client(url):
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        whole = await client.audio.speech.create(**WISH, response_format="pcm")
        assert whole.content == SAMPLES
        async with client.audio.speech.with_streaming_response.create(**WISH, response_format="pcm") as response:
            assert b"".join([piece async for piece in response.iter_bytes()]) == SAMPLES


def parsed(events: list[dict]) -> tuple[bytes, dict]:
    """The audio and the usage of a stream of events."""
    *deltas, done = events
    assert {delta["type"] for delta in deltas} == {"speech.audio.delta"}
    assert done["type"] == "speech.audio.done"
    return b"".join(base64.b64decode(delta["audio"]) for delta in deltas), done["usage"]


def sse_stream(client: OpenAI, **fields: object) -> openai.Stream[object]:
    """The client's own parser of events; its speech method has none of its own."""
    body = {**WISH, "response_format": "pcm", "stream_format": "sse", **fields}
    return client.post("/audio/speech", body=body, cast_to=object, stream=True, stream_cls=openai.Stream[object])


def test_events_through_the_clients_own_parser(client):
    audio, usage = parsed(list(sse_stream(client)))
    assert audio == SAMPLES
    assert usage == {"input_tokens": 14, "output_tokens": 6, "total_tokens": 20}


@pytest.mark.anyio
async def test_events_through_the_async_parser(url):
    body = {**WISH, "response_format": "pcm", "stream_format": "sse"}
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        stream = await client.post(
            "/audio/speech", body=body, cast_to=object, stream=True, stream_cls=openai.AsyncStream[object]
        )
        audio, usage = parsed([event async for event in stream])
    assert audio == SAMPLES
    assert usage["total_tokens"] == 20


def test_events_line_by_line_from_a_streaming_response(client):
    with client.audio.speech.with_streaming_response.create(
        **WISH, response_format="pcm", stream_format="sse"
    ) as response:
        lines = [line for line in response.iter_lines() if line]
    audio, _ = parsed([json.loads(line.removeprefix("data: ")) for line in lines])
    assert audio == SAMPLES


def test_models(client):
    assert [model.id for model in client.models.list()] == ["tone", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"]
    assert client.models.retrieve("gpt-4o-mini-tts").owned_by == "polyvox"


@pytest.mark.parametrize(
    ("change", "error", "field"),
    [
        ({"voice": "nobody"}, openai.BadRequestError, "voice"),
        ({"input": ""}, openai.BadRequestError, "input"),
        ({"speed": 100}, openai.BadRequestError, "speed"),
        ({"response_format": "midi"}, openai.BadRequestError, "response_format"),
        ({"model": "nothing"}, openai.NotFoundError, "model"),
    ],
)
def test_refusals_become_the_clients_own_errors(client, change, error, field):
    with pytest.raises(error) as caught:
        client.audio.speech.create(**{**WISH, **change})
    assert caught.value.param == field
    assert caught.value.type == "invalid_request_error"


def test_keys():
    with (
        served(tone_service(api_keys=["secret"])) as url,
        OpenAI(base_url=url + "/v1", api_key="secret", max_retries=0) as client,
    ):
        assert client.audio.speech.create(**WISH, response_format="pcm").content == SAMPLES
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="wrong").audio.speech.create(**WISH)


@pytest.mark.long
def test_an_error_event_and_a_torn_stream_raise():
    engine = ToneEngine(chunks=3, delay=0.05, fail_at=2)
    with served(tone_service(engine)) as url, OpenAI(base_url=url + "/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.APIError, match="failed"):
            list(sse_stream(client))
        with (
            client.audio.speech.with_streaming_response.create(**WISH, response_format="pcm") as response,
            pytest.raises(Exception, match="incomplete chunked read"),
        ):
            response.read()


@pytest.mark.long
def test_an_overloaded_server_is_retried_when_it_says():
    engine = ToneEngine(chunks=8, delay=0.1)
    with (
        served(tone_service(engine, max_sessions=1, max_queue=0)) as url,
        OpenAI(base_url=url + "/v1", api_key="none", max_retries=0) as client,
        client.audio.speech.with_streaming_response.create(**WISH, response_format="pcm"),
    ):
        wait_for(lambda: engine.speaking == 1)
        with pytest.raises(openai.RateLimitError) as caught:
            client.audio.speech.create(**WISH)
        assert caught.value.response.headers["retry-after"] == "1"
        assert client.with_options(max_retries=2).audio.speech.create(**WISH).content
