"""Threads of an engine whose language model and codec work side by side."""

import asyncio
from dataclasses import dataclass, fields
from functools import partial

import torch

from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import use_own_stream


@dataclass(frozen=True, slots=True)
class EngineThreads:
    """A thread for each kind of work: decoded audio, the language model, texts, and recordings of voices."""

    codec: DeviceExecutor
    lm: DeviceExecutor
    text: DeviceExecutor
    voices: DeviceExecutor

    @classmethod
    async def start(cls, name: str, device: torch.device, niceness: int = 0) -> "EngineThreads":
        """Threads for an engine on `device`, where the language model comes first; texts are never nice."""
        codec, lm, voices = (
            DeviceExecutor(f"{name}-{part}", 1, niceness=niceness) for part in ("codec", "lm", "voices")
        )
        for thread in (codec, lm, voices):
            await thread.run(partial(use_own_stream, device, urgent=thread is lm))
        return cls(codec, lm, DeviceExecutor(f"{name}-text", 1), voices)

    async def close(self) -> None:
        for field in fields(self):
            await asyncio.to_thread(getattr(self, field.name).close)
