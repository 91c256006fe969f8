"""Polyvox's own socket: contexts, fragments, flushes, cancels, and what goes wrong in one leaves the others alone."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from benchmarks.virtual_time import VirtualTimeLoop
from helpers.fakes import ToneEngine, tone_service
from helpers.realtime_client import PATH, HeardContext, realtime_client
from helpers.serving import decoded_seconds, served, served_by_granian, wait_for
from helpers.tables import each_row
from polyvox.api.app import create_app
from polyvox.api.middleware.auth import owner_of
from polyvox.server import guarded_websocket
from polyvox.service.speech import SpeechService

pytestmark = pytest.mark.anyio

RATE = 24_000
SAMPLES = 3 * 2_400
"""Of every sentence that the tone engine speaks."""
SLOW_SECONDS = 0.6
"""Of every chunk of the slow engine."""


@pytest.fixture(scope="module")
def engine() -> ToneEngine:
    return ToneEngine()


@pytest.fixture(scope="module")
def service(engine: ToneEngine) -> SpeechService:
    slow, stuck, broken = (
        ToneEngine("slow", chunks=200, delay=SLOW_SECONDS),
        ToneEngine("stuck", delay=60),
        ToneEngine("broken"),
    )
    broken.fail_at = 1
    engines = {"tone": engine, "slow": slow, "stuck": stuck, "broken": broken}
    factories = {name: (lambda _, made=made: made) for name, made in engines.items()}
    return tone_service(
        factories=factories,
        models=list(engines),
        max_contexts_per_connection=4,
        max_input_chars=500,
        max_body_bytes=4_096,
        prompt_max_bytes=1_024,
    )


@pytest.fixture(scope="module")
def url(service: SpeechService) -> Iterator[str]:
    with served(service) as url:
        yield url


def sample(service: SpeechService, name: str, **labels: str) -> float:
    return service.metrics.registry.get_sample_value(name, labels) or 0.0


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def idle(service: SpeechService) -> bool:
    return not sample(service, "polyvox_open_contexts", door="realtime") and not service._admission.active


# --- speaking


async def test_fragments_are_spoken_with_their_words_against_the_text_as_sent(url: str) -> None:
    fragments = ["The bo", "y was the", "re. When the s", "un \ud83d", "\ude00 rose, 1", "2 birds"]
    async with realtime_client(url) as client:
        heard = await client.start("a", word_timings=True)
        for fragment in fragments:
            await client.send("text", "a", text=fragment)
        await client.send("end", "a")
        await heard.ended.wait()
    text = "The boy was there. When the sun \U0001f600 rose, 12 birds"
    assert heard.final["type"] == "done"
    assert heard.final["usage"] == {"characters": len(text), "audio_seconds": heard.samples / RATE}
    assert (heard.final["samples"], heard.final["chunks"]) == (heard.samples, 6)
    assert (heard.started["model"], heard.started["sample_rate"], heard.started["channels"]) == ("tone", RATE, 1)
    assert [text[slice(*word["span"])] for word in heard.words] == [word["word"] for word in heard.words]
    assert [word["word"] for word in heard.words][-2:] == ["12", "birds"]
    assert heard.timing_source == "durations"
    assert all(0 <= word["start"] < word["end"] <= heard.samples / RATE for word in heard.words)


async def test_binary_frames_hold_what_base64_does(url: str) -> None:
    async with realtime_client(url) as client:
        plain, binary = await asyncio.gather(
            client.speak("a", "Good morning.", voice="high"),
            client.speak("b", "Good morning.", voice="high", binary=True),
        )
    assert len(plain.pcm) == 2 * SAMPLES
    assert plain.pcm == binary.pcm
    assert not plain.words


async def test_options_reach_the_engine(url: str, engine: ToneEngine) -> None:
    async with realtime_client(url) as client:
        heard = await client.speak("a", "As asked.", speed=2.0, seed=7, sample_rate=8_000, instructions="Softly.")
    assert (engine.heard[-1].speed, engine.heard[-1].seed) == (2.0, 7)
    assert heard.started["sample_rate"] == 8_000
    assert heard.samples == SAMPLES // 2 // 3
    assert "cannot follow instructions" in heard.started["warnings"][0]
    assert heard.final["warnings"] == heard.started["warnings"]


async def test_each_context_is_one_continuous_file(url: str) -> None:
    async with realtime_client(url) as client:
        heard = await client.start("a", format="mp3", binary=True)
        for text in ("One.", "Two.", "Three."):
            await client.send("text", "a", text=text, flush=True)
        await client.send("end", "a")
        await heard.ended.wait()
    assert heard.samples == 3 * SAMPLES
    assert decoded_seconds(heard.pcm) == pytest.approx(3 * SAMPLES / RATE, abs=0.1)
    assert heard.flushed == [1, 2, 3]


async def test_a_flush_is_answered_after_its_audio_and_by_its_own_id(url: str) -> None:
    async with realtime_client(url) as client:
        heard = await client.start("a")
        await client.send("text", "a", text="No boundary comes")
        await client.send("flush", "a", id="first")
        await client.send("flush", "a")
        await until(lambda: len(heard.flushed) == 2)
        assert heard.samples == SAMPLES
        await client.send("text", "a", text=" and on", flush=True)
        await until(lambda: len(heard.flushed) == 3)
        assert heard.samples == 2 * SAMPLES
        await client.send("end", "a")
        await heard.ended.wait()
    assert heard.flushed == ["first", 2, 3]


async def test_a_client_with_one_context_need_not_name_it(url: str) -> None:
    async with realtime_client(url) as client:
        heard = client.contexts["default"] = HeardContext()
        for message in ({"type": "start"}, {"type": "text", "text": "Hello."}, {"type": "end"}):
            await client.socket.send(json.dumps(message))
        await heard.ended.wait()
    assert heard.final["type"] == "done"


async def test_a_context_without_words_is_done_at_once(url: str) -> None:
    async with realtime_client(url) as client:
        heard = await client.speak("a", " ... ")
    assert (heard.final["type"], heard.samples, heard.errors) == ("done", 0, [])


async def test_a_name_is_free_again_when_its_context_is_done(url: str) -> None:
    async with realtime_client(url) as client:
        first = await client.speak("a", "One.")
        second = await client.speak("a", "Two.")
    assert (first.started["number"], second.started["number"]) == (0, 1)
    assert second.final["type"] == "done"


async def test_granian_serves_it_too() -> None:
    with served_by_granian(tone_service()) as url:
        async with realtime_client(url) as client:
            spoken = await client.speak("a", "Good morning.", binary=True)
            stopped = await client.start("b")
            await client.send("cancel", "b")
            await stopped.ended.wait()
    assert (spoken.samples, stopped.final["type"]) == (SAMPLES, "cancelled")


# --- cancelling


@pytest.mark.long
async def test_a_cancel_stops_one_context_within_its_chunk_and_frees_its_slot(url: str, service: SpeechService) -> None:
    before = sample(service, "polyvox_cancel_seconds_sum", door="realtime")
    async with realtime_client(url) as client:
        other = await client.start("other")
        stopped = await client.start("stopped", model="slow")
        await client.send("text", "stopped", text="A long speech.", flush=True)
        await stopped.first_audio.wait()
        await client.send("cancel", "stopped")
        await stopped.ended.wait()
        assert service._admission.active == 0
        assert stopped.final == {"type": "cancelled", "context": "stopped", "samples": stopped.samples, "chunks": 1}
        await client.send("text", "other", text="Still here.")
        await client.send("end", "other")
        await other.ended.wait()
    assert other.samples == SAMPLES
    assert sample(service, "polyvox_cancel_seconds_sum", door="realtime") - before < SLOW_SECONDS
    assert sample(service, "polyvox_cancelled_contexts_total", door="realtime") >= 1


@pytest.mark.long
async def test_what_is_said_next_can_have_the_name_of_what_was_cancelled(url: str) -> None:
    async with realtime_client(url) as client:
        stopped = await client.start("a", model="slow")
        await client.send("text", "a", text="A long speech.", flush=True)
        await stopped.first_audio.wait()
        await client.send("cancel", "a")
        await client.send("cancel", "a")
        for kind, fields in (("start", {}), ("text", {"text": "Another."}), ("end", {})):
            await client.send(kind, "a", **fields)
        await stopped.ended.wait()
        await until(lambda: client.contexts["a"] is not stopped)
        next_one = client.contexts["a"]
        await next_one.ended.wait()
    assert (stopped.final["type"], next_one.final["type"]) == ("cancelled", "done")
    assert next_one.samples == SAMPLES


async def test_a_cancel_that_comes_too_late_is_answered_like_any_other(url: str) -> None:
    async with realtime_client(url) as client:
        await client.send("cancel", "nobody")
        assert await client.other.get() == {"type": "cancelled", "context": "nobody", "samples": 0, "chunks": 0}


async def test_a_context_that_waits_for_its_model_can_be_cancelled(url: str, service: SpeechService) -> None:
    async with realtime_client(url) as client:
        stopped = await client.start("a", model="stuck")
        await client.send("text", "a", text="Never heard.", flush=True)
        await until(lambda: service._admission.active == 1)
        await client.send("cancel", "a")
        await stopped.ended.wait()
        assert idle(service)
    assert stopped.final["type"] == "cancelled"


@pytest.mark.long
async def test_a_client_that_leaves_leaves_nothing_behind(url: str, service: SpeechService) -> None:
    async with realtime_client(url) as client:
        for name in ("a", "b"):
            heard = await client.start(name, model="slow")
            await client.send("text", name, text="A long speech.", flush=True)
        await heard.first_audio.wait()
    await until(lambda: idle(service) and not sample(service, "polyvox_open_sockets"))
    assert not service._sessions


# --- what is wrong with one message or context

BAD = [
    ("[1]", None, "invalid_value", None),
    ("{", None, "invalid_value", None),
    (b"{}", None, "invalid_value", None),
    ({"type": "speak", "context": "a"}, "a", "invalid_value", "type"),
    ({"type": "text", "context": "good", "text": "x", "flsh": 1}, "good", "invalid_value", "flsh"),
    ({"type": "text", "context": "good", "text": "x" * 501}, "good", "invalid_text", "text"),
    ({"type": "text", "context": "nobody", "text": "x"}, "nobody", "not_found", "context"),
    ({"type": "flush", "context": "nobody"}, "nobody", "not_found", "context"),
    ({"type": "end"}, "default", "not_found", "context"),
    ({"type": "start", "context": "good"}, "good", "conflict", "context"),
    ({"type": "start", "context": "a", "format": "ogg"}, "a", "format_not_supported", "format"),
    ({"type": "start", "context": "a", "language": "x y"}, "a", "invalid_value", "language"),
    ({"type": "start", "context": "a", "voice": "nobody"}, "a", "voice_not_found", "voice"),
    ({"type": "start", "context": "a", "voice": "\ud83d"}, "a", "invalid_value", "voice"),
    ({"type": "start", "context": "a", "model": "nothing"}, "a", "model_not_found", "model"),
    ({"type": "start", "context": ["a"]}, None, "invalid_value", "context"),
]


async def test_a_bad_message_is_answered_and_the_other_contexts_go_on(url: str) -> None:
    async with realtime_client(url) as client:
        good = await client.start("good")
        await client.send("text", "good", text="One. ")
        for message, context, code, field in BAD:
            await client.socket.send(json.dumps(message) if isinstance(message, dict) else message)
            error = good.errors.pop() if context == "good" and await got(good) else await client.other.get()
            assert error["type"] == "error", (message, error)
            assert (error["context"], error["param"]) == (context, field), message
            assert code == error["code"], error
            assert error["message"].endswith(".")
            assert error["ended"] is (context not in (None, "good")), message
        await client.send("text", "good", text="Two.")
        await client.send("end", "good")
        await good.ended.wait()
    assert (good.final["type"], good.samples) == ("done", 2 * SAMPLES)


async def got(heard: HeardContext) -> bool:
    await until(lambda: bool(heard.errors))
    return True


async def test_a_message_after_the_end_is_refused(url: str) -> None:
    async with realtime_client(url) as client:
        heard = await client.start("a", model="stuck")
        await client.send("text", "a", text="Something.")
        await client.send("end", "a")
        await client.send("end", "a")
        await client.send("text", "a", text="More.")
        await client.send("flush", "a")
        await until(lambda: len(heard.errors) == 2)
    assert {error["code"] for error in heard.errors} == {"invalid_value"}
    assert not heard.final


async def test_a_context_that_fails_ends_alone(url: str) -> None:
    async with realtime_client(url) as client:
        broken, good = await asyncio.gather(
            client.speak("broken", "It breaks.", model="broken"), client.speak("good", "It holds.")
        )
    assert (broken.final["code"], broken.final["ended"], broken.samples) == ("engine_failed", True, 2_400)
    assert good.final["type"] == "done"


# --- limits


async def test_a_socket_has_so_many_contexts_and_no_more(url: str) -> None:
    async with realtime_client(url) as client:
        for name in "abcd":
            await client.start(name)
        refused = await client.start("e")
        await refused.ended.wait()
        assert (refused.final["code"], refused.final["ended"]) == ("overloaded", True)
        assert refused.final["retry_after"] >= 1
        await client.send("cancel", "a")
        await client.contexts["a"].ended.wait()
        assert (await client.speak("f", "There is room.")).samples == SAMPLES


async def test_a_message_over_the_limit_closes_the_socket(url: str) -> None:
    async with connect(url.replace("http", "ws") + PATH) as socket:
        await socket.send(json.dumps({"type": "text", "text": "x" * 6_000}))
        with pytest.raises(ConnectionClosed) as end:
            await socket.recv()
    assert end.value.rcvd is not None
    assert end.value.rcvd.code == 1009


@pytest.mark.long
async def test_texts_count_as_bodies_until_their_contexts_end() -> None:
    service = tone_service(max_pending_body_bytes=1_048_576, max_input_chars=10**7)
    with served(service) as url:
        async with realtime_client(url) as client:
            heard = await client.start("a")
            number = 0
            while not heard.errors:
                number += 1
                await client.send("text", "a", text="9" * 20_000)
                await until(lambda number=number: service.bodies.used >= 40_000 * number or bool(heard.errors))
            assert (heard.errors[0]["code"], heard.errors[0]["ended"]) == ("overloaded", False)
            assert 900_000 < service.bodies.used <= 1_048_576 + 65_536
            await client.send("cancel", "a")
            await heard.ended.wait()
            await until(lambda: service.bodies.used < 10_000)


@pytest.mark.long
async def test_a_client_that_does_not_read_pauses_only_its_own_synthesis() -> None:
    service = tone_service(ToneEngine(chunks=400, chunk_seconds=10.0))
    with served(service) as url:
        async with connect(url.replace("http", "ws") + PATH, close_timeout=0.1) as silent:
            await silent.send(json.dumps({"type": "start", "binary": True}))
            await silent.send(json.dumps({"type": "text", "text": "A long speech.", "flush": True}))
            await until(lambda: service._admission.active == 0 < sample(service, "polyvox_chunks_total", model="tone"))
            assert sample(service, "polyvox_chunks_total", model="tone") < 200
            async with realtime_client(url) as client:
                heard = await client.start("b")
                await client.send("text", "b", text="Quick.", flush=True)
                await heard.first_audio.wait()


@pytest.mark.long
async def test_a_client_that_never_reads_is_dropped_with_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded_websocket, "_LINGER_SECONDS", 0.2)
    service = tone_service(ToneEngine(chunks=400, chunk_seconds=10.0), stall_seconds=0.3)
    with served(service) as url:
        async with connect(url.replace("http", "ws") + PATH, close_timeout=0.1) as silent:
            await silent.send(json.dumps({"type": "start", "binary": True}))
            await silent.send(json.dumps({"type": "text", "text": "A long speech.", "flush": True}))
            await until(lambda: sample(service, "polyvox_chunks_total", model="tone") > 0)
            await until(lambda: idle(service) and not service._sessions)
            await until(lambda: not sample(service, "polyvox_open_connections"))


async def test_a_stuck_context_does_not_hold_up_others(url: str) -> None:
    async with realtime_client(url) as client:
        stuck = await client.start("stuck", model="stuck")
        await client.send("text", "stuck", text="Not yet.", flush=True)
        assert (await client.speak("a", "Meanwhile.")).samples == SAMPLES
        assert not stuck.samples


@pytest.mark.long
def test_idle_sockets_and_contexts_end_unless_their_client_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(work: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return work(*given, **named)

    monkeypatch.setattr(asyncio, "to_thread", at_once)  # virtual time does not wait for threads
    app, closed = create_app(tone_service(socket_idle_seconds=10, stall_seconds=10)), asyncio.Event()

    async def messages() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "websocket.connect"}
        yield {"type": "websocket.receive", "text": json.dumps({"type": "start", "context": "a"})}
        for number in range(5):
            await asyncio.sleep(9)
            yield {"type": "websocket.receive", "text": json.dumps({"type": "ping", "id": number})}
        async with asyncio.timeout(3600):
            await closed.wait()
        yield {"type": "websocket.disconnect", "code": 1000}

    async def conversation() -> list[tuple[float, dict[str, Any]]]:
        loop, answers = asyncio.get_running_loop(), []

        async def answer(message: dict[str, Any]) -> None:
            answers.append((loop.time() - began, json.loads(message["text"]) if "text" in message else message))
            if message["type"] == "websocket.close":
                closed.set()

        async with app.router.lifespan_context(app):
            began = loop.time()
            scope = {"type": "websocket", "path": PATH, "headers": [], "query_string": b"", "subprotocols": []}
            await app(scope, messages().__anext__, answer)
        return answers

    answers = VirtualTimeLoop().run(conversation())
    assert [message["type"] for _, message in answers[:2]] == ["websocket.accept", "started"]
    assert [(round(at), message) for at, message in answers[2:7]] == [
        (9 * number + 9, {"type": "pong", "id": number}) for number in range(5)
    ]
    (stalled_at, stalled), (ended_at, end) = answers[7:]
    assert (stalled["code"], stalled["ended"]) == ("client_stalled", True)
    assert (end["type"], end["code"]) == ("websocket.close", 1000)
    assert "Nothing was sent" in end["reason"]
    assert 55 <= stalled_at <= ended_at <= 66


# --- who may open it


def caller(allowed_hosts: list[str] | None = None, **settings: Any) -> TestClient:
    return TestClient(create_app(tone_service(**settings), allowed_hosts=allowed_hosts))


@each_row(
    "options",
    [
        {"headers": {"Authorization": "Bearer key-1"}},
        {"url": f"{PATH}?api_key=key-1"},
        {"subprotocols": ["polyvox", "polyvox-key.key-1"]},
    ],
)
def test_a_key_may_come_in_three_ways(options: dict[str, Any]) -> None:
    with caller(api_keys=["key-1"]) as client:
        with client.websocket_connect(**{"url": PATH, **options}) as socket:
            assert socket.accepted_subprotocol == ("polyvox" if "subprotocols" in options else None)
            socket.send_json({"type": "ping"})
            assert socket.receive_json() == {"type": "pong"}
        for wrong in ({}, {"url": f"{PATH}?api_key=key-2"}, {"subprotocols": ["polyvox", "polyvox-key.x"]}):
            with (
                pytest.raises(WebSocketDenialResponse) as refusal,
                client.websocket_connect(**{"url": PATH, **wrong}),
            ):
                pass
            assert refusal.value.status_code == 401
            assert refusal.value.json()["error"]["code"] == "invalid_api_key"


@each_row("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
def test_a_foreign_host_or_page_is_refused(headers: dict[str, str]) -> None:
    with (
        caller(["speech.example"]) as client,
        pytest.raises(WebSocketDenialResponse) as refusal,
        client.websocket_connect(PATH, headers=headers),
    ):
        pass
    assert refusal.value.status_code == 403


def test_sessions_are_counted_for_the_key() -> None:
    service = tone_service(ToneEngine(delay=0.05), api_keys=["key-1"])
    with (
        TestClient(create_app(service)) as client,
        client.websocket_connect(PATH, headers={"Authorization": "Bearer key-1"}) as socket,
    ):
        socket.send_json({"type": "start"})
        socket.send_json({"type": "text", "text": "Hello.", "flush": True})
        wait_for(lambda: bool(service._admission._open))
        assert {ticket.client for ticket in service._admission._open} == {f"key {owner_of('key-1')}"}
