"""Keys in the wrong hands: one that may only speak registers nothing, and what is open with a revoked one ends."""

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from helpers.attacked_server import attacked_server
from helpers.grpc_clients import speech_client
from helpers.processes import ProgramProcess
from helpers.quick_server import PROGRAM
from helpers.realtime_client import PATH
from polyvox.service.keys.record import Limits
from polyvox.service.keys.store import KeyStore

pytestmark = [pytest.mark.anyio, pytest.mark.long]

END_SECONDS = 5.0
"""Within which everything has ended: the file is looked at every second, and a call has one more to end by itself."""
SLOW = "slow, and for as long as somebody listens"
SPEECH = {"input": SLOW, "voice": "af_heart", "stream": True, "response_format": "pcm"}
MCP = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
REALTIME = "/v1/realtime"


@dataclass
class Attacked:
    """A server with keys."""

    server: ProgramProcess
    store: KeyStore

    def key(self, name: str, *scopes: str) -> dict[str, str]:
        """The headers of a new key, which the server knows when this returns."""
        headers = {"Authorization": f"Bearer {self.store.create(name, scopes, Limits()).secret}"}
        until = time.monotonic() + END_SECONDS
        while httpx.get(f"{self.server.url}/v1/models", headers=headers).status_code != 200:
            assert time.monotonic() < until, "the new key was not taken"
            time.sleep(0.05)
        return headers


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    folder: Path = tmp_path_factory.mktemp("server")
    store = KeyStore(folder / "data" / "keys.sqlite")
    store.create("first", ["speak"], Limits())
    with attacked_server(folder, program=PROGRAM, mcp=True, grpc_port=0) as server:
        yield Attacked(server, store)


async def test_a_key_that_may_speak_registers_no_voice_at_any_door(attacked: Attacked) -> None:
    headers = attacked.key("talker", "speak")
    audio = base64.b64encode(b"RIFF").decode()
    voice = {"name": "Stolen", "audio": audio, "consent": True}
    async with httpx.AsyncClient(base_url=attacked.server.url, headers=headers) as client:
        tried = {
            "clone": await mcp_call(client, "clone", voice),
            "voices": await client.post("/v1/voices", json=voice),
            "zipvoice": await client.post("/v1/zipvoice/voices/register", json=voice),
            "fit": await client.post("/v1/voices/fit", json=voice),
            "dictionary": await client.put("/v1/dictionaries/mine", json={"entries": []}),
        }
        listed = (await client.get("/v1/voices")).json()["data"]
    assert not {door: answer.text for door, answer in tried.items() if "lacks the scope 'voices'" not in answer.text}
    assert listed == []


async def mcp_call(client: httpx.AsyncClient, tool: str, arguments: dict[str, object]) -> httpx.Response:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "trial", "version": "1"}}
    opened = await mcp_post(client, {}, id=0, method="initialize", params=hello)
    session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
    await mcp_post(client, session, method="notifications/initialized")
    return await mcp_post(client, session, id=1, method="tools/call", params={"name": tool, "arguments": arguments})


async def mcp_post(client: httpx.AsyncClient, session: dict[str, str], **message: object) -> httpx.Response:
    return await client.post("/mcp", json={"jsonrpc": "2.0", **message}, headers=MCP | session)


class Open:
    """Everything that a client can have open with a key; each knows how it ended."""

    def __init__(self, attacked: Attacked, headers: dict[str, str], stack: AsyncExitStack) -> None:
        self._server = attacked.server
        self._headers = headers
        self._stack = stack
        self.ends: dict[str, Callable[[], Awaitable[str]]] = {}

    async def open(self) -> None:
        """Open it all, and hear that it speaks."""
        http = await self._stack.enter_async_context(httpx.AsyncClient(base_url=self._server.url, timeout=30))
        await self._stream(http, "audio", SPEECH)
        await self._stream(http, "events", SPEECH | {"stream_format": "sse"})
        secret = await http.post(f"{REALTIME}/client_secrets", json={}, headers=self._headers)
        self.ephemeral = {"Authorization": f"Bearer {secret.json()['value']}"}
        await self._socket("idle socket", PATH, self._headers)
        await self._socket("socket of an ephemeral key", REALTIME, self.ephemeral)
        speaking = await self._socket("speaking socket", PATH, self._headers)
        await speaking.send(json.dumps({"type": "start", "context": "a"}))
        await speaking.send(json.dumps({"type": "text", "context": "a", "text": f"{SLOW}. "}))
        await speaking.send(json.dumps({"type": "end", "context": "a"}))
        await self._grpc()

    async def _stream(self, http: httpx.AsyncClient, name: str, body: dict[str, object]) -> None:
        asked = http.stream("POST", "/v1/audio/speech", json=body, headers=self._headers)
        response = await self._stack.enter_async_context(asked)
        parts = response.aiter_bytes()
        assert await anext(parts)

        async def end() -> str:
            return await last_of(parts)

        self.ends[name] = end

    async def _socket(self, name: str, path: str, headers: dict[str, str]) -> ClientConnection:
        url = self._server.url.replace("http", "ws") + path
        socket = await self._stack.enter_async_context(connect(url, additional_headers=headers))

        async def end() -> str:
            return await closing_of(socket)

        self.ends[name] = end
        return socket

    async def _grpc(self) -> None:
        channel = await self._stack.enter_async_context(grpc.aio.insecure_channel(self._server.grpc))
        client = speech_client()
        metadata = tuple((name.lower(), value) for name, value in self._headers.items())
        request = client.SpeakRequest(config=client.Config(voice="af_heart"), text=SLOW)
        call = client.stubs.SpeechStub(channel).Speak(request, metadata=metadata)
        await call.read()

        async def end() -> str:
            try:
                while await call.read() is not grpc.aio.EOF:
                    pass
            except grpc.aio.AioRpcError as error:
                return error.code().name
            return (await call.code()).name

        self.ends["gRPC"] = end


async def last_of(parts: AsyncIterator[bytes]) -> str:
    """How a body ended: broken, or with these last bytes."""
    tail = b""
    try:
        async for part in parts:
            tail = (tail + part)[-2_000:]
    except httpx.RemoteProtocolError:
        return "broken"
    return tail.decode(errors="replace")


async def closing_of(socket: ClientConnection) -> str:
    try:
        while True:
            await socket.recv()
    except ConnectionClosed as closed:
        return f"{closed.rcvd.code} {closed.rcvd.reason}" if closed.rcvd else "cut"


async def timed(work: Callable[[], Awaitable[str]]) -> tuple[str, float]:
    began = time.monotonic()
    async with asyncio.timeout(30):
        return await work(), time.monotonic() - began


async def test_a_revoked_key_ends_everything_that_is_open_with_it(attacked: Attacked) -> None:
    headers, other = attacked.key("leaver", "speak"), attacked.key("stayer", "speak")
    async with AsyncExitStack() as stack:
        mine, theirs = Open(attacked, headers, stack), Open(attacked, other, stack)
        await mine.open()
        await theirs.open()
        going_on = {name: asyncio.create_task(timed(end)) for name, end in theirs.ends.items()}
        attacked.store.revoke("leaver")
        found: dict[str, Any] = dict(zip(mine.ends, await asyncio.gather(*map(timed, mine.ends.values())), strict=True))
        print(json.dumps({name: round(seconds, 2) for name, (_, seconds) in found.items()}))
        assert max(seconds for _, seconds in found.values()) < END_SECONDS, found
        ends = {name: end for name, (end, _) in found.items()}
        assert ends.pop("audio") == "broken"
        assert "revoked" in ends.pop("events")
        assert ends.pop("gRPC") == "UNAUTHENTICATED"
        assert not {name: end for name, end in ends.items() if not end.startswith("1008 This key was revoked")}
        assert not [name for name, task in going_on.items() if task.done()], "another key's were ended too"
        await refused(attacked, headers, mine.ephemeral)
        for task in going_on.values():
            task.cancel()
        await asyncio.gather(*going_on.values(), return_exceptions=True)
    assert '"key": "leaver"' in attacked.server.log()


async def refused(attacked: Attacked, headers: dict[str, str], ephemeral: dict[str, str]) -> None:
    """Neither the key nor what was made with it opens anything any more."""
    async with httpx.AsyncClient(base_url=attacked.server.url) as client:
        assert (await client.post("/v1/audio/speech", json=SPEECH, headers=headers)).status_code == 401
    for key in (headers, ephemeral):
        with pytest.raises(InvalidStatus) as denied:
            await connect(attacked.server.url.replace("http", "ws") + REALTIME, additional_headers=key)
        assert denied.value.response.status_code == 401
