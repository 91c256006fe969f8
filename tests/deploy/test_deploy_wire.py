"""Messages between the processes of one server."""

import asyncio
import json
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyvox.deploy.messages import ChunkMessage, DeferredVoice, EngineProfile, ErrorMessage, VoiceMissing
from polyvox.deploy.workers.wire import (
    MAX_RAW_BYTES,
    MAX_STRUCTURE_BYTES,
    Channel,
    WireError,
    packed,
    unpacked,
)
from polyvox.engines.kokoro.word_phonemes import SpokenShares, SymbolRun
from polyvox.errors import OverloadedError, PolyvoxError, RefusalReason, UnavailableError
from polyvox.types import (
    AudioChunk,
    Capabilities,
    EngineLocation,
    MarkTiming,
    PhonemeShare,
    PreparedVoice,
    Seconds,
    Span,
    StageSeconds,
    Utterance,
    Voice,
    WordTiming,
)
from polyvox.voices.mixing import MixTerm

pytestmark = pytest.mark.anyio

HEAD = struct.Struct("<IQ")
CHUNK = AudioChunk(
    np.linspace(-1, 1, 480, dtype=np.float32),
    24_000,
    3,
    1_440,
    "Größe, 大きさ",
    span=Span(0, 9),
    words=(WordTiming("Größe", 0.0, 0.5, Span(0, 5), shares=(PhonemeShare("øː", 0.25, 0.5),)),),
    marks=(MarkTiming("here", 0.25),),
    stages=StageSeconds(flow=Seconds(0.1, 0.05)),
)


def frame_of(message: object) -> bytes:
    return b"".join(bytes(piece) for piece in packed(message))


def returned(message: object) -> Any:
    frame = frame_of(message)
    structure, raw = HEAD.unpack_from(frame)
    middle = HEAD.size + structure
    assert len(frame) == middle + raw
    return unpacked(frame[HEAD.size : middle], frame[middle:])


def test_phonemes_that_are_made_when_they_are_read_are_sent_as_what_they_are() -> None:
    samples = Span(0, 4_800)
    shares = SpokenShares((SymbolRun("ɹˈɛdi", [0, 600, 1_200, 2_400, 3_600, 4_800], samples),), 0, 4_800)
    sent = replace(CHUNK, words=(WordTiming("ready", 0.0, 0.2, Span(0, 5), shares=shares),))
    (word,) = returned(sent).words
    assert len(word.phonemes) == 4
    assert (type(word.shares), word.phonemes) == (tuple, sent.words[0].phonemes)


def test_every_message_arrives_as_it_was_sent() -> None:
    messages = [
        None,
        ["enter", 1, 2.5, float("inf"), True, "ä"],
        (("a", b"\x00\xff"), {"key": [1, (2,)]}, frozenset({"x", "y"})),
        Utterance("Hello", "low", speed=1.5, seed=7, tuning={"temperature": 0.5}, whole=True),
        EngineProfile(
            "tone", Capabilities(frozenset({"en"}), 24_000, tags=frozenset({"laughs"})), (Voice("a", "A", "en"),)
        ),
        ErrorMessage("TextError", "No.", "input"),
        VoiceMissing(),
        EngineLocation("cuda", "actor"),
    ]
    for message in messages:
        assert returned(message) == message


def test_samples_arrive_bit_by_bit_beside_everything_that_is_known_of_their_chunk() -> None:
    found = returned(ChunkMessage(CHUNK, (), "slow", None)).chunk
    assert found.pcm.tobytes() == CHUNK.pcm.tobytes()
    for name in ("sample_rate", "index", "start", "text", "span", "words", "marks", "stages", "voice", "policy"):
        assert getattr(found, name) == getattr(CHUNK, name), name
    stereo = returned(np.zeros((3, 2), np.float32))
    assert stereo.shape == (3, 2)
    style = returned(DeferredVoice.of_style("tone", (MixTerm("a", 1.0),), np.ones(4, np.float32), "en"))
    assert style.arguments[0] == (MixTerm("a", 1.0),)
    voice = returned(PreparedVoice("tone", "d", {"codes": np.arange(5)}))
    assert voice.arrays["codes"].tolist() == [0, 1, 2, 3, 4]


def test_errors_keep_what_their_callers_are_told() -> None:
    refused = returned(ErrorMessage.of(OverloadedError("Later.", retry_after=3.0, reason=RefusalReason.WAIT))).error()
    assert isinstance(refused, OverloadedError)
    assert (refused.retry_after, refused.reason) == (3.0, RefusalReason.WAIT)
    gone = returned(ErrorMessage.of(UnavailableError("Gone.", retry=True, retry_after=5.0))).error()
    assert isinstance(gone, UnavailableError)
    assert (gone.retry, gone.retry_after) == (True, 5.0)
    assert isinstance(returned(ErrorMessage.of(PolyvoxError("Odd."))).error(), PolyvoxError)


def test_what_is_none_of_ours_is_refused() -> None:
    hostile: list[object] = [
        {"$": "Popen", "f": [["ls"]]},
        {"$": "AudioChunk", "f": [1] * 99},
        {"$": "enum", "f": ["RefusalReason", "queue"]},
        {"$": "array", "f": ["|O", [1]]},
        {"$": "array", "f": ["<f4", [-1]]},
        {"$": "array", "f": ["<f4", [1 << 40]]},
        {"$": "bytes", "f": 1},
        {"$": "bytes", "f": "1"},
        {"f": []},
        {"$": "map", "f": [[[], 1]]},
    ]
    for structure in hostile:
        with pytest.raises(WireError):
            unpacked(json.dumps(structure).encode(), b"")
    with pytest.raises(WireError):
        unpacked(b"1", b"more than it says")
    with pytest.raises(WireError):
        unpacked(b"[" * 100_000, b"")
    with pytest.raises(WireError):
        packed(object())


@asynccontextmanager
async def pair(folder: Path) -> AsyncIterator[tuple[Channel, Channel]]:
    taken: asyncio.Queue[Channel] = asyncio.Queue()

    class Taken(Channel):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            taken.put_nowait(self)

    loop = asyncio.get_running_loop()
    server = await loop.create_unix_server(Taken, str(folder / "s"))
    _, one = await loop.create_unix_connection(Channel, str(folder / "s"))
    other = await taken.get()
    try:
        yield one, other
    finally:
        one.close()
        other.close()
        server.close()


async def test_a_writer_waits_for_a_reader_and_nothing_is_lost(tmp_path: Path) -> None:
    async with pair(tmp_path) as (one, other):
        sent = 0

        async def write() -> None:
            nonlocal sent
            for number in range(64):
                await one.send([number, np.full(100_000, number, np.float32)])
                sent += 1

        writing = asyncio.create_task(write())
        for _ in range(50):  # as long as anything moves
            await asyncio.sleep(0)
        before = sent
        assert before < 64
        for number in range(64):
            found, pcm = await other.read()
            assert found == number
            assert pcm[0] == number
        await writing


async def test_a_frame_that_is_too_large_or_no_message_ends_the_connection(tmp_path: Path) -> None:
    for head in (
        HEAD.pack(MAX_STRUCTURE_BYTES + 1, 0),
        HEAD.pack(0, MAX_RAW_BYTES + 1),
        HEAD.pack(4, 0) + b"null",
        HEAD.pack(2, 0) + b"{]",
    ):
        async with pair(tmp_path) as (one, other):
            assert one._transport is not None
            one._transport.write(head)
            with pytest.raises(ConnectionError):
                await other.read()
            with pytest.raises(ConnectionError):
                await one.read()
