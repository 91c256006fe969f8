"""Speech for a command, and that of a running server; `local_speech.py` makes it in this process."""

from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from polyvox.audio.encode import Tags
from polyvox.audio.pcm import from_pcm16
from polyvox.client import AsyncAudioResponse, AsyncClient, SpeechOptions
from polyvox.errors import ApiError, InvalidRequestError
from polyvox.provenance.marks import tags_in_header
from polyvox.types import Pcm, WordTiming

if TYPE_CHECKING:
    from polyvox.service.kinds.dialogue_segments import DialogueTurn
    from polyvox.text.captions import CaptionFormat

READ_TIMEOUT = 120.0
_OK, _BAD_REQUEST = 200, 400


@dataclass(frozen=True, slots=True)
class SayRequest:
    """A text to say, with its options; None leaves the choice to the settings or to the server.

    With `turns` it is a dialogue, and `pause` the seconds of silence between them. `captions` are wanted in that
    format; with `words`, segments have their words. A `recording` is spoken like, in place of a voice; `consent` says
    how and when its speaker has agreed.
    """

    text: str
    voice: str | None = None
    model: str | None = None
    language: str | None = None
    speed: float = 1.0
    volume: float = 1.0
    turns: "tuple[DialogueTurn, ...]" = ()
    pause: float | None = None
    captions: "CaptionFormat | None" = None
    dictionaries: tuple[str, ...] = ()
    words: bool = False
    instructions: str | None = None
    recording: bytes | None = None
    consent: str | None = None


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

    `captions` gives the captions that were asked for, once all is spoken. `tags` are for files of it.
    """

    sample_rate: int
    channels: int
    warnings: tuple[str, ...]
    segments: AsyncIterator[SpeechSegment]
    captions: Callable[[], Awaitable[str]]
    tags: Tags = field(default_factory=dict)


@asynccontextmanager
async def remote_speech(said: SayRequest, url: str, api_key: str | None) -> AsyncIterator[CommandSpeech]:
    """Have a running server speak; what it refuses as a bad request is the user's to mend, as in this process."""
    try:
        async with (
            AsyncClient(url, api_key, timeout=READ_TIMEOUT, consent=said.consent) as client,
            _opened(said, client) as stream,
        ):
            warnings = (stream.warning,) if stream.warning else ()

            async def captions() -> str:
                if not stream.captions:
                    raise ApiError("This server makes no captions; it is of an earlier version.", status=_OK)
                return (await client.download(stream.captions)).decode()

            tags = tags_in_header(stream.provenance)
            yield CommandSpeech(stream.sample_rate, stream.channels, warnings, _segments(stream), captions, tags)
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
        "instructions": said.instructions,
        "dictionaries": said.dictionaries,
        "extra": {} if said.captions is None else {"captions": said.captions.value},
    }
    if not said.turns:
        recording = None if said.recording is None else f"base64+{b64encode(said.recording).decode()}"
        return client.stream(said.text, recording or said.voice, **options)
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
