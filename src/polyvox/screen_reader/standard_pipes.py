"""Standard input and output as the pipes of a host, which nothing else in the process reads or prints to."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import structlog

from polyvox.screen_reader.host_pipe import MAX_LINE_BYTES, HostPipe

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_PIPE_BYTES: Final = 4096
"""Most that waits in the pipe: a twelfth of a second of audio, which is still played after a stop."""


@asynccontextmanager
async def standard_pipes() -> AsyncIterator[HostPipe]:
    """Claim both; what libraries print goes to standard error."""
    received, sent = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    _shorten(sent.fileno())
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), received)
    writing, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sent)
    writing.set_write_buffer_limits(0)
    writer = asyncio.StreamWriter(writing, protocol, None, loop)
    try:
        yield HostPipe(reader, writer)
        await writer.drain()
    finally:
        reading.close()
        writing.close()


def _shorten(pipe: int) -> None:
    """Have little wait in the pipe, where the system lets its size be set: on Linux."""
    if not hasattr(fcntl, "F_SETPIPE_SZ"):
        return
    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except OSError as error:
        log.debug("pipe keeps its size", error=str(error))
