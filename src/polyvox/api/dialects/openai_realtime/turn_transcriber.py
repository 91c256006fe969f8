"""TurnTranscriber: the turns of one session, transcribed one after the other behind the conversation."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import structlog
from starlette.websockets import WebSocketDisconnect

from polyvox.api.dialects.openai_realtime.event_error import error_details
from polyvox.api.dialects.openai_realtime.input_options import TranscriptionOptions
from polyvox.api.dialects.openai_realtime.item import HeardItem
from polyvox.api.dialects.openai_realtime.outbox import Outbox
from polyvox.audio.pcm import from_pcm16
from polyvox.errors import OverloadedError, PolyvoxError
from polyvox.service.admission.pending_bodies import PendingBody
from polyvox.service.call_context import CallContext
from polyvox.service.listening.listening_request import ListeningRequest
from polyvox.service.listening.service import ListeningService
from polyvox.service.listening.transcript import Transcript, gap_before

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_MAX_WAITING = 8
_RETRY_SECONDS = 5.0
_EVENT = "conversation.item.input_audio_transcription"


@dataclass(frozen=True, slots=True)
class Turn:
    """An item that was heard, its sound as 16-bit samples at 16 kHz, and the wishes for its transcript."""

    item: HeardItem
    samples: bytes
    options: TranscriptionOptions


class TurnTranscriber:
    """Sends each turn's transcript as it is there; the memory of turns that wait is counted.

    A turn that cannot be transcribed has an event of its own that says why. Leaving the block drops what is left.
    """

    def __init__(
        self, listening: ListeningService, call: CallContext, door: str, memory: PendingBody, outbox: Outbox
    ) -> None:
        self._listening = listening
        self._call = call
        self._door = door
        self._memory = memory
        self._outbox = outbox
        self._waiting: asyncio.Queue[Turn] = asyncio.Queue(_MAX_WAITING)
        self._task: asyncio.Task[None] | None = None

    async def submit(self, turn: Turn) -> None:
        """Have a turn transcribed when those before it are."""
        try:
            if self._waiting.full():
                raise OverloadedError(
                    f"{_MAX_WAITING} turns of this session wait to be transcribed already.", retry_after=_RETRY_SECONDS
                )
            self._memory.hold(self._memory.held + len(turn.samples))
        except OverloadedError as error:
            await self._fail(turn, error)
        else:
            self._waiting.put_nowait(turn)

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name="turn transcriber")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            turn = await self._waiting.get()
            try:
                await self._answer(turn)
            except WebSocketDisconnect:
                log.debug("client left before its transcript was there")
                return
            finally:
                self._release(turn)

    def _release(self, turn: Turn) -> None:
        """Count a turn's memory no more; a connection that was cut off has given back all of it already."""
        self._memory.hold(max(0, self._memory.held - len(turn.samples)))

    async def _answer(self, turn: Turn) -> None:
        try:
            await self._transcribe(turn)
        except PolyvoxError as error:
            await self._fail(turn, error)
        except WebSocketDisconnect:
            raise
        except Exception:
            log.exception("turn not transcribed", item=turn.item.id)
            await self._fail(turn, PolyvoxError("The server failed; its log has the cause."))

    async def _transcribe(self, turn: Turn) -> None:
        request = ListeningRequest(from_pcm16(turn.samples), turn.options.task, turn.options.model, self._door)
        begun = False
        async with aclosing(self._listening.passages(request, self._call)) as passages:
            async for found in passages:
                if isinstance(found, Transcript):
                    turn.item.transcript = found.text
                    usage = {"type": "duration", "seconds": round(found.seconds, 3)}
                    await self._send("completed", turn, transcript=found.text, usage=usage)
                else:
                    await self._send("delta", turn, delta=(gap_before(found) if begun else "") + found.text)
                    begun = True

    async def _fail(self, turn: Turn, error: PolyvoxError) -> None:
        await self._send("failed", turn, error={**error_details(error), "param": error.field})

    async def _send(self, name: str, turn: Turn, **fields: object) -> None:
        await self._outbox.send(f"{_EVENT}.{name}", item_id=turn.item.id, content_index=0, **fields)
