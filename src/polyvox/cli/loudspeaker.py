"""Sound out of this machine, through whichever player program it has."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polyvox.audio.encode import AudioFormat, encode
from polyvox.audio.pcm import to_pcm16
from polyvox.errors import UnavailableError
from polyvox.types import Pcm


@dataclass(frozen=True, slots=True)
class Player:
    """A player program. `arguments(rate, channels)` make it play raw 16-bit samples from its standard input; without
    them it plays a file, so the speech has to be complete first."""

    program: str
    arguments: Callable[[int, int], list[str]] | None


PLAYERS = (
    Player("paplay", lambda rate, channels: ["--raw", "--format=s16le", f"--rate={rate}", f"--channels={channels}"]),
    Player("aplay", lambda rate, channels: ["-q", "-t", "raw", "-f", "S16_LE", "-r", str(rate), "-c", str(channels)]),
    Player(
        "ffplay",
        lambda rate, channels: [
            *("-loglevel", "error", "-nodisp", "-autoexit"),
            *("-f", "s16le", "-ar", str(rate), "-ch_layout", "mono" if channels == 1 else "stereo", "-i", "-"),
        ],
    ),
    Player("afplay", None),
)


def find_player() -> tuple[Player, str]:
    """The first player that is installed, and its path."""
    for player in PLAYERS:
        if path := shutil.which(player.program):
            return player, path
    names = ", ".join(player.program for player in PLAYERS)
    raise UnavailableError(f"No audio player was found ({names}); write a file instead, with `-o speech.wav`.")


async def play(pieces: AsyncIterator[Pcm], sample_rate: int, channels: int) -> None:
    """Play the pieces as they come."""
    player, path = find_player()
    if player.arguments is None:
        whole = [piece async for piece in pieces]
        await _play_file(path, np.concatenate(whole), sample_rate)
        return
    process = await asyncio.create_subprocess_exec(
        path, *player.arguments(sample_rate, channels), stdin=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    try:
        async for piece in pieces:
            process.stdin.write(to_pcm16(piece))
            await process.stdin.drain()
        process.stdin.close()
        code = await process.wait()
    except (BrokenPipeError, ConnectionResetError):
        code = await process.wait()
    finally:
        await _end(process)
    _check(path, code)


async def _play_file(path: str, pcm: Pcm, sample_rate: int) -> None:
    with tempfile.TemporaryDirectory(prefix="polyvox-") as folder:
        file = Path(folder) / "speech.wav"
        file.write_bytes(encode(pcm, AudioFormat.WAV, sample_rate))
        process = await asyncio.create_subprocess_exec(path, str(file))
        try:
            code = await process.wait()
        finally:
            await _end(process)
    _check(path, code)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Stop a player that is still running, as it is when the speech was interrupted."""
    if process.returncode is None:
        process.terminate()
        await process.wait()


def _check(path: str, code: int) -> None:
    if code != 0:
        raise UnavailableError(f"{path} failed with status {code}; write a file instead, with `-o speech.wav`.")
