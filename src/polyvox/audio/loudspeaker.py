"""Playback on this machine, through the first player program that is installed."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polyvox.audio.encode import AudioFormat, encode
from polyvox.audio.pcm import to_pcm16
from polyvox.errors import UnavailableError
from polyvox.types import Pcm

WRITE_A_FILE = "write a file with `-o speech.wav`"
"""Advice for a command's user without a loudspeaker."""
_REASON_CHARS = 120


@dataclass(frozen=True, slots=True)
class PlayerProgram:
    """A player program. `arguments(rate, channels)` make it play raw 16-bit samples from its standard input; without
    them it plays a file, so the speech has to be complete first."""

    program: str
    arguments: Callable[[int, int], list[str]] | None


PLAYERS = (
    PlayerProgram(
        "paplay", lambda rate, channels: ["--raw", "--format=s16le", f"--rate={rate}", f"--channels={channels}"]
    ),
    PlayerProgram(
        "aplay", lambda rate, channels: ["-q", "-t", "raw", "-f", "S16_LE", "-r", str(rate), "-c", str(channels)]
    ),
    PlayerProgram(
        "ffplay",
        lambda rate, channels: [
            *("-loglevel", "error", "-nodisp", "-autoexit"),
            *("-f", "s16le", "-ar", str(rate), "-ch_layout", "mono" if channels == 1 else "stereo", "-i", "-"),
        ],
    ),
    PlayerProgram("afplay", None),
)


def find_player(remedy: str = WRITE_A_FILE) -> tuple[PlayerProgram, str]:
    """The first player that is installed, and its path; `remedy` is what to do where there is none."""
    for player in PLAYERS:
        if path := shutil.which(player.program):
            return player, path
    names = ", ".join(player.program for player in PLAYERS)
    raise UnavailableError(f"This machine has no program that plays sound ({names}); {remedy}.")


async def play(pieces: AsyncIterator[Pcm], sample_rate: int, channels: int, remedy: str = WRITE_A_FILE) -> None:
    """Play the pieces as they come; `UnavailableError` where the player cannot, for want of a sound device."""
    player, path = find_player(remedy)
    if player.arguments is None:
        whole = [piece async for piece in pieces]
        await _play_file(path, np.concatenate(whole), sample_rate, remedy)
        return
    arguments = player.arguments(sample_rate, channels)
    async with _running(path, *arguments, remedy=remedy, stdin=asyncio.subprocess.PIPE) as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError, ConnectionResetError):  # it has ended: its status and its words say why
            async for piece in pieces:
                process.stdin.write(to_pcm16(piece))
                await process.stdin.drain()
            process.stdin.close()


async def _play_file(path: str, pcm: Pcm, sample_rate: int, remedy: str) -> None:
    with tempfile.TemporaryDirectory(prefix="polyvox-") as folder:
        file = Path(folder) / "speech.wav"
        file.write_bytes(encode(pcm, AudioFormat.WAV, sample_rate))
        async with _running(path, str(file), remedy=remedy):
            pass


@asynccontextmanager
async def _running(
    path: str, *arguments: str, remedy: str, stdin: int | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A player, which has played everything when the block ends; one that is interrupted is stopped.

    What it prints is kept back: without a sound device that is a page of its own, of which the last line will do.
    """
    with tempfile.TemporaryFile() as printed:
        process = await asyncio.create_subprocess_exec(path, *arguments, stdin=stdin, stdout=printed, stderr=printed)
        try:
            yield process
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()
        if code != 0:
            printed.seek(0)
            raise UnavailableError(_complaint(path, code, printed.read(), remedy))


def _complaint(path: str, code: int, printed: bytes, remedy: str) -> str:
    lines = printed.decode(errors="replace").split("\n")
    reason = next((line.strip().rstrip(".") for line in reversed(lines) if line.strip()), f"status {code}")
    return (
        f"{Path(path).name} could not play the speech ({reason[:_REASON_CHARS]}): "
        f"on a machine without a sound device, {remedy}."
    )
