"""A trace goes on in the process of an engine: its span, its lines of the log."""

import pickle

import pytest
import structlog

from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called
from helpers.traces import HEADERS, TRACE, KeptSpans, trace_of
from helpers.transports import PickledTransport, replica_of
from polyvox.deploy.remote_engine import remote_engine
from polyvox.types import EngineLocation

pytestmark = pytest.mark.anyio

BODY = {"input": "Hello.", "voice": "low"}


async def asked(engine, doors, there, headers=HEADERS, losses=0):
    """Ask a server whose engine runs in a replica; both may have a tracer."""
    tracer = None if there is None else there.tracer
    replica = await replica_of(engine, place=EngineLocation(actor="a1", node="n1"), tracer=tracer)
    transport = PickledTransport(replica, losses=losses)
    remote = remote_engine(await replica.describe(), transport)
    service = tone_service(factories={"tone": lambda _: remote})
    service.tracer = None if doors is None else doors.tracer
    async with called(service) as client:
        answer = await client.post("/v1/audio/speech", json=BODY, headers=headers)
    await replica.close()
    return answer, transport


async def test_a_replica_has_a_span_below_the_session_and_lines_with_its_ids():
    doors, there = KeptSpans(), KeptSpans()

    class TellingEngine(ToneEngine):
        async def _work(self):
            structlog.get_logger().info("working")

    with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as lines:
        answer, _ = await asked(TellingEngine(), doors, there)
    assert answer.status_code == 200
    speech, far = doors.one("speech tone"), there.one("replica tone")
    assert trace_of(speech) == trace_of(far) == TRACE
    assert far.parent.span_id == speech.context.span_id
    assert far.context.trace_state.to_header() == HEADERS["tracestate"]
    assert dict(far.attributes) == {
        "polyvox.engine": "tone",
        "polyvox.session.id": answer.headers["x-session-id"],
        "polyvox.ray.actor": "a1",
        "polyvox.ray.node": "n1",
    }
    told = {(line["trace_id"], line["span_id"]) for line in lines if line["event"] == "working"}
    assert told == {(TRACE, f"{far.context.span_id:016x}")}


async def test_an_attempt_that_lost_its_replica_has_a_span_of_its_own():
    doors, there = KeptSpans(), KeptSpans()
    answer, _ = await asked(ToneEngine(), doors, there, losses=1)
    assert answer.status_code == 200
    assert {span.parent.span_id for span in there.all} == {doors.one("speech tone").context.span_id}


async def test_a_replica_names_the_failure():
    there = KeptSpans()
    answer, _ = await asked(ToneEngine(fail_at=0), KeptSpans(), there)
    assert answer.status_code == 500
    assert there.one("replica tone").attributes["error.type"] == "RuntimeError"


async def test_nothing_is_sent_where_the_doors_do_not_trace_and_no_tracer_is_needed_there():
    there = KeptSpans()
    answer, transport = await asked(ToneEngine(), None, there)
    assert (answer.status_code, there.all) == (200, ())
    assert [pickle.loads(pickle.dumps(call[1][-1])) for call in transport.calls] == [{}]
    answer, transport = await asked(ToneEngine(), doors := KeptSpans(), None)
    assert transport.calls[0][1][-1]["traceparent"].startswith(f"00-{TRACE}-")
    assert (answer.status_code, len(doors.named("speech tone"))) == (200, 1)
