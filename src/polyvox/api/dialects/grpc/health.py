"""gRPC's standard health service, which reports what `/ready` does."""

import asyncio

from polyvox.api.dialects.grpc.call import Call
from polyvox.api.dialects.grpc.schema import COSYVOICE, SPEECH, Message, message_type
from polyvox.errors import NotFoundError
from polyvox.service.speech import SpeechService
from polyvox.service.voices.voices import VoiceService

HEALTH = "grpc.health.v1.Health"

_WATCH_SECONDS = 1.0
_KNOWN = frozenset({"", COSYVOICE, SPEECH})


class HealthServicer:
    """Answers `grpc.health.v1.Health`: the server as a whole, or one of its services."""

    def __init__(self, service: SpeechService, voices: VoiceService) -> None:
        self._service = service
        self._voices = voices
        self._closing = asyncio.Event()
        self._response = message_type("grpc.health.v1.HealthCheckResponse")

    def close(self) -> None:
        """Report NOT_SERVING from now on, and end the watches."""
        self._closing.set()

    async def check(self, message: Message, call: Call) -> Message:
        """Return whether the default model can speak."""
        if message.service not in _KNOWN:
            raise NotFoundError("There is no service of this name; leave it empty to ask for all.", field="service")
        return self._response(status=await self._status())

    async def watch(self, message: Message, call: Call) -> None:
        """Send the status now and whenever it changes, until the server ends."""
        sent = None
        while True:
            closing = self._closing.is_set()
            status = await self._status() if message.service in _KNOWN else "SERVICE_UNKNOWN"
            if status != sent:
                await call.send(self._response(status=status))
                sent = status
            if closing:
                return
            await self._until_closing(_WATCH_SECONDS)

    async def _status(self) -> str:
        state = await self._voices.readiness(self._service.ready)
        return "SERVING" if state.ok and not self._closing.is_set() else "NOT_SERVING"

    async def _until_closing(self, seconds: float) -> None:
        waiting = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait([waiting], timeout=seconds)
        finally:
            waiting.cancel()
