"""A typed HTTP client of a Polyvox server, for synchronous and asynchronous code.

    with Client("http://127.0.0.1:8880") as client:
        Path("hello.mp3").write_bytes(client.speech("Hello.", "af_heart"))
        with client.stream("Hello.", "af_heart", response_format="pcm") as audio:
            for data in audio:
                play(data)

Every error is a `PolyvoxError`: `ApiError` where the server answered with one, `ApiConnectionError` where it did not
answer or the connection broke.
"""

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    aclosing,
    asynccontextmanager,
    closing,
    contextmanager,
)
from types import TracebackType
from typing import Any, Self, Unpack
from urllib.parse import quote

import httpx

from polyvox import client_messages as messages
from polyvox.client_messages import (
    AsyncAudioResponse,
    AudioResponse,
    DialogueTurn,
    ServerModel,
    ServerReadiness,
    ServerVoice,
    SpeechOptions,
    VoiceOptions,
    server_address,
)
from polyvox.errors import ApiConnectionError, ApiError
from polyvox.types import Voice

__all__ = [
    "AsyncAudioResponse",
    "AsyncClient",
    "AudioResponse",
    "Client",
    "DialogueTurn",
    "ServerModel",
    "ServerReadiness",
    "ServerVoice",
    "SpeechOptions",
    "VoiceOptions",
    "server_address",
]

DEFAULT_URL = "http://127.0.0.1:8880"
DEFAULT_TIMEOUT = 600.0
CONNECT_TIMEOUT = 10.0
_SPEECH, _DIALOGUE, _VOICES = "/v1/audio/speech", "/v1/audio/dialogue", "/v1/voices"


def _http_arguments(
    url: str, api_key: str | None, timeout: float | None, trust_env: bool, consent: str | None
) -> dict[str, Any]:
    """The arguments of httpx's clients that both flavours share."""
    return {
        "base_url": url,
        "headers": messages.caller_headers(api_key, consent),
        "timeout": httpx.Timeout(timeout, connect=None if timeout is None else min(timeout, CONNECT_TIMEOUT)),
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=None),
        # To read the certificates of all authorities takes a twentieth of a second; this context trusts none of them.
        "verify": True if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        "trust_env": trust_env,
    }


class Client:
    """A client of one server, for synchronous code. It keeps connections open until it is closed.

    `timeout` is in seconds, for connecting and for each wait for data; None waits for ever. `trust_env=False` ignores
    the proxies that the environment names. `consent` states that the speakers of recordings have agreed; it says how
    and when.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        trust_env: bool = True,
        consent: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._url = server_address(base_url)
        self._http = httpx.Client(
            **_http_arguments(self._url, api_key, timeout, trust_env, consent), transport=transport
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def speech(self, text: str, voice: str | None = None, **options: Unpack[SpeechOptions]) -> bytes:
        """Speak a text; a whole file in the format asked for, MP3 unless `response_format` names another."""
        return self._send("POST", _SPEECH, json=messages.whole(messages.speech_body(text, voice, options))).content

    def captions(
        self,
        text: str,
        voice: str | None = None,
        *,
        format: str = "srt",  # noqa: A002
        **options: Unpack[SpeechOptions],
    ) -> str:
        """The captions of a text as `srt`, `vtt`, `word_vtt` or `json`, without its audio."""
        body = messages.captions_body(text, voice, format, options)
        return self._send("POST", _SPEECH, json=body).content.decode()

    def download(self, path: str) -> bytes:
        """A file that a header of an answer announced, such as its captions."""
        return self._send("GET", messages.own_path(path)).content

    def stream(
        self, text: str, voice: str | None = None, **options: Unpack[SpeechOptions]
    ) -> AbstractContextManager[AudioResponse]:
        """Speak a text; its audio as it is made. Leaving the block closes the connection, which ends the speech."""
        return self._opened(_SPEECH, messages.speech_body(text, voice, options))

    def dialogue(
        self, turns: Iterable[DialogueTurn], *, pause: float | None = None, **options: Unpack[SpeechOptions]
    ) -> bytes:
        """Speak a dialogue, with `pause` seconds of silence between turns; a whole file."""
        return self._send("POST", _DIALOGUE, json=messages.whole(messages.dialogue_body(turns, pause, options))).content

    def stream_dialogue(
        self, turns: Iterable[DialogueTurn], *, pause: float | None = None, **options: Unpack[SpeechOptions]
    ) -> AbstractContextManager[AudioResponse]:
        """Speak a dialogue; its audio as it is made."""
        return self._opened(_DIALOGUE, messages.dialogue_body(turns, pause, options))

    def voices(self, model: str | None = None) -> list[Voice]:
        """The voices of a model, the default one unless named; with a model that clones, registered ones too."""
        return messages.voices(self._send("GET", "/v1/audio/voices", params=messages.given({"model": model})))

    def models(self) -> list[ServerModel]:
        """The models of the server, those that cannot speak included."""
        return messages.models(self._send("GET", "/v1/models"))

    def register_voice(self, name: str, audio: bytes | str, **options: Unpack[VoiceOptions]) -> ServerVoice:
        """Register a voice from the bytes of an audio file, or from `url+https://...`; say whether there is consent."""
        return messages.server_voice(self._send("POST", _VOICES, json=messages.voice_body(name, audio, options)))

    def delete_voice(self, voice_id: str) -> None:
        """Delete a registered voice and everything made from it."""
        self._send("DELETE", f"{_VOICES}/{quote(voice_id, safe='')}")

    def health(self) -> bool:
        """Return whether the server is alive."""
        try:
            self._send("GET", "/health")
        except (ApiError, ApiConnectionError):
            return False
        return True

    def ready(self) -> ServerReadiness:
        """Return whether the server can speak."""
        return messages.readiness(self._request("GET", "/ready"))

    def _send(self, method: str, path: str, **arguments: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        return messages.checked(self._request(method, path, **arguments))

    def _request(self, method: str, path: str, **arguments: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        try:
            return self._http.request(method, path, **arguments)
        except httpx.HTTPError as error:
            raise messages.connection_error(self._url, error) from error

    @contextmanager
    def _opened(self, path: str, body: Mapping[str, object]) -> Iterator[AudioResponse]:
        with ExitStack() as stack:
            try:
                response = stack.enter_context(self._http.stream("POST", path, json=body))
                if response.status_code != httpx.codes.OK:
                    raise messages.api_error(response, messages.error_head(response.iter_bytes()))
            except httpx.HTTPError as error:
                raise messages.connection_error(self._url, error) from error
            chunks = stack.enter_context(closing(self._chunks(response)))
            yield AudioResponse(*messages.audio_headers(response.headers), chunks)

    def _chunks(self, response: httpx.Response) -> Generator[bytes]:
        try:
            yield from response.iter_bytes()
        except httpx.HTTPError as error:
            raise messages.connection_error(self._url, error) from error


class AsyncClient:
    """A client of one server, for asynchronous code; otherwise as `Client`."""

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        trust_env: bool = True,
        consent: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = server_address(base_url)
        self._http = httpx.AsyncClient(
            **_http_arguments(self._url, api_key, timeout, trust_env, consent), transport=transport
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def speech(self, text: str, voice: str | None = None, **options: Unpack[SpeechOptions]) -> bytes:
        """Speak a text; a whole file in the format asked for, MP3 unless `response_format` names another."""
        return (
            await self._send("POST", _SPEECH, json=messages.whole(messages.speech_body(text, voice, options)))
        ).content

    async def captions(
        self,
        text: str,
        voice: str | None = None,
        *,
        format: str = "srt",  # noqa: A002
        **options: Unpack[SpeechOptions],
    ) -> str:
        """The captions of a text as `srt`, `vtt`, `word_vtt` or `json`, without its audio."""
        body = messages.captions_body(text, voice, format, options)
        return (await self._send("POST", _SPEECH, json=body)).content.decode()

    async def download(self, path: str) -> bytes:
        """A file that a header of an answer announced, such as its captions."""
        return (await self._send("GET", messages.own_path(path))).content

    def stream(
        self, text: str, voice: str | None = None, **options: Unpack[SpeechOptions]
    ) -> AbstractAsyncContextManager[AsyncAudioResponse]:
        """Speak a text; its audio as it is made. Leaving the block closes the connection, which ends the speech."""
        return self._opened(_SPEECH, messages.speech_body(text, voice, options))

    async def dialogue(
        self, turns: Iterable[DialogueTurn], *, pause: float | None = None, **options: Unpack[SpeechOptions]
    ) -> bytes:
        """Speak a dialogue, with `pause` seconds of silence between turns; a whole file."""
        return (
            await self._send("POST", _DIALOGUE, json=messages.whole(messages.dialogue_body(turns, pause, options)))
        ).content

    def stream_dialogue(
        self, turns: Iterable[DialogueTurn], *, pause: float | None = None, **options: Unpack[SpeechOptions]
    ) -> AbstractAsyncContextManager[AsyncAudioResponse]:
        """Speak a dialogue; its audio as it is made."""
        return self._opened(_DIALOGUE, messages.dialogue_body(turns, pause, options))

    async def voices(self, model: str | None = None) -> list[Voice]:
        """The voices of a model, the default one unless named; with a model that clones, registered ones too."""
        return messages.voices(await self._send("GET", "/v1/audio/voices", params=messages.given({"model": model})))

    async def models(self) -> list[ServerModel]:
        """The models of the server, those that cannot speak included."""
        return messages.models(await self._send("GET", "/v1/models"))

    async def register_voice(self, name: str, audio: bytes | str, **options: Unpack[VoiceOptions]) -> ServerVoice:
        """Register a voice from the bytes of an audio file, or from `url+https://...`; say whether there is consent."""
        return messages.server_voice(await self._send("POST", _VOICES, json=messages.voice_body(name, audio, options)))

    async def delete_voice(self, voice_id: str) -> None:
        """Delete a registered voice and everything made from it."""
        await self._send("DELETE", f"{_VOICES}/{quote(voice_id, safe='')}")

    async def health(self) -> bool:
        """Return whether the server is alive."""
        try:
            await self._send("GET", "/health")
        except (ApiError, ApiConnectionError):
            return False
        return True

    async def ready(self) -> ServerReadiness:
        """Return whether the server can speak."""
        return messages.readiness(await self._request("GET", "/ready"))

    async def _send(self, method: str, path: str, **arguments: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        return messages.checked(await self._request(method, path, **arguments))

    async def _request(self, method: str, path: str, **arguments: Any) -> httpx.Response:  # noqa: ANN401 - httpx's own
        try:
            return await self._http.request(method, path, **arguments)
        except httpx.HTTPError as error:
            raise messages.connection_error(self._url, error) from error

    @asynccontextmanager
    async def _opened(self, path: str, body: Mapping[str, object]) -> AsyncIterator[AsyncAudioResponse]:
        async with AsyncExitStack() as stack:
            try:
                response = await stack.enter_async_context(self._http.stream("POST", path, json=body))
                if response.status_code != httpx.codes.OK:
                    raise messages.api_error(response, await messages.async_error_head(response.aiter_bytes()))
            except httpx.HTTPError as error:
                raise messages.connection_error(self._url, error) from error
            chunks = await stack.enter_async_context(aclosing(self._chunks(response)))
            yield AsyncAudioResponse(*messages.audio_headers(response.headers), chunks)

    async def _chunks(self, response: httpx.Response) -> AsyncGenerator[bytes]:
        try:
            async for data in response.aiter_bytes():
                yield data
        except httpx.HTTPError as error:
            raise messages.connection_error(self._url, error) from error
