"""Engines that produce tones, and services built on them."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from polyvox.config import Settings, SettingsSection
from polyvox.engines.base import Engine
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import EngineSpec
from polyvox.errors import BundleError, TextError, UnavailableError, UnknownVoiceError
from polyvox.installation import settings_loader
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.stage import Observer, Stage
from polyvox.service.registry.registry import Registry
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import Metrics
from polyvox.settings_loader import Loader
from polyvox.types import (
    AudioChunk,
    Capabilities,
    Pcm,
    PreparedVoice,
    Span,
    Streaming,
    Utterance,
    Voice,
    VoicePrompt,
    WordTiming,
)

TONES = {"low": 220.0, "high": 440.0}


class PlainToneEngine:
    """Implements `Engine`: produces the voice's tone, `chunks` chunks of `chunk_seconds` each, continuous in phase.

    `delay` is slept before each chunk; `gate`, where given, has to be set before each chunk; `fail_at` is the index of
    the chunk in whose place `error` is raised; `start_error` is raised by `start`. `speaking` and `closed` count the
    utterances under way and those that have ended, in whatever way.
    """

    def __init__(
        self,
        name: str = "tone",
        *,
        chunks: int = 3,
        chunk_seconds: float = 0.1,
        delay: float = 0.0,
        gate: asyncio.Event | None = None,
        fail_at: int | None = None,
        error: Exception | None = None,
        start_error: Exception | None = None,
        sample_rate: int = 24_000,
        channels: int = 1,
        native_speed: bool = True,
        instructions: bool = False,
    ) -> None:
        self._name = name
        self.chunks = chunks
        self.chunk_seconds = chunk_seconds
        self.delay = delay
        self.gate = gate
        self.fail_at = fail_at
        self.error = error if error is not None else RuntimeError("the tone broke")
        self.start_error = start_error
        self.started = False
        self.is_closed = False
        self.speaking = 0
        self.most_speaking = 0
        self.closed = 0
        self.heard: list[Utterance] = []
        self._capabilities = Capabilities(
            languages=frozenset({"en-us"}),
            sample_rate=sample_rate,
            channels=channels,
            streaming=Streaming.CHUNK,
            native_speed=native_speed,
            instructions=instructions,
            word_timings=True,
        )

    @property
    def name(self) -> str:
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def voices(self) -> Sequence[Voice]:
        return [Voice(id=name, name=name.title(), language="en-us") for name in TONES]

    async def start(self) -> None:
        if self.start_error is not None:
            raise self.start_error
        self.started = True

    async def close(self) -> None:
        self.is_closed = True

    def check(self, utterance: Utterance) -> None:
        if utterance.voice not in TONES:
            raise UnknownVoiceError(f"There is no voice {utterance.voice!r}; use low or high.", field="voice")
        if not any(char.isalnum() for char in utterance.text):
            raise TextError("Nothing in the text can be spoken; send words.", field="input")

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        raise UnavailableError(f"{self.name} cannot clone voices.")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        self.heard.append(utterance)
        self.speaking += 1
        self.most_speaking = max(self.most_speaking, self.speaking)
        try:
            words = _words(utterance.text)
            for index in range(self.chunks):
                began = time.monotonic()
                await self._work()
                if index == self.fail_at:
                    raise self.error
                yield self._chunk(utterance, index, words, time.monotonic() - began)
        finally:
            self.speaking -= 1
            self.closed += 1

    async def _work(self) -> None:
        """What a chunk costs."""
        if self.gate is not None:
            await self.gate.wait()
        await asyncio.sleep(self.delay)

    def _chunk(self, utterance: Utterance, index: int, words: list[tuple[str, Span]], wall: float) -> AudioChunk:
        rate = self.capabilities.sample_rate
        speed = utterance.speed if self.capabilities.native_speed else 1.0
        samples = round(self.chunk_seconds * rate / speed)
        first, last = len(words) * index // self.chunks, len(words) * (index + 1) // self.chunks
        mine = words[first:last]
        start = index * samples
        each = samples / rate / max(1, len(mine))
        timings = tuple(
            WordTiming(word, start / rate + place * each, start / rate + (place + 1) * each, span)
            for place, (word, span) in enumerate(mine)
        )
        return AudioChunk(
            pcm=tone(TONES[utterance.voice], start, samples, rate, self.capabilities.channels),
            sample_rate=rate,
            index=index,
            start=start,
            text=" ".join(word for word, _ in mine),
            span=mine[0][1].cover(mine[-1][1]) if mine else None,
            words=timings,
            tokens=Span(first, last),
            wall_seconds=wall,
            device_seconds=wall,
        )


class ToneEngine(PlainToneEngine):
    """A tone engine that also phonemizes and mixes voices."""

    def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
        return text.lower(), [ord(char) for char in text.lower()]

    def mixed_voice(self, expression: str) -> npt.NDArray[np.float32]:
        names = expression.split("+")
        if unknown := [name for name in names if name not in TONES]:
            raise UnknownVoiceError(f"There is no voice {unknown[0]!r}; use low or high.", field="voice")
        blend = np.mean([TONES[name] for name in names])
        return np.full((510, 1, 256), blend, np.float32)


class BusyEngine(ToneEngine):
    """A tone engine whose chunks cost real CPU time, in batches on a thread of its own."""

    def __init__(self, *, burn: float, **options: Any) -> None:
        super().__init__("busy", **options)
        self._burn = burn
        self._observer: Observer | None = None

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    async def start(self) -> None:
        self._device = DeviceExecutor("busy-device", 1)
        self._stage = Stage("burn", self._run, executor=self._device, max_batch=8, observer=self._observer)
        await super().start()

    async def close(self) -> None:
        await self._stage.close()
        self._device.close()
        await super().close()

    async def _work(self) -> None:
        await self._stage(self._burn)

    @staticmethod
    def _run(items: list[float]) -> list[float]:
        until = time.monotonic() + max(items)
        block = np.full((200, 200), 1e-3)
        while time.monotonic() < until:
            block = block @ block
        return items


def tone(hertz: float, start: int, samples: int, rate: int, channels: int = 1) -> Pcm:
    """A sine at a third of full scale whose phase depends on the position alone."""
    phase = 2 * math.pi * hertz / rate * np.arange(start, start + samples)
    wave = (np.sin(phase) / 3).astype(np.float32)
    return wave if channels == 1 else np.stack([wave] * channels, axis=1)


def missing_bundle() -> BundleError:
    """What an engine's start raises when its model was never fetched."""
    return BundleError("The model 'tone' is not installed; run: polyvox pull tone")


class ToneSettings(SettingsSection):
    """What the family of the test engine brings."""

    section: ClassVar[str] = "tone"

    device: str = "auto"


def tone_settings(**overrides: Any) -> Settings:
    """Settings for a server with the one model `tone`, untouched by the surrounding environment.

    Its folder of voices cannot be made unless another is given.
    """
    own = {"models": ["tone"], "default_model": "tone", "default_voice": "low", "data_dir": "/dev/null/polyvox"}
    values: dict[str, Any] = own | overrides
    return Loader((*settings_loader().sections, ToneSettings)).given(**values)


def tone_spec(make: Callable[[Settings], Engine] | None = None, model: str = "tone") -> EngineSpec:
    """A family with one model, whose engines `make` makes."""
    return EngineSpec(
        family="tone",
        title="Tone",
        models={model: make or (lambda _: ToneEngine())},
        languages={model: frozenset({"en-us"})},
        settings=ToneSettings,
        device_field="device",
    )


def tone_catalog(engine: Engine) -> Catalog:
    """An installation whose only model is the given engine."""
    return Catalog((tone_spec(lambda _: engine),))


def tone_service(
    engine: PlainToneEngine | None = None,
    *,
    factories: Mapping[str, Callable[[Settings], Engine]] | None = None,
    **settings: Any,
) -> SpeechService:
    """A service that has not started yet, on the given engine or a `ToneEngine`."""
    chosen = engine if engine is not None else ToneEngine()
    effective = tone_settings(**settings)
    registry = Registry(effective, factories if factories is not None else {"tone": lambda _: chosen})
    return SpeechService(effective, registry, Metrics())


@asynccontextmanager
async def running(service: SpeechService) -> AsyncIterator[SpeechService]:
    """Start a service, and close it in the end."""
    await service.start()
    try:
        yield service
    finally:
        await service.close()


def _words(text: str) -> list[tuple[str, Span]]:
    words = []
    position = 0
    for word in text.split():
        start = text.index(word, position)
        position = start + len(word)
        words.append((word, Span(start, position)))
    return words
