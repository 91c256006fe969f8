"""A hub on this machine that can be told to misbehave."""

import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from helpers.sample_bundle import FILES, HUB_PATHS, REPOSITORY, REVISION

PREFIX = f"/{REPOSITORY}/resolve/{REVISION}/"


@dataclass
class Behaviour:
    """How the hub answers; the defaults are those of an honest one."""

    files: dict[str, bytes] = field(default_factory=lambda: {HUB_PATHS[name]: data for name, data in FILES.items()})
    status: int | None = None
    knows_ranges: bool = True
    wrong_range_start: int | None = None
    cut_after: list[int] = field(default_factory=list)
    """How many bytes of the next answers are sent before the connection is cut."""
    redirect_to: str | None = None
    linked_etag: str | None = None
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and Range header of each request."""
    tokens: list[str | None] = field(default_factory=list)
    """Authorization header of each request."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up early is no news; anything else is."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class LoopbackHub:
    def __init__(self) -> None:
        self.behaviour = Behaviour()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub._answer(self)

            def log_message(self, *args: object) -> None:
                """Silent: the tests look at `requests`."""

        return Handler

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        how = self.behaviour
        how.requests.append((handler.path, handler.headers.get("Range")))
        how.tokens.append(handler.headers.get("Authorization"))
        moved = handler.path.startswith("/moved")
        if how.redirect_to is not None and not moved:
            self._head(handler, 302, 0, {"Location": how.redirect_to + handler.path})
            return
        content = how.files.get(handler.path.removeprefix("/moved").removeprefix(PREFIX))
        if how.status is not None or content is None:
            self._head(handler, how.status or 404, 0, {})
            return
        self._send(handler, content)

    def _send(self, handler: BaseHTTPRequestHandler, content: bytes) -> None:
        how, asked = self.behaviour, handler.headers.get("Range")
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and how.knows_ranges else 0
        if start >= len(content):
            self._head(handler, 416, 0, {})
            return
        named = how.wrong_range_start if how.wrong_range_start is not None else start
        extra = {"Content-Range": f"bytes {named}-{len(content) - 1}/{len(content)}"} if start else {}
        body = content[start:]
        self._head(handler, 206 if start else 200, len(body), extra)
        if how.cut_after:
            handler.wfile.write(body[: how.cut_after.pop(0)])
            handler.wfile.flush()
            handler.close_connection = True
            handler.connection.shutdown(2)
            return
        handler.wfile.write(body)

    def _head(self, handler: BaseHTTPRequestHandler, status: int, length: int, headers: dict[str, str]) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(length))
        if self.behaviour.linked_etag is not None:
            handler.send_header("X-Linked-Etag", self.behaviour.linked_etag)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
