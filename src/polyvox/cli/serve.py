"""`polyvox serve`: the server."""

from pathlib import Path
from typing import Annotated

import typer


def serve(
    host: Annotated[str | None, typer.Option(help="Address to bind; 127.0.0.1 unless set.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", "-p", help="Port to bind; 8880 unless set, 0: any free.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="Model to load; give it again for more.")
    ] = None,
    models_dir: Annotated[Path | None, typer.Option(help="Folder of installed models.")] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
) -> None:
    """Serve speech over HTTP."""
    from polyvox.cli.server import run_server
    from polyvox.config import load
    from polyvox.engines.catalog import ENGINES

    given = {"host": host, "port": port, "models": model or None, "models_dir": models_dir, "log_level": log_level}
    settings = load(**given)
    if model and settings.default_model not in model:
        settings = load(**given, default_model=model[0])
    run_server(settings, ENGINES)
