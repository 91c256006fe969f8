"""The gRPC server: its services, its limits, and a shutdown that lets open streams finish."""

import grpc.aio
import structlog
from grpc_reflection.v1alpha import reflection
from grpc_reflection.v1alpha.reflection_pb2_grpc import add_ServerReflectionServicer_to_server

from polyvox.api.dialects.grpc.cosyvoice import CosyVoiceServicer
from polyvox.api.dialects.grpc.handlers import Handler, MethodHandlers
from polyvox.api.dialects.grpc.health import HEALTH, HealthServicer
from polyvox.api.dialects.grpc.intake import MessageIntake, largest_grpc_message
from polyvox.api.dialects.grpc.reflected import ReflectionServicer
from polyvox.api.dialects.grpc.schema import COSYVOICE, SPEECH, descriptors
from polyvox.api.dialects.grpc.speech import SpeechServicer
from polyvox.config import Settings
from polyvox.errors import UnavailableError
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService

_KEEPALIVE_SECONDS = 60
_PING_SECONDS = 20
_IDLE_SECONDS = 300
_MAX_STREAMS = 256
"""Calls of one connection: more than are admitted at once, so that no gateway has its calls held back unseen."""

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class GrpcServer:
    """The gRPC services of one `SpeechService`, on the running event loop. The caller closes that and the voices.

    `port` is where it listens once it is bound. It has `max_connections` of the settings, or as many as are given.
    """

    def __init__(self, service: SpeechService, voices: VoiceService, max_connections: int | None = None) -> None:
        settings = service.settings
        self._host = settings.host
        self.port = 0
        self._drain_seconds = settings.drain_seconds
        self._health = HealthServicer(service, voices)
        self._server = grpc.aio.server(options=_options(settings, max_connections or settings.max_connections))
        intake = MessageIntake(settings, service.bodies)
        methods, cosyvoice, speech = (
            MethodHandlers(service, intake),
            CosyVoiceServicer(service, voices),
            SpeechServicer(service, voices),
        )
        handlers: dict[str, Handler] = {
            "Converse": speech.converse,
            "Speak": speech.speak,
            "Voices": speech.voices,
            "Models": speech.models,
        }
        health: dict[str, Handler] = {"Check": self._health.check, "Watch": self._health.watch}
        self._server.add_generic_rpc_handlers(
            (
                methods.service(COSYVOICE, {"Inference": cosyvoice.inference}),
                methods.service(SPEECH, handlers),
                methods.service(HEALTH, health),
            )
        )
        names = (COSYVOICE, SPEECH, HEALTH, reflection.SERVICE_NAME)
        add_ServerReflectionServicer_to_server(ReflectionServicer(names, descriptors(), intake), self._server)

    def bind(self, port: int) -> str:
        """Bind the port; return the address as clients write it."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        try:
            bound = self._server.add_insecure_port(f"{host}:{port}")
        except RuntimeError as error:
            raise UnavailableError(
                f"Cannot listen on {self._host} port {port} for gRPC; choose another with --host or --grpc-port."
            ) from error
        self.port = bound
        return f"{host}:{bound}"

    async def start(self) -> None:
        """Answer calls from now on."""
        await self._server.start()

    async def close(self) -> None:
        """Take no more calls, let open ones finish for `drain_seconds`, then cancel the rest."""
        self._health.close()
        await self._server.stop(self._drain_seconds)


def _options(settings: Settings, max_connections: int) -> list[tuple[str, int]]:
    """Options of the C library below. Its own limits on headers, 16 KiB, and on pings are low enough."""
    return [
        ("grpc.max_receive_message_length", largest_grpc_message(settings)),
        ("grpc.so_reuseport", 0),  # else a second server would take half of the calls
        ("grpc.keepalive_time_ms", 1000 * _KEEPALIVE_SECONDS),
        ("grpc.keepalive_timeout_ms", 1000 * _PING_SECONDS),
        ("grpc.max_connection_idle_ms", 1000 * _IDLE_SECONDS),
        ("grpc.server_handshake_timeout_ms", round(1000 * settings.header_timeout_seconds)),
        ("grpc.max_allowed_incoming_connections", max_connections),
        ("grpc.max_concurrent_streams", _MAX_STREAMS),
        ("grpc.http2.bdp_probe", 0),  # else megabytes of a message arrive before it is asked for
    ]
