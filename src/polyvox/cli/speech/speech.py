"""Speech for a command: made in this process, or by a running server."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

from polyvox.api.requests.languages import language_tag
from polyvox.audio.pcm import from_pcm16
from polyvox.cli.speech.nearest_voice import offering_nearest
from polyvox.client import AsyncAudioResponse, AsyncClient, SpeechOptions
from polyvox.config import Settings
from polyvox.errors import ApiError, InvalidRequestError
from polyvox.service.keys.access import OperatorAccess
from polyvox.service.kinds.dialogue import resolve_dialogue
from polyvox.service.kinds.dialogue_segments import DialogueTurn
from polyvox.service.kinds.script_reader import MarkupRequest
from polyvox.service.local_service import running_service
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voices import VoiceService
from polyvox.service.words.caption_track import CaptionTrack, DialogueCaptionTrack, speaker_names
from polyvox.text.captions import CaptionFormat
from polyvox.types import Pcm, Utterance, WordTiming
from polyvox.voices.records import SHARED_OWNER
from polyvox.voices.references import RegisteredVoice, parse_reference

READ_TIMEOUT = 120.0
_OK, _BAD_REQUEST = 200, 400


@dataclass(frozen=True, slots=True)
class SayRequest:
    """What to say, and how; None leaves the choice to the settings or to the server.

    With `turns` it is a dialogue, and `pause` the seconds of silence between them. `captions` are wanted in that
    format; with `words`, segments have their words.
    """

    text: str
    voice: str | None = None
    model: str | None = None
    language: str | None = None
    speed: float = 1.0
    volume: float = 1.0
    turns: tuple[DialogueTurn, ...] = ()
    pause: float | None = None
    captions: CaptionFormat | None = None
    dictionaries: tuple[str, ...] = ()
    words: bool = False


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """A stretch of speech, and how many characters of the text are spoken by its end, where that is known.

    `words` are those that became known with it, timed from the first sample of the speech.
    """

    pcm: Pcm
    spoken_chars: int | None = None
    words: tuple[WordTiming, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandSpeech:
    """Speech while it is made; `warnings` name what the engine could not do as asked.

    `captions` gives the captions that were asked for, once all is spoken.
    """

    sample_rate: int
    channels: int
    warnings: tuple[str, ...]
    segments: AsyncIterator[SpeechSegment]
    captions: Callable[[], Awaitable[str]]


@asynccontextmanager
async def local_speech(said: SayRequest, settings: Settings) -> AsyncIterator[CommandSpeech]:
    """Speak in this process, also with a registered voice if the model clones voices."""
    utterance = Utterance(
        said.text,
        said.voice or "",
        language=None if said.language is None else language_tag(said.language, "language"),
        speed=said.speed,
    )
    async with running_service(settings) as service, _voices_beside(service) as voices:
        words = said.captions is not None or said.words
        request = SpeechRequest(
            utterance,
            model=said.model,
            volume=said.volume,
            door="cli",
            words=words,
            dictionary_names=said.dictionaries,
        )
        track = DialogueCaptionTrack(said.turns, speaker_names(said.turns)) if said.turns else CaptionTrack(said.text)
        with offering_nearest(service, said.model, said.voice):
            opened = await service.open(_cast(request, said, voices, settings))
        async with opened as session:

            async def segments() -> AsyncIterator[SpeechSegment]:
                async for chunk in session:
                    track.add(chunk)
                    yield SpeechSegment(chunk.pcm, chunk.span.end if chunk.span else None, chunk.words)

            async def captions() -> str:
                return track.written(said.captions or CaptionFormat.SRT)

            yield CommandSpeech(session.sample_rate, session.channels, session.warnings, segments(), captions)


def _cast(request: SpeechRequest, said: SayRequest, voices: VoiceService, settings: Settings) -> SpeechRequest:
    """The request with the voice, or the voices of the dialogue, that it means."""
    if said.turns:
        stage = partial(resolve_dialogue, said.turns, said.pause, voices.resolver, settings)
        return replace(request, resolve_kind=partial(stage, owner=SHARED_OWNER, model=said.model, speed=said.speed))
    markup = MarkupRequest(resolve_voice=voices.resolver.by_name(SHARED_OWNER, said.model))
    request = replace(request, markup=markup)
    voice, limit = request.utterance.voice, settings.prompt_max_bytes
    reference = parse_reference(voice, max_bytes=limit) if voice else RegisteredVoice("")
    return replace(request, resolve_voice=partial(voices.resolver.resolve, reference, SHARED_OWNER, model=said.model))


@asynccontextmanager
async def _voices_beside(service: SpeechService) -> AsyncIterator[VoiceService]:
    voices = VoiceService.for_service(service, OperatorAccess())
    try:
        yield voices
    finally:
        await voices.close()


@asynccontextmanager
async def remote_speech(said: SayRequest, url: str, api_key: str | None) -> AsyncIterator[CommandSpeech]:
    """Have a running server speak; what it refuses as a bad request is the user's to mend, as in this process."""
    try:
        async with (
            AsyncClient(url, api_key, timeout=READ_TIMEOUT) as client,
            _opened(said, client) as stream,
        ):
            warnings = (stream.warning,) if stream.warning else ()

            async def captions() -> str:
                if not stream.captions:
                    raise ApiError("This server makes no captions; it is of an earlier version.", status=_OK)
                return (await client.download(stream.captions)).decode()

            yield CommandSpeech(stream.sample_rate, stream.channels, warnings, _segments(stream), captions)
    except ApiError as error:
        if error.status == _BAD_REQUEST:
            raise InvalidRequestError(error.message, field=error.field) from error
        raise


def _opened(said: SayRequest, client: AsyncClient) -> AbstractAsyncContextManager[AsyncAudioResponse]:
    options: SpeechOptions = {
        "model": said.model,
        "response_format": "pcm",
        "speed": said.speed,
        "language": said.language,
        "volume": said.volume,
        "dictionaries": said.dictionaries,
        "extra": {} if said.captions is None else {"captions": said.captions.value},
    }
    if not said.turns:
        return client.stream(said.text, said.voice, **options)
    turns = [(turn.voice, turn.text) for turn in said.turns]
    return client.stream_dialogue(turns, pause=said.pause, **options)


async def _segments(stream: AsyncAudioResponse) -> AsyncIterator[SpeechSegment]:
    """Raw PCM as it arrives, cut at whole samples."""
    frame_bytes = 2 * stream.channels
    rest = b""
    async for data in stream:
        rest += data
        whole = len(rest) - len(rest) % frame_bytes
        if whole:
            pcm = from_pcm16(rest[:whole])
            yield SpeechSegment(pcm if stream.channels == 1 else pcm.reshape(-1, stream.channels))
            rest = rest[whole:]
