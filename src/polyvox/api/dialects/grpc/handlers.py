"""Handlers of gRPC methods: each checks the key, takes a slot, and turns errors into statuses."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import grpc
import structlog
from google.protobuf.message import DecodeError
from structlog.contextvars import bind_contextvars

from polyvox.api.dialects.grpc.call import Call, Context, host_of
from polyvox.api.dialects.grpc.call_trace import traced_call
from polyvox.api.dialects.grpc.health import HEALTH
from polyvox.api.dialects.grpc.intake import MessageIntake
from polyvox.api.dialects.grpc.schema import (
    COSYVOICE,
    DOOR_NAMES,
    SPEECH,
    Message,
    MessageType,
    Method,
    class_of,
    methods_of,
)
from polyvox.api.middleware.key_sources import bearer_key
from polyvox.errors import AuthenticationError, InvalidRequestError, PolyvoxError, ScopeError
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService
from polyvox.service.telemetry.metrics import UNKNOWN_MODEL
from polyvox.voices.records import SHARED_OWNER

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Handler = Callable[[Any, Call], Awaitable[Message | None]]
"""Answers a call. It sends the messages of a stream through the call, and returns the one of a unary call."""

METHODS: Mapping[str, Mapping[str, Operation]] = {
    COSYVOICE: {"Inference": Operation.SPEAK},
    SPEECH: {
        "Converse": Operation.SPEAK,
        "Speak": Operation.SPEAK,
        "Voices": Operation.READ_VOICES,
        "Models": Operation.LIST,
    },
    HEALTH: {"Check": Operation.PROBE, "Watch": Operation.PROBE},
}
"""The operation of every method, by service."""


class MethodHandlers:
    """Makes the handlers of services. Calls that stream speech back count against `grpc_max_calls`."""

    def __init__(self, service: SpeechService, intake: MessageIntake) -> None:
        settings = service.settings
        self._service = service
        self._intake = intake
        self._clients = ClientAddresses(settings.trusted_proxies)
        self._accounts = service.accounts
        self._slots = AdmissionController(settings.grpc_max_calls, 0) if settings.grpc_max_calls else None

    def service(self, name: str, handlers: Mapping[str, Handler]) -> object:
        """The generic handler of a service, to be added to the server. A probe needs no key and no slot."""
        methods, operations = methods_of(name), METHODS[name]
        return grpc.method_handlers_generic_handler(
            name, {call: self._handler(methods[call], handler, operations[call]) for call, handler in handlers.items()}
        )

    def _handler(self, method: Method, handler: Handler, operation: Operation) -> object:
        """A handler that receives a stream, also where there is one message only: on the wire that is the same, and the
        key is checked before the message is read."""
        makers = {False: grpc.stream_unary_rpc_method_handler, True: grpc.stream_stream_rpc_method_handler}
        return makers[method.server_streaming](
            self._wrapped(method, handler, operation), response_serializer=lambda message: message.SerializeToString()
        )

    def _wrapped(
        self, method: Method, handler: Handler, operation: Operation
    ) -> Callable[[Any, Context], Awaitable[Message | None]]:
        public = operation is Operation.PROBE
        speaks = method.server_streaming and not public
        kind = class_of(method.input_type)
        tracer, name = None if public else self._service.tracer, f"{method.containing_service.full_name}/{method.name}"

        async def receive(requests: AsyncIterator[bytes], context: Context) -> Message | None:
            body = self._service.bodies.open(self._clients.group(host_of(context.peer())))
            call = Call(context, self._service.settings.stall_seconds, body)
            bind_contextvars(request_id=call.request_id)  # for as long as the call's own task lasts
            try:
                if not public:
                    call.owner = self._owner(context)
                    self._accounts.access.require(operation, call.owner)
                async with self._accounts.calls.lasting(call.owner):
                    with (
                        traced_call(tracer, name, context, call.request_id),
                        self._slot(speaks=speaks),
                        call.stating(),
                    ):
                        if method.client_streaming:
                            return await handler(_read_all(self._intake.all(requests), kind), call)
                        data = await self._intake.first(requests)
                        body.hold(len(data))
                        return await handler(_read(data, kind), call)
            except PolyvoxError as error:
                if operation is Operation.SPEAK:
                    self._count(error, call, method.containing_service.full_name)
                await call.fail(error)
            except Exception:
                log.exception("call failed", method=method.name, session=call.reference)
                await call.fail(PolyvoxError(f"The server failed; the cause is in its log under {call.reference}."))
            finally:
                body.close()

        return receive

    def _owner(self, context: Context) -> str:
        if not self._accounts.keyring.asks:
            return SHARED_OWNER
        given = {key: value for key, value in context.invocation_metadata() or () if key == "authorization"}
        return self._accounts.keyring.find((bearer_key(str(given.get("authorization", ""))) or "").encode()).owner

    def _count(self, error: PolyvoxError, call: Call, service: str) -> None:
        """Count a refusal that the service made no session for and has not counted, as HTTP's are; keys are not."""
        if call.has_session or error.counted or isinstance(error, AuthenticationError | ScopeError):
            return
        self._service.metrics.requested(DOOR_NAMES[service], UNKNOWN_MODEL)
        self._service.metrics.failed(error)

    @contextmanager
    def _slot(self, *, speaks: bool) -> Iterator[None]:
        if self._slots is None or not speaks:
            yield
            return
        ticket = self._slots.enter()
        try:
            yield
        finally:
            ticket.release()


def _read(data: bytes, kind: MessageType) -> Message:
    """Parse a message here: gRPC itself would report one that cannot be parsed as the server's fault."""
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise InvalidRequestError("The message cannot be read; compile the client from the server's proto.") from error


async def _read_all(stream: AsyncIterator[bytes], kind: MessageType) -> AsyncIterator[Message]:
    async for data in stream:
        yield _read(data, kind)
