"""TLS in front of uvicorn's protocol, with connections counted before their handshake."""

import asyncio
import socket
import ssl
from collections.abc import Callable

from polyvox.server.guarded_config import GuardedConfig
from polyvox.server.guarded_http import GuardedHttp

_RETRY_SECONDS = 0.1


class TlsListener:
    """Accepts connections on a socket and hands those that speak TLS to a protocol.

    The event loop can do this by itself, but would tell nobody about connections whose handshake is not done, and they
    would take up all descriptors. Its place in uvicorn is that of an `asyncio.Server`.
    """

    def __init__(
        self,
        listener: socket.socket,
        context: ssl.SSLContext,
        config: GuardedConfig,
        protocol: Callable[[], GuardedHttp],
    ) -> None:
        listener.setblocking(False)
        self._listener = listener
        self._context = context
        self._config = config
        self._protocol = protocol
        self._handshakes: set[_Handshake] = set()
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    @property
    def sockets(self) -> list[socket.socket]:
        """The sockets that it listens on."""
        return [self._listener]

    def close(self) -> None:
        """Accept no more, and end what has not begun to speak HTTP."""
        self._accepting.cancel()
        for handshake in list(self._handshakes):
            handshake.abort()

    async def wait_closed(self) -> None:
        """Wait until all that is ended."""
        await asyncio.wait([self._accepting, *(handshake.task for handshake in self._handshakes)])

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(self._listener)
            except OSError:  # the client left already, or there are no descriptors at the moment
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            self._admit(connection, address[0])

    def _admit(self, connection: socket.socket, host: str) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        handshake = _Handshake(connection, self._context, self._config, self._protocol())
        if not self._config.connections.admit(handshake, host, connection.fileno()):
            connection.close()
            return
        self._handshakes.add(handshake)
        handshake.start(self._handshakes.discard)


class _Handshake:
    """A connection whose TLS handshake is under way; after it the connection is its protocol's."""

    def __init__(
        self, connection: socket.socket, context: ssl.SSLContext, config: GuardedConfig, protocol: GuardedHttp
    ) -> None:
        self._connection = connection
        self._context = context
        self._config = config
        self._protocol = protocol
        self._begun = False
        protocol.admitted_as = self

    def start(self, on_end: "Callable[[_Handshake], None]") -> None:
        """Do it in a task of its own."""
        self.task = asyncio.get_running_loop().create_task(self._run())
        self.task.add_done_callback(lambda _: self._end(on_end))

    def abort(self) -> None:
        """Close the connection."""
        self.task.cancel()

    async def _run(self) -> None:
        self._begun = True  # from here on the event loop closes the socket
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._protocol,
                self._connection,
                ssl=self._context,
                ssl_handshake_timeout=self._config.header_seconds,
            )
        except ConnectionAbortedError:
            self._config.reports.closed("header_timeout")
        except ssl.SSLError:
            self._config.reports.closed("invalid")
        except OSError:
            return  # the client left

    def _end(self, on_end: "Callable[[_Handshake], None]") -> None:
        if not self._begun:
            self._connection.close()
        self._config.connections.remove(self)
        on_end(self)
