"""InputAudio: the sound that a client sends, and the events about it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from math import ceil
from typing import Any

from polyvox.api.dialects.openai_realtime.client_events import AudioAppend
from polyvox.api.dialects.openai_realtime.event_error import EventError
from polyvox.api.dialects.openai_realtime.ids import new_id
from polyvox.api.dialects.openai_realtime.input_options import InputOptions
from polyvox.api.dialects.openai_realtime.outbox import Outbox
from polyvox.api.requests.forms import Fields
from polyvox.audio.pcm import to_pcm16
from polyvox.audio.resample import resampled
from polyvox.service.admission.pending_bodies import PendingBody
from polyvox.service.listening.arriving_audio import SAMPLE_BYTES, ArrivingAudio, SpeechStarted, TurnEvent
from polyvox.service.listening.service import ListeningService
from polyvox.types import Pcm
from polyvox.voices.limits import LISTENING_RATE

_INLINE_CHARS = 65_536
"""Sound up to this size is decoded on the event loop."""
_HELD_BACK = LISTENING_RATE // 4
"""Samples of sound before that a resampler may give out together with new ones."""
_SHORTEST_COMMIT = LISTENING_RATE // 10
_SAMPLES_A_MS = LISTENING_RATE // 1_000

Commit = Callable[[str, bytes], Awaitable[None]]
"""Takes the sound of a turn, as 16-bit samples at 16 kHz, into the conversation; the first argument is its item's id.
An empty turn is one in which nobody spoke."""


class InputAudio:
    """The input audio buffer of one session. Its memory is counted, and its seconds are limited, before any work.

    The sound is looked at off the event loop, a second at a time, and in the order in which it is sent.
    """

    def __init__(
        self,
        options: InputOptions,
        listening: ListeningService,
        max_seconds: float,
        memory: PendingBody,
        outbox: Outbox,
        commit: Commit,
        interrupt: Callable[[], Awaitable[None]],
    ) -> None:
        self._options = options
        self._listening = listening
        self._max_seconds = max_seconds
        self._memory = memory
        self._outbox = outbox
        self._commit = commit
        self._interrupt = interrupt
        self._audio = ArrivingAudio(options.format.sample_rate, options.detection, listening.max_samples)
        self._seconds = 0.0
        self._counted = 0
        self._turn_id = ""
        self._idle_since: int | None = None
        """Sample from which nobody has spoken; None where that is of no interest until a turn or response ends."""

    def configure(self, options: InputOptions) -> None:
        """Listen by these options from now on."""
        self._options = options
        self._audio.reconfigure(options.format.sample_rate, options.detection)

    def note_response(self, seconds: float) -> None:
        """Expect an answer to a response that has just been sent, once its client has played these seconds."""
        self._idle_since = self._audio.end + round(seconds * LISTENING_RATE)

    async def append(self, message: Mapping[str, Any]) -> None:
        """Take the sound of an `input_audio_buffer.append`."""
        pcm = await self._decoded(Fields(message).parsed(AudioAppend).audio)
        rate = self._options.format.sample_rate
        incoming = ceil(len(pcm) * LISTENING_RATE / rate)
        self._check_room(len(pcm) / rate, incoming)
        self._count((self._audio.length + incoming + _HELD_BACK) * SAMPLE_BYTES)
        try:
            for start in range(0, len(pcm), rate):
                for event in await self._listening.follow(self._audio, pcm[start : start + rate]):
                    await self._tell(event)
                await self._tell_idle()
        finally:
            self._count(self._audio.length * SAMPLE_BYTES)
        self._seconds += len(pcm) / rate

    async def recorded(self, audio: str) -> bytes:
        """The sound of a turn that the client has recorded itself, as 16-bit samples at 16 kHz."""
        pcm, rate = await self._decoded(audio), self._options.format.sample_rate
        self._check_seconds(len(pcm) / rate)
        if ceil(len(pcm) * LISTENING_RATE / rate) > self._listening.max_samples:
            raise self._full("send a shorter recording")
        self._seconds += len(pcm) / rate
        return await asyncio.to_thread(lambda: to_pcm16(resampled(pcm, rate, LISTENING_RATE)))

    async def _decoded(self, audio: str) -> Pcm:
        """Samples of sound in base64, in the session's format."""
        if len(audio) <= _INLINE_CHARS:
            return self._options.format.samples(audio)
        return await asyncio.to_thread(self._options.format.samples, audio)

    async def commit(self) -> None:
        """Make what has arrived a turn."""
        self._audio.flush()
        if self._audio.length < _SHORTEST_COMMIT:
            held = self._audio.length / _SAMPLES_A_MS
            raise EventError(
                f"The input audio buffer holds {held:.0f} ms; append at least 100 ms before a commit.",
                "input_audio_buffer_commit_empty",
            )
        turn_id = self._turn_id if self._audio.speaking else new_id("item")
        self._idle_since = self._audio.end
        turn = self._audio.take()
        self._count(0)
        await self._commit(turn_id, turn)

    async def clear(self) -> None:
        """Forget what has arrived."""
        self._audio.flush()
        self._audio.clear()
        self._count(0)
        await self._outbox.send("input_audio_buffer.cleared")

    def _check_room(self, seconds: float, samples: int) -> None:
        self._check_seconds(seconds)
        if self._options.turns is None and self._audio.length + samples > self._listening.max_samples:
            raise self._full("commit or clear it first")

    def _check_seconds(self, seconds: float) -> None:
        if self._seconds + seconds > self._max_seconds:
            raise EventError(
                f"This session has heard {self._seconds:.0f} s, and {self._max_seconds:g} s is the most; open another.",
                "session_audio_limit",
                field="audio",
            )

    def _full(self, remedy: str) -> EventError:
        longest = self._listening.max_samples / LISTENING_RATE
        return EventError(
            f"The input audio buffer takes {longest:g} s; {remedy}.", "input_audio_buffer_full", field="audio"
        )

    def _count(self, size: int) -> None:
        """Count this many bytes for the buffer."""
        self._memory.hold(self._memory.held - self._counted + size)
        self._counted = size

    async def _tell(self, event: TurnEvent) -> None:
        if isinstance(event, SpeechStarted):
            self._turn_id, self._idle_since = new_id("item"), None
            started = event.start // _SAMPLES_A_MS
            await self._send("speech_started", self._turn_id, audio_start_ms=started)
            if self._options.turns is not None and self._options.turns.interrupt_response:
                await self._interrupt()
        else:
            self._idle_since = event.end
            await self._send("speech_stopped", self._turn_id, audio_end_ms=event.end // _SAMPLES_A_MS)
            await self._commit(self._turn_id, event.turn)

    async def _tell_idle(self) -> None:
        """Tell a client, once, that nobody has spoken for the time that it asked to be told after."""
        timeout = None if self._options.turns is None else self._options.turns.idle_timeout_ms
        since, end = self._idle_since, self._audio.end
        if timeout is None or since is None or self._audio.speaking or end - since < timeout * _SAMPLES_A_MS:
            return
        self._idle_since, turn_id = None, new_id("item")
        times = {"audio_start_ms": since // _SAMPLES_A_MS, "audio_end_ms": end // _SAMPLES_A_MS}
        await self._send("timeout_triggered", turn_id, **times)
        await self._commit(turn_id, b"")

    async def _send(self, name: str, item_id: str, **fields: object) -> None:
        await self._outbox.send(f"input_audio_buffer.{name}", item_id=item_id, **fields)
