"""`/mcp`: the checks of every door, bounded sessions and calls, and calls that are stopped."""

import asyncio
import json
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Message

from helpers.agent_engine import AgentEngine
from helpers.cloning import Studio, sample
from helpers.fakes import tone_service
from helpers.serving import called, served, wait_for
from helpers.tables import each_row
from polyvox import extras
from polyvox.api import app as application
from polyvox.api.app import create_app
from polyvox.api.dialects.mcp.http import _PatientSend
from polyvox.api.dialects.mcp.session_shares import SessionShares
from polyvox.errors import OverloadedError, UnavailableError

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
ANNA, BERT = "anna's key", "bert's key"


class McpCaller:
    """A client of the handshake generation that shows every response, as the real one does not."""

    def __init__(self, url: str, key: str = "") -> None:
        headers = HEADERS | ({"Authorization": f"Bearer {key}"} if key else {})
        self.http = httpx.Client(base_url=url, headers=headers, timeout=20, trust_env=False)
        self.session = ""

    def post(self, message: object, **headers: str) -> httpx.Response:
        own = {"Mcp-Session-Id": self.session} if self.session else {}
        return self.http.post("/mcp", content=json.dumps(message), headers=own | headers)

    def initialize(self) -> httpx.Response:
        parameters = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        response = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters})
        self.session = response.headers.get("mcp-session-id", "")
        if self.session:
            assert self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status_code == 202
        return response

    def call(self, tool: str, number: int = 1, **arguments: object) -> httpx.Response:
        parameters = {"name": tool, "arguments": arguments}
        return self.post({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": parameters})

    def cancel(self, number: int) -> httpx.Response:
        parameters = {"requestId": number, "reason": "changed my mind"}
        return self.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": parameters})


def result_of(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    lines = [line for line in response.text.splitlines() if line.startswith("data: {")]
    return json.loads(lines[-1][6:])["result"]


@contextmanager
def mcp_server(folder: Path, **settings: Any):
    studio = Studio(folder, AgentEngine(), mcp=True, **settings)
    with served(studio.speech, studio.voices) as url:
        yield studio, url


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    """A server with two keys."""
    limits = {"max_body_bytes": 4_096, "prompt_max_bytes": 3_072, "mcp_max_audio_bytes": 100_000}
    with mcp_server(tmp_path_factory.mktemp("keyed"), api_keys=[ANNA, BERT], **limits) as (studio, url):
        yield studio, url


@pytest.fixture
def anna(keyed):
    caller = McpCaller(keyed[1], ANNA)
    assert caller.initialize().status_code == 200
    return caller


def refusal(response: httpx.Response, status: int) -> str:
    assert response.status_code == status
    body = response.json()
    assert (body["jsonrpc"], body["id"]) == ("2.0", None)
    assert body["error"]["code"] < 0
    return body["error"]["message"]


@pytest.mark.anyio
async def test_without_the_setting_there_is_nothing_and_the_answer_says_how_to_turn_it_on():
    async with called(tone_service()) as client:
        assert "POLYVOX_MCP=true" in refusal(await client.post("/mcp", json={}), 404)


@pytest.mark.anyio
async def test_without_the_package_the_server_does_not_start_and_says_what_to_install(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    app = create_app(tone_service(mcp=True))
    with pytest.raises(UnavailableError, match=r"\.\[mcp\]"):
        async with application._lifespan(app):
            pytest.fail("it has started")


@pytest.mark.long
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
@pytest.mark.parametrize("key", ["", "another key"])
def test_a_key_is_asked_for(keyed, method, key):
    caller = McpCaller(keyed[1], key)
    assert "Bearer KEY" in refusal(caller.http.request(method, "/mcp"), 401)


def test_pages_of_other_origins_are_refused(keyed):
    caller = McpCaller(keyed[1], ANNA)
    for method in ("GET", "POST"):
        response = caller.http.request(method, "/mcp", headers={"Origin": "https://elsewhere.example"})
        assert "cors_origins" in refusal(response, 403)


@pytest.mark.anyio
async def test_the_server_is_not_called_by_a_strange_name():
    app = create_app(tone_service(mcp=True), allowed_hosts=["speech.example"])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://rebound.example") as client:
        assert "allowed_hosts" in refusal(await client.post("/mcp", json={}), 403)


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_over_the_limit_is_refused(keyed, anna, announced):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "padding": "x" * 9_000}).encode()
    content = body if announced else iter([body[:6_000], body[6_000:]])
    assert "limit" in refusal(anna.http.post("/mcp", content=content), 413)


@pytest.mark.long
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 4_000,
        b'{"a":' * 500,
        b"[]",
        b"17",
        b'"tools/call"',
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}',
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"speak","arguments":[]}}',
        b'{"jsonrpc":"2.0","id":1,"method":"\\u0000"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    ],
)
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28", "1999-01-01"])
def test_a_bad_message_is_answered_with_an_error_and_the_session_goes_on(keyed, anna, body, version):
    own = {"Mcp-Session-Id": anna.session, "Mcp-Protocol-Version": version}
    response = anna.http.post("/mcp", content=body, headers=own)
    assert response.status_code < 500
    assert "error" in response.text
    assert "Traceback" not in response.text
    assert result_of(anna.call("voices"))["structuredContent"]["found"] == 2


@pytest.mark.long
@pytest.mark.parametrize("number", ["9" * 4_000, "{}", "null", '"\\u0000"', "1e999"])
def test_a_strange_number_of_a_message_does_no_harm(keyed, anna, number):
    body = f'{{"jsonrpc":"2.0","id":{number},"method":"ping"}}'
    response = anna.http.post("/mcp", content=body, headers={"Mcp-Session-Id": anna.session})
    assert response.status_code < 500
    assert result_of(anna.call("voices"))["structuredContent"]["found"] == 2


def test_a_session_belongs_to_the_key_that_opened_it(keyed, anna):
    bert = McpCaller(keyed[1], BERT)
    bert.session = anna.session
    assert bert.call("voices").status_code == 404
    assert result_of(anna.call("voices"))["structuredContent"]["found"] == 2


def test_a_cloned_voice_is_its_owners_alone(keyed, anna):
    audio = sample(3).hex()
    assert result_of(anna.call("clone", name="Own", audio=audio, consent=True))["isError"]  # hexadecimal is no audio
    written = "c2VlZCAz"  # seed 3
    cloned = result_of(anna.call("clone", name="Own", audio=written, consent=True))
    assert not cloned.get("isError"), cloned
    bert = McpCaller(keyed[1], BERT)
    bert.initialize()
    assert result_of(anna.call("voices", query="own"))["structuredContent"]["found"] == 1
    assert result_of(bert.call("voices", query="own"))["structuredContent"]["found"] == 0
    refused = result_of(bert.call("speak", text="One.", voice=cloned["structuredContent"]["id"]))
    assert refused["isError"]


@pytest.mark.long
def test_audio_over_the_limit_is_refused_and_not_spoken_to_its_end(keyed, anna):
    refused = result_of(anna.call("speak", text="slow without end", format="wav"))
    assert refused["isError"]
    assert "100,000 bytes that are returned; ask for mp3" in refused["content"][0]["text"]
    wait_for(lambda: keyed[0].engine.speaking == 0)


@contextmanager
def in_the_background(caller: McpCaller, number: int):
    """A call that somebody else waits for."""
    answers: list[object] = []

    def wait() -> None:
        try:
            answers.append(caller.call("speak", number, text="slow"))
        except httpx.HTTPError as error:
            answers.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    yield answers
    caller.http.close()
    thread.join()


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A server for two sessions and one call at a time."""
    limits = {"mcp_max_sessions": 2, "mcp_max_calls": 1, "mcp_max_audio_bytes": 1_000_000_000, "max_share": 1.0}
    with mcp_server(tmp_path_factory.mktemp("narrow"), **limits) as (studio, url):
        yield studio, url


def test_a_cancelled_call_stops_the_synthesis_though_others_are_refused(narrow):
    studio, url = narrow
    caller, other = McpCaller(url), McpCaller(url)
    caller.initialize()
    other.session = caller.session
    with in_the_background(caller, 7):
        wait_for(lambda: studio.engine.speaking == 1)
        assert "try again" in refusal(other.call("voices", 8), 429)
        assert other.cancel(7).status_code == 202
        wait_for(lambda: studio.engine.speaking == 0)
        wait_for(lambda: studio.speech.metrics.registry.get_sample_value("polyvox_active_sessions") == 0)
    assert other.http.delete("/mcp", headers={"Mcp-Session-Id": other.session}).status_code == 200


@pytest.mark.long
def test_a_client_of_the_newer_protocol_that_leaves_stops_the_synthesis(narrow):
    studio, url = narrow
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "speak", "arguments": {"text": "slow"}, "_meta": meta},
    }
    headers = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "speak"}
    with httpx.Client(base_url=url, headers=HEADERS | headers, timeout=1.0) as client, pytest.raises(httpx.ReadTimeout):
        client.post("/mcp", json=message)
    wait_for(lambda: studio.engine.speaking == 0)
    assert studio.engine.closed > 0


def test_sessions_are_bounded_and_make_room_when_they_end(narrow):
    _, url = narrow
    callers = [McpCaller(url) for _ in range(3)]
    assert [caller.initialize().status_code for caller in callers] == [200, 200, 429]
    assert callers[0].http.delete("/mcp", headers={"Mcp-Session-Id": callers[0].session}).status_code == 200
    assert callers[2].initialize().status_code == 200


async def answered(message: Message) -> None:
    """A client that takes everything."""


@pytest.mark.anyio
async def test_no_client_has_more_than_its_share_of_the_sessions_until_some_end_or_are_idle():
    now = [0.0]
    shares = SessionShares(sessions=2, calls=1, idle_seconds=60, clock=lambda: now[0])

    async def opened(client: str, session_id: str, status: int = 200) -> None:
        with shares.opening(client, answered) as send:
            headers = [(b"Mcp-Session-Id", session_id.encode())]
            await send({"type": "http.response.start", "status": status, "headers": headers})

    await opened("anna", "refused", status=400)
    await opened("anna", "a1")
    with shares.opening("anna", answered), pytest.raises(OverloadedError, match="2 MCP sessions"):
        await opened("anna", "while another opens")
    await opened("anna", "a2")
    with pytest.raises(OverloadedError):
        await opened("anna", "a3")
    await opened("bert", "b1")
    shares.ended("a1", "bert")
    with pytest.raises(OverloadedError):
        await opened("anna", "a3")
    shares.ended("a1", "anna")
    await opened("anna", "a3")
    with shares.using("a3", "anna"):
        now[0] = 61.0
        await opened("anna", "a4")  # a2 is idle, a3 is not
        with pytest.raises(OverloadedError):
            await opened("anna", "a5")
    with shares.calling("anna"), shares.calling("bert"), pytest.raises(OverloadedError), shares.calling("anna"):
        pass


def test_a_key_that_opens_sessions_leaves_some_for_others(tmp_path):
    with mcp_server(tmp_path, api_keys=[ANNA, BERT], mcp_max_sessions=4, max_share=0.75) as (_, url):
        greedy, others = ([McpCaller(url, key) for _ in range(4)] for key in (ANNA, BERT))
        assert [caller.initialize().status_code for caller in greedy] == [200, 200, 200, 429]
        assert [caller.initialize().status_code for caller in others] == [200, 503, 503, 503]
        assert greedy[0].http.delete("/mcp", headers={"Mcp-Session-Id": greedy[0].session}).status_code == 200
        assert greedy[3].initialize().status_code == 200


@pytest.mark.anyio
@each_row("size", [0, 1, 65_536, 65_537, 200_000])
async def test_an_answer_is_sent_in_parts_whatever_its_size(size):
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    body = bytes(range(256)) * 800
    await _PatientSend(send, 1.0)({"type": "http.response.body", "body": body[:size], "more_body": False})
    assert b"".join(message["body"] for message in sent) == body[:size]
    assert [message["more_body"] for message in sent] == [True] * (len(sent) - 1) + [False]
    assert max(len(message["body"]) for message in sent) <= 65_536


@pytest.mark.anyio
async def test_a_client_that_takes_nothing_is_dropped():
    async def send(message: Any) -> None:
        await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await _PatientSend(send, 0.01)({"type": "http.response.body", "body": b"a"})
