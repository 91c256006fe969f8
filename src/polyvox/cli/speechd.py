"""`polyvox speechd`: an output module of Speech Dispatcher, for Orca and other screen readers."""

import asyncio
import logging
from typing import TYPE_CHECKING, Annotated

import typer

from polyvox.cli.say import UNLIMITED_SECONDS, Key, ModelsDir, settings_loader_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from polyvox.screen_reader.synthesizer import Synthesizer

Configuration = Annotated[
    str | None, typer.Argument(metavar="[CONFIG]", help="What Speech Dispatcher passes; it is not read.")
]
Server = Annotated[str | None, typer.Option(help="Speak through the server at this address, not in this process.")]
Model = Annotated[str | None, typer.Option("--model", "-m", help="Model to speak with.")]
Voice = Annotated[str, typer.Option("--voice", "-v", help="Voice where the screen reader names none.")]


def speechd(
    context: typer.Context,
    configuration: Configuration = None,
    server: Server = None,
    api_key: Key = None,
    model: Model = None,
    voice: Voice = "",
    models_dir: ModelsDir = None,
) -> None:
    """Speak for a screen reader: started by Speech Dispatcher, over standard input and output."""
    from polyvox.cli.slim_structlog import slim_structlog
    from polyvox.runtime.garbage import lasting_imports

    with lasting_imports():
        loader = settings_loader_for(server)
    settings = loader.load(
        models_dir=models_dir,
        models=[model] if model else None,
        default_model=model,
        max_sessions=1,
        deadline_seconds=UNLIMITED_SECONDS,
        stall_seconds=UNLIMITED_SECONDS,
        log_level="debug" if context.find_root().params["debug"] else "warning",
    )
    opening: Callable[[], AbstractAsyncContextManager[Synthesizer]]
    if server is None:
        with lasting_imports(), slim_structlog():
            from polyvox.screen_reader.service_synthesizer import service_synthesizer
            from polyvox.service.telemetry.logs import configure_logging

        configure_logging(settings)

        def opening() -> "AbstractAsyncContextManager[Synthesizer]":
            return service_synthesizer(settings)
    else:
        from polyvox.cli.slim_httpx import slim_httpx

        with lasting_imports(), slim_httpx():
            from polyvox.client import server_address
            from polyvox.screen_reader.server_synthesizer import server_synthesizer

        logging.basicConfig(level=settings.log_level.upper())
        url = server_address(server, "server")

        def opening() -> "AbstractAsyncContextManager[Synthesizer]":
            return server_synthesizer(url, api_key, model)

    asyncio.run(_serve(opening, voice))


async def _serve(opening: "Callable[[], AbstractAsyncContextManager[Synthesizer]]", voice: str) -> None:
    from polyvox.screen_reader.output_module import OutputModule
    from polyvox.screen_reader.standard_pipes import standard_pipes

    async with standard_pipes() as host:
        await OutputModule(host, opening, voice).run()
