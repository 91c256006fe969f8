"""CosyVoice's gRPC service: a request of one of four kinds in, headerless 16-bit samples out."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from polyvox.api.body import off_the_loop
from polyvox.api.casting import cast_request
from polyvox.api.forms import Fields
from polyvox.api.grpc.call import Call
from polyvox.api.grpc.schema import Message, message_type
from polyvox.api.schemas import SpeechBody
from polyvox.audio.encode import AudioFormat
from polyvox.audio.pcm import from_pcm16
from polyvox.config import Settings
from polyvox.errors import InvalidRequestError, PolyvoxError, PromptError
from polyvox.service.encoding import encoded
from polyvox.service.speech import SpeechRequest, SpeechService
from polyvox.service.voices import VoiceService
from polyvox.voices.limits import PromptLimits
from polyvox.voices.recordings import wav_bytes
from polyvox.voices.references import InlineVoice

DOOR = "cosyvoice-grpc"
PROMPT_RATE = 16_000
MESSAGE_BYTES = 65_536
"""Well below the 4 MiB that clients take unless told otherwise; an even number, so that no sample is torn."""

_END_OF_PROMPT = "<|endofprompt|>"
_SYSTEM = "You are a helpful assistant."
_NAMES: Mapping[str, str] = MappingProxyType({"input": "tts_text", "instructions": "instruct_text", "voice": "spk_id"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request of any kind. Without a recording the voice is the one that is named; `kind` is the field it came in."""

    kind: str
    text: str
    speaker: str = ""
    prompt_text: str | None = None
    instructions: str | None = None
    recording: bytes | None = None

    @property
    def tuning(self) -> dict[str, float]:
        """A recording that comes with its words is continued, whatever their language."""
        return {"zero_shot": 1.0} if self.prompt_text is not None else {}


class CosyVoiceDoor:
    """Answers `cosyvoice.CosyVoice/Inference` with the server's default model."""

    def __init__(self, hall: SpeechService, voices: VoiceService) -> None:
        self._hall = hall
        self._voices = voices
        self._response = message_type("cosyvoice.Response")

    async def inference(self, message: Message, call: Call) -> None:
        """Speak one request."""
        asked = _asked(message)
        try:
            await self._speak(await self._request(asked, call.owner), call)
        except PolyvoxError as error:
            names = _NAMES if asked.recording is None else {**_NAMES, "voice": "prompt_audio"}
            error.field = names.get(error.field or "", error.field)
            raise

    async def _speak(self, request: SpeechRequest, call: Call) -> None:
        async with (
            call.session(self._hall, request) as session,
            aclosing(encoded(session, AudioFormat.PCM)) as parts,
        ):
            async for part in parts:
                for start in range(0, len(part.data), MESSAGE_BYTES):
                    await call.send(self._response(tts_audio=part.data[start : start + MESSAGE_BYTES]))

    async def _request(self, asked: _Asked, owner: str) -> SpeechRequest:
        hall, voices = self._hall, self._voices
        given = {"input": asked.text, "voice": asked.speaker or None, "instructions": asked.instructions or None}
        body = Fields({**given, "prompt_text": asked.prompt_text}).parsed(SpeechBody)
        request = await cast_request(body, DOOR, hall, voices, owner)
        if asked.recording is None:
            return request
        file = await off_the_loop(asked.recording, partial(_as_file, settings=hall.settings))
        wordless = asked.prompt_text is None
        cast = partial(voices.casting.cast, InlineVoice(file), owner, transcript=asked.prompt_text, wordless=wordless)
        return replace(request, cast=cast, utterance=replace(request.utterance, tuning=asked.tuning))


def _asked(message: Message) -> _Asked:
    kind = message.WhichOneof("RequestPayload")
    if kind is None:
        raise InvalidRequestError(
            "The request is empty; set sft_request, zero_shot_request, cross_lingual_request or instruct_request."
        )
    payload: Message = getattr(message, kind)
    if kind == "sft_request":
        return _Asked(kind, payload.tts_text, speaker=payload.spk_id)
    if kind == "zero_shot_request":
        words = payload.prompt_text.rpartition(_END_OF_PROMPT)[2]
        return _Asked(kind, payload.tts_text, prompt_text=words, recording=payload.prompt_audio)
    if kind == "cross_lingual_request":
        text = payload.tts_text.rpartition(_END_OF_PROMPT)[2]
        return _Asked(kind, text, recording=payload.prompt_audio)
    recording = payload.prompt_audio if payload.HasField("prompt_audio") else None
    return _Asked(
        kind, payload.tts_text, payload.spk_id, instructions=_bare(payload.instruct_text), recording=recording
    )


def _bare(instruction: str) -> str:
    """An instruction without the frame that version 3's callers put around it; the engine has its own."""
    return instruction.removesuffix(_END_OF_PROMPT).removeprefix(_SYSTEM).strip()


def _as_file(samples: bytes, settings: Settings) -> bytes:
    """A recording as the one way in for recordings takes it."""
    if not samples:
        raise PromptError("'prompt_audio' is empty; send 16-bit samples at 16 kHz.", field="prompt_audio")
    limits = PromptLimits.of(settings)
    if len(samples) > 2 * PROMPT_RATE * limits.decoded_seconds:
        raise PromptError(
            f"The recording is too long; send at most {limits.max_seconds:g} seconds.", field="prompt_audio"
        )
    try:
        return wav_bytes(from_pcm16(samples), PROMPT_RATE)
    except PolyvoxError as error:
        error.field = "prompt_audio"
        raise
