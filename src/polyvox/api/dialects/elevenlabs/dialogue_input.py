"""ElevenLabs' sockets for dialogues that are still being written, which its third generation of models uses."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from polyvox.api.dialects.elevenlabs.alignment import SNAKE_CASE, Alignment
from polyvox.api.dialects.elevenlabs.arriving import text_of
from polyvox.api.dialects.elevenlabs.audio_messages import AudioMessages
from polyvox.api.dialects.elevenlabs.context_socket import ContextSocket
from polyvox.api.dialects.elevenlabs.socket_caller import Caller, SocketCaller
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.errors import InvalidRequestError
from polyvox.service.contexts.speech_context import SpeechContext
from polyvox.service.speech_request import SpeechRequest

router = APIRouter()

_MAX_VOICES = 10
_MAX_VOICE_CHARS = 1_000


@router.websocket("/v1/text-to-dialogue/multi-stream-input")
async def dialogue_multi_stream_input(websocket: WebSocket, caller: Caller) -> None:
    """Speak many dialogues while they arrive."""
    socket = JsonSocket(websocket, caller.service.settings.stall_seconds)
    await socket.accept()
    with suppress(WebSocketDisconnect):
        await DialogueInput(socket, caller).run()


class _Dialogue:
    """One context: its voices, and which of them speaks."""

    def __init__(self, context: SpeechContext, requests: Mapping[str, SpeechRequest]) -> None:
        self.context = context
        self._requests = requests
        self._voice_id = next(iter(requests))
        self._has_spoken = False

    def say(self, text: str, voice_id: object, *, new_turn: bool) -> None:
        """Add text in one of the voices; a new turn, or another voice, ends what was said before."""
        if not isinstance(voice_id, str) or voice_id not in self._requests:
            raise InvalidRequestError("'voice_id' is not among the context's 'voices'.", field="inputs.voice_id")
        if voice_id != self._voice_id:
            self._voice_id = voice_id
            self.context.speak_as(self._requests[voice_id])
        elif new_turn and self._has_spoken:
            self.context.flush()
        self._has_spoken = True
        self.context.push(text)


class DialogueInput(ContextSocket):
    """Contexts that open with a list of voices, each of which may then speak in turn."""

    id_field = "context_id"
    final_field = "is_final"

    def __init__(self, socket: JsonSocket, caller: SocketCaller) -> None:
        super().__init__(socket, caller)
        self._dialogues: dict[str, _Dialogue] = {}

    async def obey(self, context_id: str, message: Mapping[str, Any]) -> None:
        dialogue = self._dialogues.get(context_id)
        if dialogue is None or self.pool.get(context_id) is not dialogue.context:
            dialogue = await self._open(context_id, message)
        dialogue.context.touch()
        for one in _inputs(message):
            text = text_of(one.get("text"))
            if text:
                dialogue.say(text, one.get("voice_id"), new_turn=one.get("new_turn") is True)
        self.flush(dialogue.context, message)

    async def _open(self, context_id: str, message: Mapping[str, Any]) -> _Dialogue:
        requests = {voice_id: await self.caller.request(voice_id) for voice_id in _voices(message)}
        context = self.caller.context(next(iter(requests.values())))
        flushed = {"is_final_audio_for_turn": True, "context_id": context_id}
        written = partial(self._written, context_id)
        late = any(self.caller.late_words(each) for each in requests.values())
        messages = AudioMessages(self.socket, self.caller.output, written, flushed, by_audio=True, late=late)
        self.open(context_id, context, messages)
        self._dialogues = {name: one for name, one in self._dialogues.items() if self.pool.get(name) is one.context}
        dialogue = self._dialogues[context_id] = _Dialogue(context, requests)
        return dialogue

    def _written(self, context_id: str, audio: str, alignment: Alignment, origin: float) -> Mapping[str, Any]:
        """Times, which only `sync_alignment` asks for, count from the start of each message on this socket."""
        known = bool(alignment) and self.caller.sync_alignment
        times = alignment.milliseconds(SNAKE_CASE, origin) if known else None
        return {"audio": audio, "alignment": times, "normalized_alignment": times, "context_id": context_id}


def _voices(message: Mapping[str, Any]) -> Sequence[str]:
    """The voices that a context's first message registers."""
    given = message.get("voices")
    voices: list[object] = given if isinstance(given, list) else []
    named = [one for one in voices if isinstance(one, str) and 0 < len(one) <= _MAX_VOICE_CHARS]
    if not 0 < len(voices) == len(named) <= _MAX_VOICES:
        raise InvalidRequestError(
            f"The first message of a context must have 'voices', a list of 1 to {_MAX_VOICES} voice ids.",
            field="voices",
        )
    return named


def _inputs(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    inputs = message.get("inputs") or []
    if not isinstance(inputs, list) or not all(isinstance(one, dict) for one in inputs):
        raise InvalidRequestError("'inputs' must be a list of objects with 'text' and 'voice_id'.", field="inputs")
    return inputs
