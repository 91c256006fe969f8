"""One trace for each request, in its caller's trace, through HTTP, a WebSocket and gRPC."""

import asyncio
import json
from collections import Counter

import grpc
import pytest
import structlog
from opentelemetry.trace import SpanKind, StatusCode
from starlette.testclient import TestClient

from helpers.fakes import ToneEngine, tone_service
from helpers.grpc_clients import GrpcStudio, grpc_channel, speech_client
from helpers.serving import called
from helpers.tables import each_row
from helpers.traces import HEADERS, PARENT, TRACE, KeptSpans, collector, events_of, trace_of
from polyvox.api.app import create_app
from polyvox.service.telemetry.tracer_choice import open_tracer

pytestmark = pytest.mark.anyio

WORDS = "Marmalade sandwiches, please."
BODY = {"input": WORDS, "voice": "low", "response_format": "pcm"}
SPOKEN = ["prepare text", "queue", "synthesize", "encode", "synthesize", "encode", "synthesize", "encode"]


def traced_service(engine=None, sampler=None, **settings):
    spans = KeptSpans(sampler)
    service = tone_service(engine, **settings)
    service.tracer = spans.tracer
    return service, spans


@each_row("stream", [True, False])
async def test_speech_over_http_is_one_trace_in_its_callers(stream):
    service, spans = traced_service()
    async with called(service) as client:
        answer = await client.post(
            "/v1/audio/speech", json=BODY | {"stream": stream}, headers=HEADERS | {"X-Request-Id": "mine-7"}
        )
    assert (answer.status_code, answer.headers["x-request-id"]) == (200, "mine-7")
    root, speech = spans.one("POST /v1/audio/speech"), spans.one("speech tone")
    assert {trace_of(span) for span in spans.all} == {TRACE}
    assert (f"{root.parent.span_id:016x}", root.kind) == (PARENT, SpanKind.SERVER)
    assert root.context.trace_state.to_header() == HEADERS["tracestate"]
    assert spans.children(root) == ["speech tone"]
    assert Counter(spans.children(speech)) == Counter(SPOKEN)
    assert spans.children(speech)[:3] == SPOKEN[:3]
    assert events_of(root) == ["first byte"]
    assert events_of(speech) == (["first audio", "first byte"] if stream else ["first audio"])
    assert dict(root.attributes) == {
        "http.request.method": "POST",
        "http.route": "/v1/audio/speech",
        "http.response.status_code": 200,
        "network.protocol.name": "http",
        "url.scheme": "http",
        "polyvox.request.id": "mine-7",
    }
    known = {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.output.type": "speech",
        "gen_ai.request.model": "tone",
        "polyvox.voice": "low",
        "polyvox.session.id": answer.headers["x-session-id"],
        "polyvox.door": "openai",
        "polyvox.state": "done",
        "polyvox.chunks": 3,
        "polyvox.input.chars": len(WORDS),
    }
    assert known.items() <= dict(speech.attributes).items()
    for span in spans.all:
        assert root.start_time <= span.start_time <= span.end_time <= root.end_time


async def test_no_span_holds_a_word_of_the_text_or_a_key():
    service, spans = traced_service(api_keys=["secret-key"])
    async with called(service) as client:
        for key in ("secret-key", "wrong-key"):
            headers = {"Authorization": f"Bearer {key}"}
            await client.post(f"/v1/audio/speech?note={WORDS}", json=BODY, headers=headers)
        await client.post(f"/nowhere/{WORDS}", headers={"Authorization": "Bearer secret-key"})
    told = " ".join(span.to_json() for span in spans.all)
    assert len(spans.named("POST")) == 2  # refused before there was a route
    assert spans.one("POST /v1/audio/speech")
    assert not any(word in told for word in ("armalade", "sandwich", "secret-key", "wrong-key", "note="))


@each_row(
    ("body", "engine", "status", "error"),
    [
        (BODY | {"voice": "nobody"}, ToneEngine(), 400, "voice_not_found"),
        (BODY | {"stream": False}, ToneEngine(fail_at=0), 500, "engine_failed"),
    ],
)
async def test_a_failure_is_named_by_its_code(body, engine, status, error):
    service, spans = traced_service(engine)
    async with called(service) as client:
        answer = await client.post("/v1/audio/speech", json=body)
    (speech,) = [span for span in spans.all if span.name.startswith("speech")]
    root = spans.one("POST /v1/audio/speech")
    assert (answer.status_code, speech.attributes["error.type"]) == (status, error)
    assert speech.status.status_code is StatusCode.ERROR
    assert root.attributes["http.response.status_code"] == status
    assert root.status.status_code is (StatusCode.ERROR if status >= 500 else StatusCode.UNSET)


async def test_a_long_speech_has_spans_for_its_first_chunks_and_sums_of_all():
    service, spans = traced_service(ToneEngine(chunks=30))
    async with called(service) as client:
        await client.post("/v1/audio/speech", json=BODY)
    long = spans.one("speech tone")
    counts = Counter(spans.children(long))
    assert (counts["synthesize"], counts["encode"], long.attributes["polyvox.chunks"]) == (8, 8, 30)
    assert long.attributes["polyvox.encode_seconds"] > 0


async def test_a_client_that_leaves_ends_its_trace():
    speaking = asyncio.Event()

    class EndlessEngine(ToneEngine):
        async def _work(self):
            speaking.set()
            await asyncio.Event().wait()

    service, spans = traced_service(EndlessEngine())
    async with called(service) as client:
        leaver = asyncio.create_task(client.post("/v1/audio/speech", json=BODY))
        await asyncio.wait_for(speaking.wait(), 5)
        leaver.cancel()
        await asyncio.wait([leaver])
    assert spans.one("speech tone").attributes["polyvox.state"] == "cancelled"
    assert spans.children(spans.one("POST /v1/audio/speech")) == ["speech tone"]


@each_row(
    "traceparent",
    [
        "",
        "nonsense",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01-more",
        f"ff-{TRACE}-{PARENT}-01",
        "00-" * 900,
    ],
)
async def test_a_parent_that_makes_no_sense_is_as_none(traceparent):
    service, spans = traced_service()
    async with called(service) as client:
        answer = await client.post(
            "/v1/audio/speech", json=BODY, headers={"traceparent": traceparent, "tracestate": "=,;" * 500}
        )
    assert answer.status_code == 200
    assert spans.one("POST /v1/audio/speech").parent is None


@pytest.mark.long
async def test_probes_and_pages_are_not_traced():
    service, spans = traced_service()
    async with called(service) as client:
        for path in ("/health", "/ready", "/metrics", "/"):
            assert (await client.get(path)).status_code == 200
        await client.get("/v1/models")
    assert [span.name for span in spans.all] == ["GET /v1/models"]


async def test_a_caller_that_is_not_sampled_is_not_recorded_and_its_lines_have_its_trace():
    service, spans = traced_service()
    with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as lines:
        async with called(service) as client:
            await client.post("/v1/audio/speech", json=BODY, headers={"traceparent": f"00-{TRACE}-{PARENT}-00"})
    assert spans.all == ()
    assert {line["trace_id"] for line in lines if line["event"] == "session"} == {TRACE}


async def test_lines_of_the_log_carry_the_ids_of_their_span():
    service, spans = traced_service()
    with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as lines:
        async with called(service) as client:
            await client.post("/v1/audio/speech", json=BODY, headers={"X-Request-Id": "find-me"})
            await client.post("/v1/audio/speech", json=BODY | {"voice": "nobody"})
    speech, roots = spans.one("speech tone"), spans.named("POST /v1/audio/speech")
    session = next(line for line in lines if line["event"] == "session")
    assert (session["trace_id"], session["span_id"]) == (trace_of(speech), f"{speech.context.span_id:016x}")
    assert (session["request_id"], session["session"]) == ("find-me", speech.attributes["polyvox.session.id"])
    refused = next(line for line in lines if line["event"] == "refused")
    assert refused["span_id"] == f"{roots[1].context.span_id:016x}"


async def test_spans_of_requests_at_once_never_mix():
    service, spans = traced_service(ToneEngine(delay=0.005))
    ids = {f"{number:032x}": f"req-{number}" for number in range(1, 17)}
    with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as lines:
        async with called(service) as client:
            calls = [
                client.post(
                    "/v1/audio/speech",
                    json=BODY,
                    headers={"traceparent": f"00-{trace}-{PARENT}-01", "X-Request-Id": request},
                )
                for trace, request in ids.items()
            ]
            answers = await asyncio.gather(*calls)
    sessions = {answer.headers["x-request-id"]: answer.headers["x-session-id"] for answer in answers}
    assert len(set(sessions.values())) == 16
    for trace, request in ids.items():
        mine = [span for span in spans.all if trace_of(span) == trace]
        assert Counter(span.name for span in mine) == Counter([*SPOKEN, "speech tone", "POST /v1/audio/speech"])
        speech = next(span for span in mine if span.name == "speech tone")
        assert speech.attributes["polyvox.session.id"] == sessions[request]
        known = {span.context.span_id for span in mine}
        assert all(span.parent.span_id in known for span in mine if span.name != "POST /v1/audio/speech")
    told = {(line["trace_id"], line["request_id"], line["session"]) for line in lines if line["event"] == "session"}
    assert told == {(trace, request, sessions[request]) for trace, request in ids.items()}


def test_each_text_on_a_websocket_is_a_request_in_the_trace_of_its_handshake():
    service, spans = traced_service()
    headers = HEADERS | {"x-request-id": "socket-1"}
    with (
        structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as lines,
        TestClient(create_app(service)) as client,
        client.websocket_connect("/v1/realtime/speech", headers=headers) as socket,
    ):
        for context in ("a", "b"):
            socket.send_text(json.dumps({"type": "start", "context": context, "voice": "low"}))
            socket.send_text(json.dumps({"type": "text", "context": context, "text": WORDS}))
            socket.send_text(json.dumps({"type": "end", "context": context}))
            while json.loads(socket.receive_text())["type"] != "done":
                continue
    first, second = spans.named("speech tone")
    for span in (first, second):
        assert (trace_of(span), f"{span.parent.span_id:016x}", span.kind) == (TRACE, PARENT, SpanKind.SERVER)
        assert Counter(spans.children(span)) == Counter(SPOKEN)
        assert events_of(span) == ["first audio", "first byte"]
        assert span.attributes["polyvox.request.id"] == "socket-1"
        assert span.attributes["http.route"] == "/v1/realtime/speech"
        assert span.attributes["network.protocol.name"] == "websocket"
    told = {line["span_id"] for line in lines if line["event"] == "session"}
    assert told == {f"{span.context.span_id:016x}" for span in (first, second)}


async def test_a_grpc_call_is_one_trace_in_its_callers(tmp_path):
    studio, spans = GrpcStudio(tmp_path), KeptSpans()
    studio.speech.tracer = spans.tracer
    messages = speech_client()
    metadata = (*HEADERS.items(), ("x-request-id", "grpc-1"))
    async with grpc_channel(studio) as channel:
        stub = messages.stubs.SpeechStub(channel)
        asked = messages.SpeakRequest(text=WORDS, config=messages.Config(voice="low"))
        call = stub.Speak(asked, metadata=metadata)
        assert [answer async for answer in call]
        assert dict(await call.initial_metadata())["x-request-id"] == "grpc-1"
        wrong = messages.SpeakRequest(text=WORDS, config=messages.Config(voice="nobody"))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Speak(wrong).read()
    good, refused = spans.named("polyvox.v1.Speech/Speak")
    assert (trace_of(good), f"{good.parent.span_id:016x}", good.kind) == (TRACE, PARENT, SpanKind.SERVER)
    assert dict(good.attributes) == {
        "rpc.system.name": "grpc",
        "rpc.method": "polyvox.v1.Speech/Speak",
        "rpc.response.status_code": "OK",
        "polyvox.request.id": "grpc-1",
    }
    speech = next(span for span in spans.named("speech tone") if trace_of(span) == TRACE)
    assert spans.children(good) == ["speech tone"]
    assert Counter(spans.children(speech)) == Counter(SPOKEN)
    assert events_of(speech) == ["first audio", "first byte"]
    assert refused.attributes["rpc.response.status_code"] == "INVALID_ARGUMENT"
    assert refused.status.status_code is StatusCode.UNSET
    assert dict(caught.value.trailing_metadata())["x-request-id"] == refused.attributes["polyvox.request.id"]


async def test_a_collector_receives_the_spans_by_otlp(monkeypatch):
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
    with collector() as received:
        service = tone_service(otlp_endpoint=received.url + "/")
        service.tracer = open_tracer(service.settings, service.metrics.spans_dropped)
        async with called(service) as client:
            await client.post("/v1/audio/speech", json=BODY, headers=HEADERS)
    assert set(received.paths) == {"/v1/traces"}
    assert {span.trace_id.hex() for span in received.spans} == {TRACE}
    assert Counter(span.name for span in received.spans) == Counter([*SPOKEN, "speech tone", "POST /v1/audio/speech"])
    (root,) = [span for span in received.spans if span.name == "POST /v1/audio/speech"]
    assert (root.parent_span_id.hex(), root.trace_state) == (PARENT, HEADERS["tracestate"])
    assert received.resource["service.name"] == "polyvox"
    assert received.resource["deployment.environment.name"] == "test"
