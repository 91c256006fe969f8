"""Resumable downloads from a model hub over HTTP."""

import ipaddress
import os
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import structlog

from polyvox.bundles.manifest import Digest, HubSource
from polyvox.bundles.progress import Advance
from polyvox.bundles.sources import FetchContext, RequestedFile, SourceUnavailableError
from polyvox.errors import InvalidRequestError

_log = structlog.get_logger(__name__)

TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable
"""The variable with a user's token for the hub, by the name that its own tools read."""
_TIMEOUT = httpx.Timeout(10.0, connect=3.0)
_MAX_REDIRECTS = 5
_MAX_ATTEMPTS = 5
_SHA256 = re.compile(r'"?([0-9a-f]{64})"?')
_RANGE_START = re.compile(r"bytes (\d{1,15})-")
# Ranges count bytes of the file itself, so the hub must not compress it on the way.
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "polyvox"}


class _FileRefusedError(Exception):
    """The hub answers, but not with this file."""


class _StalePartError(Exception):
    """The partial download of an earlier attempt does not fit; it is discarded and the file is fetched anew."""


def fetch_from_hub(source: HubSource, wanted: tuple[RequestedFile, ...], context: FetchContext) -> None:
    """Download the requested files into the cache, one after another, over one connection."""
    hub = _checked(context.hub_url)
    total = sum(item.max_bytes for item in wanted)
    with (
        _client(source, hub) as client,
        context.progress.task(f"Fetching {source.label}", total) as advance,
    ):
        for item in wanted:
            try:
                _download(client, _address(hub, source, item), item, context, advance)
            except _FileRefusedError as error:
                _log.warning("file not taken from the hub", file=item.name, reason=str(error))


def fetch_unpinned_from_hub(
    source: HubSource, wanted: tuple[RequestedFile, ...], context: FetchContext
) -> dict[str, Digest]:
    """Download files without known hashes into the cache; returns their digests."""
    hub = _checked(context.hub_url)
    digests: dict[str, Digest] = {}
    with (
        _client(source, hub) as client,
        context.progress.task(f"Fetching {source.label}", sum(item.max_bytes for item in wanted)) as advance,
    ):
        for item in wanted:
            url = _address(hub, source, item)
            part = context.cache.unknown_part(str(url))
            part.unlink(missing_ok=True)  # without a hash, it may be of another version
            try:
                _complete(client, url, item, part, advance)
            except _FileRefusedError as error:
                raise SourceUnavailableError(f"{item.path}: {error}") from error
            digests[item.name] = context.cache.keep(part)
    return digests


class _HubToken(httpx.Auth):
    """The user's token, for models whose terms have to be accepted; no host but the hub's own is shown it."""

    def __init__(self, hub: httpx.URL, token: str) -> None:
        self._hub, self._token = hub, token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        url, hub = request.url, self._hub
        if (url.scheme, url.host, url.port) == (hub.scheme, hub.host, hub.port):
            request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


def _client(source: HubSource, hub: httpx.URL) -> httpx.Client:
    token = os.environ.get(TOKEN, "").strip() if source.kind == "hub" else ""
    auth = _HubToken(hub, token) if token and token.isascii() and token.isprintable() else None
    return httpx.Client(timeout=_TIMEOUT, headers=_HEADERS, auth=auth)


def _address(hub: httpx.URL, source: HubSource, item: RequestedFile) -> httpx.URL:
    return hub.copy_with(path=f"{hub.path.rstrip('/')}/{source.address(item.path)}")


def _checked(hub_url: str) -> httpx.URL:
    """The hub's URL: https, or http on the loopback interface."""
    try:
        url = httpx.URL(hub_url)
    except httpx.InvalidURL as error:
        raise InvalidRequestError(f"hub_url is not an address: {error}.", field="hub_url") from error
    if not _allowed(url, url):
        raise InvalidRequestError("hub_url must begin with https://.", field="hub_url")
    return url


def _allowed(url: httpx.URL, hub: httpx.URL) -> bool:
    if url.scheme == "https":
        return url.host != ""
    return url.scheme == "http" and hub.scheme == "http" and _is_loopback(url.host) and _is_loopback(hub.host)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _download(
    client: httpx.Client, url: httpx.URL, item: RequestedFile, context: FetchContext, advance: Advance
) -> None:
    """Download one file; a partial download that turns out to be of another file is discarded once."""
    part = context.cache.part(item.digests[0])
    for _ in range(2):
        resumed = _complete(client, url, item, part, advance)
        if context.cache.commit(part, item.digests) is not None:
            return
        if not resumed:
            raise _FileRefusedError("its content is not the one this release was made for")
    raise SourceUnavailableError("its content changes while it is fetched")


def _complete(client: httpx.Client, url: httpx.URL, item: RequestedFile, part: Path, advance: Advance) -> bool:
    """Complete a partial download; returns whether it resumed an earlier attempt.

    A broken connection is retried as long as each attempt brings something.
    """
    reported = 0
    resumed = False
    for _ in range(_MAX_ATTEMPTS):
        kept = _resumable_bytes(part, item.max_bytes)
        resumed = kept > 0
        advance(kept - reported)
        try:
            _receive(client, url, item, part, advance)
        except _StalePartError:
            part.unlink(missing_ok=True)
        except httpx.TransportError as error:
            if _size(part) <= kept:
                raise SourceUnavailableError(f"no answer ({error or type(error).__name__})") from error
        else:
            return resumed
        reported = _size(part)
    raise SourceUnavailableError(f"the connection broke {_MAX_ATTEMPTS} times")


def _size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _resumable_bytes(part: Path, max_bytes: int) -> int:
    """The size of a partial download that can be resumed; one that is too long is discarded."""
    if _size(part) >= max_bytes:
        part.unlink()
    return _size(part)


def _receive(client: httpx.Client, url: httpx.URL, item: RequestedFile, part: Path, advance: Advance) -> None:
    """Append what the hub sends, up to the file's size and not a byte further."""
    kept = _size(part)
    headers = {"Range": f"bytes={kept}-"} if kept else {}
    with _response(client, url, headers, item.digests) as response:
        start = _start_of(response, kept)
        advance(start - kept)
        size = start
        with part.open("r+b" if start else "wb") as target:
            target.seek(start)
            for block in response.iter_raw():
                size += len(block)
                if size > item.max_bytes:
                    raise _FileRefusedError(f"it is larger than {item.max_bytes} bytes")
                target.write(block)
                advance(len(block))


@contextmanager
def _response(
    client: httpx.Client, url: httpx.URL, headers: dict[str, str], digests: tuple[Digest, ...]
) -> Iterator[httpx.Response]:
    """The response after redirects, each of which must be as safe as the hub's own URL."""
    target = url
    for _ in range(_MAX_REDIRECTS):
        with client.stream("GET", target, headers=headers) as response:
            _refuse_other_content(response, digests)
            if not response.has_redirect_location:
                yield response
                return
            target = response.url.join(response.headers["Location"])
        if not _allowed(target, url):
            raise SourceUnavailableError(
                f"it redirects to {target.scheme}://{target.host}, which is not safe to follow"
            )
    raise SourceUnavailableError(f"more than {_MAX_REDIRECTS} redirects")


def _refuse_other_content(response: httpx.Response, digests: tuple[Digest, ...]) -> None:
    """Refuse a wrong file before its download: the hub sends the hash of large files in a header."""
    linked = _SHA256.fullmatch(response.headers.get("X-Linked-Etag", ""))
    if digests and linked and linked.group(1) not in {digest.sha256 for digest in digests}:
        raise _FileRefusedError("the hub holds another version of it")


def _start_of(response: httpx.Response, kept: int) -> int:
    """The offset in the file of the response's first byte."""
    if response.status_code == httpx.codes.OK:
        return 0
    if response.status_code == httpx.codes.PARTIAL_CONTENT and kept:
        begins = _RANGE_START.match(response.headers.get("Content-Range", ""))
        if begins and int(begins.group(1)) == kept:
            return kept
        raise _StalePartError
    if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and kept:
        raise _StalePartError
    if response.status_code in (httpx.codes.NOT_FOUND, httpx.codes.GONE):
        raise _FileRefusedError(f"the hub answers {response.status_code}")
    if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        raise SourceUnavailableError(
            f"it answers {response.status_code}: accept the model's terms on the hub, and set {TOKEN} to your token"
        )
    raise SourceUnavailableError(f"it answers {response.status_code}")
