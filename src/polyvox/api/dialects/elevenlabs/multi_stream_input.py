"""ElevenLabs' socket for many texts at once, each a context."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from polyvox.api.dialects.elevenlabs.alignment import CAMEL_CASE, Alignment
from polyvox.api.dialects.elevenlabs.arriving import text_of
from polyvox.api.dialects.elevenlabs.audio_messages import AudioMessages
from polyvox.api.dialects.elevenlabs.context_socket import ContextSocket
from polyvox.api.dialects.elevenlabs.requests import VoiceSettings
from polyvox.api.dialects.elevenlabs.socket_caller import Caller, SocketCaller
from polyvox.api.requests.forms import Fields
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.service.contexts.speech_context import SpeechContext

router = APIRouter()


@router.websocket("/v1/text-to-speech/{voice_id}/multi-stream-input")
async def multi_stream_input(websocket: WebSocket, voice_id: str, caller: Caller) -> None:
    """Speak many texts while they arrive."""
    socket = JsonSocket(websocket, caller.service.settings.stall_seconds)
    await socket.accept()
    with suppress(WebSocketDisconnect):
        await MultiStreamInput(socket, caller, voice_id).run()


class MultiStreamInput(ContextSocket):
    """Contexts that open with their first text, all in the voice of the address."""

    id_field = "contextId"
    final_field = "isFinal"

    def __init__(self, socket: JsonSocket, caller: SocketCaller, voice_id: str) -> None:
        super().__init__(socket, caller)
        self._voice_id = voice_id

    async def obey(self, context_id: str, message: Mapping[str, Any]) -> None:
        text, context = text_of(message.get("text")), self.pool.get(context_id)
        if context is None:
            if not text:
                return  # keeps the socket alive, or is about a context that has ended
            context = await self._open(context_id, message)
            text = text if text.strip() else ""
        if text:
            context.push(text)
        else:
            context.touch()
        self.flush(context, message)

    async def _open(self, context_id: str, message: Mapping[str, Any]) -> SpeechContext:
        settings = Fields(message.get("voice_settings") or {}).parsed(VoiceSettings)
        context = self.caller.context(await self.caller.request(self._voice_id, settings))
        written, late = partial(self._written, context_id), self.caller.late_words(context.request)
        messages = AudioMessages(self.socket, self.caller.output, written, late=late)
        self.open(context_id, context, messages)
        return context

    def _written(self, context_id: str, audio: str, alignment: Alignment, origin: float) -> Mapping[str, Any]:
        times = alignment.milliseconds(CAMEL_CASE, 0.0 if self.caller.sync_alignment else origin) if alignment else None
        return {"audio": audio, "alignment": times, "normalizedAlignment": times, "contextId": context_id}
