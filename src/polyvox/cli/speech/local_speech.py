"""Speech for a command, made in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from polyvox.api.requests.languages import language_tag
from polyvox.audio.encode import NO_TAGS
from polyvox.cli.speech.nearest_voice import offering_nearest
from polyvox.cli.speech.recorded_voice import check_recording
from polyvox.cli.speech.speech import CommandSpeech, SayRequest, SpeechSegment
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.kinds.dialogue import resolve_dialogue
from polyvox.service.kinds.script_reader import MarkupRequest
from polyvox.service.local_service import running_service
from polyvox.service.request_checks import check_numbers
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.consent import calling
from polyvox.service.voices.early_check import check_voice
from polyvox.service.voices.voices import VoiceService
from polyvox.service.words.caption_track import CaptionTrack, DialogueCaptionTrack, speaker_names
from polyvox.text.captions import CaptionFormat
from polyvox.types import Utterance
from polyvox.voices.records import SHARED_OWNER
from polyvox.voices.references import InlineVoice, RegisteredVoice, VoiceReference, parse_reference


@asynccontextmanager
async def local_speech(said: SayRequest, settings: Settings) -> AsyncIterator[CommandSpeech]:
    """Speak in this process, also with a registered voice if the model clones voices."""
    utterance = Utterance(
        said.text,
        said.voice or "",
        language=None if said.language is None else language_tag(said.language, "language"),
        speed=said.speed,
    )
    request = SpeechRequest(
        utterance,
        model=said.model,
        volume=said.volume,
        door="cli",
        words=said.captions is not None or said.words,
        dictionary_names=said.dictionaries,
    )
    await _check_early(request, said, settings)
    async with running_service(settings) as service, _voices_beside(service) as voices:
        track = DialogueCaptionTrack(said.turns, speaker_names(said.turns)) if said.turns else CaptionTrack(said.text)
        with offering_nearest(service, said.model, said.voice), calling("cli", said.consent):
            opened = await service.open(_cast(request, said, voices, settings), LOCAL_CALL)
        async with opened as session:

            async def segments() -> AsyncIterator[SpeechSegment]:
                async for chunk in session:
                    track.add(chunk)
                    yield SpeechSegment(chunk.pcm, chunk.span.end if chunk.span else None, chunk.words)

            async def captions() -> str:
                return track.written(said.captions or CaptionFormat.SRT)

            tags = NO_TAGS if session.marks is None else session.marks.tags
            yield CommandSpeech(session.sample_rate, session.channels, session.warnings, segments(), captions, tags)


async def _check_early(request: SpeechRequest, said: SayRequest, settings: Settings) -> None:
    """Refuse what can be known to be wrong before the model is loaded."""
    check_numbers(request)
    if said.recording is not None:
        await check_recording(said.recording, settings)
    for name in {turn.voice for turn in said.turns} or {said.voice or ""}:
        if isinstance(parse_reference(name, max_bytes=settings.prompt_max_bytes) if name else None, RegisteredVoice):
            model = said.model or settings.default_model
            await check_voice(name, SHARED_OWNER, model, Catalog.installed(), settings)


def _cast(request: SpeechRequest, said: SayRequest, voices: VoiceService, settings: Settings) -> SpeechRequest:
    """The request with the voice, or the voices of the dialogue, that it means."""
    if said.turns:
        stage = partial(resolve_dialogue, said.turns, said.pause, voices.resolver, settings)
        return replace(request, resolve_kind=partial(stage, owner=SHARED_OWNER, model=said.model, speed=said.speed))
    markup = MarkupRequest(resolve_voice=voices.resolver.by_name(SHARED_OWNER, said.model))
    request = replace(request, markup=markup)
    resolve = partial(voices.resolver.resolve, _reference(said, settings), SHARED_OWNER, model=said.model)
    return replace(request, resolve_voice=partial(resolve, wordless=True))


def _reference(said: SayRequest, settings: Settings) -> VoiceReference:
    if said.recording is not None:
        return InlineVoice(said.recording)
    return parse_reference(said.voice, max_bytes=settings.prompt_max_bytes) if said.voice else RegisteredVoice("")


@asynccontextmanager
async def _voices_beside(service: SpeechService) -> AsyncIterator[VoiceService]:
    voices = VoiceService.for_service(service, OperatorAccess())
    try:
        yield voices
    finally:
        await voices.close()
