"""Outbox: server events on their way to the client."""

from polyvox.api.dialects.openai_realtime.dialect import Dialect
from polyvox.api.dialects.openai_realtime.event_error import error_fields
from polyvox.api.dialects.openai_realtime.ids import new_id
from polyvox.api.sockets.json_socket import JsonSocket
from polyvox.errors import PolyvoxError


class Outbox:
    """Sends events, each with an id of its own, by the names of the client's dialect."""

    def __init__(self, socket: JsonSocket, dialect: Dialect) -> None:
        self._socket = socket
        self._dialect = dialect

    async def send(self, name: str, **fields: object) -> None:
        """Send the event of this name in the released version, where the dialect has it."""
        own_name = self._dialect.event_name(name)
        if own_name is not None:
            await self._socket.send({"type": own_name, "event_id": new_id("event"), **fields})

    async def send_error(self, error: PolyvoxError, event_id: str | None) -> None:
        """Answer a client event that cannot be obeyed; `event_id` is its id."""
        await self.send("error", **error_fields(error, event_id))
