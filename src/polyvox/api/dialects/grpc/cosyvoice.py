"""CosyVoice's gRPC service: a request of one of four kinds in, headerless 16-bit samples out."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from functools import partial
from types import MappingProxyType

from polyvox.api.dialects.cosyvoice.requests import CosyVoiceOptions, CosyVoiceRequest
from polyvox.api.dialects.grpc.call import MESSAGE_BYTES, Call
from polyvox.api.dialects.grpc.schema import COSYVOICE, DOOR_NAMES, Message, message_type
from polyvox.api.requests.body import off_the_loop
from polyvox.api.requests.fields import RequestBody, Text
from polyvox.api.requests.forms import Fields
from polyvox.audio.encode import AudioFormat
from polyvox.audio.pcm import from_pcm16
from polyvox.errors import InvalidRequestError, PolyvoxError, PromptError
from polyvox.service.encoding import encoded
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.telemetry.chunk_record import pcm_hash
from polyvox.service.voices.voices import VoiceService
from polyvox.types import AudioChunk
from polyvox.voices.limits import PromptLimits
from polyvox.voices.references import InlineVoice
from polyvox.voices.storage.recordings import wav_bytes

_NAME = DOOR_NAMES[COSYVOICE]
PROMPT_RATE = 16_000

_FIELD_NAMES: Mapping[str, str | None] = MappingProxyType(
    {"input": "tts_text", "voice": "spk_id", "instructions": "instruct_text", "model": None}
)


class _Payload(RequestBody):
    """The fields of all four kinds except the recording."""

    tts_text: Text
    spk_id: str | None = None
    prompt_text: Text | None = None
    instruct_text: Text | None = None


class CosyVoiceServicer:
    """Answers `cosyvoice.CosyVoice/CosyVoiceRequest` with the server's default model."""

    def __init__(self, service: SpeechService, voices: VoiceService) -> None:
        self._service = service
        self._voices = voices
        self._limits = PromptLimits.of(service.settings)
        self._response = message_type("cosyvoice.Response")

    async def inference(self, message: Message, call: Call) -> None:
        """Speak one request."""
        kind = message.WhichOneof("RequestPayload")
        if kind is None:
            raise InvalidRequestError(
                "The request is empty; set sft_request, zero_shot_request, cross_lingual_request or instruct_request."
            )
        payload: Message = getattr(message, kind)
        samples = _samples(kind, payload)
        names = _FIELD_NAMES if samples is None else {**_FIELD_NAMES, "voice": "prompt_audio"}
        try:
            options = _options(message)
            request = await self._request(payload, samples, options, call.owner)
            await self._speak(request, options.format_or(AudioFormat.PCM), call)
        except PolyvoxError as error:
            error.field = names.get(error.field or "", error.field)
            raise

    async def _speak(self, request: SpeechRequest, audio_format: AudioFormat, call: Call) -> None:
        async with (
            call.session(self._service, request) as session,
            aclosing(encoded(session, audio_format)) as parts,
        ):
            async for part in parts:
                chunk = await _chunk(part.chunk) if part.chunk is not None and call.wants_chunks else None
                if part.data or chunk is not None:
                    await call.send(self._response(tts_audio=part.data[:MESSAGE_BYTES], chunk=chunk))
                for start in range(MESSAGE_BYTES, len(part.data), MESSAGE_BYTES):
                    await call.send(self._response(tts_audio=part.data[start : start + MESSAGE_BYTES]))

    async def _request(
        self, payload: Message, samples: bytes | None, options: CosyVoiceOptions, owner: str
    ) -> SpeechRequest:
        given = {name: getattr(payload, name) for name in _Payload.model_fields if hasattr(payload, name)}
        body = Fields(given).parsed(_Payload)
        recording = None
        if samples is not None:
            recording = InlineVoice(await off_the_loop(samples, partial(_as_file, limits=self._limits)))
        asked = CosyVoiceRequest(
            body.tts_text,
            speaker=body.spk_id,
            recording=recording,
            transcript=body.prompt_text,
            instruction=body.instruct_text,
            seed=options.seed,
            model=options.model,
        )
        return asked.speech_request(_NAME, self._voices, owner)


async def _chunk(chunk: AudioChunk) -> Message:
    tokens, frames = chunk.tokens, chunk.frames
    return message_type("cosyvoice.Chunk")(
        index=chunk.index,
        first_sample=chunk.start,
        end_sample=chunk.end,
        first_token=None if tokens is None else tokens.start,
        end_token=None if tokens is None else tokens.end,
        first_frame=None if frames is None else frames.start,
        end_frame=None if frames is None else frames.end,
        sha256=await asyncio.to_thread(pcm_hash, chunk.pcm),
    )


def _options(message: Message) -> CosyVoiceOptions:
    """The fields that are the same for all four kinds."""
    given = {name: getattr(message, name) for name in CosyVoiceOptions.model_fields if message.HasField(name)}
    return Fields(given).parsed(CosyVoiceOptions)


def _samples(kind: str, payload: Message) -> bytes | None:
    """The recording in a request; None for a kind without one."""
    if kind == "sft_request" or (kind == "instruct_request" and not payload.HasField("prompt_audio")):
        return None
    samples: bytes = payload.prompt_audio
    return samples


def _as_file(samples: bytes, limits: PromptLimits) -> bytes:
    """Raw samples as a WAV file, which is what the check of recordings takes."""
    if not samples:
        raise PromptError("'prompt_audio' is empty; send 16-bit samples at 16 kHz.", field="prompt_audio")
    if len(samples) > 2 * PROMPT_RATE * limits.decoded_seconds:
        raise PromptError(
            f"The recording is too long; send at most {limits.max_seconds:g} seconds.", field="prompt_audio"
        )
    try:
        return wav_bytes(from_pcm16(samples), PROMPT_RATE)
    except PolyvoxError as error:
        error.field = "prompt_audio"
        raise
