"""MCP over standard input and output, until the host closes them."""

import asyncio
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, closing, contextmanager, redirect_stdout
from typing import BinaryIO

from polyvox.api.dialects.mcp.backend import McpBackend
from polyvox.api.dialects.mcp.tools import SpeechTools, ToolLimits
from polyvox.cli.mcp.machine import UserMachine
from polyvox.cli.mcp.session import McpSession

log = logging.getLogger(__name__)

_SMALL_PARTS = 1_000_000
"""Bytes of a message beside the recording in it."""


async def serve_stdio(
    limits: ToolLimits, machine: UserMachine, opening: AbstractAsyncContextManager[McpBackend]
) -> None:
    """Serve one host. Meanwhile everything else that is printed goes to standard error."""
    max_bytes = limits.max_recording_bytes * 4 // 3 + _SMALL_PARTS
    with _claimed_pipes() as (received, sent), redirect_stdout(sys.stderr):
        writing = asyncio.Lock()

        async def send(line: bytes) -> None:
            async with writing:
                await asyncio.shield(asyncio.to_thread(_write, sent, line))

        async with opening as backend:
            session = McpSession(SpeechTools(limits, machine), backend, send)
            try:
                while line := await asyncio.to_thread(_read_line, received, max_bytes):
                    session.receive(line)
            finally:
                await session.close()


def _read_line(received: BinaryIO, max_bytes: int) -> bytes:
    """The next line, or nothing at the end; a line that is too long is passed over."""
    while len(line := received.readline(max_bytes + 1)) > max_bytes:
        log.warning("A message of more than %d bytes was passed over.", max_bytes)
        while line and not line.endswith(b"\n"):
            line = received.readline(max_bytes)
    return line


def _write(sent: BinaryIO, line: bytes) -> None:
    sent.write(line)
    sent.flush()


@contextmanager
def _claimed_pipes() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The host's pipes under descriptors of their own, which no library and no player knows."""
    with closing(os.fdopen(os.dup(0), "rb")) as received, closing(os.fdopen(os.dup(1), "wb")) as sent:
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # a host may start its servers without standard error
            os.dup2(nowhere, 1)
        os.close(nowhere)
        yield received, sent
