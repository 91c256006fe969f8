"""Checks of the hosts that recordings are fetched from: public ones only, and on the allow list where there is one."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from polyvox.errors import FetchError

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_PORT = re.compile(r"[^:]:[0-9]+$", re.ASCII)
_LONGEST_NAME = 253

_ASSIGNED = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
# What the standard library takes for public, in some of its versions or in all: addresses set aside for protocols, the
# tunnels of old, examples, and the one that answers inside a cloud with a machine's secrets.
_NOT_PUBLIC = tuple(
    map(ip_network, "168.63.129.16 192.0.0.0/24 192.88.99.0/24 2001::/23 2001:db8::/32 2002::/16 3fff::/20".split())
)


def is_public(address: str) -> bool:
    """Return whether an address, written as a number, belongs to the public internet.

    An IPv6 address that stands for an IPv4 address is as public as that one.
    """
    try:
        number = ip_address(address)
    except ValueError:
        return False
    if isinstance(number, IPv6Address) and (embedded := _embedded(number)):
        return is_public(str(embedded))
    if any(number in network for network in _NOT_PUBLIC) or number.is_multicast or "%" in address:
        return False
    return number.is_global and (number.version == 4 or number in _ASSIGNED)


def _embedded(number: IPv6Address) -> IPv4Address | None:
    if number in _NAT64:
        return IPv4Address(int(number) & 0xFFFF_FFFF)
    return number.ipv4_mapped


def plain_host(host: str) -> str:
    """A host from a URL, as it is looked up and compared: lower case, no dot behind it.

    FetchError for what is neither a full domain name nor an address in its usual form. Numbers in any other form, such
    as `2130706433` or `0x7f.1`, would be read as addresses by some and as names by others.
    """
    name = host.lower().removesuffix(".")
    if ":" in name:
        return _usual_form(name)
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _usual_form(name)
    if len(name) > _LONGEST_NAME or len(labels) < 2 or not all(map(_LABEL.fullmatch, labels)):
        raise FetchError("The recording's address has no full domain name in it; check the URL.")
    return name


def _usual_form(name: str) -> str:
    try:
        return str(ip_address(name))
    except ValueError as error:
        raise FetchError("The recording's address has a number in it that is no usual IP address.") from error


def is_number(host: str) -> bool:
    """Return whether a plain host is an address itself and needs no lookup."""
    return ":" in host or host.rpartition(".")[2].isdigit()


def bracketed(host: str) -> str:
    """A plain host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def is_allowed(host: str, port: int, usual_port: int, entries: Sequence[str]) -> bool:
    """Return whether the list admits a plain host at this port; `usual_port` is the one of the URL's scheme.

    An entry is `name`, `name:port`, or `*.name` for all names below it; without a port it means the usual one. No
    entries at all admit every host, at the usual port.
    """
    at_port = f"{bracketed(host)}:{port}"
    if not entries:
        return port == usual_port
    return any(_admits(_with_port(entry.lower(), usual_port), at_port) for entry in entries)


def _with_port(entry: str, usual_port: int) -> str:
    return entry if _PORT.search(entry) else f"{entry}:{usual_port}"


def _admits(entry: str, at_port: str) -> bool:
    return entry == at_port or (entry.startswith("*.") and at_port.endswith(entry[1:]))
