"""A scripted fit runner, for tests of everything around fits."""

import asyncio
from collections.abc import AsyncGenerator

import numpy as np

from polyvox.config import Settings
from polyvox.errors import PolyvoxError
from polyvox.service.voices.fit_worker import FitStep
from polyvox.service.voices.fitting import FittingService
from polyvox.service.voices.voices import VoiceService
from polyvox.types import Pcm
from polyvox.voices.fitted import STYLE_SIZE, FittedStyle

OFFSET = np.linspace(-0.5, 0.5, STYLE_SIZE, dtype=np.float32)


def style(base: str = "low", model: str = "tone") -> FittedStyle:
    return FittedStyle(model, base, OFFSET, similarity=0.6, base_similarity=0.2, word_errors=0.0, steps=3, seed=0)


class ScriptedFits:
    """Takes a step, waits for `go`, then ends with a style or an error; `open` counts running fits."""

    def __init__(self, *, waiting: bool = False, error: PolyvoxError | None = None, model: str = "tone") -> None:
        self.model = model
        self.go = asyncio.Event()
        if not waiting:
            self.go.set()
        self.error = error
        self.open = 0
        self.most_open = 0
        self.seeds: list[int] = []

    async def __call__(
        self, settings: Settings, pcm: Pcm, rate: int, seed: int
    ) -> AsyncGenerator[FitStep | FittedStyle]:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        self.seeds.append(seed)
        try:
            yield FitStep(0, 4, None)
            yield FitStep(1, 4, 0.3)
            await self.go.wait()
            if self.error is not None:
                raise self.error
            yield style(model=self.model)
        finally:
            self.open -= 1


def fitting_service(settings: Settings, voices: VoiceService, fits: ScriptedFits) -> FittingService:
    return FittingService(settings, voices, fits, check=lambda settings: None)
