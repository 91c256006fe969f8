"""Parts of a server with several processes, without the processes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.fakes import ToneEngine, tone, tone_settings
from polyvox.config import Settings
from polyvox.deploy.messages import EngineProfile
from polyvox.deploy.remote_engine import RemoteEngine, remote_engine
from polyvox.deploy.workers.control import Control
from polyvox.deploy.workers.host import EngineHost
from polyvox.deploy.workers.link import NEARBY, Link, LinkTransport
from polyvox.deploy.workers.parts import ServerParts
from polyvox.deploy.workers.remote_accounts import RemoteCounters
from polyvox.deploy.workers.remote_admission import RemoteAdmission, RemoteTicket
from polyvox.deploy.workers.supervisor import check_workers
from polyvox.engines.base import SupportsStreamingText
from polyvox.errors import InvalidRequestError, OverloadedError, RefusalReason, UnavailableError, UnknownVoiceError
from polyvox.service.admission.admission_request import AdmissionRequest
from polyvox.service.admission.open_counts import CountTable, OpenCounts
from polyvox.service.keys.counters import Reservation
from polyvox.service.keys.record import Limits
from polyvox.types import AudioChunk, Utterance

pytestmark = pytest.mark.anyio

TEXT = Utterance("One two three.", "low")


class CountingEngine(ToneEngine):
    """Counts the chunks that it was asked for, and speaks text that is still arriving: a chunk for each piece."""

    made = 0

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async for chunk in super().speak(utterance):
            self.made += 1
            yield chunk

    async def speak_stream(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        index = 0
        async for piece in pieces:
            yield AudioChunk(tone(220.0, index * 240, 240, 24_000), 24_000, index, index * 240, piece)
            index += 1


@asynccontextmanager
async def hosted(folder: Path, engine: CountingEngine, **settings: Any) -> AsyncIterator[tuple[EngineHost, Link]]:
    """A process of the models, in this one, and the way to it."""
    own = tone_settings(data_dir=folder / "data", **settings)
    host = EngineHost(own, ServerParts({"tone": lambda _: engine}), OpenCounts())
    await host.service.start()
    link = Link(folder / "s")
    try:
        async with host.listening(folder / "s"):
            yield host, link
    finally:
        link.close()
        await host.service.close()


async def engine_behind(link: Link) -> RemoteEngine:
    transport = LinkTransport("tone", link)
    profile = await transport.ask("describe")
    assert isinstance(profile, EngineProfile)
    made = remote_engine(profile, transport, NEARBY)
    await made.start()
    return made


def admission_of(folder: Path, link: Link) -> RemoteAdmission:
    async def nothing() -> bytes:
        return b""

    return RemoteAdmission(link, Control(folder / "s", 1, nothing))


async def entered(admission: RemoteAdmission, client: str = "key a", max_wait: float = 60.0) -> RemoteTicket:
    return await admission.admit(AdmissionRequest("tone", client, 10, max_wait), None)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10.0):
        while not condition():  # noqa: ASYNC110 - of the other end of a socket
            await asyncio.sleep(0.005)


async def test_an_engine_in_another_process_makes_the_same_chunks_each_when_it_is_asked_for(tmp_path: Path) -> None:
    engine = CountingEngine(chunks=4)
    expected = [chunk async for chunk in ToneEngine(chunks=4).speak(TEXT)]
    async with hosted(tmp_path, engine) as (_, link):
        chunks = (await engine_behind(link)).speak(TEXT)
        for number, wanted in enumerate(expected, start=1):
            chunk = await anext(chunks)
            assert chunk.pcm.tobytes() == wanted.pcm.tobytes()
            assert (chunk.index, chunk.start, chunk.text, chunk.words) == (
                wanted.index,
                wanted.start,
                wanted.text,
                wanted.words,
            )
            assert engine.made == number, "it works ahead of its reader"
        assert await anext(chunks, None) is None


async def test_leaving_a_stream_closes_it_in_the_other_process_and_keeps_the_connection(tmp_path: Path) -> None:
    engine = CountingEngine(chunks=100)
    async with hosted(tmp_path, engine) as (_, link):
        remote = await engine_behind(link)
        for left in range(1, 4):
            chunks = remote.speak(TEXT)
            await anext(chunks)
            await chunks.aclose()  # type: ignore[attr-defined]
            assert (engine.speaking, engine.closed) == (0, left)
        assert len(link._idle) == 1


async def test_a_caller_that_is_cancelled_in_the_middle_of_a_chunk_stops_the_engine(tmp_path: Path) -> None:
    engine = CountingEngine(gate=asyncio.Event())
    async with hosted(tmp_path, engine) as (_, link):
        chunks = (await engine_behind(link)).speak(TEXT)
        waiting = asyncio.create_task(anext(chunks))  # type: ignore[arg-type]
        await until(lambda: engine.speaking == 1)
        waiting.cancel()
        await asyncio.wait([waiting])
        await until(lambda: engine.speaking == 0)


async def test_an_error_of_the_engine_arrives_as_what_it_is(tmp_path: Path) -> None:
    async with hosted(tmp_path, CountingEngine()) as (_, link):
        remote = await engine_behind(link)
        with pytest.raises(UnknownVoiceError, match="nobody"):
            await anext(remote.speak(replace(TEXT, voice="nobody")))
        assert len([chunk async for chunk in remote.speak(TEXT)]) == 3


async def test_text_that_is_still_arriving_is_spoken_as_it_comes(tmp_path: Path) -> None:
    async with hosted(tmp_path, CountingEngine()) as (_, link):
        remote = await engine_behind(link)
        assert isinstance(remote, SupportsStreamingText)
        given: asyncio.Queue[str | None] = asyncio.Queue()

        async def pieces() -> AsyncIterator[str]:
            while (piece := await given.get()) is not None:
                yield piece

        chunks = remote.speak_stream(TEXT, pieces())
        for piece in ("One. ", "Two. "):
            given.put_nowait(piece)
            assert (await anext(chunks)).text == piece
        given.put_nowait(None)
        assert await anext(chunks, None) is None


async def test_a_stream_whose_process_ends_ends_with_an_error(tmp_path: Path) -> None:
    engine = CountingEngine(chunks=100)
    async with hosted(tmp_path, engine) as (host, link):
        remote = await engine_behind(link)
        chunks = remote.speak(TEXT)
        await anext(chunks)
        host.hang_up()
        with pytest.raises(UnavailableError, match="send the request again"):
            await anext(chunks)
    with pytest.raises(UnavailableError) as refused:
        await anext(remote.speak(TEXT))
    assert refused.value.retry_after


async def test_one_admission_counts_the_tickets_of_all_processes(tmp_path: Path) -> None:
    async with hosted(tmp_path, CountingEngine(), max_sessions=1, max_queue=1) as (host, _):
        one, other = (admission_of(tmp_path, Link(tmp_path / "s")) for _ in range(2))
        first = await entered(one)
        await first.granted()
        second = await entered(other, "key b")
        waiting = asyncio.create_task(second.granted())
        with pytest.raises(OverloadedError) as refused:
            await entered(one, "key c")
        assert refused.value.reason is RefusalReason.QUEUE
        assert (host._admission.active, host._admission.waiting) == (1, 1)
        assert not waiting.done()
        first.release()
        await waiting
        second._channel.close()  # as when its process is killed
        await until(lambda: host._admission.active == 0)


async def test_a_ticket_waits_as_long_as_it_accepts(tmp_path: Path) -> None:
    async with hosted(tmp_path, CountingEngine(), max_sessions=1, max_queue=2) as (_, link):
        admission = admission_of(tmp_path, link)
        first = await entered(admission)
        late = await entered(admission, "key b", max_wait=0.05)
        with pytest.raises(OverloadedError):
            await late.granted()
        late.release()
        first.release()


async def test_streams_of_a_process_that_ends_are_free_for_another(tmp_path: Path) -> None:
    async def nothing() -> bytes:
        return b""

    async with hosted(tmp_path, CountingEngine()):
        controls = [Control(tmp_path / "s", number, nothing) for number in (1, 2)]
        for control in controls:
            control.start()
            await control.connected.wait()
        one, other = (RemoteCounters(control) for control in controls)
        asked = [Reservation("key:a", Limits(streams=1), str(number), 0, "2026-01-01", 60.0) for number in (1, 2)]
        assert not any(level.refused for level in await one.reserve(asked[0]))
        assert any(level.refused for level in await other.reserve(asked[1]))
        await controls[0].close()
        async with asyncio.timeout(10.0):
            while any(level.refused for level in await other.reserve(asked[1])):
                continue
        await controls[1].close()


async def test_without_the_process_of_the_models_nothing_is_admitted(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as refused:
        await entered(admission_of(tmp_path, Link(tmp_path / "nobody")))
    assert refused.value.retry_after


def test_counts_of_all_processes_are_seen_by_each() -> None:
    table = CountTable(3)
    one, other = table.row(1), table.row(2)
    one.add("connections a", 2)
    other.add("connections a", 3)
    assert (one.elsewhere("connections a"), other.elsewhere("connections a")) == (3, 2)
    assert table.row(1).elsewhere("connections a") == 3
    assert other.elsewhere("connections a") == 0, "what a process had open ends with it"


@pytest.mark.parametrize("wish", [{"server": "granian"}, {"chunk_log": "chunks.jsonl"}, {"log_file": "server.log"}])
def test_what_several_processes_cannot_do_is_refused_with_a_sentence(wish: dict[str, str]) -> None:
    with pytest.raises(InvalidRequestError, match="several workers"):
        check_workers(Settings(workers=2, **wish))  # type: ignore[arg-type]
