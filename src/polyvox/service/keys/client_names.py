"""Names of clients, by which they take turns."""

import ipaddress

from polyvox.voices.records import SHARED_OWNER

_KEY, _JOB, _BATCH = "key ", "job ", " batch"
IPV6_NETWORK = 64
"""Bits of the network that one household or machine is given."""


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
    return str(ip.ipv4_mapped or ipaddress.ip_network((int(ip), IPV6_NETWORK), strict=False))


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
