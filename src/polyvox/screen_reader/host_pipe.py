"""HostPipe: the lines and events of Speech Dispatcher's module protocol, over two pipes."""

import asyncio
import re
from dataclasses import dataclass
from typing import Final, Protocol

from polyvox.audio.pcm import to_pcm16
from polyvox.screen_reader.synthesizer import Samples

MAX_LINE_BYTES: Final = 1_000_000
"""The longest line that is read."""
MAX_BLOCK_BYTES: Final = 1_000_000
"""The longest message, or list of parameters."""
BLOCK_SECONDS: Final = 0.02
"""The length of one audio event: what is heard at least of a message that is stopped."""

_ESCAPED: Final = re.compile(rb"[\n\x7d]")
_END: Final = b"."
_TOO_LONG: Final = b" " * (MAX_BLOCK_BYTES + 1)


class Writer(Protocol):
    """The part of `asyncio.StreamWriter` that is used."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that followed a command, up to the one with a dot alone; without lines where they were too long."""

    lines: tuple[str, ...]
    is_too_long: bool = False


class HostPipe:
    """One host. Each event is one write, so that replies never fall into the middle of one."""

    def __init__(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    async def command(self) -> str | None:
        """The next line; None where the host has left. A line that is too long is empty: no command."""
        line = await self._line()
        return None if line is None else line.decode("utf-8", "replace").strip()

    async def block(self) -> Block | None:
        """The lines up to a dot alone, with doubled dots undone; None where the host has left."""
        lines: list[str] = []
        size, is_too_long = 0, False
        while (line := await self._line()) is not None:
            if line == _END:
                return Block((), True) if is_too_long else Block(tuple(lines))
            size += len(line) + 1
            is_too_long = is_too_long or size > MAX_BLOCK_BYTES
            if not is_too_long:
                lines.append(line.removeprefix(_END).decode("utf-8", "replace"))
        return None

    def send(self, *lines: str) -> None:
        """Send a reply or an event."""
        self._writer.write("".join(f"{line}\n" for line in lines).encode())

    async def play(self, samples: Samples) -> None:
        """Send audio in events of 20 ms, each when the host has taken the one before."""
        step = max(1, round(samples.sample_rate * BLOCK_SECONDS))
        for start in range(0, len(samples.pcm), step):
            self._writer.write(audio_event(Samples(samples.pcm[start : start + step], samples.sample_rate)))
            await self._writer.drain()

    async def _line(self) -> bytes | None:
        """A line without its end. One over the limit is passed over, and stands as one that is too long for a block."""
        is_too_long = False
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
                is_too_long = True
            except asyncio.IncompleteReadError:
                return None
            else:
                return _TOO_LONG if is_too_long else line[:-1].removesuffix(b"\r")


def audio_event(samples: Samples) -> bytes:
    """Mono 16-bit samples as the protocol's audio event: parameters, and data without line ends."""
    data = to_pcm16(samples.pcm)
    head = (
        f"705-bits=16\n705-num_channels=1\n705-sample_rate={samples.sample_rate}\n"
        f"705-num_samples={len(samples.pcm)}\n705-big_endian=0\n705-AUDIO\0"
    )
    escaped = _ESCAPED.sub(lambda found: bytes((0x7D, found[0][0] ^ 0x20)), data)
    return head.encode() + escaped + b"\n705 AUDIO\n"
