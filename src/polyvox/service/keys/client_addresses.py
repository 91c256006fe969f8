"""Addresses of clients, by which limits are counted."""

import ipaddress
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network

from polyvox.service.keys.client_names import IPV6_NETWORK


class ClientAddresses:
    """Tells which clients are one and the same for limits per address.

    Behind a reverse proxy all clients have its address, and it may well run on this machine: connections from loopback
    and from `trusted` networks are many people's, so that only the limit of all applies to them.
    """

    def __init__(self, trusted: Iterable[IPv4Network | IPv6Network] = ()) -> None:
        self._trusted = tuple(trusted)

    def group(self, host: str | None) -> str | None:
        """The address to count a client under, of IPv6 its subnet; None where it must not be counted."""
        try:
            address = ipaddress.ip_address((host or "").partition("%")[0])
        except ValueError:  # a Unix socket
            return None
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if address.is_loopback or any(address in network for network in self._trusted):
            return None
        if address.version == 4:
            return str(address)
        return str(ipaddress.ip_network((address, IPV6_NETWORK), strict=False))
