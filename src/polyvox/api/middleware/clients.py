"""Whom a request is counted for where clients share the server: its key, or the address it came from."""

import ipaddress
import math
from urllib.parse import unquote

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import Scope

from polyvox.errors import InvalidRequestError
from polyvox.service.keys.client_names import key_client
from polyvox.voices.records import SHARED_OWNER

WAIT_HEADER = "X-Max-Wait"
"""Longest wait for a turn that the caller accepts, in seconds; it can only be shorter than the server's."""


_IPV6_NETWORK = 64  # what one household or machine is given


def client_of(scope: Scope) -> str:
    """The client of an HTTP request or WebSocket."""
    address = scope.get("client")
    return client_name(owner_of(scope), address[0] if address else "")


def owner_of(scope: Scope) -> str:
    """The owner of a request's key; everybody where the server has no keys."""
    owner: str = getattr(HTTPConnection(scope).state, "owner", SHARED_OWNER)
    return owner


def grpc_client(owner: str, peer: str) -> str:
    """The client of a gRPC call, from its peer as gRPC writes it: `ipv4:10.0.0.7:5123`, `ipv6:%5B::1%5D:5123`."""
    host = unquote(peer).partition(":")[2].rpartition(":")[0]
    return client_name(owner, host.strip("[]"))


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


def max_wait_of(scope: Scope, longest: float) -> float:
    """The wait that a request accepts, at most the server's; InvalidRequestError where its header is no number."""
    given = Headers(scope=scope).get(WAIT_HEADER)
    if given is None:
        return longest
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise InvalidRequestError(f"The header {WAIT_HEADER} must be a number of seconds, such as 2.5.")
    return min(seconds, longest)
