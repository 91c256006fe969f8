"""Answers with a transcript: whole, or passage by passage as events. The work ends when the client leaves."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from polyvox.api.dependencies import call_of
from polyvox.api.responses.client_writer import ClientWriter, ended_or_left
from polyvox.api.responses.streaming import WARNING_HEADER
from polyvox.errors import PolyvoxError, openai_body
from polyvox.service.call_context import CallContext
from polyvox.service.listening.listening_request import ListeningRequest
from polyvox.service.listening.transcript import Transcript, gap_before
from polyvox.service.speech import SpeechService
from polyvox.text.warnings import one_line

MODEL_HEADER = "X-Polyvox-Model"


@dataclass(frozen=True, slots=True)
class TranscriptBody:
    """A transcript as one dialect writes it."""

    content: str
    media_type: str


def json_body(content: dict[str, Any]) -> TranscriptBody:
    return TranscriptBody(json.dumps(content, ensure_ascii=False), "application/json")


class TranscriptResponse(Response):
    """Answers once, with the transcript as `write` writes it. `warnings` are the door's own, beside the service's."""

    def __init__(
        self,
        service: SpeechService,
        request: ListeningRequest,
        write: Callable[[Transcript], TranscriptBody],
        warnings: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self._service = service
        self._request = request
        self._write = write
        self._warnings = tuple(warnings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        working = await ended_or_left(self._service.listening.listen(self._request, call_of(scope)), receive)
        if working.cancelled():
            return
        transcript = working.result()
        body = await asyncio.to_thread(self._write, transcript)
        headers = {MODEL_HEADER: transcript.model}
        if warnings := (*self._warnings, *transcript.warnings):
            headers[WARNING_HEADER] = one_line(warnings)
        await Response(body.content, media_type=body.media_type, headers=headers)(scope, receive, send)


class TranscriptEvents(Response):
    """Sends each passage as a `transcript.text.delta` when it is there, then all as a `transcript.text.done`.

    Nothing is sent before the first passage, so every early failure has its own status; a later one is an event.
    """

    def __init__(
        self, service: SpeechService, request: ListeningRequest, usage: Callable[[Transcript], dict[str, Any]]
    ) -> None:
        super().__init__()
        self._service = service
        self._request = request
        self._usage = usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        working = await ended_or_left(self._answer(call_of(scope), send), receive)
        if not working.cancelled():
            working.result()

    async def _answer(self, call: CallContext, send: Send) -> None:
        client = ClientWriter(send, self._service.settings.stall_seconds)
        try:
            async with aclosing(self._events(call)) as events:
                async for event in events:
                    if not client.started:
                        headers = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
                        await client.start(MutableHeaders(headers))
                    await client.write(_event(event))
        except PolyvoxError as error:
            if not client.started:
                raise
            await client.write(_event({"type": "error", **openai_body(error)}))
        await client.finish()

    async def _events(self, call: CallContext) -> AsyncGenerator[dict[str, Any]]:
        gap = False
        async with aclosing(self._service.listening.passages(self._request, call)) as passages:
            async for found in passages:
                if isinstance(found, Transcript):
                    yield {"type": "transcript.text.done", "text": found.text, "usage": self._usage(found)}
                else:
                    delta = (gap_before(found) if gap else "") + found.text
                    yield {"type": "transcript.text.delta", "delta": delta}
                    gap = True


def _event(content: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(content, separators=(",", ":")).encode() + b"\n\n"
