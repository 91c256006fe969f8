"""Home Assistant's ingress, as far as an add-on sees it: a prefix that is stripped, and a page that frames the rest."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

PREFIX = "/api/hassio_ingress/a-token"
FRAME = (
    '<!doctype html><title>Home</title><link rel="icon" href="data:,"><h1>Home</h1>'
    f'<iframe src="{PREFIX}/" width="1100" height="700"></iframe>'
)
_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}


class _Handler(BaseHTTPRequestHandler):
    upstream: str
    seen: list[str]

    def do_GET(self) -> None:
        if self.path == "/":
            self._answer(200, {"Content-Type": "text/html"}, FRAME.encode())
        elif self.path.startswith(f"{PREFIX}/"):
            self._forward()
        else:
            self.seen.append(self.path)
            self._answer(404, {}, b"")

    def do_POST(self) -> None:
        self.do_GET()

    def _forward(self) -> None:
        """Hand a request on without the prefix, with the browser's own Host, and the answer as it comes."""
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        headers |= {"X-Ingress-Path": PREFIX, "X-Forwarded-For": "192.168.1.5", "X-Forwarded-Proto": "http"}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection(self.upstream, timeout=30)
        try:
            connection.request(self.command, self.path.removeprefix(PREFIX), body or None, headers)
            response = connection.getresponse()
            self.send_response(response.status)
            for name, value in response.getheaders():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while data := response.read1():
                self.wfile.write(data)
                self.wfile.flush()
        finally:
            connection.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@contextmanager
def ingress(url: str) -> Iterator[tuple[str, list[str]]]:
    """The address of the framing page, and the paths that were asked for outside of the prefix."""
    seen: list[str] = []
    handler = type("Handler", (_Handler,), {"upstream": urlsplit(url).netloc, "seen": seen})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", seen
        finally:
            server.shutdown()
            thread.join()
