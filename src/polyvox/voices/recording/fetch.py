"""Recordings from the web, where the settings allow it: from public hosts, at the address checked, within limits."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import httpx

from polyvox import __version__
from polyvox.config import Settings
from polyvox.errors import FetchError, ForbiddenError
from polyvox.voices.limits import read_at_most
from polyvox.voices.recording.addresses import bracketed, is_allowed, is_number, is_public, plain_host

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Gives the addresses of a domain name, as numbers; an OSError if it has none."""

Transport = Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]
"""Makes what carries one request. It gets a URL whose host is an address already."""

_PORTS = {"http": 80, "https": 443}
_LONGEST_URL = 2_048
_MOST_REDIRECTS = 3
_MOST_ADDRESSES = 4
_CONNECT_SECONDS = 3.0
_AT_ONCE = 8
_HEADERS = {"User-Agent": f"polyvox/{__version__}", "Accept": "audio/*, */*;q=0.1", "Accept-Encoding": "identity"}


async def resolve(host: str) -> list[str]:
    """The addresses that the system's resolver gives for a name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def direct(tls: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    """A connection of its own for each request; no proxy, whatever the environment says."""
    return httpx.AsyncHTTPTransport(verify=tls, trust_env=False)


@dataclass(frozen=True, slots=True)
class _Target:
    """A URL that passed all checks but the one of its host's addresses."""

    url: httpx.URL
    host: str


class Fetcher:
    """Fetches single files. It keeps nothing between them: no connections, no cookies."""

    def __init__(self, settings: Settings, *, resolve: Resolve = resolve, transport: Transport = direct) -> None:
        self._settings = settings
        self._resolve = resolve
        self._transport = transport
        self._slots = asyncio.Semaphore(_AT_ONCE)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context()

    async def fetch(self, url: str) -> bytes:
        """The file at a URL that a caller gave.

        Each host on the way, redirects included, must be public and allowed; the connection goes to the very address
        that was checked. FetchError, ForbiddenError or RequestTooLargeError says what was refused, or what failed.
        """
        if not self._settings.allow_fetch:
            raise ForbiddenError("This server does not fetch recordings; send the recording itself.")
        seconds = self._settings.fetch_timeout_seconds
        try:
            async with asyncio.timeout(seconds), self._slots:
                return await self._follow(self._check(url))
        except TimeoutError as error:
            raise FetchError(f"The recording did not arrive within {seconds:g} seconds; send it itself.") from error

    async def _follow(self, target: _Target) -> bytes:
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await self._get(target)
            if isinstance(answer, bytes):
                return answer
            target = self._check_redirect(target, answer)
        raise FetchError(f"The recording's address redirects more than {_MOST_REDIRECTS} times; give the final one.")

    def _check(self, url: str) -> _Target:
        if len(url) > _LONGEST_URL:
            raise FetchError(f"The recording's address is longer than {_LONGEST_URL} characters.")
        try:
            parsed = httpx.URL(url)
        except (httpx.InvalidURL, ValueError) as error:
            raise FetchError("The recording's address is not a valid URL; check it.") from error
        return self._check_parsed(parsed)

    def _check_parsed(self, url: httpx.URL) -> _Target:
        schemes = ("https", "http") if self._settings.fetch_allow_http else ("https",)
        if url.scheme not in schemes:
            raise FetchError(f"The recording's address must start with {' or '.join(schemes)}://.")
        if url.userinfo:
            raise FetchError("The recording's address must not carry a user name or password.")
        host = plain_host(url.raw_host.decode("ascii"))
        usual = _PORTS[url.scheme]
        if not is_allowed(host, usual if url.port is None else url.port, usual, self._settings.fetch_allow_hosts):
            raise ForbiddenError("This server does not fetch from that host and port; send the recording itself.")
        return _Target(url, host)

    def _check_redirect(self, target: _Target, location: str) -> _Target:
        try:
            onward = target.url.join(location[: _LONGEST_URL + 1])
        except (httpx.InvalidURL, ValueError) as error:
            raise FetchError("The recording's address redirects to something that is not a valid URL.") from error
        if target.url.scheme == "https" and onward.scheme == "http":
            raise FetchError("The recording's address redirects from https to http; give one that stays with https.")
        return self._check(str(onward))

    async def _addresses(self, host: str) -> Sequence[str]:
        """All addresses of a host, every one of them public."""
        try:
            found = [host] if is_number(host) else await self._resolve(host)
        except (OSError, UnicodeError) as error:
            raise FetchError("The host in the recording's address is not known; check the URL.") from error
        if not found or not all(map(is_public, found)):
            raise FetchError("The host in the recording's address is not on the public internet.")
        return found[:_MOST_ADDRESSES]

    async def _get(self, target: _Target) -> bytes | str:
        """The file, or where it is said to be instead."""
        failure: httpx.HTTPError | None = None
        for address in await self._addresses(target.host):
            try:
                return await self._ask(target, address)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
            except httpx.HTTPError as error:
                raise FetchError("The server of the recording broke off or answered nonsense.") from error
        raise FetchError("No safe connection to the server of the recording could be made.") from failure

    async def _ask(self, target: _Target, address: str) -> bytes | str:
        seconds = self._settings.fetch_timeout_seconds
        timeout = httpx.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)).as_dict()
        name = {} if is_number(target.host) else {"sni_hostname": target.host}
        request = httpx.Request(
            "GET",
            target.url.copy_with(host=address),
            headers={"Host": _host_header(target), **_HEADERS},
            extensions={"timeout": timeout, **name},
        )
        async with self._transport(self._tls) as transport:
            response = await transport.handle_async_request(request)
            try:
                return await self._taken(response)
            finally:
                await response.aclose()

    async def _taken(self, response: httpx.Response) -> bytes | str:
        if response.has_redirect_location:
            return response.headers["location"]
        if response.status_code != httpx.codes.OK:
            raise FetchError(f"The server of the recording answered with status {response.status_code}; check the URL.")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise FetchError("The server of the recording sends it compressed, although it was asked not to.")
        return await read_at_most(response.aiter_raw(), self._settings.fetch_max_bytes)


def _host_header(target: _Target) -> str:
    shown = bracketed(target.host)
    return shown if target.url.port is None else f"{shown}:{target.url.port}"
