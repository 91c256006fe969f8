"""The MCP server: the protocol around the tools, over HTTP."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import structlog
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
)

from polyvox import __version__
from polyvox.api.dialects.mcp.backend import McpBackend
from polyvox.api.dialects.mcp.tools import INSTRUCTIONS, SpeechTools
from polyvox.errors import NotFoundError

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Context = ServerRequestContext[Any, Any]
Result = TypeVar("Result")


def create_server(tools: SpeechTools, backend_of: Callable[[Context], McpBackend]) -> Server[Any]:
    """A server of the tools; `backend_of` gives the backend that works for the caller of a request."""
    calls = _DetachedCalls()

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(each) for each in tools.definitions])

    async def call_tool(context: Context, asked: CallToolRequestParams) -> CallToolResult:
        try:
            result = await calls.run(tools.call(asked.name, asked.arguments, backend_of(context)))
            return CallToolResult.model_validate(result.as_json())
        except NotFoundError as error:
            raise MCPError(INVALID_PARAMS, error.message) from error
        except Exception as error:
            log.exception("tool failed", tool=asked.name[:80])
            raise MCPError(INTERNAL_ERROR, "The tool failed; the cause is in the log of Polyvox.") from error

    return Server(
        "polyvox",
        version=__version__,
        title="Polyvox",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class _DetachedCalls:
    """Calls in tasks of their own, which a cancelled request cancels once.

    The transports cancel a request again at each of its awaits, so that nothing could be cleaned up within it.
    """

    def __init__(self) -> None:
        self._tasks = set[asyncio.Task[Any]]()

    async def run(self, call: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.create_task(call)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            raise
