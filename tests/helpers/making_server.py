"""A server for the Studio's pages that make things: tones for speech, fits by a script, recordings really read."""

import asyncio
import io
import wave
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from helpers.cloning import CloneEngine, SimpleTranscriber
from helpers.fakes import ToneEngine, tone_settings
from helpers.scripted_fits import style
from helpers.serving import served
from polyvox.config import Settings
from polyvox.runtime.gpu_usage import GpuMonitor, GpuUsage
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.voices.fit_worker import FitStep
from polyvox.service.voices.fitting import FittingService
from polyvox.service.voices.prompts import Prompts
from polyvox.service.voices.voice_store import AsyncVoiceStore
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Pcm, Span
from polyvox.voices.fitted import FittedStyle
from polyvox.voices.recording.intake import RecordingIntake
from polyvox.voices.storage.location import FolderLocation

RATE = 24_000
FIT_STEPS = 8
_STEP_SECONDS = 0.25


class AllSpeech:
    """Takes all of a recording for speech."""

    def speech(self, pcm: Pcm, rate: int) -> list[Span]:
        return [Span(0, len(pcm))]


class Recordings:
    """A web whose `.wav` files are recordings, and all else is not."""

    async def fetch(self, url: str) -> bytes:
        return recording() if url.endswith(".wav") else b"no audio"


class SteppingFits:
    """Fits that take a few steps, more alike with each; `held` ones wait in the middle until they are let go."""

    held = False

    async def __call__(
        self, settings: Settings, pcm: Pcm, rate: int, seed: int
    ) -> AsyncGenerator[FitStep | FittedStyle]:
        for step in range(FIT_STEPS):
            yield FitStep(step, FIT_STEPS, 0.2 + 0.05 * step if step else None)
            await asyncio.sleep(_STEP_SECONDS)
            while self.held and step == FIT_STEPS // 2:  # noqa: ASYNC110 - a test sets it from another thread
                await asyncio.sleep(0.01)
        yield style()


@dataclass(frozen=True, slots=True)
class MakingServer:
    """A running server, and what a test may look at or set."""

    url: str
    engine: ToneEngine
    fits: SteppingFits


@contextmanager
def making_server(
    folder: Path, gpus: Sequence[GpuUsage] = (), *, other: CloneEngine | None = None, **settings: Any
) -> Iterator[MakingServer]:
    """A server of one model that clones; with an `other`, that one does, and the default one does not."""
    engine: ToneEngine = CloneEngine(chunks=4, chunk_seconds=0.4, delay=0.02) if other is None else ToneEngine()
    engines = {"tone": engine} | ({} if other is None else {other.name: other})
    chosen = tone_settings(data_dir=folder, allow_fetch=True, job_min_free_bytes=0, models=list(engines), **settings)
    registry = Registry(chosen, {name: lambda _, engine=engine: engine for name, engine in engines.items()})
    speech = SpeechService(chosen, registry, Metrics(GpuMonitor(lambda: lambda: gpus)))
    prompts = Prompts(
        speech.settings,
        folder / "prepared",
        intake=RecordingIntake(speech.settings, AllSpeech()),
        fetcher=Recordings(),
        transcriber=SimpleTranscriber(),
        metrics=speech.metrics,
    )
    store = AsyncVoiceStore(FolderLocation(folder / "voices"))
    voices = VoiceService(speech.settings, speech.registry, prompts, store, speech.accounts.access)
    fits = SteppingFits()
    fitting = FittingService(speech.settings, voices, fits, check=lambda settings: None)
    with served(speech, voices, fitting=fitting) as url:
        yield MakingServer(url, engine, fits)


def recording(seconds: float = 3.0, level: float = 0.3) -> bytes:
    """A WAV file of syllables: tones that swell and fade over a little noise."""
    time = np.arange(round(seconds * RATE)) / RATE
    swell = np.clip(np.sin(2 * np.pi * 2 * time), 0, None)
    tones = sum(np.sin(2 * np.pi * 140 * harmonic * time) / harmonic for harmonic in range(1, 5))
    noise = np.random.default_rng(1).normal(0, 1e-4, len(time))
    samples = (level * swell * tones + noise).clip(-1, 1)
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(RATE)
        writer.writeframes((samples * 32_767).astype("<i2").tobytes())
    return file.getvalue()
