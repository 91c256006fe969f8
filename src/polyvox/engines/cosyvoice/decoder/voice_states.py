"""The decoder states of voices in use: what a voice's prompt leaves in the flow's caches, computed once for all."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial

from polyvox.engines.cosyvoice.decoder.speech_decoder import DecoderState
from polyvox.errors import UnavailableError
from polyvox.types import PreparedVoice

MAX_VOICES = 64
"""Voices whose states are kept, however small those are: the prompts themselves also take memory."""

ComputeState = Callable[[PreparedVoice], Awaitable[DecoderState]]


class VoiceStates:
    """States of recent voices, the least recently used dropped first, so that all together stay within `most` bytes.

    Streams that ask for the same voice at once share one computation. One event loop may use it.
    """

    def __init__(self, compute: ComputeState, most: int) -> None:
        self._compute, self._most = compute, most
        self._states: OrderedDict[str, asyncio.Task[DecoderState]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._states)

    async def get(self, voice: PreparedVoice) -> DecoderState:
        """The state before the first token of a stream in this voice."""
        key = _key(voice)
        if key not in self._states:
            self._states[key] = asyncio.create_task(self._computed(voice))
            self._states[key].add_done_callback(partial(self._ended, key))
        self._states.move_to_end(key)
        task, asking = self._states[key], asyncio.current_task()
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled() and (asking is None or not asking.cancelling()):
                raise UnavailableError("The engine is shutting down; try again when it runs.") from None
            raise

    async def _computed(self, voice: PreparedVoice) -> DecoderState:
        return await self._compute(voice)

    def _ended(self, key: str, task: asyncio.Task[DecoderState]) -> None:
        """Forget a computation that failed, whether or not a stream still waits for it, or make room for its state."""
        if (task.cancelled() or task.exception() is not None) and self._states.get(key) is task:
            del self._states[key]
        self._drop_surplus()

    def _drop_surplus(self) -> None:
        sizes = {
            key: task.result().nbytes
            for key, task in self._states.items()
            if task.done() and not task.cancelled() and task.exception() is None
        }
        total = sum(sizes.values())
        for key, nbytes in sizes.items():
            if total <= self._most and len(self._states) <= MAX_VOICES:
                return
            del self._states[key]
            total -= nbytes

    def clear(self) -> None:
        """Drop all of them; computations under way end."""
        for task in self._states.values():
            task.cancel()
        self._states.clear()


def _key(voice: PreparedVoice) -> str:
    digest = hashlib.sha256()
    for name in ("tokens", "mel", "embedding"):
        if name in voice.arrays:
            digest.update(name.encode())
            digest.update(voice.arrays[name].tobytes())
    return digest.hexdigest()
