"""The gRPC server on this event loop, and clients compiled by stock tools from .proto files."""

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import grpc.aio
import numpy as np
from grpc_tools import protoc

from helpers.cloning import CloneEngine, SimpleFetcher, SimpleTranscriber, Studio, opened
from helpers.fakes import ToneEngine
from polyvox.api.dialects.grpc.server import GrpcServer
from polyvox.service.voices.prompts import Prompts
from polyvox.service.voices.voice_store import AsyncVoiceStore
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Pcm, Span
from polyvox.voices.recording.intake import RecordingIntake
from polyvox.voices.storage.location import FolderLocation

ORIGINAL_PROTO = """
syntax = "proto3";
package cosyvoice;
option go_package = "protos/";

service CosyVoice {
  rpc Inference(Request) returns (stream Response) {}
}

message Request {
  oneof RequestPayload {
    sftRequest sft_request = 1;
    zeroshotRequest zero_shot_request = 2;
    crosslingualRequest cross_lingual_request = 3;
    instructRequest instruct_request = 4;
  }
}

message sftRequest { string spk_id = 1; string tts_text = 2; }
message zeroshotRequest { string tts_text = 1; string prompt_text = 2; bytes prompt_audio = 3; }
message crosslingualRequest { string tts_text = 1; bytes prompt_audio = 2; }
message instructRequest { string tts_text = 1; string spk_id = 2; string instruct_text = 3; }
message Response { bytes tts_audio = 1; }
"""
"""CosyVoice's own definition, from which existing clients are compiled: the same names, numbers and types."""


@dataclass(frozen=True)
class Client:
    """The generated code of a .proto file: messages and stubs."""

    messages: ModuleType
    stubs: ModuleType

    def __getattr__(self, name: str) -> Any:
        return getattr(self.messages, name)


@cache
def original_client() -> Client:
    """A client of CosyVoice's, as it has been compiled all along."""
    return _compiled("cosyvoice", ORIGINAL_PROTO)


@cache
def speech_client() -> Client:
    """A client of our own service, compiled from the text that ships with it."""
    return _compiled("speech", shipped_proto("speech.proto"))


def _compiled(name: str, text: str) -> Client:
    with TemporaryDirectory() as folder:
        (Path(folder) / f"{name}.proto").write_text(text, encoding="utf-8")
        arguments = ["protoc", f"-I{folder}", f"--python_out={folder}", f"--grpc_python_out={folder}", f"{name}.proto"]
        assert protoc.main(arguments) == 0
        sys.path.insert(0, folder)
        try:
            return Client(importlib.import_module(f"{name}_pb2"), importlib.import_module(f"{name}_pb2_grpc"))
        finally:
            sys.path.remove(folder)


def shipped_proto(name: str) -> str:
    """A .proto text as users find it in the package."""
    return (files("polyvox.api.dialects.grpc") / "protos" / name).read_text(encoding="utf-8")


class SteppedEngine(CloneEngine):
    """Makes a chunk for each step that it is allowed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._steps = asyncio.Semaphore(0)

    def step(self) -> None:
        self._steps.release()

    async def _work(self) -> None:
        await self._steps.acquire()


class GrpcStudio(Studio):
    """A studio that takes recordings in as a real server does, but for the network that finds speech in them."""

    def __init__(self, folder: Path, engine: ToneEngine | None = None, **settings: Any) -> None:
        super().__init__(folder, engine, **{"prompt_min_score": 0.0, **settings})
        self.prompts = Prompts(
            self.speech.settings,
            folder / "prepared",
            intake=RecordingIntake(self.speech.settings, _AllSpeech()),
            fetcher=SimpleFetcher(),
            transcriber=SimpleTranscriber(),
            metrics=self.speech.metrics,
        )
        self.voices = VoiceService(
            self.speech.settings,
            self.speech.registry,
            self.prompts,
            AsyncVoiceStore(FolderLocation(folder / "voices")),
            self.speech.accounts.access,
        )

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left of any call: no session, no place, no utterance of the engine."""
        value = self.speech.metrics.registry.get_sample_value
        sessions = value("polyvox_active_sessions"), value("polyvox_queue_depth")
        return sessions == (0.0, 0.0) and self.engine.speaking == 0


class _AllSpeech:
    def speech(self, pcm: Pcm, rate: int) -> list[Span]:
        return [Span(0, len(pcm))]


@asynccontextmanager
async def grpc_channel(studio: Studio, **options: Any) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to the doors of a studio, which are closed with it."""
    async with opened(studio):
        server = GrpcServer(studio.speech, studio.voices)
        address = server.bind(0)
        await server.start()
        try:
            async with grpc.aio.insecure_channel(address, **options) as channel:
                yield channel
        finally:
            await server.close()


async def read_to_the_end(call: Any) -> None:
    """Read on where reading has begun message by message."""
    while await call.read() is not grpc.aio.EOF:
        continue


def recording(seconds: float) -> bytes:
    """Noise as CosyVoice's clients send it: 16-bit samples at 16 kHz."""
    noise = np.random.default_rng(0).uniform(-0.3, 0.3, round(seconds * 16_000))
    return (noise * 32768).astype("<i2").tobytes()
