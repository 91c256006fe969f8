"""MCP over standard input and output, until the host closes them."""

from mcp.server.stdio import stdio_server

from polyvox.api.mcp.server import create_server
from polyvox.api.mcp.tools import SpeechTools, ToolLimits
from polyvox.cli.mcp_backends import RemoteBackend, StartingBackend
from polyvox.cli.mcp_machine import UserMachine


async def serve_stdio(limits: ToolLimits, machine: UserMachine, backend: StartingBackend | RemoteBackend) -> None:
    """Serve one host. Meanwhile everything else that is printed goes to standard error."""
    server = create_server(SpeechTools(limits, machine), lambda _: backend)
    async with stdio_server() as (received, sent), backend:
        await server.run(received, sent, server.create_initialization_options())
