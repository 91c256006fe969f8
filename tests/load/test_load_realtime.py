"""Two hundred contexts over twenty sockets, a part of them cancelled: each is its own, and nothing is left behind."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from helpers.attacked_server import attacked_server
from helpers.documented_server import SMALL_DECODER, documented_server
from helpers.frequency_server import PROGRAM, SAMPLE_RATE, WORD_SECONDS
from helpers.processes import ProgramProcess
from helpers.realtime_client import HeardContext, RealtimeClient, realtime_client
from helpers.speech import HARVARD_SENTENCES
from helpers.trials import watched
from polyvox.audio.pcm import from_pcm16
from polyvox.evaluate.wer import word_error_rate
from polyvox.voices.recognition.transcribe import Moonshine

pytestmark = pytest.mark.anyio

SOCKETS = 20
CONTEXTS = 10
"""On each socket at a time."""
SECONDS = 3.0
CANCELLED_SHARE = 0.3
WORDS = 12
STUCK_SECONDS = 60.0
"""Beyond which a context must have been forgotten; on a busy machine one of so many takes seconds."""
MEMORY_LIMIT = 64 * 2**20
"""Bytes that the server may grow by under the load, whatever its length."""
CANCEL_SECONDS = 0.5
"""Bucket within which nearly all cancels must have freed their slot, on a machine busy with the trial itself."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    folder = tmp_path_factory.mktemp("server")
    room = {"max_sessions": SOCKETS * CONTEXTS, "max_queue": SOCKETS * CONTEXTS, "max_wait_seconds": STUCK_SECONDS}
    with attacked_server(folder, program=PROGRAM, enable_debug=True, **room) as server:  # none is to be refused
        yield server


def metrics(url: str) -> dict[str, float]:
    """The samples of the server's metrics, those of different labels under their full names."""
    lines = httpx.get(f"{url}/metrics").text.splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def tasks(server: ProgramProcess) -> int:
    return int(httpx.get(f"{server.url}/debug/threads").json()["tasks"])


async def until_idle(server: ProgramProcess, idle_tasks: int) -> dict[str, float]:
    """The metrics once nothing is open; fails where something stays so."""
    for _ in range(100):
        found = metrics(server.url)
        still = [name for name in found if name.startswith(OPEN) and found[name]]
        if not still and tasks(server) <= idle_tasks:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError(f"left behind: {still}, {tasks(server)} tasks where there were {idle_tasks}")


DOOR = 'door="realtime"'
OPEN = ("polyvox_open_contexts", "polyvox_open_sockets", "polyvox_active_sessions", "polyvox_queue_depth")


class Speaker:
    """Speaks one context after the other on a socket, each at a pitch that no other context has at the time."""

    def __init__(self, client: RealtimeClient, hertz: int, seed: int) -> None:
        self._client = client
        self._hertz = hertz
        self._chance = random.Random(seed)
        self.ends: Counter[str] = Counter()

    async def run(self, until: float) -> None:
        number = 0
        while time.monotonic() < until:
            await self._one(f"{self._hertz} no. {number}")
            number += 1

    async def _one(self, name: str) -> None:
        binary = self._chance.random() < 0.5
        heard = await self._client.start(name, word_timings=True, binary=binary)
        text = "".join(f"{self._hertz}{self._chance.choice((' ', ', ', '. '))}" for _ in range(WORDS))
        sending = asyncio.create_task(self._write(name, text))
        if cancels := self._chance.random() < CANCELLED_SHARE:
            await asyncio.sleep(self._chance.uniform(0.0, 0.5))
            sending.cancel()
            await self._client.send("cancel", name)
        await self._ended(name, heard)
        await asyncio.wait([sending])
        self._check(heard, text, cancelled=cancels)
        del self._client.contexts[name]

    async def _ended(self, name: str, heard: HeardContext) -> None:
        try:
            async with asyncio.timeout(STUCK_SECONDS):
                await heard.ended.wait()
        except TimeoutError:
            raise AssertionError(f"{name} is stuck at {heard.samples} samples, {len(heard.words)} words") from None

    async def _write(self, name: str, text: str) -> None:
        """The text in fragments that cut numbers, too."""
        while text:
            size = self._chance.randint(1, 12)
            await self._client.send("text", name, text=text[:size], flush=not text[size:])
            text = text[size:]
            await asyncio.sleep(self._chance.uniform(0.0, 0.01))
        await self._client.send("end", name)

    def _check(self, heard: HeardContext, text: str, *, cancelled: bool) -> None:
        assert not heard.errors, heard.errors
        self.ends[heard.final["type"]] += 1
        if not cancelled:
            assert heard.final["type"] == "done"
            assert heard.samples == heard.final["samples"] == round(WORDS * WORD_SECONDS * SAMPLE_RATE)
            assert heard.flushed == [1]
            assert len(heard.words) == WORDS
        for word in heard.words:
            start, end = word["span"]
            assert text[start:end] == word["word"] == str(self._hertz)
        assert all(pitch == pytest.approx(self._hertz, abs=4) for pitch in pitches(heard.pcm))


def pitches(pcm: bytes) -> Iterator[float]:
    """The strongest frequency of every quarter second."""
    samples = from_pcm16(pcm)
    length = SAMPLE_RATE // 4
    for at in range(0, len(samples) - length + 1, length):
        power = np.abs(np.fft.rfft(samples[at : at + length] * np.hanning(length)))
        yield float(np.argmax(power)) * SAMPLE_RATE / length


async def test_contexts_neither_leak_nor_hear_each_other(server: ProgramProcess, scale: int) -> None:
    async with realtime_client(server.url) as client:  # what is made once
        await client.speak("first", "440 ")
    await until_idle(server, tasks(server))
    idle_tasks = tasks(server)
    ends: Counter[str] = Counter()
    with watched(server) as toll:
        until = time.monotonic() + SECONDS * scale

        async def socket(number: int) -> None:
            async with realtime_client(server.url) as client:
                pitches = [300 + 10 * (CONTEXTS * number + each) for each in range(CONTEXTS)]
                speakers = [Speaker(client, hertz, seed=hertz) for hertz in pitches]
                await asyncio.gather(*(speaker.run(until) for speaker in speakers))
                for speaker in speakers:
                    ends.update(speaker.ends)

        await asyncio.gather(*(socket(number) for number in range(SOCKETS)))
        toll.requests = ends.total()
    after = await until_idle(server, idle_tasks)
    count = after[f"polyvox_cancel_seconds_count{{{DOOR}}}"]
    soon = after[f'polyvox_cancel_seconds_bucket{{{DOOR},le="{CANCEL_SECONDS}"}}']
    print(json.dumps({**toll.figures(), **ends, "cancels": count, "freed_in_time": soon}))
    assert toll.growth <= MEMORY_LIMIT
    assert ends["done"] > 0.5 * SOCKETS * CONTEXTS
    assert ends["cancelled"] > 0.1 * SOCKETS * CONTEXTS
    assert soon >= 0.99 * count > 0


@pytest.mark.slow
async def test_contexts_of_kokoro_say_their_own_words(models_dir: Path, moonshine: Moonshine, tmp_path: Path) -> None:
    sentences = (HARVARD_SENTENCES[4], "Kick the ball straight.")
    with documented_server(models_dir, tmp_path, SMALL_DECODER) as server:
        async with realtime_client(server.url) as one, realtime_client(server.url) as other:
            interrupted = await one.start("interrupted")
            await one.send("text", "interrupted", text=" ".join(HARVARD_SENTENCES[3:]))
            await interrupted.first_audio.wait()
            speaking = [
                asyncio.create_task((one, other)[at % 2].speak(f"c{at}", text, word_timings=True))
                for at, text in enumerate(sentences)
            ]
            await one.send("cancel", "interrupted")
            await interrupted.ended.wait()
            seconds = metrics(server.url)[f"polyvox_cancel_seconds_sum{{{DOOR}}}"]
            heard = await asyncio.gather(*speaking)
        found = metrics(server.url)
    print(json.dumps({"cancel_seconds": seconds, "samples_before": interrupted.samples}))
    assert interrupted.final["type"] == "cancelled"
    assert seconds < CANCEL_SECONDS
    assert found[f"polyvox_open_contexts{{{DOOR}}}"] == found["polyvox_active_sessions"] == 0
    for text, context in zip(sentences, heard, strict=True):
        said = moonshine.transcribe(from_pcm16(context.pcm), context.started["sample_rate"])
        assert word_error_rate(text, said).errors <= 1, said
        assert [text[slice(*word["span"])] for word in context.words] == [word["word"] for word in context.words]
        assert len(context.words) == len(text.split())
