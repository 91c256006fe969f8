"""CosyVoice's own APIs under load: its Python server, its Ray Serve server, and its gRPC service."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from polyvox.bench.audio_meter import SampleMeter, meter_for
from polyvox.bench.dialect import LoadRequest
from polyvox.client_messages import api_error, async_error_head, audio_headers, connection_error
from polyvox.errors import STATUS, ApiConnectionError, ApiError, OverloadedError, UnavailableError
from polyvox.extras import install_hint

if TYPE_CHECKING:
    import grpc.aio

_UNLIMITED = httpx.Limits(max_connections=None, max_keepalive_connections=None)
_USUAL_RATE = "24000"
_UNREACHABLE = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED")


@dataclass(frozen=True, slots=True)
class HttpDialect:
    """A dialect that posts each text; `fields` makes the arguments of the post from a request."""

    name: str
    path: str
    fields: Callable[[LoadRequest], Mapping[str, Any]]

    @asynccontextmanager
    async def connect(self, url: str, api_key: str | None) -> AsyncIterator["_HttpConnection"]:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        # Proxies of the environment would be measured along with the server.
        async with httpx.AsyncClient(
            base_url=url, headers=headers, timeout=httpx.Timeout(None), limits=_UNLIMITED, trust_env=False
        ) as http:
            yield _HttpConnection(self, http)


class _HttpConnection:
    def __init__(self, dialect: HttpDialect, http: httpx.AsyncClient) -> None:
        self._dialect = dialect
        self._http = http

    async def speak(self, request: LoadRequest) -> AsyncGenerator[float]:
        try:
            async with self._http.stream("POST", self._dialect.path, **self._dialect.fields(request)) as response:
                if response.status_code != httpx.codes.OK:
                    raise _refusal(response, await async_error_head(response.aiter_bytes()))
                media_type, sample_rate, channels, *_ = audio_headers(response.headers)
                meter = meter_for(media_type, sample_rate, channels)
                async for data in response.aiter_bytes():
                    yield meter.seconds(data)
        except httpx.HTTPError as error:
            raise connection_error(str(self._http.base_url), error) from error


def _refusal(response: httpx.Response, body: bytes) -> ApiError:
    """The error of a refusal, whose sentence these servers send as `detail` or as `error`."""
    error = api_error(response, body)
    try:
        found = json.loads(body)
        told = found.get("detail") or found.get("error")
    except (ValueError, AttributeError):
        return error
    return ApiError(str(told)[:300], status=error.status, retry_after=error.retry_after) if told else error


class GrpcDialect:
    """`cosyvoice.CosyVoice/Inference` with a voice of the server's; the model is always the default one."""

    name = "grpc"

    @asynccontextmanager
    async def connect(self, url: str, api_key: str | None) -> AsyncIterator["_GrpcConnection"]:
        try:
            import grpc.aio
        except ImportError as error:
            raise UnavailableError(f"The dialect grpc needs gRPC; install it with: {install_hint('grpc')}") from error
        async with grpc.aio.insecure_channel(urlsplit(url).netloc) as channel:
            yield _GrpcConnection(channel, (("authorization", f"Bearer {api_key}"),) if api_key else ())


class _GrpcConnection:
    def __init__(self, channel: "grpc.aio.Channel", metadata: tuple[tuple[str, str], ...]) -> None:
        from polyvox.api.dialects.grpc.schema import COSYVOICE, message_type

        self._sft, self._request = message_type("cosyvoice.sftRequest"), message_type("cosyvoice.Request")
        self._response = message_type("cosyvoice.Response")
        self._infer = channel.unary_stream(f"/{COSYVOICE}/Inference")
        self._metadata = metadata

    async def speak(self, request: LoadRequest) -> AsyncGenerator[float]:
        import grpc

        asked = self._request(sft_request=self._sft(tts_text=request.text, spk_id=request.voice))
        call = self._infer(asked.SerializeToString(), metadata=self._metadata)
        try:
            told = {name.lower(): value for name, value in await call.initial_metadata() or ()}
            meter = SampleMeter(
                int(told.get("x-audio-sample-rate", _USUAL_RATE)), int(told.get("x-audio-channels", "1"))
            )
            async for message in call:
                yield meter.seconds(self._response.FromString(message).tts_audio)
        except grpc.RpcError as error:
            raise _grpc_error(call, error) from error
        finally:
            call.cancel()


def _grpc_error(call: Any, error: Exception) -> Exception:  # noqa: ANN401 - gRPC has no types
    code, details = error.code().name, error.details() or ""  # type: ignore[attr-defined]
    if code in _UNREACHABLE:
        return ApiConnectionError(f"The call ended with {code}: {details}")
    overloaded = STATUS[OverloadedError]
    statuses = {row.grpc: row.http for row in STATUS.values()} | {overloaded.grpc: overloaded.http}
    return ApiError(details or code, status=statuses.get(code, 502))


def _model(request: LoadRequest) -> dict[str, str]:
    """The model, which only this server's doors know, where one was asked for."""
    return {"model": request.model} if request.model else {}


COSYVOICE_DIALECT = HttpDialect(
    "cosyvoice",
    "/inference_sft",
    lambda request: {"data": {"tts_text": request.text, "spk_id": request.voice, **_model(request)}},
)
RAYSERVE_DIALECT = HttpDialect(
    "rayserve",
    "/v1/model/cosyvoice/tts",
    lambda request: {"json": {"text": request.text, "voice_type": request.voice, "stream": True, **_model(request)}},
)
GRPC_DIALECT = GrpcDialect()
