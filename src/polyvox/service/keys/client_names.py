"""Names and addresses of clients, by which they take turns and limits are counted."""

import ipaddress
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network

from polyvox.voices.records import SHARED_OWNER

_KEY, _JOB, _BATCH = "key ", "job ", " batch"
_IPV6_NETWORK = 64  # what one household or machine is given


def client_name(owner: str, address: str) -> str:
    """The owner of the key where there is one, else the address; of IPv6 the network, which has addresses to spare."""
    if owner != SHARED_OWNER:
        return key_client(owner)
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if ip.version == 4:
        return str(ip)
    return str(ip.ipv4_mapped or ipaddress.ip_network((int(ip), _IPV6_NETWORK), strict=False))


def key_client(owner: str) -> str:
    """The client of requests with a key."""
    return f"{_KEY}{owner}"


def job_client(owner: str) -> str:
    """The client of an owner's jobs."""
    return f"{_JOB}{owner}"


def batch_client(client: str) -> str:
    """The client of a client's batches."""
    return f"{client}{_BATCH}"


def owner_in(client: str) -> str | None:
    """The owner of the client's key; None where it is an address."""
    whole = address_in(client)
    prefix = next((each for each in (_KEY, _JOB) if whole.startswith(each)), None)
    return None if prefix is None else whole.removeprefix(prefix)


def address_in(client: str) -> str:
    """The client without what it does."""
    return client.removesuffix(_BATCH)


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
        return str(ipaddress.ip_network((address, _IPV6_NETWORK), strict=False))
