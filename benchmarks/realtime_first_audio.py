"""First audio through each socket beside the plain HTTP request, in turns within one run.

    python -m benchmarks.realtime_first_audio --pairs 20
    python -m benchmarks.realtime_first_audio --null --pairs 200

With `--null`, the engine costs nothing: the ratio is that of the server's own work. Connections are open before the
clock starts, as those of an agent are, and every request is read to its end before the next. Doors are
the table `DOORS`.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from polyvox.bench.process import server_process

TEXT = "The tide is out, and the boats lie on the sand."
VOICES = {"kokoro": "af_heart", "null": "null"}
PLAIN = "http"
LIMIT = 1.1
"""Times the plain request's first audio that a socket's may take."""

Message = dict[str, Any]
FirstAudio = Callable[[], Awaitable[float]]
"""Speaks over a connection that is open; the seconds to the first audio."""


@dataclass(frozen=True, slots=True)
class SocketDoor:
    """A dialect's socket: its path, what is sent to speak a text in the n-th context, and what its answers mean."""

    path: Callable[[str], str]
    """For a voice."""
    messages: Callable[[str, int], Sequence[Message]]
    """For a voice and the number of the context."""
    is_audio: Callable[[Message], bool]
    is_last: Callable[[Message], bool]

    @asynccontextmanager
    async def opened(self, url: str, voice: str) -> AsyncGenerator[FirstAudio]:
        numbers = count()
        async with connect(url.replace("http", "ws", 1) + self.path(voice)) as socket:

            async def speak() -> float:
                sent = [json.dumps(message) for message in self.messages(voice, next(numbers))]
                began = time.perf_counter()
                for message in sent:
                    await socket.send(message)
                return await _first_then_all(self._audio(socket), began)

            yield speak

    async def _audio(self, socket: ClientConnection) -> AsyncIterator[object]:
        async for message in socket:
            if isinstance(message, bytes):
                yield message
                continue
            event = json.loads(message)
            if self.is_audio(event):
                yield event
            if self.is_last(event):
                return
            if event.get("error") or event.get("type") == "error":
                raise RuntimeError(message)


class PlainHttp:
    """`POST /v1/audio/speech`."""

    @asynccontextmanager
    async def opened(self, url: str, voice: str) -> AsyncGenerator[FirstAudio]:
        body = {"input": TEXT, "voice": voice, "response_format": "pcm"}
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:

            async def speak() -> float:
                began = time.perf_counter()
                async with client.stream("POST", "/v1/audio/speech", json=body) as answer:
                    answer.raise_for_status()
                    return await _first_then_all(answer.aiter_raw(), began)

            yield speak


async def _first_then_all(audio: AsyncIterator[object], began: float) -> float:
    """Seconds from `began` to the first audio; the rest is read, so that the next request finds the engine idle."""
    first = 0.0
    async for _ in audio:
        first = first or time.perf_counter() - began
    return first


_CARTESIA_FORMAT = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24_000}

DOORS: Mapping[str, SocketDoor | PlainHttp] = MappingProxyType(
    {
        PLAIN: PlainHttp(),
        "realtime": SocketDoor(
            path=lambda voice: "/v1/realtime/speech",
            messages=lambda voice, number: [
                {"type": "start", "voice": voice, "binary": True},
                {"type": "text", "text": TEXT},
                {"type": "end"},
            ],
            is_audio=lambda event: event["type"] == "audio",
            is_last=lambda event: event["type"] == "done",
        ),
        "elevenlabs": SocketDoor(
            path=lambda voice: f"/v1/text-to-speech/{voice}/multi-stream-input?output_format=pcm_24000",
            messages=lambda voice, number: [
                {"text": " ", "context_id": str(number)},
                {"text": f"{TEXT} ", "context_id": str(number), "flush": True},
                {"context_id": str(number), "close_context": True},
            ],
            is_audio=lambda event: bool(event.get("audio")),
            is_last=lambda event: bool(event.get("isFinal") or event.get("is_final")),
        ),
        "cartesia": SocketDoor(
            path=lambda voice: "/tts/websocket?cartesia_version=2025-04-16",
            messages=lambda voice, number: [
                {
                    "model_id": "sonic-2",
                    "transcript": TEXT,
                    "voice": {"mode": "id", "id": voice},
                    "output_format": _CARTESIA_FORMAT,
                    "language": "en",
                    "context_id": str(number),
                    "continue": False,
                }
            ],
            is_audio=lambda event: event["type"] == "chunk",
            is_last=lambda event: event["type"] == "done",
        ),
        "openai_realtime": SocketDoor(
            path=lambda voice: "/v1/realtime?model=gpt-realtime",
            messages=lambda voice, number: [
                {
                    "type": "response.create",
                    "response": {
                        "conversation": "none",
                        "audio": {"output": {"voice": voice}},
                        "input": [
                            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TEXT}]}
                        ],
                    },
                }
            ],
            is_audio=lambda event: event["type"] == "response.output_audio.delta",
            is_last=lambda event: event["type"] == "response.done",
        ),
    }
)


async def measured(url: str, voice: str, pairs: int, doors: Sequence[str]) -> dict[str, list[float]]:
    """Seconds to the first audio through each door, in turns; the first of each does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in doors}
    async with AsyncExitStack() as stack:
        speakers = {name: await stack.enter_async_context(DOORS[name].opened(url, voice)) for name in doors}
        for turn in range(pairs + 1):
            for name in doors if turn % 2 else reversed(doors):
                first = await speakers[name]()
                if turn:
                    seconds[name].append(first)
    return seconds


def report(seconds: Mapping[str, Sequence[float]]) -> list[str]:
    """A line for each door: its median, and how many times the plain request's that is."""
    plain = statistics.median(seconds[PLAIN])
    lines = []
    for name, values in seconds.items():
        median = statistics.median(values)
        verdict = "" if name == PLAIN else f", {median / plain:.2f} x{'' if median <= LIMIT * plain else ' (over)'}"
        lines.append(f"{name:16} p50 {1000 * median:7.1f} ms of {len(values)}{verdict}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--null", action="store_true", help="an engine that costs nothing")
    parser.add_argument("--doors", nargs="+", choices=list(DOORS), default=list(DOORS))
    options = parser.parse_args()
    doors = list(dict.fromkeys((PLAIN, *options.doors)))
    command = ["bench", "null-server"] if options.null else ["serve", "--port", "0"]
    # An engine without word timings would be given them by alignment, which costs more than all that is measured.
    environment = {"POLYVOX_WORD_TIMINGS": "durations"} if options.null else {}
    with server_process(command, environment) as server:
        seconds = asyncio.run(measured(server.url, VOICES["null" if options.null else "kokoro"], options.pairs, doors))
    print("\n".join(report(seconds)))


if __name__ == "__main__":
    main()
