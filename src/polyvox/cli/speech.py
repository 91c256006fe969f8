"""Speech for a command: from a service in this process, or from a running server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

import httpx

from polyvox.api.languages import language_tag
from polyvox.audio.pcm import from_pcm16
from polyvox.bench.dialect import RefusedError, audio_layout, error_sentence
from polyvox.cli.local_service import running_service
from polyvox.config import Settings
from polyvox.errors import InvalidRequestError, PolyvoxError, UnavailableError
from polyvox.service.dialogue import resolve_dialogue
from polyvox.service.dialogue_segments import DialogueTurn
from polyvox.service.speech import SpeechRequest, SpeechService
from polyvox.service.voices import VoiceService
from polyvox.types import Pcm, Utterance
from polyvox.voices.records import HOUSE
from polyvox.voices.references import parse_reference

CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 120.0
MAX_ERROR_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be said, and how; None leaves the choice to the settings or to the server.

    With `turns` it is a dialogue, and `pause` the silence between them.
    """

    text: str
    voice: str | None = None
    model: str | None = None
    language: str | None = None
    speed: float = 1.0
    volume: float = 1.0
    turns: tuple[DialogueTurn, ...] = ()
    pause: float | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of speech, and how far into the text it reaches, where that is known."""

    pcm: Pcm
    spoken_chars: int | None = None


@dataclass(frozen=True, slots=True)
class Speech:
    """Speech on its way, and what the engine could not do as asked."""

    sample_rate: int
    channels: int
    warnings: tuple[str, ...]
    pieces: AsyncIterator[Piece]


@asynccontextmanager
async def own_speech(wish: Wish, settings: Settings) -> AsyncIterator[Speech]:
    """Speak in this process, also with a registered voice if the model clones voices."""
    utterance = Utterance(
        wish.text,
        wish.voice or settings.default_voice,
        language=None if wish.language is None else language_tag(wish.language, "language"),
        speed=wish.speed,
    )
    async with running_service(settings) as service, _voices_beside(service) as voices:
        request = SpeechRequest(utterance, model=wish.model, volume=wish.volume, door="cli")
        async with await service.open(_cast(request, wish, voices, settings)) as session:

            async def pieces() -> AsyncIterator[Piece]:
                async for chunk in session:
                    yield Piece(chunk.pcm, chunk.span.end if chunk.span else None)

            yield Speech(session.sample_rate, session.channels, session.warnings, pieces())


def _cast(request: SpeechRequest, wish: Wish, voices: VoiceService, settings: Settings) -> SpeechRequest:
    """The request with the voice, or the voices of the dialogue, that it means."""
    if wish.turns:
        stage = partial(resolve_dialogue, wish.turns, wish.pause, voices.resolver, settings)
        return replace(request, resolve_kind=partial(stage, owner=HOUSE, model=wish.model, speed=wish.speed))
    reference = parse_reference(request.utterance.voice, max_bytes=settings.prompt_max_bytes)
    return replace(request, resolve_voice=partial(voices.resolver.resolve, reference, HOUSE, model=wish.model))


@asynccontextmanager
async def _voices_beside(service: SpeechService) -> AsyncIterator[VoiceService]:
    voices = VoiceService.for_service(service)
    try:
        yield voices
    finally:
        await voices.close()


@asynccontextmanager
async def servers_speech(wish: Wish, url: str, api_key: str | None) -> AsyncIterator[Speech]:
    """Have a running server speak, by OpenAI's call with Kokoro-FastAPI's fields, or by the call for dialogues."""
    path = "/v1/audio/dialogue" if wish.turns else "/v1/audio/speech"
    turns = [{"voice": turn.voice, "text": turn.text} for turn in wish.turns]
    said = {"turns": turns, "pause": wish.pause} if wish.turns else {"input": wish.text, "voice": wish.voice}
    body = {
        "model": wish.model,
        "speed": wish.speed,
        "lang_code": wish.language,
        "volume_multiplier": wish.volume,
        "response_format": "pcm",
        **said,
    }
    given = {name: value for name, value in body.items() if value is not None}
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    timeout = httpx.Timeout(READ_TIMEOUT, connect=CONNECT_TIMEOUT)
    try:
        async with (
            httpx.AsyncClient(timeout=timeout, headers=headers) as client,
            client.stream("POST", f"{url}{path}", json=given) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise await _refusal(response)
            rate, channels = audio_layout(response.headers)
            yield Speech(rate, channels, (), _whole_samples(response.aiter_raw(), channels))
    except httpx.ConnectError as error:
        raise UnavailableError(f"No server answers at {url}; start one with `polyvox serve`.") from error
    except (httpx.HTTPError, RefusedError) as error:
        raise PolyvoxError(f"The stream from {url} broke off: {str(error) or type(error).__name__}.") from error


async def _whole_samples(stream: AsyncIterator[bytes], channels: int) -> AsyncIterator[Piece]:
    """Bytes as they come off the wire, cut at whole samples."""
    frame_bytes = 2 * channels
    rest = b""
    async for data in stream:
        rest += data
        whole = len(rest) - len(rest) % frame_bytes
        if whole:
            pcm = from_pcm16(rest[:whole])
            yield Piece(pcm if channels == 1 else pcm.reshape(-1, channels))
            rest = rest[whole:]


async def _refusal(response: httpx.Response) -> PolyvoxError:
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MAX_ERROR_BYTES:
            break
    sentence = error_sentence(body) or f"The server answered {response.status_code} {response.reason_phrase}."
    return InvalidRequestError(sentence) if response.status_code == httpx.codes.BAD_REQUEST else PolyvoxError(sentence)
