"""The announcement by mDNS, by which Home Assistant finds the server."""

import ipaddress
import socket
from typing import TYPE_CHECKING

import structlog

from polyvox.extras import WYOMING

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncZeroconf

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

SERVICE_TYPE = "_wyoming._tcp.local."
_MULTICAST = ("224.0.0.251", 5353)


class Announcement:
    """Tells the local network about a listening socket, for as long as it is started."""

    def __init__(self, listener: socket.socket) -> None:
        WYOMING.check()
        self._host, self._port = listener.getsockname()[:2]
        self._zeroconf: AsyncZeroconf | None = None

    async def start(self) -> None:
        """Announce it; a machine without a network goes on unannounced."""
        from zeroconf import NonUniqueNameException
        from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

        name = f"polyvox-{socket.gethostname().partition('.')[0]}-{self._port}"
        try:
            address = _reachable(self._host)
            self._zeroconf = AsyncZeroconf(interfaces=[str(address)])
            info = AsyncServiceInfo(
                SERVICE_TYPE,
                f"{name}.{SERVICE_TYPE}",
                addresses=[address.packed],
                port=self._port,
                server=f"{name}.local.",
            )
            await self._zeroconf.async_register_service(info, allow_name_change=True)
        except (OSError, NonUniqueNameException) as error:
            log.warning("cannot announce Wyoming by mDNS", error=str(error), remedy="add the server by its address")

    async def close(self) -> None:
        """Take it back."""
        if self._zeroconf is not None:
            await self._zeroconf.async_unregister_all_services()
            await self._zeroconf.async_close()
            self._zeroconf = None


def _reachable(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """The address for others: of a socket bound to all addresses, the one from which multicasts would be sent."""
    address = ipaddress.ip_address(host)
    if not address.is_unspecified:
        return address
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_MULTICAST)  # sends nothing
        return ipaddress.ip_address(probe.getsockname()[0])
