"""Listeners of a real server: what they ask for, when they heard it, and a job that is read beside them."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from polyvox.bench.player import Arrival, Playback, play

HUNG_SECONDS = 60.0
PREBUFFER_SECONDS = 0.1
"""Audio that a listener's player collects before it starts: less than browsers and telephones do."""
TOO_MANY = 429
HUNG = 0
PCM_BYTES = 48_000
TEXTS = (
    "The birch canoe slid on the smooth planks, and nobody on the far bank heard it come.",
    "Glue the sheet to the dark blue background before the light of the afternoon is gone.",
    "It is easy to tell the depth of a well if one has a stone, a watch and a little patience.",
    "These days a chicken leg is a rare dish in the small towns on the other side of the hills.",
)
_BOOK_PARAGRAPHS = 500
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Heard:
    """One request: its kind, its status (0 where it hung), seconds to its first answer, and how it was played.

    `began` is its time on the performance counter; `bare` is the playback without a buffer.
    """

    kind: str
    status: int
    first: float
    began: float = 0.0
    playback: Playback | None = None
    bare: Playback | None = None

    @classmethod
    def spoken(cls, kind: str, began: float, arrivals: Sequence[Arrival]) -> "Heard":
        first = arrivals[0].time
        return cls(kind, httpx.codes.OK, first, began, play(arrivals, PREBUFFER_SECONDS), play(arrivals))

    @property
    def has_gap(self) -> bool:
        return self.playback is not None and self.playback.underruns > 0


def listening(url: str) -> httpx.AsyncClient:
    """A client whose every request is a new connection, as of a new listener."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncClient(base_url=url, timeout=HUNG_SECONDS, limits=limits, trust_env=False)


async def ask_http(client: httpx.AsyncClient, text: str) -> Heard:
    """Speak over `POST /v1/audio/speech`."""
    began, arrivals = time.perf_counter(), list[Arrival]()
    body = {"input": text, "voice": "af_heart", "response_format": "pcm"}
    async with client.stream("POST", "/v1/audio/speech", json=body) as answer:
        answered = time.perf_counter() - began
        async for data in answer.aiter_bytes():
            arrivals.append(Arrival(time.perf_counter() - began, len(data) / PCM_BYTES))
    if answer.status_code != httpx.codes.OK:
        return Heard("http", answer.status_code, answered, began)
    return Heard.spoken("http", began, arrivals)


async def ask_socket(url: str, text: str) -> Heard:
    """Speak over the server's own WebSocket; a refusal is timed from the first text, as one over HTTP."""
    address, arrivals, began = f"{url.replace('http', 'ws', 1)}/v1/realtime/speech", list[Arrival](), 0.0
    try:
        async with connect(address) as socket:
            await socket.send(json.dumps({"type": "start", "voice": "af_heart", "binary": True}))
            began = time.perf_counter()
            for message in ({"type": "text", "text": text}, {"type": "end"}):
                await socket.send(json.dumps(message))
            async for answer in socket:
                now = time.perf_counter() - began
                if isinstance(answer, bytes):
                    arrivals.append(Arrival(now, len(answer) / PCM_BYTES))
                    continue
                event = json.loads(answer)
                if event["type"] == "error":
                    return Heard("socket", TOO_MANY if "overload" in answer else 500, now, began)
                if event["type"] == "done":
                    break
    except InvalidStatus as refused:
        return Heard("socket", refused.response.status_code, time.perf_counter() - began, began)
    except ConnectionClosed as closed:
        return Heard("socket", TOO_MANY if "overload" in str(closed) else 500, time.perf_counter() - began, began)
    return Heard.spoken("socket", began, arrivals) if arrivals else Heard("socket", 500, 0.0, began)


async def within_time(kind: str, asked: Awaitable[Heard]) -> Heard:
    """The answer, or that it hung."""
    try:
        async with asyncio.timeout(HUNG_SECONDS):
            return await asked
    except TimeoutError:
        return Heard(kind, HUNG, HUNG_SECONDS)
    except httpx.HTTPError as error:
        print(f"broken: {type(error).__name__} {error}", file=sys.stderr)
        return Heard(kind, 500, 0.0)


class Job:
    """A job that reads a book of some hours."""

    def __init__(self, client: httpx.AsyncClient, path: str) -> None:
        self._client = client
        self._path = path

    async def spoken_seconds(self) -> float:
        """Seconds of audio that it has made."""
        found = (await self._client.get(self._path)).raise_for_status().json()
        return float(found["progress"]["seconds_spoken"])

    async def pause(self) -> None:
        (await self._client.post(f"{self._path}/pause")).raise_for_status()

    async def resume(self) -> None:
        """Go on; returns when a sentence more is spoken."""
        before = await self.spoken_seconds()
        (await self._client.post(f"{self._path}/resume")).raise_for_status()
        await self.until_spoken(before)

    async def until_spoken(self, seconds: float) -> None:
        """Wait until it has made more audio than this."""
        async with asyncio.timeout(HUNG_SECONDS):
            while await self.spoken_seconds() <= seconds:  # noqa: ASYNC110 - another process
                await asyncio.sleep(_POLL_SECONDS)


@asynccontextmanager
async def reading_job(client: httpx.AsyncClient) -> AsyncIterator[Job]:
    """A job that goes on until the block ends; its first sentence is spoken."""
    text = "\n\n".join(" ".join(TEXTS) for _ in range(_BOOK_PARAGRAPHS))
    book = {"title": "Trial", "chapters": [{"title": "One", "text": text}], "voice": "af_heart", "output": ["mp3"]}
    made = (await client.post("/v1/jobs", json=book)).raise_for_status()
    path = f"/v1/jobs/{made.json()['id']}"
    try:
        job = Job(client, path)
        await job.until_spoken(0.0)
        yield job
    finally:
        (await client.delete(path)).raise_for_status()


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so great a share of them does not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
