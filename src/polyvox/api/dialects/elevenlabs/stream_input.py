"""ElevenLabs' socket for one text that is still being written."""

from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Any

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from polyvox.api.dialects.elevenlabs.alignment import CAMEL_CASE, Alignment
from polyvox.api.dialects.elevenlabs.arriving import text_of, until_idle
from polyvox.api.dialects.elevenlabs.audio_messages import AudioMessages
from polyvox.api.dialects.elevenlabs.errors import close_reason, socket_error
from polyvox.api.dialects.elevenlabs.requests import VoiceSettings
from polyvox.api.dialects.elevenlabs.socket_caller import Caller, SocketCaller
from polyvox.api.requests.forms import Fields
from polyvox.api.sockets.context_pool import ContextPool
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.errors import PolyvoxError, StalledError
from polyvox.service.contexts.speech_context import SpeechContext

router = APIRouter()

_ONLY = ""
"""The id of the one context."""


@router.websocket("/v1/text-to-speech/{voice_id}/stream-input")
async def stream_input(websocket: WebSocket, voice_id: str, caller: Caller) -> None:
    """Speak one text while it arrives."""
    socket = JsonSocket(websocket, caller.service.settings.stall_seconds)
    await socket.accept()
    with suppress(WebSocketDisconnect):
        await StreamInput(socket, caller, voice_id).run()


class StreamInput:
    """One text: a first message with settings, messages of text, an empty text at the end.

    What goes wrong ends the socket, after a message that says why.
    """

    def __init__(self, socket: JsonSocket, caller: SocketCaller, voice_id: str) -> None:
        self._socket = socket
        self._caller = caller
        self._voice_id = voice_id
        self._pool = ContextPool(1)

    async def run(self) -> None:
        """Serve the client until all is spoken or it leaves."""
        idle = self._caller.idle_seconds
        async with self._pool, aclosing(self._socket.messages(self._fail)) as messages:
            async with aclosing(until_idle(messages, idle, lambda: len(self._pool) > 0)) as arriving:
                async for message in arriving:
                    try:
                        await self._take(message)
                    except PolyvoxError as error:
                        await self._fail(error)
                        return
            await self._fail(StalledError(f"No text came for {idle:g} s; send text, or an end."))

    async def _take(self, message: Mapping[str, Any]) -> None:
        text, context = text_of(message.get("text")), self._pool.get(_ONLY)
        if context is None:
            context = await self._open(message)
            text = text if text.strip() else ""
            if not text:
                return
        if text:
            context.push(text)
        elif message.get("text") == "":
            context.end()
            return
        if message.get("flush") is True:
            context.flush()

    async def _open(self, message: Mapping[str, Any]) -> SpeechContext:
        settings = Fields(message.get("voice_settings") or {}).parsed(VoiceSettings)
        context = self._caller.context(await self._caller.request(self._voice_id, settings))
        self._pool.open(_ONLY, context, self._deliver, self._fail)
        return context

    async def _deliver(self, context: SpeechContext) -> None:
        late = self._caller.late_words(context.request)
        await AudioMessages(self._socket, self._caller.output, self._written, late=late).deliver(context)
        await self._socket.send({"audio": None, "isFinal": True, "alignment": None, "normalizedAlignment": None})
        await self._socket.close()

    async def _fail(self, error: PolyvoxError) -> None:
        message = socket_error(error)
        await self._socket.send(message)
        await self._socket.close(message["code"], close_reason(message["message"]))

    def _written(self, audio: str, alignment: Alignment, origin: float) -> Mapping[str, Any]:
        times = (
            alignment.milliseconds(CAMEL_CASE, 0.0 if self._caller.sync_alignment else origin) if alignment else None
        )
        return {"audio": audio, "isFinal": None, "alignment": times, "normalizedAlignment": times}
