"""The gRPC server: its services, its limits, and an end that lets open streams finish."""

import grpc.aio
import structlog
from grpc_reflection.v1alpha import reflection

from polyvox.api.grpc.cosyvoice import CosyVoiceDoor
from polyvox.api.grpc.health import HEALTH, HealthDoor
from polyvox.api.grpc.reception import Handler, Reception
from polyvox.api.grpc.schema import COSYVOICE, SPEECH, descriptors
from polyvox.api.grpc.speech import SpeechDoor
from polyvox.errors import UnavailableError
from polyvox.service.speech import SpeechService
from polyvox.service.voices import VoiceService

_KEEPALIVE_SECONDS = 60
_PING_SECONDS = 20

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)


class GrpcServer:
    """The gRPC doors of one hall, on the running event loop. The hall and the voices are its maker's to close."""

    def __init__(self, hall: SpeechService, voices: VoiceService) -> None:
        settings = hall.settings
        self._host = settings.host
        self._drain_seconds = settings.drain_seconds
        self._health = HealthDoor(hall)
        self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", settings.max_body_bytes + settings.prompt_max_bytes),
                ("grpc.so_reuseport", 0),  # else a second server would take half of the calls
                ("grpc.keepalive_time_ms", 1000 * _KEEPALIVE_SECONDS),
                ("grpc.keepalive_timeout_ms", 1000 * _PING_SECONDS),
            ]
        )
        reception, cosyvoice, speech = Reception(hall), CosyVoiceDoor(hall, voices), SpeechDoor(hall, voices)
        handlers: dict[str, Handler] = {
            "Converse": speech.converse,
            "Speak": speech.speak,
            "Voices": speech.voices,
            "Models": speech.models,
        }
        health: dict[str, Handler] = {"Check": self._health.check, "Watch": self._health.watch}
        self._server.add_generic_rpc_handlers(
            (
                reception.service(COSYVOICE, {"Inference": cosyvoice.inference}),
                reception.service(SPEECH, handlers),
                reception.service(HEALTH, health, is_open=True),
            )
        )
        names = (COSYVOICE, SPEECH, HEALTH, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server, descriptors())

    def bind(self, port: int) -> str:
        """Take the address, or say in one sentence why not; the address as clients write it."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        try:
            bound = self._server.add_insecure_port(f"{host}:{port}")
        except RuntimeError as error:
            raise UnavailableError(
                f"Cannot listen on {self._host} port {port} for gRPC; choose another with --host or --grpc-port."
            ) from error
        return f"{host}:{bound}"

    async def start(self) -> None:
        """Answer calls from now on."""
        await self._server.start()

    async def close(self) -> None:
        """Take no more calls, let open ones finish for `drain_seconds`, then cancel the rest."""
        self._health.close()
        await self._server.stop(self._drain_seconds)
