"""A file on disk as a response: whole or one range of it, with a strong validator."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from polyvox.api.errors import StreamAbortedError
from polyvox.api.responses.cached_answers import has_tag
from polyvox.api.responses.client_writer import ClientWriter, ended_or_left
from polyvox.errors import NotFoundError, RangeError, StalledError

_RANGE = re.compile(r"bytes\s*=\s*(\d{0,18})\s*-\s*(\d{0,18})", re.ASCII | re.IGNORECASE)
_PART_BYTES = 262_144
_PLAIN = re.compile(r"[^A-Za-z0-9 _.()+-]")


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes `first` to `last`, both included."""

    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


def asked_range(header: str | None, size: int) -> ByteRange | None:
    """The range of a `Range` header; None for the whole file, also where the header is none that is understood.

    Several ranges at once are answered with the whole file, as HTTP allows. RangeError where the file ends before.
    """
    match = None if header is None else _RANGE.fullmatch(header.strip())
    if match is None or match[1] == match[2] == "":
        return None
    if match[1] == "":
        first, last = max(0, size - int(match[2])), size - 1
    else:
        first, last = int(match[1]), min(size - 1, int(match[2] or size - 1))
        if match[2] and int(match[2]) < first:
            return None
    if first >= size or first > last:
        raise RangeError(f"The file has {size} bytes; ask for a range within it.")
    return ByteRange(first, last)


def attachment_of(name: str) -> str:
    """The header by which a browser saves a file under a name."""
    plain = _PLAIN.sub("_", name)
    return f'attachment; filename="{plain}"' + ("" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}")


class RangedFile(Response):
    """Sends a file or a range of it. A reader that takes nothing for `stall_seconds` is dropped."""

    def __init__(
        self, path: Path, *, media_type: str, digest: str, stall_seconds: float, headers: Mapping[str, str]
    ) -> None:
        super().__init__()
        self._path = path
        self._etag = f'"{digest}"'
        self._stall_seconds = stall_seconds
        self._file_headers = {
            "Content-Type": media_type,
            "Accept-Ranges": "bytes",
            "ETag": self._etag,
            "X-Content-Type-Options": "nosniff",
            **headers,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope)
        headers = MutableHeaders(self._file_headers)
        if has_tag(given.get("if-none-match", ""), self._etag):
            await send({"type": "http.response.start", "status": HTTPStatus.NOT_MODIFIED, "headers": headers.raw})
            await send({"type": "http.response.body", "body": b""})
            return
        file = await anyio.to_thread.run_sync(self._opened)
        with file:
            size = file.seek(0, 2)
            fresh = given.get("if-range", self._etag).strip() == self._etag
            try:
                part = asked_range(given.get("range"), size) if fresh else None
            except RangeError:
                await self._refuse(headers, size, scope, receive, send)
                return
            if part is not None:
                headers["Content-Range"] = f"bytes {part.first}-{part.last}/{size}"
            status = HTTPStatus.OK if part is None else HTTPStatus.PARTIAL_CONTENT
            span = part or ByteRange(0, size - 1)
            headers["Content-Length"] = str(span.length)
            client = ClientWriter(send, self._stall_seconds)
            sending = await ended_or_left(_sent(file, span, client, headers, status), receive)
            if not sending.cancelled():
                sending.result()

    def _opened(self) -> BinaryIO:
        try:
            return self._path.open("rb")
        except FileNotFoundError:
            raise NotFoundError("The file was deleted meanwhile.") from None

    async def _refuse(self, headers: MutableHeaders, size: int, scope: Scope, receive: Receive, send: Send) -> None:
        error = RangeError(f"The file has {size} bytes; ask for a range within it.")
        response = scope["app"].state.refusals.response(error, scope)
        response.headers["Content-Range"] = f"bytes */{size}"
        response.headers["ETag"] = headers["ETag"]
        await response(scope, receive, send)


async def _sent(file: BinaryIO, span: ByteRange, client: ClientWriter, headers: MutableHeaders, status: int) -> None:
    await client.start(headers, status)
    try:
        for first, length in _parts(span):
            file.seek(first)
            await client.write(await anyio.to_thread.run_sync(file.read, length))
        await client.finish()
    except StalledError as error:
        raise StreamAbortedError("a file was not read to its end") from error


def _parts(span: ByteRange) -> Iterator[tuple[int, int]]:
    for first in range(span.first, span.last + 1, _PART_BYTES):
        yield first, min(_PART_BYTES, span.last + 1 - first)
