"""The bare model: the inference calls of an utterance, in a loop without a server."""

import asyncio
import time
from collections.abc import Sequence

from polyvox.bundles.validate import open_bundle
from polyvox.config import Settings
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.types import Utterance


class BareKokoro:
    """Kokoro's ONNX graph with the engine's session options, called from one thread."""

    def __init__(self, settings: Settings) -> None:
        threads = settings.section(KokoroSettings).threads or share_of_cores(settings.section(KokoroSettings).workers)
        self._model = KokoroModel(open_bundle("kokoro", settings.models_dir).file("model.onnx"), threads)

    def cpu_seconds(self, calls: Sequence[ModelInput]) -> float:
        """CPU time that these calls take, over all threads of this process."""
        began = time.process_time()
        for call in calls:
            self._model.run(call)
        return time.process_time() - began


def planned_calls(settings: Settings, text: str) -> list[ModelInput]:
    """The calls with which the engine would speak a text in the default voice."""

    async def plan() -> list[ModelInput]:
        engine = KokoroEngine(settings)
        await engine.start()
        try:
            utterance = Utterance(text, settings.default_voice)
            return [step.input for step in engine.requests(utterance) if step.input.ids]
        finally:
            await engine.close()

    return asyncio.run(plan())
