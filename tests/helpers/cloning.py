"""Test doubles for cloned voices: an engine that clones, and an intake without networks."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from helpers.fakes import ToneEngine, tone_service
from helpers.serving import called
from polyvox.errors import AudioDecodeError, PolyvoxError, UnknownVoiceError
from polyvox.service.speech import SpeechService
from polyvox.service.voices.prompts import Prompts
from polyvox.service.voices.voice_store import AsyncVoiceStore
from polyvox.service.voices.voices import VoiceService
from polyvox.types import AudioChunk, Capabilities, Pcm, PreparedVoice, Utterance, VoicePrompt
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recording.intake import CheckedRecording
from polyvox.voices.recording.quality import QualityReport
from polyvox.voices.records import Embedding
from polyvox.voices.storage.location import FolderLocation
from polyvox.voices.storage.recordings import digest_of

RATE = 24_000
REPORT = QualityReport(
    duration=1.0,
    speech_seconds=0.9,
    speech_ratio=0.9,
    snr_db=40.0,
    clipped_ratio=0.0,
    level_dbfs=-20.0,
    score=1.0,
    warnings=("Somebody coughs.",),
)


def sample(seed: int) -> bytes:
    """A file that `SimpleIntake` reads."""
    return f"seed {seed}".encode()


class SimpleIntake:
    """Reads the files of `sample`: a second of noise each."""

    def __init__(self) -> None:
        self.taken = 0

    async def take(self, data: bytes, limits: PromptLimits) -> CheckedRecording:
        self.taken += 1
        word, _, seed = data.partition(b" ")
        if word != b"seed":
            raise AudioDecodeError("The recording cannot be read; send another.")
        pcm = np.random.default_rng(int(seed)).uniform(-0.2, 0.2, RATE).astype(np.float32)
        return CheckedRecording(pcm, RATE, digest_of(data), REPORT)


class SimpleFetcher:
    """A web of one path per seed."""

    def __init__(self) -> None:
        self.fetched: list[str] = []

    async def fetch(self, url: str) -> bytes:
        self.fetched.append(url)
        return sample(int(url.rpartition("/")[2]))


class SimpleTranscriber:
    """Returns the same transcript for every recording, and one embedding."""

    def __init__(self) -> None:
        self.heard = 0
        self.words = "Some words."
        self.languages: list[str | None] = []
        self.error: PolyvoxError | None = None
        self.speaker: Embedding | None = None

    def check_available(self, language: str | None = None) -> None:
        if self.error is not None:
            raise self.error

    def transcribe(self, pcm: Pcm, rate: int, language: str | None = None) -> str:
        self.check_available()
        self.heard += 1
        self.languages.append(language)
        return self.words

    def embed(self, pcm: Pcm, rate: int) -> Embedding | None:
        return self.speaker


class CloneEngine(ToneEngine):
    """Produces a pitch derived from the recording; preparing takes `burn` seconds of CPU time.

    A `wordless` one says that it needs no transcript.
    """

    def __init__(self, name: str = "tone", *, burn: float = 0.0, wordless: bool = False, **options: Any) -> None:
        super().__init__(name, **options)
        self.burn = burn
        self.wordless = wordless
        self.prepared: list[VoicePrompt] = []

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, cloning=True, wordless=self.wordless)

    def check(self, utterance: Utterance) -> None:
        if utterance.prepared is None:
            super().check(utterance)
        elif utterance.prepared.engine != self.name:
            raise UnknownVoiceError("The voice was prepared for another model.", field="voice")

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        self.prepared.append(prompt)
        until = time.process_time() + self.burn
        spectrum = np.abs(np.fft.rfft(prompt.pcm))
        while time.process_time() < until:
            spectrum = np.abs(np.fft.rfft(prompt.pcm))
        return PreparedVoice(self.name, prompt.digest, {"pitch": np.array([100.0 + spectrum.argmax() % 100])})

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        spoken = replace(utterance, voice="low") if utterance.prepared else utterance
        async for chunk in super().speak(spoken):
            yield chunk
        self.heard[:] = [utterance if one is spoken else one for one in self.heard]  # others may speak meanwhile


class Studio:
    """A speech service and a voice service on test doubles."""

    def __init__(self, folder: Path, engine: ToneEngine | None = None, **settings: Any) -> None:
        self.engine = CloneEngine() if engine is None else engine
        self.speech: SpeechService = tone_service(self.engine, data_dir=folder, **settings)
        self.intake, self.fetcher, self.transcriber = SimpleIntake(), SimpleFetcher(), SimpleTranscriber()
        self.prompts = Prompts(
            self.speech.settings,
            folder / "prepared",
            intake=self.intake,
            fetcher=self.fetcher,
            transcriber=self.transcriber,
            metrics=self.speech.metrics,
        )
        self.voices = VoiceService(
            self.speech.settings,
            self.speech.registry,
            self.prompts,
            AsyncVoiceStore(FolderLocation(folder / "voices")),
            self.speech.accounts.access,
        )

    def events(self, kind: str, event: str) -> float:
        """How often a cache has reported something."""
        labels = {"kind": kind, "event": event}
        return self.speech.metrics.registry.get_sample_value("polyvox_voice_cache_events_total", labels) or 0.0


@asynccontextmanager
async def opened(studio: Studio) -> AsyncIterator[Studio]:
    """Start both services, and close them in the end."""
    await studio.speech.start()
    await studio.voices.start()
    try:
        yield studio
    finally:
        await studio.voices.close()
        await studio.speech.close()


@asynccontextmanager
async def studio_client(
    folder: Path, engine: ToneEngine | None = None, **settings: Any
) -> AsyncIterator[tuple[Studio, httpx.AsyncClient]]:
    """A studio, and a client of its doors."""
    studio = Studio(folder, engine, **settings)
    async with called(studio.speech, studio.voices) as client:
        await studio.voices.start()
        try:
            yield studio, client
        finally:
            await studio.voices.close()
