"""The life of one of the server's processes: signals, event loop, and an end with the first process."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import structlog
from structlog.contextvars import bind_contextvars
from uvicorn.loops.auto import auto_loop_factory

from polyvox.config import Settings
from polyvox.errors import PolyvoxError
from polyvox.runtime.device_executor import HANDOVER_SECONDS
from polyvox.server.heap import return_large_blocks
from polyvox.service.telemetry.logs import configure_logging

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


def run_in_child(
    settings: Settings,
    number: int,
    serve: Callable[[Callable[..., None]], Coroutine[Any, Any, None]],
    say: Callable[[Mapping[str, object]], None],
    lifeline: int,
) -> None:
    """Run a part of the server in a process that was just forked; `say` tells the first process how it went.

    `lifeline` is a pipe that nobody writes to: its end is the end of the first process, and so of this one.
    """
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process says when to end
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    configure_logging(settings)
    bind_contextvars(process=number)
    sys.setswitchinterval(HANDOVER_SECONDS)
    return_large_blocks()

    def ready(said: Mapping[str, str] | None = None) -> None:
        say({"ready": said or {}})

    async def live() -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(lifeline, _end_with_the_first, loop, lifeline)
        await serve(ready)

    try:
        with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
            runner.run(live())
    except PolyvoxError as error:
        say({"failed": error.message})
        sys.exit(1)


def _end_with_the_first(loop: asyncio.AbstractEventLoop, lifeline: int) -> None:
    loop.remove_reader(lifeline)
    log.error("the first process has ended")
    os.kill(os.getpid(), signal.SIGTERM)
