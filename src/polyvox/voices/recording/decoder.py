"""Decoding of untrusted recordings in a sandboxed child process with limits on memory and time."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import structlog

from polyvox.audio.decode import TOO_LONG, container_of
from polyvox.audio.pcm import MAX_RATE, MIN_RATE
from polyvox.errors import AudioDecodeError, UnavailableError
from polyvox.forked_child import ForkedChild, ForkServer
from polyvox.types import Pcm
from polyvox.voices.limits import PromptLimits, too_large
from polyvox.voices.recording import decode_child
from polyvox.voices.recording.decode_child import READY, REFUSAL, REPLY, REQUEST, SAMPLES, TAGS

_log = structlog.get_logger(__name__)

FORKS = ForkServer(
    sys.executable, "-I", "-m", decode_child.__name__, environment=MappingProxyType({"OPENBLAS_NUM_THREADS": "1"})
)
"""Forks a decoder for each recording: it has loaded what decodes, for 0.3 s of CPU time, and never reads one itself."""

_STARTING_SECONDS = 15.0
_WAITING_SECONDS = 1.0
"""Time that a decoder may take beyond its CPU time."""
_ENDING_SECONDS = 1.0
_LONGEST_REFUSAL = 1_000
_MOST_TAG_BYTES = 1_048_576


async def decode_bounded(data: bytes, limits: PromptLimits) -> tuple[Pcm, int]:
    """The samples of a recording, mono or stereo, and their rate; AudioDecodeError if it is broken or over a limit.

    A file whose magic bytes are not those of audio is refused before a process is started.
    """
    async with _asked(data, limits, with_tags=False) as child:
        return await _samples(child, limits)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file of audio: its tags, and its samples or the reason why they cannot be read."""

    tags: Mapping[str, str]
    samples: tuple[Pcm, int] | AudioDecodeError


async def read_bounded(data: bytes, limits: PromptLimits) -> ReadFile:
    """The tags and the samples of a file; AudioDecodeError if it is no audio or takes too long."""
    samples: tuple[Pcm, int] | AudioDecodeError
    async with _asked(data, limits, with_tags=True) as child:
        try:
            samples = await _samples(child, limits)
        except AudioDecodeError as error:
            samples = error
        return ReadFile(await _tags(child), samples)


@asynccontextmanager
async def _asked(data: bytes, limits: PromptLimits, *, with_tags: bool) -> AsyncIterator[ForkedChild]:
    """A process that has been given the file, and a limited time to answer."""
    if len(data) > limits.max_bytes:
        raise too_large(limits.max_bytes)
    container_of(data)
    async with _child(limits.cpu_seconds) as child:
        try:
            async with asyncio.timeout(limits.cpu_seconds + _WAITING_SECONDS):
                await _send(child, data, limits, with_tags=with_tags)
                yield child
        except TimeoutError as error:
            raise AudioDecodeError("The recording takes too long to decode; save it anew and send that.") from error
        except (EOFError, OSError) as error:
            _log.warning("decoding a recording ended early", bytes=len(data), status=await child.end(_ENDING_SECONDS))
            raise AudioDecodeError("The recording cannot be decoded; save it anew and send that.") from error


async def _send(child: ForkedChild, data: bytes, limits: PromptLimits, *, with_tags: bool) -> None:
    child.stdin.write(
        REQUEST.pack(limits.decoded_seconds, with_tags, limits.mono_rate, limits.decoded_samples, len(data))
    )
    child.stdin.write(data)
    await child.stdin.drain()


async def _tags(child: ForkedChild) -> dict[str, str]:
    (size,) = TAGS.unpack(await child.stdout.readexactly(TAGS.size))
    if size > _MOST_TAG_BYTES:
        raise EOFError("the tags are none")
    try:
        tags = json.loads(await child.stdout.readexactly(size))
    except ValueError as error:
        raise EOFError("the tags are none") from error
    if not isinstance(tags, dict) or not all(isinstance(value, str) for value in tags.values()):
        raise EOFError("the tags are none")
    return tags


async def _samples(child: ForkedChild, limits: PromptLimits) -> tuple[Pcm, int]:
    kind, rate, channels, size = REPLY.unpack(await child.stdout.readexactly(REPLY.size))
    if kind == REFUSAL and size <= _LONGEST_REFUSAL:
        reason = (await child.stdout.readexactly(size)).decode(errors="replace")
        if reason.startswith(TOO_LONG):
            reason = f"{TOO_LONG} {limits.max_seconds:g} seconds; {limits.bounds}."
        raise AudioDecodeError(reason)
    # A file that has taken the child over may have it say anything.
    whole = channels in (1, 2) and size > 0 and size % (4 * channels) == 0
    if kind != SAMPLES or not whole or size > 4 * limits.decoded_samples or not MIN_RATE <= rate <= MAX_RATE:
        raise EOFError("the reply is not one")
    samples = np.frombuffer(await child.stdout.readexactly(size), "<f4").astype(np.float32, copy=False)
    if not np.abs(samples).max() <= 1.0:
        raise EOFError("the samples are none")
    return (samples if channels == 1 else samples.reshape(-1, channels)), rate


@asynccontextmanager
async def _child(cpu_seconds: int) -> AsyncIterator[ForkedChild]:
    """A process that waits for its recording. It is gone when the block is left, with all that it may have started."""
    try:
        child = await FORKS.fork(cpu_seconds)
    except OSError as error:
        raise UnavailableError(f"The decoder for recordings cannot be started: {error.strerror}.") from error
    try:
        await _until_ready(child)
        yield child
    finally:
        await child.end(_ENDING_SECONDS)


async def _until_ready(child: ForkedChild) -> None:
    try:
        async with asyncio.timeout(_STARTING_SECONDS):
            with suppress(ConnectionError):
                if await child.stdout.read(1) == READY:
                    return
    except TimeoutError:
        _log.error("the decoder does not start", seconds=_STARTING_SECONDS)
    raise UnavailableError("The decoder for recordings did not start; its reason is on the server's error output.")
