"""Messages of `polyvox.client` and what it makes of the answers: bodies, results and errors."""

import base64
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar
from urllib.parse import urlsplit

from polyvox.errors import ApiConnectionError, ApiError, InvalidRequestError
from polyvox.types import Voice

# A command checks an address before it loads its HTTP client.
if TYPE_CHECKING:
    import httpx

MAX_ERROR_BYTES = 65_536

Result = TypeVar("Result")

DialogueTurn = tuple[str, str] | Mapping[str, str]
"""A turn of a dialogue: voice and text, or an object with `voice`, `text` and, for a recording, `prompt_text`."""


class SpeechOptions(TypedDict, total=False):
    """Options of speech; what is left out is the server's choice.

    `language` is a BCP 47 tag, `volume` a gain on the samples, `loudness` a target in LUFS; `extra` holds further
    fields of the request body, such as those that only one family of models knows.
    """

    model: str | None
    response_format: str
    speed: float
    language: str | None
    volume: float
    instructions: str | None
    seed: int | None
    sample_rate: int | None
    loudness: float | None
    dictionaries: Sequence[str]
    extra: Mapping[str, object]


class VoiceOptions(TypedDict, total=False):
    """Details of a recording that a voice is registered with. `transcribe`: inline, background or none."""

    transcript: str
    language: str
    tags: Sequence[str]
    consent: bool
    consent_note: str
    transcribe: str


@dataclass(frozen=True, slots=True)
class ServerModel:
    """A model of the server; `reason` says why one that is not `available` cannot speak."""

    id: str
    available: bool
    reason: str
    capabilities: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ServerVoice:
    """A voice that was registered on the server, and what it warned of; `duration` is that of the recording."""

    id: str
    name: str
    transcript: str
    language: str | None
    tags: tuple[str, ...]
    duration: float
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServerReadiness:
    """Readiness of the server: true if it can speak with its default model; if not, `reasons` by model."""

    ok: bool
    models: Mapping[str, bool]
    reasons: Mapping[str, str]

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True, slots=True)
class AudioHeaders:
    """The head of an audio response.

    `sample_rate` and `channels` are those of raw PCM: 24 kHz mono, as OpenAI documents, unless the server says
    otherwise. `warning` names what the engine could not do as asked. `captions` is where the captions that were asked
    for will be when the audio is complete. `provenance` says that it is synthetic, what made it and when, as a
    dictionary of structured fields.
    """

    media_type: str
    sample_rate: int
    channels: int
    warning: str
    captions: str
    provenance: str


@dataclass(frozen=True, slots=True)
class AudioResponse(AudioHeaders):
    """Audio as it arrives: iterate for its bytes."""

    chunks: Iterator[bytes]

    def __iter__(self) -> Iterator[bytes]:
        return self.chunks


@dataclass(frozen=True, slots=True)
class AsyncAudioResponse(AudioHeaders):
    """Audio as it arrives: iterate asynchronously for its bytes."""

    chunks: AsyncIterator[bytes]

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self.chunks


def server_address(url: str, field: str = "base_url") -> str:
    """A server's address without a trailing slash or `/v1`, which OpenAI's clients want and others leave out."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequestError(f"{url!r} is not a server's address; write it as http://HOST:PORT.", field=field)
    return url.rstrip("/").removesuffix("/v1")


def caller_headers(api_key: str | None, consent: str | None) -> dict[str, str]:
    """The headers of every request: whose it is, and what is said of the recordings that it brings."""
    if consent is not None and not (consent.isascii() and consent.isprintable()):
        raise InvalidRequestError("Write the statement of consent in plain ASCII characters.", field="consent")
    return given({"Authorization": f"Bearer {api_key}" if api_key else None, "X-Voice-Consent": consent})


def given(fields: Mapping[str, object]) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def speech_body(text: str, voice: str | None, options: SpeechOptions) -> dict[str, Any]:
    """The body of `POST /v1/audio/speech`."""
    return given({"input": text, "voice": voice}) | _options_body(options)


def captions_body(text: str, voice: str | None, caption_format: str, options: SpeechOptions) -> dict[str, Any]:
    """The body of `POST /v1/audio/speech` for captions alone."""
    return speech_body(text, voice, options) | {"response_format": caption_format}


def own_path(path: str) -> str:
    """A path on the server itself; an address elsewhere would be sent the key."""
    if not path.startswith("/"):
        raise InvalidRequestError(
            f"{path[:80]!r} is not a path on the server, such as /v1/download/NAME.", field="path"
        )
    return path


def dialogue_body(turns: Iterable[DialogueTurn], pause: float | None, options: SpeechOptions) -> dict[str, Any]:
    """The body of `POST /v1/audio/dialogue`."""
    written = [dict(turn) if isinstance(turn, Mapping) else {"voice": turn[0], "text": turn[1]} for turn in turns]
    return given({"turns": written, "pause": pause}) | _options_body(options)


def _options_body(options: SpeechOptions) -> dict[str, Any]:
    """The options by the names that they have on the wire."""
    names = {"language": "lang_code", "volume": "volume_multiplier"}
    fields = {names.get(name, name): value for name, value in options.items() if name != "extra"}
    if "dictionaries" in options:
        fields["dictionaries"] = list(options["dictionaries"])
    return given(fields) | dict(options.get("extra", {}))


def whole(body: dict[str, Any]) -> dict[str, Any]:
    """Ask for one file: the sizes in its header are then true, unlike those of a stream."""
    return body | {"stream": False}


def voice_body(name: str, audio: bytes | str, options: VoiceOptions) -> dict[str, Any]:
    """The body of `POST /v1/voices`."""
    written = audio if isinstance(audio, str) else base64.b64encode(audio).decode()
    return {"name": name, "audio": written} | given({**options, "tags": list(options.get("tags", ())) or None})


def checked(response: "httpx.Response") -> "httpx.Response":
    """The response, if it is no error."""
    if response.is_success:
        return response
    raise api_error(response, response.content)


def error_head(stream: Iterable[bytes]) -> bytes:
    """As much of a body as an error message can be expected to fill."""
    body = b""
    for data in stream:
        body += data
        if len(body) > MAX_ERROR_BYTES:
            break
    return body


async def async_error_head(stream: AsyncIterator[bytes]) -> bytes:
    """The same of an asynchronous stream."""
    body = b""
    async for data in stream:
        body += data
        if len(body) > MAX_ERROR_BYTES:
            break
    return body


def api_error(response: "httpx.Response", body: bytes) -> ApiError:
    """The error in OpenAI's shape, or as much of one as another body tells."""
    status = response.status_code
    try:
        found = json.loads(body)["error"]
        message, code, field = str(found["message"]), str(found.get("code") or ""), found.get("param")
    except (ValueError, KeyError, TypeError, AttributeError):
        message, code, field = f"The server answered {status} {response.reason_phrase}.", "", None
    wait = response.headers.get("Retry-After", "")
    return ApiError(
        message,
        status=status,
        code=code,
        field=field if isinstance(field, str) else None,
        retry_after=float(wait) if wait.isdecimal() else None,
    )


def audio_headers(headers: "httpx.Headers") -> tuple[str, int, int, str, str, str]:
    """Media type, sample rate, channels, warning, captions and provenance, in the order of `AudioHeaders`."""
    return (
        headers.get("content-type", ""),
        _positive(headers, "x-audio-sample-rate", "24000"),
        _positive(headers, "x-audio-channels", "1"),
        headers.get("x-polyvox-warning", ""),
        headers.get("x-captions", ""),
        headers.get("x-polyvox-provenance", ""),
    )


def connection_error(url: str, error: "httpx.HTTPError") -> ApiConnectionError:
    """The error for an answer that did not come, or not whole."""
    import httpx

    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return ApiConnectionError(f"No server answers at {url}; start one with `polyvox serve`.")
    if isinstance(error, httpx.TimeoutException):
        return ApiConnectionError(f"The server at {url} sent nothing for too long; raise the timeout.")
    reason = str(error).rstrip(".") or type(error).__name__
    return ApiConnectionError(f"The connection to {url} broke off: {reason}.")


def _positive(headers: "httpx.Headers", name: str, default: str) -> int:
    value = headers.get(name, default)
    if not value.isdecimal() or int(value) == 0:
        raise ApiError(f"The answer's header {name} is {value[:40]!r}, not a number above 0.", status=HTTPStatus.OK)
    return int(value)


def voices(response: "httpx.Response") -> list[Voice]:
    """The voices of `GET /v1/audio/voices`."""
    return _parsed(response, lambda found: [_voice(voice) for voice in found["voices"]])


def models(response: "httpx.Response") -> list[ServerModel]:
    """The models of `GET /v1/models`, without further names of the same ones, such as `tts-1`."""
    return _parsed(response, lambda found: [_model(model) for model in found["data"] if not _is_alias(model)])


def _is_alias(model: dict[str, Any]) -> bool:
    return bool(model.get("root", model["id"]) != model["id"])


def server_voice(response: "httpx.Response") -> ServerVoice:
    """The voice that was registered."""
    return _parsed(
        response,
        lambda found: ServerVoice(
            id=found["id"],
            name=found["name"],
            transcript=found["transcript"],
            language=found["language"],
            tags=tuple(found["tags"]),
            duration=found["duration"],
            warnings=tuple(found["warnings"]),
        ),
    )


def readiness(response: "httpx.Response") -> ServerReadiness:
    """From 200 or 503, which both have the same body; anything else is an error."""
    if response.status_code not in (HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE):
        raise api_error(response, response.content)
    ready = response.status_code == HTTPStatus.OK
    return _parsed(response, lambda found: ServerReadiness(ready, found["models"], found["reasons"]))


def _voice(found: Mapping[str, Any]) -> Voice:
    return Voice(
        id=found["id"],
        name=found["title"],
        language=found["language"],
        gender=found["gender"],
        description=found["description"],
        reason=found.get("reason", ""),  # of later servers, as is the grade
        grade=found.get("grade", ""),
    )


def _model(found: Mapping[str, Any]) -> ServerModel:
    return ServerModel(found["id"], found["available"], found["reason"] or "", found["capabilities"])


def _parsed(response: "httpx.Response", build: Callable[[Any], Result]) -> Result:
    try:
        return build(response.json())
    except (ValueError, KeyError, TypeError) as error:
        message = f"{response.url} does not answer as a Polyvox server does; check the address."
        raise ApiError(message, status=response.status_code) from error
