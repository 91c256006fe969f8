"""What every gRPC call passes on its way to its service: the key, a place among the calls at once, its errors' form."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import grpc
import structlog
from google.protobuf.message import DecodeError

from polyvox.api.auth import Keys
from polyvox.api.grpc.call import Call, Context
from polyvox.api.grpc.schema import Message, MessageType, Method, class_of, methods_of
from polyvox.errors import InvalidRequestError, OverloadedError, PolyvoxError
from polyvox.service.admission import Admission
from polyvox.service.speech import SpeechService
from polyvox.voices.records import SHARED_OWNER

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Handler = Callable[[Any, Call], Awaitable[Message | None]]
"""Answers a call. What streams back is sent by the call itself; another answer is what the handler returns."""


class Reception:
    """Lets calls in. Those that stream speech back count against `grpc_max_calls`."""

    def __init__(self, hall: SpeechService) -> None:
        settings = hall.settings
        self._hall = hall
        self._keys = Keys([key.get_secret_value() for key in settings.api_keys]) if settings.api_keys else None
        self._places = Admission(settings.grpc_max_calls, 0) if settings.grpc_max_calls else None

    def service(self, name: str, handlers: Mapping[str, Handler], *, is_open: bool = False) -> object:
        """What the server is to be given for a service: a handler for each of its calls.

        One that `is_open` asks for no key and always has room.
        """
        methods = methods_of(name)
        return grpc.method_handlers_generic_handler(
            name, {call: self._handler(methods[call], handler, is_open) for call, handler in handlers.items()}
        )

    def _handler(self, method: Method, handler: Handler, is_open: bool) -> object:
        makers = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }
        return makers[method.client_streaming, method.server_streaming](
            self._received(method, handler, is_open), response_serializer=lambda message: message.SerializeToString()
        )

    def _received(
        self, method: Method, handler: Handler, is_open: bool
    ) -> Callable[[Any, Context], Awaitable[Message | None]]:
        speaks = method.server_streaming and not is_open
        kind = class_of(method.input_type)

        async def receive(request: bytes | AsyncIterator[bytes], context: Context) -> Message | None:
            call = Call(context, self._hall.settings.stall_seconds)
            try:
                if not is_open:
                    call.owner = self._owner(context)
                with self._place(speaks=speaks):
                    message = _read(request, kind) if isinstance(request, bytes) else _read_all(request, kind)
                    return await handler(message, call)
            except PolyvoxError as error:
                await call.fail(error)
            except Exception:
                log.exception("call failed", method=method.name, session=call.reference)
                await call.fail(PolyvoxError(f"The server failed; the cause is in its log under {call.reference}."))

        return receive

    def _owner(self, context: Context) -> str:
        if self._keys is None:
            return SHARED_OWNER
        given = {key: value for key, value in context.invocation_metadata() or () if key == "authorization"}
        return self._keys.owner(str(given.get("authorization", "")).encode().decode("latin-1"))

    @contextmanager
    def _place(self, *, speaks: bool) -> Iterator[None]:
        if self._places is None or not speaks:
            yield
            return
        try:
            ticket = self._places.enter()
        except OverloadedError as error:
            self._hall.metrics.failed(error)
            raise
        try:
            yield
        finally:
            ticket.release()


def _read(data: bytes, kind: MessageType) -> Message:
    """A message from the wire. gRPC itself would call one that cannot be read the server's fault."""
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise InvalidRequestError("The message cannot be read; compile the client from the server's proto.") from error


async def _read_all(stream: AsyncIterator[bytes], kind: MessageType) -> AsyncIterator[Message]:
    async for data in stream:
        yield _read(data, kind)
