"""`x-request-id`: on every answer, the caller's own where it can be used."""

import re

import pytest
import structlog

from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called
from helpers.tables import each_row

pytestmark = pytest.mark.anyio

MADE = re.compile("[0-9a-f]{32}")


@pytest.mark.long
@each_row(
    ("method", "path", "status"),
    [
        ("GET", "/health", 200),
        ("GET", "/nothing", 404),
        ("GET", "/v1/audio/speech", 405),
        ("POST", "/v1/audio/speech", 400),
        ("GET", "/v1/models/none", 404),
        ("GET", "/docs", 200),
    ],
)
async def test_every_answer_has_one(method, path, status):
    async with called(tone_service()) as client:
        answers = [await client.request(method, path) for _ in range(2)]
        own = await client.request(method, path, headers={"X-Request-Id": "req-7:a/b"})
    assert [answer.status_code for answer in (*answers, own)] == [status] * 3
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert all(MADE.fullmatch(each) for each in ids)
    assert len(set(ids)) == 2
    assert own.headers["x-request-id"] == "req-7:a/b"


@each_row("stream", [True, False])
async def test_speech_and_refusals_before_any_route_have_one(stream):
    async with called(tone_service(api_keys=["key"])) as client:
        refused = await client.post("/v1/audio/speech", json={"input": "Hello."}, headers={"x-request-id": "mine"})
        assert (refused.status_code, refused.headers["x-request-id"]) == (401, "mine")
        client.headers["Authorization"] = "Bearer key"
        spoken = await client.post("/v1/audio/speech", json={"input": "Hello.", "stream": stream})
    assert MADE.fullmatch(spoken.headers["x-request-id"])


@each_row("given", ["", "with space", "x" * 129, "tab\there", "\xe9"])
async def test_an_id_that_cannot_be_used_is_replaced(given):
    async with called(tone_service()) as client:
        answer = await client.get("/health", headers={"x-request-id": given.encode("latin-1")})
    assert MADE.fullmatch(answer.headers["x-request-id"])


async def test_a_defect_and_the_log_name_it():
    with structlog.testing.capture_logs([structlog.contextvars.merge_contextvars]) as logs:
        async with called(tone_service(ToneEngine(fail_at=0))) as client:
            body = {"input": "Hello.", "stream": False}
            failed = await client.post("/v1/audio/speech", json=body, headers={"x-request-id": "find-me"})
    assert (failed.status_code, failed.headers["x-request-id"]) == (500, "find-me")
    assert {line["request_id"] for line in logs if line["event"] in ("engine failed", "session")} == {"find-me"}
