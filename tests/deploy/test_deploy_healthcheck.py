"""The image's health check, run against servers that answer 200, answer 503, speak TLS, or are not there."""

import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from helpers.certificates import make_certificate

SCRIPT = Path(__file__).parents[2] / "deploy/docker/healthcheck.py"


@contextmanager
def answering(status: int, certificate: tuple[Path, Path] | None = None) -> Iterator[str]:
    """The port of a server that answers every request so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/ready" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A handshake that fails is no news here."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield str(server.server_port)
        finally:
            server.shutdown()
            thread.join()


def asked(port: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "POLYVOX_PORT": port, "POLYVOX_HOST": "0.0.0.0", **variables}
    return subprocess.run(
        [sys.executable, "-I", SCRIPT], env=environment, capture_output=True, text=True, check=False, timeout=30
    )


def test_it_tells_a_server_that_can_speak_from_one_that_cannot_or_is_not_there(tmp_path: Path) -> None:
    with answering(200) as port:
        assert asked(port).returncode == 0
    gone = asked(port)
    assert (gone.returncode, f"http://127.0.0.1:{port}/ready" in gone.stderr) == (1, True)
    with answering(503) as port:
        unready = asked(port)
    assert (unready.returncode, "503" in unready.stderr) == (1, True)


def test_it_finds_out_by_itself_that_a_server_speaks_tls(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    for status, code in ((200, 0), (503, 1)):
        with answering(status, certificate) as port:
            for variables in ({}, {"POLYVOX_SSL_CERTFILE": str(certificate[0])}):
                assert asked(port, **variables).returncode == code, (status, variables)
