"""The door of Polyvox's own socket."""

from types import MappingProxyType

from fastapi import APIRouter, WebSocket
from structlog.contextvars import get_contextvars

from polyvox.api.dependencies import Call, Service, Voices
from polyvox.api.dialects.realtime.caller import NAME, Caller
from polyvox.api.dialects.realtime.connection import RealtimeConnection
from polyvox.api.dialects.realtime.held_text import HeldText
from polyvox.api.door import Door
from polyvox.api.middleware.key_sources import KeySources
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.service.keys.client_addresses import ClientAddresses
from polyvox.service.keys.operations import Operation

PATH = "/v1/realtime/speech"

router = APIRouter()


@router.websocket(PATH)
async def realtime(websocket: WebSocket, service: Service, voices: Voices, call: Call) -> None:
    """Speak the text of many contexts while it arrives."""
    settings, scope = service.settings, websocket.scope
    caller = Caller(service, voices, call, get_contextvars().get("request_id"))
    socket = JsonSocket(websocket, settings.stall_seconds)
    await socket.accept(next(iter(scope["subprotocols"]), None))
    address = None if websocket.client is None else websocket.client.host
    held_text = HeldText(service.bodies.open(ClientAddresses(settings.trusted_proxies).group(address)))
    try:
        await RealtimeConnection(socket, service, caller, held_text).run()
    finally:
        held_text.close()


DOOR = Door(
    NAME,
    router,
    recordings=[PATH],
    keys=MappingProxyType({PATH: KeySources(queries=("api_key",), protocols=("polyvox-key.",))}),
    operations={
        "WS /v1/realtime/speech": Operation.SPEAK,
    },
)
