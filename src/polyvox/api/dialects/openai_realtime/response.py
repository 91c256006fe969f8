"""Response: one text, spoken."""

import asyncio
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from polyvox.api.dialects.openai_realtime.conversation import Conversation
from polyvox.api.dialects.openai_realtime.dialect import Dialect
from polyvox.api.dialects.openai_realtime.event_error import error_details
from polyvox.api.dialects.openai_realtime.ids import new_id
from polyvox.api.dialects.openai_realtime.item import ItemStatus, SpokenItem
from polyvox.api.dialects.openai_realtime.outbox import Outbox
from polyvox.api.dialects.openai_realtime.speech_options import SpeechOptions
from polyvox.api.responses.events import OUTPUT_TOKEN_SECONDS
from polyvox.audio.pcm import silence
from polyvox.errors import PolyvoxError
from polyvox.service.contexts.speech_context import ContextAudio, SpeechContext
from polyvox.types import AudioChunk, Pcm

_DELTA_SECONDS = 0.5
"""Most audio of one event: many clients take messages of a megabyte at most, and words are sent between the events."""

_SILENCE_SECONDS = 0.2


class ResponseStatus(StrEnum):
    """State of a response."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ResponsePlan:
    """The words of a response, and their options; `conversation` is None for one outside of it."""

    text: str
    options: SpeechOptions
    conversation: Conversation | None
    metadata: Mapping[str, str] | None


class Response:
    """Sends the events of one response in their order.

    Its item appears with its first sound, so that a response that fails or is cancelled before that has none.
    """

    def __init__(self, plan: ResponsePlan, outbox: Outbox, dialect: Dialect) -> None:
        self.id = new_id("resp")
        self.item = SpokenItem(plan.text, dialect.spoken_type)
        self.ended = asyncio.Event()
        """Set when its last event has been sent, or cannot be."""
        self._plan = plan
        self._outbox = outbox
        self._dialect = dialect
        self._status = ResponseStatus.IN_PROGRESS
        self._has_item = False
        self._previous_id: str | None = None
        self._error: PolyvoxError | None = None
        self._cancel_reason = ""
        self._warnings: tuple[str, ...] = ()

    @property
    def in_progress(self) -> bool:
        return self._status is ResponseStatus.IN_PROGRESS

    @property
    def in_conversation(self) -> bool:
        return self._plan.conversation is not None

    def cancel(self, reason: str) -> None:
        """Send no more audio; the caller cancels the context that makes it."""
        if self.in_progress:
            self._status, self._cancel_reason = ResponseStatus.CANCELLED, reason

    async def deliver(self, context: SpeechContext) -> None:
        """Send the response's events, from the one that tells its id to its end."""
        try:
            await self._outbox.send("response.created", response=self._fields())
            await self._send_speech(context)
        except PolyvoxError:
            raise  # `fail` ends the response
        except BaseException:
            self.ended.set()
            raise

    async def fail(self, error: PolyvoxError) -> None:
        """Send what ends a response that an error stopped."""
        if self.in_progress:
            self._status, self._error = ResponseStatus.FAILED, error
        await self._end()

    async def _send_speech(self, context: SpeechContext) -> None:
        async for event in context:
            if isinstance(event, ContextAudio):
                await self._send_chunk(event.chunk)
        self._warnings = context.warnings
        if not self._has_item:
            await self._send_chunk(_silent_chunk(self._plan.options.format.sample_rate))
        if self.in_progress:
            self._status = ResponseStatus.COMPLETED
        await self._end()

    async def _send_chunk(self, chunk: AudioChunk) -> None:
        self.item.transcript.add(chunk)
        for end, pcm in _pieces(chunk):
            if not self.in_progress:
                return
            if not self._has_item:
                await self._add_item()
            self.item.seconds = end
            await self._send_words(self.item.transcript.advance(end))
            delta = self._plan.options.format.base64(pcm)
            await self._send_part("response.output_audio.delta", delta=delta)

    async def _add_item(self) -> None:
        self._has_item = True
        await self._send_item("response.output_item.added")
        if self._plan.conversation is not None:
            self._previous_id = self._plan.conversation.add(self.item)
            await self._send_conversation_item("conversation.item.added")
        await self._send_part("response.content_part.added", part={"type": "audio", "transcript": ""})

    async def _send_words(self, words: str) -> None:
        if words:
            await self._send_part("response.output_audio_transcript.delta", delta=words)

    async def _end(self) -> None:
        try:
            if self._has_item:
                await self._end_item()
            await self._outbox.send("response.done", response=self._fields())
        finally:
            self.ended.set()

    async def _end_item(self) -> None:
        completed = self._status is ResponseStatus.COMPLETED
        if completed:
            await self._send_words(self.item.transcript.finish())
        self.item.status = ItemStatus.COMPLETED if completed else ItemStatus.INCOMPLETE
        spoken = self.item.transcript.spoken
        await self._send_part("response.output_audio.done")
        await self._send_part("response.output_audio_transcript.done", transcript=spoken)
        await self._send_part("response.content_part.done", part={"type": "audio", "transcript": spoken})
        await self._send_item("response.output_item.done")
        if self.in_conversation:
            await self._send_conversation_item("conversation.item.done")

    async def _send_item(self, name: str) -> None:
        await self._outbox.send(name, response_id=self.id, output_index=0, item=self.item.fields())

    async def _send_conversation_item(self, name: str) -> None:
        await self._outbox.send(name, previous_item_id=self._previous_id, item=self.item.fields())

    async def _send_part(self, name: str, **fields: object) -> None:
        place = {"response_id": self.id, "item_id": self.item.id, "output_index": 0, "content_index": 0}
        await self._outbox.send(name, **place, **fields)

    def _fields(self) -> dict[str, Any]:
        conversation = self._plan.conversation
        fields = {
            "object": "realtime.response",
            "id": self.id,
            "status": str(self._status),
            "status_details": self._status_details(),
            "output": [self.item.fields()] if self._has_item else [],
            "conversation_id": None if conversation is None else conversation.id,
            **self._dialect.response_fields(self._plan.options),
            "usage": None if self.in_progress else self._usage(),
            "metadata": self._plan.metadata,
        }
        return fields | {"warnings": list(self._warnings)} if self._warnings else fields

    def _status_details(self) -> dict[str, Any] | None:
        if self._error is not None:
            return {"type": "failed", "error": error_details(self._error)}
        if self._status is ResponseStatus.CANCELLED:
            return {"type": "cancelled", "reason": self._cancel_reason}
        return None

    def _usage(self) -> dict[str, Any]:
        """A character counts as a token, and so do 50 ms of audio, as at `/v1/audio/speech`."""
        written = len(self._plan.text)
        spoken = math.ceil(round(self.item.seconds / OUTPUT_TOKEN_SECONDS, 6))
        return {
            "total_tokens": written + spoken,
            "input_tokens": written,
            "output_tokens": spoken,
            "input_token_details": {"text_tokens": written, "audio_tokens": 0, "cached_tokens": 0},
            "output_token_details": {"text_tokens": 0, "audio_tokens": spoken},
        }


def _silent_chunk(sample_rate: int) -> AudioChunk:
    """For a text without words, such as dots: clients take a response without any sound for broken."""
    return AudioChunk(silence(_SILENCE_SECONDS, sample_rate, 1), sample_rate, index=0, start=0)


def _pieces(chunk: AudioChunk) -> Iterator[tuple[float, Pcm]]:
    """A chunk's samples in parts for one event each, and the time at which each of them ends."""
    step = round(_DELTA_SECONDS * chunk.sample_rate)
    for start in range(0, len(chunk.pcm), step):
        pcm = chunk.pcm[start : start + step]
        yield (chunk.start + start + len(pcm)) / chunk.sample_rate, pcm
