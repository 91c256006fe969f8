"""A session's audio in the format its caller asked for."""

import asyncio
import io
import threading
import time
import wave

import numpy as np
import pytest

from helpers.fakes import ToneEngine, running, tone, tone_service
from helpers.tables import each_row
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, StreamEncoder
from polyvox.audio.pcm import from_pcm16
from polyvox.errors import EngineError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.encoding import encode_whole, encoded
from polyvox.service.session import SessionState
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio


def request(text: str = "one two three", **options) -> SpeechRequest:
    return SpeechRequest(Utterance(text, "low"), **options)


@pytest.mark.long
@each_row("wanted", AudioFormat)
async def test_a_stream_holds_the_whole_speech(wanted: AudioFormat) -> None:
    engine = ToneEngine(chunks=4, chunk_seconds=0.5)
    async with running(tone_service(engine)) as service, await service.open(request(), LOCAL_CALL) as session:
        pieces = [piece async for piece in encoded(session, wanted)]
    assert [piece.chunk.index for piece in pieces if piece.chunk is not None] == [0, 1, 2, 3]
    data = b"".join(piece.data for piece in pieces)
    if wanted is AudioFormat.PCM:
        seconds = len(data) / 2 / 24_000
    else:
        pcm, rate = decode(data, max_seconds=10, max_samples=1_000_000)
        seconds = len(pcm) / rate
    assert seconds == pytest.approx(2.0, abs=0.12)


@each_row("wanted", AudioFormat)
async def test_bytes_of_a_chunk_leave_with_that_chunk(wanted: AudioFormat) -> None:
    gate = asyncio.Event()
    gate.set()
    engine = ToneEngine(chunks=2, chunk_seconds=0.5, gate=gate)
    async with running(tone_service(engine)) as service, await service.open(request(), LOCAL_CALL) as session:
        stream = encoded(session, wanted)
        first = await anext(stream)
        assert first.data
        await stream.aclose()


@pytest.mark.long
@each_row("wanted", AudioFormat)
async def test_a_whole_file_holds_the_whole_speech(wanted: AudioFormat) -> None:
    async with running(tone_service(ToneEngine(chunks=4, chunk_seconds=0.5))) as service:
        async with await service.open(request(), LOCAL_CALL) as session:
            data = await encode_whole(session, wanted)
        assert session.state is SessionState.DONE
    if wanted is AudioFormat.PCM:
        np.testing.assert_allclose(from_pcm16(data), tone(220.0, 0, 48_000, 24_000), atol=1e-4)
    else:
        pcm, rate = decode(data, max_seconds=10, max_samples=1_000_000)
        assert len(pcm) / rate == pytest.approx(2.0, abs=0.12)


async def test_the_header_of_a_whole_wav_has_its_length() -> None:
    service = tone_service(ToneEngine(chunks=3, chunk_seconds=0.5))
    async with running(service), await service.open(request(sample_rate=16_000), LOCAL_CALL) as session:
        data = await encode_whole(session, AudioFormat.WAV)
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getframerate(), file.getnchannels()) == (16_000, 1)
        assert file.getnframes() == pytest.approx(24_000, abs=2)
        assert len(file.readframes(10**6)) == 2 * file.getnframes()


async def test_encoding_a_whole_file_shows_its_chunks() -> None:
    words: list[str] = []
    async with running(tone_service()) as service, await service.open(request(), LOCAL_CALL) as session:
        await encode_whole(session, AudioFormat.MP3, lambda chunk: words.extend(word.word for word in chunk.words))
    assert words == ["one", "two", "three"]


async def test_a_runaway_engine_cannot_fill_the_memory() -> None:
    engine = ToneEngine(chunks=10_000, chunk_seconds=30.0)
    async with running(tone_service(engine)) as service, await service.open(request("hi"), LOCAL_CALL) as session:
        with pytest.raises(EngineError, match="more than the text can take; send less text"):
            await encode_whole(session, AudioFormat.PCM)


@pytest.mark.long
async def test_a_failing_session_fails_its_stream_and_its_file() -> None:
    async with running(tone_service(ToneEngine(fail_at=1))) as service:
        async with await service.open(request(), LOCAL_CALL) as session:
            stream = encoded(session, AudioFormat.MP3)
            assert (await anext(stream)).data
            with pytest.raises(EngineError, match=session.id):
                await anext(stream)
        async with await service.open(request(), LOCAL_CALL) as session:
            with pytest.raises(EngineError, match=session.id):
                await encode_whole(session, AudioFormat.MP3)


class Recording(StreamEncoder):
    """Notes its calls, and breaks the test when two overlap, as a codec would break."""

    calls: list[str]
    inside: threading.Lock
    slow: float

    def encode(self, pcm):
        return self._noted("encode", lambda: super(Recording, self).encode(pcm))

    def close(self):
        self._noted("close", super().close)

    def _noted(self, name, fn):
        assert self.inside.acquire(blocking=False), f"{name} overlaps another call"
        try:
            self.calls.append(name)
            self.calls.append(threading.current_thread().name)
            time.sleep(self.slow)
            return fn()
        finally:
            self.inside.release()


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch) -> type[Recording]:
    class Fresh(Recording):
        calls: list[str] = []  # noqa: RUF012
        inside = threading.RLock()
        slow = 0.0

    monkeypatch.setattr("polyvox.service.encoding.StreamEncoder", Fresh)
    return Fresh


async def test_encoding_runs_off_the_loop(recording: type[Recording]) -> None:
    async with running(tone_service()) as service, await service.open(request(), LOCAL_CALL) as session:
        assert [piece.data async for piece in encoded(session, AudioFormat.MP3)]
    threads = recording.calls[1::2]
    assert threads
    assert all(name.startswith("polyvox-audio") for name in threads)


async def test_the_encoder_is_closed_when_the_reader_leaves(recording: type[Recording]) -> None:
    async with running(tone_service()) as service, await service.open(request(), LOCAL_CALL) as session:
        stream = encoded(session, AudioFormat.MP3)
        await anext(stream)
        await stream.aclose()
    assert recording.calls[::2] == ["encode", "close"]


@pytest.mark.long
async def test_the_encoder_is_closed_after_the_call_under_way_when_the_reader_is_cancelled(
    recording: type[Recording],
) -> None:
    recording.inside = threading.Lock()
    recording.slow = 0.1

    async def read() -> None:
        async with await service.open(request(), LOCAL_CALL) as session:
            async for _ in encoded(session, AudioFormat.PCM):
                pass

    async with running(tone_service()) as service:
        reader = asyncio.create_task(read())
        while "encode" not in recording.calls:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        await asyncio.sleep(0.3)
    assert recording.calls[::2] == ["encode", "close"]
