"""MCP over standard input and output, until the host closes them."""

import sys
from contextlib import AbstractAsyncContextManager, redirect_stdout

from mcp.server.stdio import stdio_server

from polyvox.api.dialects.mcp.backend import McpBackend
from polyvox.api.dialects.mcp.server import create_server
from polyvox.api.dialects.mcp.tools import SpeechTools, ToolLimits
from polyvox.cli.mcp.machine import UserMachine


async def serve_stdio(
    limits: ToolLimits, machine: UserMachine, opening: AbstractAsyncContextManager[McpBackend]
) -> None:
    """Serve one host. Meanwhile everything else that is printed goes to standard error.

    The transport diverts the descriptor; what Python buffers would be written after that has ended.
    """
    async with stdio_server() as (received, sent):
        with redirect_stdout(sys.stderr):
            async with opening as backend:
                server = create_server(SpeechTools(limits, machine), lambda _: backend)
                await server.run(received, sent, server.create_initialization_options())
