"""McpSession: the Model Context Protocol with one host, message by message.

Written out here, since to import the package that speaks it takes longer than to start all the rest. Both generations
are answered: with a handshake, and the one in which every request names its version.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from polyvox import __version__
from polyvox.api.dialects.mcp.backend import McpBackend
from polyvox.api.dialects.mcp.tools import INSTRUCTIONS, SpeechTools
from polyvox.errors import NotFoundError

log = logging.getLogger(__name__)

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS = ("2026-07-28",)
INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022
_META = "io.modelcontextprotocol"
_SERVER = {"name": "polyvox", "title": "Polyvox", "version": __version__}
_CAPABILITIES = {"tools": {"listChanged": False}}
_NOT_CACHED = {"ttlMs": 0, "cacheScope": "private"}

Message = dict[str, Any]
Params = Mapping[str, Any]


class ProtocolError(Exception):
    """An answer that is no result."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.error: Message = {"code": code, "message": message} | ({} if data is None else {"data": data})


class McpSession:
    """Answers the requests of one host, each in a task of its own, so that one can be cancelled."""

    def __init__(self, tools: SpeechTools, backend: McpBackend, send: Callable[[bytes], Awaitable[None]]) -> None:
        self._tools = tools
        self._backend = backend
        self._send = send
        self._tasks = dict[str | int, asyncio.Task[None]]()

    def receive(self, line: bytes) -> None:
        """Take a message. One without an id that could be answered is logged and passed over."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            log.warning("A line that is no JSON was passed over.")
            return
        method, request_id = (message.get("method"), message.get("id")) if isinstance(message, dict) else (None, None)
        if not isinstance(method, str):
            log.warning("A message that is neither a request nor a notification was passed over.")
        elif request_id is None:
            self._notified(method, message.get("params"))
        elif not isinstance(request_id, str | int) or isinstance(request_id, bool) or request_id in self._tasks:
            log.warning("A request was passed over: its id is no text and no whole number, or is in use.")
        else:
            task = asyncio.create_task(self._answer(request_id, method, message.get("params")))
            self._tasks[request_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(request_id))

    async def close(self) -> None:
        """Cancel what is under way, and wait for its end."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _notified(self, method: str, params: object) -> None:
        if method == "notifications/cancelled" and isinstance(params, dict):
            cancelled = params.get("requestId")
            task = self._tasks.get(cancelled) if isinstance(cancelled, str | int) else None
            if task is not None:
                task.cancel()

    async def _answer(self, request_id: str | int, method: str, params: object) -> None:
        try:
            answer = {"result": await self._result(method, params)}
        except ProtocolError as refusal:
            answer = {"error": refusal.error}
        except Exception:
            log.exception("The request %r failed.", method[:80])
            answer = {"error": {"code": INTERNAL_ERROR, "message": "The tool failed; the cause is in Polyvox's log."}}
        written = json.dumps({"jsonrpc": "2.0", "id": request_id, **answer}, ensure_ascii=False)
        await self._send(written.encode("utf-8", "replace") + b"\n")

    async def _result(self, method: str, given: object) -> Message:
        if given is not None and not isinstance(given, dict):
            raise ProtocolError(INVALID_PARAMS, "'params' must be an object.")
        params: Params = given or {}
        meta = params.get("_meta")
        version = meta.get(f"{_META}/protocolVersion") if isinstance(meta, dict) else None
        if version is None or method == "initialize":
            return await self._handshake_result(method, params)
        if version not in STATELESS_VERSIONS:
            supported = {"supported": list(STATELESS_VERSIONS), "requested": str(version)[:80]}
            raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", supported)
        result = await self._stateless_result(method, params)
        return {**result, "resultType": "complete", "_meta": {f"{_META}/serverInfo": _SERVER}}

    async def _handshake_result(self, method: str, params: Params) -> Message:
        if method == "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
                "capabilities": _CAPABILITIES,
                "serverInfo": _SERVER,
                "instructions": INSTRUCTIONS,
            }
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": self._tools.definitions}
        return await self._called(method, params)

    async def _stateless_result(self, method: str, params: Params) -> Message:
        if method == "server/discover":
            offered = {"supportedVersions": list(STATELESS_VERSIONS), "capabilities": _CAPABILITIES}
            return {**offered, "instructions": INSTRUCTIONS, **_NOT_CACHED}
        if method == "tools/list":
            return {"tools": self._tools.definitions, **_NOT_CACHED}
        return await self._called(method, params)

    async def _called(self, method: str, params: Params) -> Message:
        if method != "tools/call":
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method[:80])
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            raise ProtocolError(INVALID_PARAMS, "'name' must be text and 'arguments' an object.")
        try:
            return (await self._tools.call(name, arguments, self._backend)).as_json()
        except NotFoundError as error:
            raise ProtocolError(INVALID_PARAMS, error.message) from error
