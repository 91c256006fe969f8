"""Load on CosyVoice's APIs: what is counted as audio is samples, whatever comes before or around them."""

import asyncio
import math
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import numpy as np
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from helpers.cloning import Studio, opened
from helpers.fakes import ToneEngine, tone_service
from helpers.serving import served
from helpers.tables import each_row
from polyvox.api.dialects.grpc.server import GrpcServer
from polyvox.audio.encode import AudioFormat, StreamEncoder, wav_header
from polyvox.bench.audio_meter import Mp3Meter, SampleMeter, meter_for
from polyvox.bench.dialects import dialect_named
from polyvox.bench.load import Load, Outcome, run_load
from polyvox.errors import ApiError

pytestmark = pytest.mark.anyio

RATE = 24_000


def load(text: str = "One two three.", requests: int = 2, **options: object) -> Load:
    return Load((text,), "low", "", requests, concurrency=2, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(tone_service(ToneEngine(chunks=4, chunk_seconds=0.5))) as address:
        yield address


@pytest.mark.parametrize("name", ["cosyvoice", "rayserve"])
async def test_the_audio_of_every_request_is_measured(url: str, name: str) -> None:
    samples = (await run_load(load(), dialect_named(name), url)).samples
    assert [sample.outcome for sample in samples] == [Outcome.OK, Outcome.OK]
    assert all(sample.audio_seconds == pytest.approx(2.0, abs=0.08) for sample in samples)
    assert all(0 < sample.first_audio <= sample.latency for sample in samples if sample.first_audio is not None)


@pytest.mark.parametrize("name", ["cosyvoice", "rayserve"])
async def test_a_refusal_is_told_in_the_servers_words(url: str, name: str) -> None:
    (sample,) = (await run_load(load("...", requests=1), dialect_named(name), url)).samples
    assert sample.outcome is Outcome.FAILED
    assert "400: Nothing in the text can be spoken" in sample.error


async def test_grpc(tmp_path) -> None:
    studio = Studio(tmp_path, ToneEngine(chunks=4, chunk_seconds=0.5))
    async with opened(studio):
        server = GrpcServer(studio.speech, studio.voices)
        address = f"http://{server.bind(0)}"
        await server.start()
        try:
            spoken = (await run_load(load(), dialect_named("grpc"), address)).samples
            (refused,) = (await run_load(load("...", requests=1), dialect_named("grpc"), address)).samples
        finally:
            await server.close()
    assert [sample.audio_seconds for sample in spoken] == pytest.approx([2.0, 2.0])
    assert (refused.outcome, refused.error[:4]) == (Outcome.FAILED, "400:")
    (nobody,) = (await run_load(load(requests=1), dialect_named("grpc"), "http://127.0.0.1:9")).samples
    assert "UNAVAILABLE" in nobody.error


@pytest.fixture(scope="module")
def slow_wav() -> Iterator[str]:
    """A server in CosyVoice's words that sends the header of a WAV file at once, and the samples 0.3 s later."""

    async def parts() -> AsyncIterator[bytes]:
        yield wav_header(RATE, 1, None)
        await asyncio.sleep(0.3)
        yield bytes(2 * RATE)

    async def answer() -> StreamingResponse:
        return StreamingResponse(parts(), media_type="audio/wav")

    app = FastAPI()
    app.add_api_route("/inference_sft", answer, methods=["POST"], response_model=None)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


async def test_the_header_of_a_wav_file_is_no_audio(slow_wav: str) -> None:
    (sample,) = (await run_load(load(requests=1), dialect_named("cosyvoice"), slow_wav)).samples
    assert sample.first_audio is not None
    assert sample.first_audio >= 0.3
    assert sample.audio_seconds == pytest.approx(1.0)


@each_row("piece", [1, 7, 45, 100_000])
@each_row("header", [b"", wav_header(16_000, 1, None), wav_header(16_000, 1, 32_000)])
def test_samples_are_counted_whatever_the_pieces(piece: int, header: bytes) -> None:
    data = header + bytes(32_000)
    meter = SampleMeter(16_000)
    counted = [meter.seconds(data[start : start + piece]) for start in range(0, len(data), piece)]
    assert math.fsum(counted) == pytest.approx(1.0)
    assert not any(counted[: len(header) // piece])


def test_other_chunks_of_a_wav_file_are_no_audio_and_the_rate_is_the_files() -> None:
    extra = b"LIST" + (3).to_bytes(4, "little") + b"abc\0"
    header = wav_header(8_000, 2, None)
    meter = SampleMeter(24_000)
    assert meter.seconds(header[:36] + extra + header[36:] + bytes(32_000)) == pytest.approx(1.0)
    with pytest.raises(ApiError, match="without samples"):
        SampleMeter(8_000).seconds(b"RIFF" + bytes(70_000))


def test_mp3_is_decoded() -> None:
    encoder = StreamEncoder(AudioFormat.MP3, RATE)
    tone = np.sin(np.arange(RATE) / 10).astype(np.float32) / 3
    data = encoder.encode(tone) + encoder.finish()
    meter = meter_for("audio/mpeg; x=y", RATE, 1)
    assert isinstance(meter, Mp3Meter)
    assert sum(meter.seconds(data[start : start + 100]) for start in range(0, len(data), 100)) == pytest.approx(
        1.0, abs=0.08
    )
