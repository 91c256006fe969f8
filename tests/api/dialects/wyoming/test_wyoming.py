"""The Wyoming server, event by event: what it answers, what it refuses, and what it limits."""

import asyncio
import contextlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.cloning import Studio, sample
from helpers.examples import examples
from helpers.fakes import ToneEngine, tone_service, tone_settings
from helpers.tables import each_row
from helpers.wyoming import audio_of, served_wyoming
from polyvox.api.dialects.wyoming.event import LINE_BYTES, Event, EventError, EventReader
from polyvox.api.dialects.wyoming.server import check_wyoming_exposure
from polyvox.api.middleware.auth import owner_of
from polyvox.config import Settings
from polyvox.errors import ForbiddenError
from polyvox.provenance.marks import ORIGIN
from polyvox.service.admission.pending_bodies import PendingBodies
from polyvox.service.telemetry.metrics import Metrics
from polyvox.types import Voice
from polyvox.voices.records import SHARED_OWNER, VoiceDetails
from polyvox.voices.references import InlineVoice

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Polyglot(ToneEngine):
    """Two voices of two languages, and one that lacks something."""

    voices = (
        Voice("low", "Low", "en-us"),
        Voice("high", "High", "de"),
        Voice("lost", "Lost", "ja", reason="Japanese is not installed; run: pip install ja."),
    )


async def until(condition, seconds=5.0):
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)


def two_models():
    engines = {"tone": ToneEngine(), "other": Polyglot("other")}
    factories = {name: (lambda _, engine=engine: engine) for name, engine in engines.items()}
    return engines, tone_service(factories=factories, models=list(engines))


# --- what it answers


async def test_describe_lists_the_voices_of_all_models_in_one_program():
    _, service = two_models()
    async with served_wyoming(service=service) as served, await served.connect() as client:
        await client.send("describe")
        info = await client.read()
    assert info.type == "info"
    (program,) = info.data["tts"]
    assert program["supports_synthesize_streaming"] is True
    assert program["installed"] is True
    assert set(program["attribution"]) == {"name", "url"}
    listed = {voice["name"]: voice for voice in program["voices"]}
    assert list(listed) == ["low", "high", "other/low", "other/high"]
    assert listed["low"]["languages"] == ["en-US"]
    assert listed["other/high"]["languages"] == ["de"]
    assert listed["other/high"]["description"] == "High (other)"
    assert all({"attribution", "installed", "version"} <= set(voice) for voice in program["voices"])


async def test_ping_is_answered_with_its_text_and_unknown_events_not_at_all():
    async with served_wyoming() as served, await served.connect() as client:
        await client.send("transcribe", language="en")
        await client.send_raw(Event("audio-chunk", {"rate": 16_000}, bytes(70_000)).encoded())
        await client.send_raw(b'{"type": "ping", "data": {"text": "inline"}}\n')
        await client.send("ping", text="hello")
        pongs = [await client.read(), await client.read()]
    assert pongs == [Event("pong", {"text": "inline"}), Event("pong", {"text": "hello"})]


async def test_a_text_is_spoken_as_one_stream():
    engine = ToneEngine(chunks=3, chunk_seconds=0.5)
    async with served_wyoming(engine) as served, await served.connect() as client:
        await client.send("synthesize", text="Hello there.", voice={"name": "high"})
        events = await client.read_until("audio-stop")
        await client.send("synthesize", text="And again.")
        again = await client.read_until("audio-stop")
        metrics = served.service.metrics.render().decode()
    assert events[0].data == {"rate": 24_000, "width": 2, "channels": 1, "provenance": ORIGIN}
    assert len(audio_of(events)) == len(audio_of(again)) == 2 * 36_000
    assert [(heard.text, heard.voice) for heard in engine.heard] == [("Hello there.", "high"), ("And again.", "low")]
    assert 'door="wyoming"' in metrics


async def test_a_text_that_arrives_in_parts_is_spoken_while_it_does_and_only_once():
    engine = ToneEngine(chunks=1)
    async with served_wyoming(engine) as served, await served.connect() as client:
        await client.send("synthesize-start", voice={"name": "high"})
        for part in ("The first sen", "tence is here. And this is ", "the second one"):
            await client.send("synthesize-chunk", text=part)
        first = [await client.read(), await client.read()]
        await client.send("synthesize-chunk", text=", at last.")
        await client.send("synthesize", text="The first sentence is here. And this is the second one, at last.")
        await client.send("synthesize-stop")
        events = first + await client.read_until("synthesize-stopped")
        await client.send("synthesize", text="Later.")
        await client.read_until("audio-stop")
    assert [event.type for event in first] == ["audio-start", "audio-chunk"]
    assert events[-2].type == "audio-stop"
    assert len(audio_of(events[:-1])) > 0
    assert [heard.text for heard in engine.heard] == [
        "The first sentence is here.", "And this is the second one, at last.", "Later."
    ]  # fmt: skip
    assert {heard.voice for heard in engine.heard[:2]} == {"high"}


async def test_a_text_without_words_is_silence_and_not_an_error():
    async with served_wyoming() as served, await served.connect() as client:
        await client.send("synthesize-start")
        await client.send("synthesize-chunk", text=" ... ")
        await client.send("synthesize-stop")
        events = await client.read_until("synthesize-stopped")
    assert [event.type for event in events] == ["audio-start", "audio-stop", "synthesize-stopped"]
    assert events[0].data == {"rate": 24_000, "width": 2, "channels": 1}


@each_row(
    ("voice", "model", "chosen"),
    [
        (None, "tone", "low"),
        ({}, "tone", "low"),
        ({"name": "high"}, "tone", "high"),
        ({"name": "other/high"}, "other", "high"),
        ({"name": "other", "speaker": "high"}, "other", "high"),
        ({"name": "other"}, "other", "low"),
        ({"name": "low", "speaker": "high"}, "tone", "high"),
        ({"speaker": "high"}, "tone", "high"),
        ({"language": "en"}, "tone", "low"),
        ({"language": "en_US"}, "tone", "low"),
        ({"language": "en-GB"}, "tone", "low"),
        ({"language": "de-AT"}, "other", "high"),
    ],
)
async def test_a_voice_is_found_by_name_by_speaker_or_by_language(voice, model, chosen):
    engines, service = two_models()
    async with served_wyoming(service=service) as served, await served.connect() as client:
        await client.send("synthesize", text="Hello.", voice=voice)
        await client.read_until("audio-stop")
    assert [heard.voice for heard in engines[model].heard] == [chosen]


async def test_voices_that_were_registered_without_a_key_are_listed_and_speak(tmp_path):
    studio = Studio(tmp_path)
    async with served_wyoming(service=studio.speech, voices=studio.voices) as served:
        await studio.voices.start()
        mine = VoiceDetails(name="Anna", transcript="Hello.", language="en-gb")
        theirs = replace(mine, name="Secret")
        record = (await studio.voices.register(InlineVoice(sample(1)), mine, SHARED_OWNER)).record
        await studio.voices.register(InlineVoice(sample(2)), theirs, owner_of("somebody's key"))
        async with await served.connect() as client:
            await client.send("describe")
            (program,) = (await client.read()).data["tts"]
            await client.send("synthesize", text="Hello.", voice={"name": record.id})
            await client.read_until("audio-stop")
            await client.send("synthesize", text="Hello.", voice={"language": "en-GB"})
            await client.read_until("audio-stop")
        await studio.voices.close()
    listed = {voice["name"]: (voice["description"], voice["languages"]) for voice in program["voices"]}
    assert listed == {"low": ("Low", ["en-US"]), "high": ("High", ["en-US"]), record.id: ("Anna", ["en-GB"])}
    assert [heard.prepared is not None for heard in studio.engine.heard] == [True, True]


async def test_ssml_is_obeyed_where_the_event_says_so():
    engine = ToneEngine()
    async with served_wyoming(engine) as served, await served.connect() as client:
        await client.send("synthesize", text="<speak><p>Hello.</p></speak>", text_format="ssml")
        await client.read_until("audio-stop")
    assert [heard.text.strip() for heard in engine.heard] == ["Hello."]


# --- what goes wrong


@each_row(
    ("kind", "data", "code"),
    [
        ("synthesize", {"text": "Hello.", "voice": {"name": "nobody"}}, "voice_not_found"),
        ("synthesize", {"text": "Hello.", "voice": {"language": "xx"}}, "invalid_value"),
        ("synthesize", {"text": "Hello.", "voice": "low"}, "invalid_value"),
        ("synthesize", {"text": "Hello.", "voice": {"name": 7}}, "invalid_value"),
        ("synthesize", {"text": "a" * 200}, None),
        ("synthesize", {"text": ["Hello."]}, "invalid_value"),
        ("synthesize", {}, "invalid_value"),
        ("synthesize-chunk", {"text": "Hello."}, "invalid_value"),
        ("synthesize-stop", {}, "invalid_value"),
    ],
)
async def test_an_error_is_told_and_closes_the_connection_and_the_next_one_is_served(kind, data, code):
    async with served_wyoming(max_input_chars=100) as served:
        async with await served.connect() as client, await served.connect() as other:
            await client.send(kind, **data)
            events = await client.rest()
            await other.send("ping")
            assert (await other.read()).type == "pong"
        async with await served.connect() as client:
            await client.send("synthesize", text="Hello.")
            await client.read_until("audio-stop")
    assert [event.type for event in events] == ["error"]
    assert events[0].data["text"].endswith(".")
    assert code is None or events[0].data["code"] == code


@each_row(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"\n",
        b"[]\n",
        b"{}\n",
        b'{"type": 7}\n',
        b'{"type": "ping", "data": []}\n'.replace(b"[]", b"[1]"),
        b'{"type": "ping", "data_length": 4}\n[1] ',
        b'{"type": "ping", "data_length": "4"}\n',
        b'{"type": "ping", "data_length": true}\n',
        b'{"type": "ping", "data_length": -1}\n',
        b'{"type": "ping", "data_length": 1e9}\n',
        b'{"type": "ping", "data_length": 4194305}\n',
        b'{"type": "ping", "payload_length": 99999999999}\n',
        b'{"type": "ping", "data": ' + b"[" * 50_000 + b"\n",
        b"\xff\xfe\x00\n",
        b"x" * (LINE_BYTES + 1),
    ],
)
async def test_what_is_no_event_or_too_large_closes_the_connection_before_more_is_read(data):
    async with served_wyoming() as served, await served.connect() as client:
        await client.send_raw(data)
        events = await client.rest()
        assert [event.type for event in events] == ["error"]
        assert served.closed("invalid") == 1
        assert served.service.bodies.used == 0


PIECES = (
    b"{",
    b"}",
    b'"type"',
    b":",
    b",",
    b'"ping"',
    b'"data_length"',
    b'"payload_length"',
    b"7",
    b"-1",
    b"null",
    b"\n",
    b"x",
)


@pytest.fixture(scope="module")
def bodies():
    return PendingBodies(2**20, Metrics())


@pytest.mark.long
@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=9), max_size=40))
@examples(300)
def test_no_bytes_make_the_reader_fail_otherwise(bodies, pieces):
    """It reads events, says that there are none, or refuses; what it holds is given back."""

    async def read():
        stream = asyncio.StreamReader(limit=LINE_BYTES)
        stream.feed_data(b"".join(pieces))
        stream.feed_eof()
        reader = EventReader(stream, bodies.open(None), Settings())
        with contextlib.suppress(EventError):
            while (line := await reader.line()) is not None and (event := await reader.rest(line)) is not None:
                assert isinstance(event.type, str)
                assert isinstance(event.data, dict)
        assert bodies.used == 0

    asyncio.run(read())


async def test_a_line_that_ends_in_the_middle_is_a_client_that_left():
    async with served_wyoming() as served:
        for data in (b'{"type": "pi', b'{"type": "ping", "data_length": 9}\n{'):
            async with await served.connect() as client:
                await client.send_raw(data)
                client.writer.write_eof()
                assert await client.rest() == []
        assert served.closed("invalid") == 0


async def test_half_an_event_that_does_not_go_on_is_dropped_and_an_idle_client_too():
    async with served_wyoming(body_timeout_seconds=0.2, wyoming_idle_seconds=0.3) as served:
        async with await served.connect() as half, await served.connect() as idle, await served.connect() as slow:
            await half.send_raw(b'{"type": "ping", "data_length": 9}\n{')
            await slow.send_raw(b'{"type":')
            ended = [[event.type for event in await client.rest()] for client in (half, idle, slow)]
        assert ended == [["error"]] * 3
        assert (served.closed("invalid"), served.closed("idle")) == (1, 2)


@pytest.mark.long
async def test_a_client_that_listens_is_not_idle():
    engine = ToneEngine(chunks=4, delay=0.2)
    async with served_wyoming(engine, wyoming_idle_seconds=0.2) as served, await served.connect() as client:
        await client.send("synthesize", text="Hello.")
        assert len(audio_of(await client.read_until("audio-stop"))) > 0


async def test_data_counts_against_the_memory_for_bodies():
    text = "word " * 30_000
    async with served_wyoming(max_pending_body_bytes=2**20, max_input_chars=200_000) as served:
        async with await served.connect() as client:
            data = json.dumps({"text": text}).encode()
            await client.send_raw(b'{"type": "synthesize-start"}\n')
            await client.send_raw(b'{"type": "synthesize-chunk", "data_length": %d}\n' % len(data) + data[:70_000])
            await until(lambda: served.service.bodies.used == len(data))
            await client.send_raw(data[70_000:] + b'{"type": "ping"}\n')
            await client.read_until("pong")
        await until(lambda: served.service.bodies.used == 0)


async def test_a_client_that_leaves_frees_its_slot():
    engine = ToneEngine(chunks=1_000, delay=0.01)
    async with served_wyoming(engine, max_sessions=1, max_queue=0) as served:
        for kind in ("synthesize", "synthesize-start"):
            async with await served.connect() as client:
                await client.send(kind, text="Hello there.")
                if kind == "synthesize-start":
                    await client.send("synthesize-chunk", text="Hello there. And more")
                await client.read()
                assert engine.speaking == 1
            await until(
                lambda: (
                    engine.speaking == 0
                    and served.service.metrics.registry.get_sample_value("polyvox_active_sessions") == 0
                )
            )
        engine.chunks = 1
        async with await served.connect() as client:
            await client.send("synthesize", text="Next.")
            await client.read_until("audio-stop")


@pytest.mark.long
async def test_a_client_that_does_not_read_is_dropped_and_others_are_not():
    engine = ToneEngine(chunks=400, chunk_seconds=2.0)
    async with served_wyoming(engine, stall_seconds=0.3) as served, await served.connect() as client:
        await client.send("synthesize", text="Hello.")
        await until(lambda: engine.speaking == 1)
        await until(lambda: engine.speaking == 0)
        engine.chunks = 1
        async with await served.connect() as other:
            await other.send("synthesize", text="Hello.")
            await other.read_until("audio-stop")
        del client


async def test_texts_sent_ahead_are_spoken_in_turn_up_to_a_limit():
    engine = ToneEngine(gate=asyncio.Event())
    async with served_wyoming(engine) as served, await served.connect() as client:
        for number in range(3):
            await client.send("synthesize", text=f"Number {number}.")
        await client.send("describe")
        assert (await client.read()).type == "info"
        engine.gate.set()
        for _ in range(3):
            audio_of(await client.read_until("audio-stop"))
        engine.gate.clear()
        for _ in range(20):
            await client.send("synthesize", text="Too many.")
        assert (await client.rest())[-1].data["code"] == "overloaded"
        engine.gate.set()
    assert [heard.text for heard in engine.heard[:3]] == ["Number 0.", "Number 1.", "Number 2."]


async def test_connections_above_the_limit_make_the_oldest_idle_one_go():
    async with served_wyoming(max_connections=16) as served:
        clients = [await served.connect() for _ in range(16)]
        await clients[0].send("ping")
        await clients[0].read()
        async with await served.connect() as late:
            await late.send("ping")
            assert (await late.read()).type == "pong"
        assert await clients[0].rest() == []
        assert served.closed("total") == 1
        for client in clients:
            client.writer.close()


async def test_closing_lets_speech_finish_and_ends_what_is_idle():
    engine = ToneEngine(gate=asyncio.Event())
    async with served_wyoming(engine, drain_seconds=5.0) as served:
        idle, client = await served.connect(), await served.connect()
        await client.send("synthesize", text="Hello.")
        await until(lambda: engine.speaking == 1)
        closing = asyncio.create_task(served.server.close())
        await asyncio.sleep(0.05)
        with pytest.raises(ConnectionError):
            await served.connect()
        engine.gate.set()
        events = await client.rest()
        assert await idle.rest() == []
        await closing
    assert len(audio_of(events)) > 0


async def test_closing_does_not_wait_for_ever():
    engine = ToneEngine(gate=asyncio.Event())
    async with served_wyoming(engine, drain_seconds=0.1) as served, await served.connect() as client:
        await client.send("synthesize", text="Hello.")
        await until(lambda: engine.speaking == 1)
        await asyncio.wait_for(served.server.close(), 5.0)
        assert engine.speaking == 0


# --- who may call


@each_row(
    ("given", "allowed"),
    [
        ({"wyoming_port": 10_200}, True),
        ({"wyoming_port": 10_200, "api_keys": ["key"]}, True),
        ({"wyoming_port": 10_200, "wyoming_host": "localhost", "api_keys": ["key"]}, True),
        ({"wyoming_port": 10_200, "wyoming_host": "0.0.0.0", "api_keys": ["key"]}, False),
        ({"wyoming_port": 10_200, "wyoming_host": "0.0.0.0", "api_keys": ["key"], "insecure": True}, False),
        ({"wyoming_port": 10_200, "wyoming_host": "::", "wyoming_allow_without_key": True, "api_keys": ["key"]}, True),
        ({"wyoming_port": 10_200, "wyoming_host": "0.0.0.0"}, False),
        ({"wyoming_port": 10_200, "wyoming_host": "0.0.0.0", "insecure": True}, True),
        ({"wyoming_host": "0.0.0.0", "api_keys": ["key"]}, True),
    ],
)
def test_other_machines_come_in_only_where_the_settings_say_so(given, allowed):
    if allowed:
        check_wyoming_exposure(tone_settings(**given))
        return
    with pytest.raises(ForbiddenError, match="--wyoming-allow-without-key"):
        check_wyoming_exposure(tone_settings(**given))
