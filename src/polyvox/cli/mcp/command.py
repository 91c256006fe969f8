"""`polyvox mcp`: speech as tools for an agent's host, over standard input and output."""

import asyncio
import logging
import signal
from pathlib import Path
from typing import Annotated

import typer

from polyvox.cli.say import UNLIMITED_SECONDS, Key, ModelsDir, settings_loader_for

Server = Annotated[str | None, typer.Option(help="Speak through the server at this address, not in this process.")]
Folder = Annotated[
    Path | None, typer.Option(help="Folder that the agent may write speech to, and read recordings from.")
]
Model = Annotated[str | None, typer.Option("--model", "-m", help="Model for calls that name none.")]


def serve_mcp(
    context: typer.Context,
    server: Server = None,
    api_key: Key = None,
    folder: Folder = None,
    model: Model = None,
    models_dir: ModelsDir = None,
) -> None:
    """Give an agent speech as tools: MCP over standard input and output."""
    from polyvox.errors import InvalidRequestError
    from polyvox.runtime.garbage import lasting_imports

    with lasting_imports():
        from polyvox.api.dialects.mcp.tools import ToolLimits
        from polyvox.cli.mcp.machine import UserMachine
        from polyvox.cli.mcp.stdio import serve_stdio
        from polyvox.client_messages import server_address

    if folder is not None and not folder.is_dir():
        raise InvalidRequestError(f"{folder} is not a folder; make it first, or name another.", field="folder")
    settings = settings_loader_for(server).load(
        models_dir=models_dir,
        models=[model] if model else None,
        default_model=model,
        deadline_seconds=UNLIMITED_SECONDS,
        stall_seconds=UNLIMITED_SECONDS,
        max_wait_seconds=UNLIMITED_SECONDS,
        log_level="debug" if context.find_root().params["debug"] else "warning",
    )
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that waits for a message would keep the process alive
    limits, machine = ToolLimits.of(settings), UserMachine(None if folder is None else folder.resolve())
    if server is None:
        from polyvox.cli.mcp.local_backend import StartingBackend
        from polyvox.service.telemetry.logs import configure_logging

        configure_logging(settings)
        asyncio.run(serve_stdio(limits, machine, StartingBackend(settings)))
    else:
        from polyvox.cli.mcp.remote_backend import RemoteBackend

        logging.basicConfig(level=settings.log_level.upper())
        remote = RemoteBackend(server_address(server, "server"), api_key, model)
        asyncio.run(serve_stdio(limits, machine, remote))
