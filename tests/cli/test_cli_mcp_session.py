"""The Model Context Protocol by hand: every answer is one that the protocol's own package reads."""

import asyncio
import json
from typing import Any

import pytest
from mcp_types import CallToolResult, DiscoverResult, InitializeResult, ListToolsResult, jsonrpc_message_adapter

from polyvox.api.dialects.mcp.tool_result import ToolResult, text_content
from polyvox.api.dialects.mcp.tools import SpeechTools, ToolLimits
from polyvox.cli.mcp import session as mcp_session
from polyvox.cli.mcp.session import HANDSHAKE_VERSIONS, McpSession

META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
CALL = {"name": "speak", "arguments": {"text": "One."}}
PLAIN_RESULTS = {"initialize": InitializeResult, "tools/list": ListToolsResult, "tools/call": CallToolResult}
STATELESS_RESULTS = {"server/discover": DiscoverResult, "tools/list": ListToolsResult, "tools/call": CallToolResult}


class Tools(SpeechTools):
    """Tools that answer at once, fail, or take for ever."""

    def __init__(self) -> None:
        super().__init__(ToolLimits(max_chars=20, max_audio_bytes=100, max_recording_bytes=64))
        self.began = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def call(self, name: str, arguments: Any, backend: Any) -> ToolResult:
        if name == "broken":
            raise RuntimeError("a secret")
        if name == "endless":
            self.began.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        if name == "speak":
            return ToolResult((text_content("One."),))
        return await super().call(name, arguments, backend)


class Host:
    """One end of a session, and what it was sent."""

    def __init__(self) -> None:
        self.tools = Tools()
        self.sent = asyncio.Queue[dict[str, Any]]()
        self.session = McpSession(self.tools, None, self._send)

    async def _send(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        jsonrpc_message_adapter.validate_json(line)
        self.sent.put_nowait(json.loads(line))

    def say(self, **message: Any) -> None:
        self.session.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        self.say(id=7, method=method, **({} if params is None else {"params": params}))
        answer = await asyncio.wait_for(self.sent.get(), 5)
        assert answer["id"] == 7
        return answer


def asked(method: str, params: Any = None) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        return await Host().ask(method, params)

    return asyncio.run(run())


def test_both_generations_answer_what_the_protocols_package_reads() -> None:
    for results, meta in ((PLAIN_RESULTS, {}), (STATELESS_RESULTS, {"_meta": META})):
        for method, kind in results.items():
            given = CALL if method == "tools/call" else {}
            result = asked(method, {**given, **meta})["result"]
            kind.model_validate(result)
            assert (result.get("resultType") == "complete") == bool(meta)
    assert asked("ping")["result"] == {}


def test_the_handshake_takes_the_hosts_version_or_offers_the_newest() -> None:
    offers = {**{version: version for version in HANDSHAKE_VERSIONS}, "2023-01-01": HANDSHAKE_VERSIONS[-1]}
    for version, answer in offers.items():
        assert asked("initialize", {"protocolVersion": version})["result"]["protocolVersion"] == answer


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("resources/list", None, -32601),
        ("ping", {"_meta": META}, -32601),
        ("tools/list", [], -32602),
        ("tools/call", {"name": "sing"}, -32602),
        ("tools/call", {"name": 7}, -32602),
        ("tools/call", {"name": "speak", "arguments": []}, -32602),
        ("tools/call", {"name": "broken"}, -32603),
        ("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}}, -32022),
    ],
)
def test_what_cannot_be_answered_is_an_error_of_the_protocol(method: str, params: Any, code: int) -> None:
    error = asked(method, params)["error"]
    assert error["code"] == code
    assert "a secret" not in str(error)


def test_lines_that_are_no_requests_are_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    lines = [b"not JSON\n", b"[" * 100_000, b"[]", b"7", b'{"id": 1}', b'{"id": true, "method": "ping"}', b"\xff\n"]

    async def run() -> dict[str, Any]:
        host = Host()
        for line in lines:
            host.session.receive(line)
        return await host.ask("ping")

    assert asyncio.run(run())["result"] == {}
    assert len([record for record in caplog.records if record.name == mcp_session.__name__]) == len(lines)


@pytest.mark.parametrize("ending", ["cancelled by the host", "closed"])
def test_a_call_under_way_ends_when_the_host_no_longer_wants_it(ending: str) -> None:
    async def run() -> None:
        host = Host()
        host.say(id="a", method="tools/call", params={"name": "endless"})
        await asyncio.wait_for(host.tools.began.wait(), 5)
        if ending == "closed":
            await host.session.close()
        else:
            host.say(method="notifications/cancelled", params={"requestId": "nobody's"})
            host.say(method="notifications/cancelled", params={"requestId": "a", "reason": "no longer wanted"})
        await asyncio.wait_for(host.tools.cancelled.wait(), 5)
        assert (await host.ask("ping"))["result"] == {}
        assert host.sent.empty()

    asyncio.run(run())
