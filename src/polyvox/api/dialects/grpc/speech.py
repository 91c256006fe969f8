"""Polyvox's gRPC service: speech from a text, speech from text that is still arriving, lists of voices and models."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from polyvox.api.dialects.grpc.call import MESSAGE_BYTES, Call
from polyvox.api.dialects.grpc.conversation import Conversation
from polyvox.api.dialects.grpc.schema import DOOR_NAMES, SPEECH, Message, message_type
from polyvox.api.requests.audio_body import TUNING_FIELDS
from polyvox.api.requests.forms import Fields
from polyvox.api.requests.speech_body import SpeechBody
from polyvox.api.requests.speech_requests import speech_request
from polyvox.audio.encode import AudioFormat
from polyvox.errors import InvalidRequestError, PolyvoxError, PromptError
from polyvox.service.encoding import EncodedChunk, encoded
from polyvox.service.kinds.stream_in import SpeakStream
from polyvox.service.registry.registry import ModelInfo
from polyvox.service.session import Session
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.telemetry.chunk_record import pcm_hash
from polyvox.service.voices.voices import VoiceService
from polyvox.types import AudioChunk, Span, Voice
from polyvox.voices.records import VoiceQuery
from polyvox.voices.references import InlineVoice

_NAME = DOOR_NAMES[SPEECH]
_MAX_REGISTERED = 1_000
_FIELD_NAMES: Mapping[str, str] = MappingProxyType(
    {"input": "text", "lang_code": "language", "response_format": "format", "volume_multiplier": "volume"}
)
_OPTIONAL = {"speed": "speed", "seed": "seed", "sample_rate": "sample_rate", "volume": "volume_multiplier"}
_WHERE_NOT_EMPTY = {"model": "model", "voice": "voice", "language": "lang_code", "instructions": "instructions"}


class SpeechServicer:
    """Answers `polyvox.v1.Speech`."""

    def __init__(self, service: SpeechService, voices: VoiceService) -> None:
        self._service = service
        self._voices = voices

    async def speak(self, message: Message, call: Call) -> None:
        """Speak one text."""
        with _own_field_names(message.config):
            body = _body(message.config, message.text)
            request = await self._request(message.config, body, call.owner)
            async with call.session(self._service, request) as session:
                await _Delivery(session, body.audio_format, call).run()

    async def converse(self, messages: AsyncIterator[Message], call: Call) -> None:
        """Speak text while it arrives."""
        limit = self._service.settings.max_input_chars
        conversation = Conversation(messages, max_chars=limit, patience=call.stall_seconds)
        config = await conversation.config()
        with _own_field_names(config):
            body = _body(config, "")
            kind = SpeakStream(conversation.fragments(), limit, body.speed)
            request = replace(await self._request(config, body, call.owner), kind=kind)
            async with call.session(self._service, request) as session, conversation.read_during(session):
                await _Delivery(session, body.audio_format, call).run(conversation)

    async def voices(self, message: Message, call: Call) -> Message:
        """The voices of a model; with one that clones, also those that the caller has registered."""
        model = message.model or None
        listed = [_voice(voice) for voice in self._service.registry.voices(model)]
        if self._service.registry.clones_for(model):
            page = await self._voices.page(VoiceQuery(limit=_MAX_REGISTERED), call.owner)
            mine = [Voice(record.id, record.name, record.language) for record in page.voices]
            listed += [_voice(voice, registered=True) for voice in mine]
        return _new("VoicesResponse", voices=listed)

    async def models(self, message: Message, call: Call) -> Message:
        """Every model, available or not."""
        registry = self._service.registry
        default = registry.resolve(None)
        listed = [_model(info, is_default=info.id == default) for info in registry.models() + registry.absent()]
        return _new("ModelsResponse", models=listed)

    async def _request(self, config: Message, body: SpeechBody, owner: str) -> SpeechRequest:
        request = await speech_request(body, _NAME, self._service, self._voices, owner)
        request = replace(request, words=config.word_timings)
        if not config.HasField("prompt_audio"):
            return request
        if not config.prompt_audio:
            raise PromptError("'prompt_audio' is empty; send a recording as a file.", field="prompt_audio")
        reference, words = InlineVoice(config.prompt_audio), config.prompt_text or None
        resolver, language = self._voices.resolver, request.utterance.language
        model = await resolver.model_for(reference, owner, body.model, language=language, transcript=words)
        markup = replace(request.markup, resolve_voice=resolver.by_name(owner, model))
        resolve_voice = partial(resolver.resolve, reference, owner, model=model, transcript=words)
        return replace(request, model=model, markup=markup, resolve_voice=resolve_voice)


class _Delivery:
    """Sends a session's audio into a call."""

    def __init__(self, session: Session, audio_format: AudioFormat, call: Call) -> None:
        self._session = session
        self._format = audio_format
        self._call = call

    async def run(self, conversation: Conversation | None = None) -> None:
        """Send `started`, the audio, and `finished`."""
        await self._send(started=_started(self._session, self._format))
        chunks = samples = 0
        async with aclosing(encoded(self._session, self._format)) as parts:
            async for part in parts:
                await self._send_part(part)
                if part.chunk is not None:
                    chunks, samples = chunks + 1, part.chunk.end
        cancelled = conversation is not None and conversation.cancelled
        await self._send(finished=_new("Finished", cancelled=cancelled, chunks=chunks, samples=samples))

    async def _send_part(self, part: EncodedChunk) -> None:
        chunk = None if part.chunk is None else await _chunk(part.chunk, hashed=self._call.wants_chunks)
        await self._send(audio=_new("Audio", data=part.data[:MESSAGE_BYTES], chunk=chunk))
        for start in range(MESSAGE_BYTES, len(part.data), MESSAGE_BYTES):
            await self._send(audio=_new("Audio", data=part.data[start : start + MESSAGE_BYTES]))

    async def _send(self, **event: Message) -> None:
        await self._call.send(_new("SpeechResponse", **event))


@contextmanager
def _own_field_names(config: Message) -> Iterator[None]:
    """Give errors this service's name of the field at fault."""
    names = {**_FIELD_NAMES, "voice": "prompt_audio"} if config.HasField("prompt_audio") else _FIELD_NAMES
    try:
        yield
    except PolyvoxError as error:
        error.field = names.get(error.field or "", error.field)
        raise


def _body(config: Message, text: str) -> SpeechBody:
    """The config and text as a speech request of the HTTP API, with its checks."""
    values: dict[str, Any] = {"input": text, "response_format": config.format or "pcm"}
    values |= {theirs: getattr(config, ours) for ours, theirs in _WHERE_NOT_EMPTY.items() if getattr(config, ours)}
    values |= {theirs: getattr(config, ours) for ours, theirs in _OPTIONAL.items() if config.HasField(ours)}
    if config.HasField("loudness"):
        values["loudness"] = config.loudness
    if config.prompt_text:
        values["prompt_text"] = config.prompt_text
    return Fields(_tuning(config) | values).parsed(SpeechBody)


def _tuning(config: Message) -> dict[str, Any]:
    """The parameters of single models; whole numbers as such, since some of them must be."""
    unknown = next((name for name in config.tuning if name not in TUNING_FIELDS), None)
    if unknown is not None:
        raise InvalidRequestError(
            f"'tuning' has no {unknown[:80]!r}; it may hold {', '.join(sorted(TUNING_FIELDS))}.", field="tuning"
        )
    return {name: int(value) if value.is_integer() else value for name, value in config.tuning.items()}


def _started(session: Session, audio_format: AudioFormat) -> Message:
    return _new(
        "Started",
        session_id=session.id,
        model=session.model,
        format=str(audio_format),
        sample_rate=session.sample_rate,
        channels=session.channels,
        warnings=session.warnings,
    )


async def _chunk(chunk: AudioChunk, *, hashed: bool) -> Message:
    words = [
        _new("Word", word=word.word, start=word.start, end=word.end, span=_span(word.span), source=word.source)
        for word in chunk.words
    ]
    return _new(
        "Chunk",
        index=chunk.index,
        first_sample=chunk.start,
        end_sample=chunk.end,
        text=chunk.text,
        span=_span(chunk.span),
        words=words,
        tokens=_span(chunk.tokens),
        frames=_span(chunk.frames),
        sha256=await asyncio.to_thread(pcm_hash, chunk.pcm) if hashed else "",
    )


def _span(span: Span | None) -> Message | None:
    return None if span is None else _new("Span", start=span.start, end=span.end)


def _voice(voice: Voice, *, registered: bool = False) -> Message:
    return _new(
        "Voice",
        id=voice.id,
        name=voice.name,
        language=voice.language,
        gender=voice.gender,
        description=voice.description,
        registered=registered,
    )


def _model(info: ModelInfo, *, is_default: bool) -> Message:
    known = info.capabilities
    abilities: dict[str, object] = {"languages": sorted(info.languages), "cloning": info.cloning}
    if known is not None:
        abilities |= {
            "sample_rate": known.sample_rate,
            "channels": known.channels,
            "instructions": known.instructions,
            "word_timings": known.word_timings,
        }
    return _new("Model", id=info.id, available=info.available, reason=info.reason, is_default=is_default, **abilities)


def _new(name: str, /, **fields: object) -> Message:
    return message_type(f"polyvox.v1.{name}")(**fields)
