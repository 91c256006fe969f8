"""https and wss: both servers speak them, bad files are named before anything loads, and all limits hold."""

import contextlib
import json
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, WebSocket
from typer.testing import CliRunner
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from helpers.certificates import PASSWORD, encrypted, loaded, make_certificate, trusting
from helpers.fakes import ToneEngine, tone_service
from helpers.fork_server import forked_python
from helpers.processes import polyvox_process
from helpers.raw_http import is_closed, request_head
from helpers.serving import served_by_granian, served_by_uvicorn, wait_for
from polyvox.api.door import Door
from polyvox.api.doors import DOORS
from polyvox.cli.main import app
from polyvox.config import Settings
from polyvox.errors import InvalidRequestError
from polyvox.server.certificate import Certificate
from polyvox.service.keys.operations import Operation
from polyvox.service.speech import SpeechService

SPEECH = {"input": "Hello there.", "response_format": "pcm"}
HEADER_SECONDS = 0.6

router = APIRouter(prefix="/tls")


@router.websocket("/echo")
async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text(f"{websocket.url.scheme} {await websocket.receive_text()}")
    await websocket.close()


WITH_ECHO = (*DOORS, Door("tls", router, operations={"WS /tls/echo": Operation.SPEAK}))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


GRANIAN_SECONDS = 10.0
"""Built into granian: its time for a handshake."""
EVERYWHERE = pytest.mark.parametrize("server", ["uvloop", "asyncio", "granian"])
UVICORN = pytest.mark.parametrize("server", ["uvloop", "asyncio"])


@contextlib.contextmanager
def serving(server: str, files: tuple[Path, Path], service: SpeechService) -> Iterator[str]:
    """Serve by https with one of the HTTP servers or event loops."""
    certificate = loaded(*files)
    if server == "granian":
        with served_by_granian(service, WITH_ECHO, certificate) as url:
            yield url
    else:
        with served_by_uvicorn(service, doors=WITH_ECHO, certificate=certificate, loop=server) as url:
            yield url


def impatient(**settings: Any) -> SpeechService:
    return tone_service(header_timeout_seconds=HEADER_SECONDS, **settings)


def tcp(url: str) -> socket.socket:
    host, port = url.removeprefix("https://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def hello(context: ssl.SSLContext) -> bytes:
    """The first message of a handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    half = context.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with contextlib.suppress(ssl.SSLWantReadError):
        half.do_handshake()
    return outgoing.read()


def of_two_threads(files: tuple[Path, Path]) -> ssl.SSLContext:
    """For websockets.sync, which may lose what it sends while a ticket arrives: granian sends tickets in TLS 1.3."""
    context = trusting(files[0])
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


def count(service: SpeechService, name: str, **labels: str) -> float:
    return service.metrics.registry.get_sample_value(name, labels) or 0.0


@pytest.mark.long
@EVERYWHERE
def test_speech_and_sockets_come_over_tls(server: str, files: tuple[Path, Path]) -> None:
    trust = trusting(files[0])
    with serving(server, files, impatient()) as url, httpx.Client(verify=trust) as client:
        answers = [client.post(f"{url}/v1/audio/speech", json=SPEECH) for _ in range(3)]
        with connect(f"{url.replace('https', 'wss')}/tls/echo", ssl=of_two_threads(files)) as opened:
            opened.send("hello")
            assert opened.recv() == "wss hello"
        with pytest.raises(InvalidStatus, match="404"):
            connect(f"{url.replace('https', 'wss')}/tls/nothing", ssl=of_two_threads(files))
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(f"{url}/health", verify=ssl.create_default_context())
    assert [answer.status_code for answer in answers] == [200] * 3
    assert len({answer.content for answer in answers}) == 1
    assert len(answers[0].content) > 1_000


@pytest.mark.long
@UVICORN
def test_no_ticket_crosses_what_a_client_sends_first(server: str, files: tuple[Path, Path]) -> None:
    """Where one thread reads a ticket while another writes, OpenSSL drops what is written."""
    with (
        serving(server, files, tone_service()) as url,
        trusting(files[0]).wrap_socket(tcp(url), server_hostname="127.0.0.1") as client,
    ):
        client.sendall(request_head("GET", "/health"))
        assert client.recv(65_536).startswith(b"HTTP/1.1 200 ")
        assert client.version() == "TLSv1.3"
        assert client.session is None or not client.session.has_ticket


@pytest.mark.long
@EVERYWHERE
def test_a_client_that_does_not_finish_its_handshake_is_dropped_and_others_are_served(
    server: str, files: tuple[Path, Path]
) -> None:
    """Nothing, half of the first message, the whole of it and no more, and plain HTTP."""
    trust, patience = trusting(files[0]), 5.0 + (GRANIAN_SECONDS if server == "granian" else HEADER_SECONDS)
    service = impatient()
    with serving(server, files, service) as url, contextlib.ExitStack() as stack:
        first = hello(trust)
        stalled = [stack.enter_context(tcp(url)) for _ in range(4)]
        for client, data in zip(stalled, (b"", first[:99], first, request_head("GET", "/health")), strict=True):
            client.sendall(data)
        assert httpx.get(f"{url}/health", verify=trust).status_code == 200
        until = time.monotonic() + patience
        assert [is_closed(client, until - time.monotonic()) for client in stalled] == [True] * 4
        assert httpx.get(f"{url}/health", verify=trust).status_code == 200
    if server != "granian":
        assert count(service, "polyvox_refused_connections_total", limit="header_timeout") == 3
        assert count(service, "polyvox_refused_connections_total", limit="invalid") == 1
        assert count(service, "polyvox_open_connections") == 0


@pytest.mark.long
@EVERYWHERE
def test_a_request_that_stalls_behind_the_handshake_is_dropped(server: str, files: tuple[Path, Path]) -> None:
    with (
        serving(server, files, impatient()) as url,
        trusting(files[0]).wrap_socket(tcp(url), server_hostname="127.0.0.1") as client,
    ):
        client.sendall(b"GET /health HT")
        assert is_closed(client, 5.0 + HEADER_SECONDS)


@pytest.mark.long
@UVICORN
def test_handshakes_count_as_connections_and_the_oldest_makes_room(server: str, files: tuple[Path, Path]) -> None:
    trust, service = trusting(files[0]), tone_service(max_connections=16)
    with serving(server, files, service) as url, contextlib.ExitStack() as stack:
        stalled = [stack.enter_context(tcp(url)) for _ in range(16)]
        wait_for(lambda: count(service, "polyvox_open_connections") == 16)
        spoken = httpx.post(f"{url}/v1/audio/speech", json=SPEECH, verify=trust)
        assert is_closed(stalled[0], 5.0)
        assert not is_closed(stalled[-1], 0.1)
        assert count(service, "polyvox_open_connections") <= 16
    assert spoken.status_code == 200
    assert count(service, "polyvox_refused_connections_total", limit="total") == 1
    assert count(service, "polyvox_open_connections") == 0


@pytest.mark.long
@UVICORN
def test_where_all_connections_are_served_a_new_one_is_closed_before_its_handshake(
    server: str, files: tuple[Path, Path]
) -> None:
    trust, service = trusting(files[0]), tone_service(max_connections=16)
    with serving(server, files, service) as url, contextlib.ExitStack() as stack:
        socket_url = f"{url.replace('https', 'wss')}/tls/echo"
        opened = [stack.enter_context(connect(socket_url, ssl=trust)) for _ in range(16)]
        with tcp(url) as late:
            assert is_closed(late, 5.0)
        opened[0].send("hello")
        assert opened[0].recv() == "wss hello"
        wait_for(lambda: count(service, "polyvox_open_connections") == 15)
        assert httpx.get(f"{url}/health", verify=trust).status_code == 200


@pytest.mark.long
@UVICORN
def test_a_client_that_reads_nothing_over_tls_is_dropped(server: str, files: tuple[Path, Path]) -> None:
    engine = ToneEngine(chunks=400, chunk_seconds=2.0)
    service, body = tone_service(engine, stall_seconds=0.5), json.dumps(SPEECH).encode()
    with (
        serving(server, files, service) as url,
        trusting(files[0]).wrap_socket(tcp(url), server_hostname="127.0.0.1") as client,
    ):
        head = request_head(
            "POST", "/v1/audio/speech", "Content-Type: application/json", f"Content-Length: {len(body)}"
        )
        client.sendall(head + body)
        wait_for(lambda: engine.speaking == 1)
        wait_for(lambda: engine.speaking == 0)


@pytest.mark.long
@UVICORN
def test_the_server_ends_at_once_though_a_handshake_is_under_way(server: str, files: tuple[Path, Path]) -> None:
    with serving(server, files, tone_service()) as url:
        stalled = tcp(url)
        stalled.sendall(b"\x16\x03\x01")
        started = time.monotonic()
    assert time.monotonic() - started < 5.0
    assert is_closed(stalled, 5.0)
    stalled.close()


@pytest.mark.long
@pytest.mark.parametrize("server", ["uvicorn", "granian"])
def test_the_program_serves_by_https_and_ends_well(server: str, files: tuple[Path, Path]) -> None:
    chain, key = files
    environment = {"POLYVOX_SSL_CERTFILE": str(chain), "POLYVOX_SSL_KEYFILE": str(key)}
    if server == "uvicorn":
        environment |= {"POLYVOX_SSL_KEYFILE": str(encrypted(key)), "POLYVOX_SSL_KEYFILE_PASSWORD": PASSWORD}
    with polyvox_process(["bench", "null-server", "--server", server], environment) as process:
        assert process.url.startswith("https://127.0.0.1:")
        spoken = httpx.post(f"{process.url}/v1/audio/speech", json=SPEECH, verify=trusting(chain))
    assert len(spoken.content) == 2 * 24_000 * 20


def test_granian_is_not_started_with_a_key_that_it_cannot_read(files: tuple[Path, Path]) -> None:
    given = {"ssl_certfile": files[0], "ssl_keyfile": encrypted(files[1]), "ssl_keyfile_password": PASSWORD}
    assert Certificate.of(Settings(**given)) is not None
    with pytest.raises(InvalidRequestError, match="serve with --server uvicorn"):
        Certificate.of(Settings(**given, server="granian"))


def test_one_file_may_hold_both(files: tuple[Path, Path], tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(files[0].read_bytes() + files[1].read_bytes())
    found = Certificate.of(Settings(ssl_certfile=both))
    assert found is not None
    assert found.key == both
    assert Certificate.of(Settings()) is None


@pytest.mark.long
@pytest.mark.parametrize(
    ("chain", "key", "password", "said"),
    [
        (None, "server.key", None, "name the certificate with --ssl-certfile"),
        ("absent.pem", "server.key", None, "absent.pem: No such file or directory; see --ssl-certfile."),
        ("server.pem", "absent.key", None, "absent.key: No such file or directory; see --ssl-keyfile."),
        (".", "server.key", None, "Is a directory"),
        ("server.pem", "other.key", None, "belongs to another certificate"),
        ("server.pem", "server.locked", None, "is encrypted: put its password into POLYVOX_SSL_KEYFILE_PASSWORD"),
        ("server.pem", "server.locked", "wrong", "has another password than POLYVOX_SSL_KEYFILE_PASSWORD"),
        ("server.pem", None, None, "name the key with --ssl-keyfile"),
        ("noise.pem", "server.key", None, "no certificate chain and no key in PEM format"),
        ("server.pem", "noise.pem", None, "no certificate chain and no key in PEM format"),
    ],
)
def test_files_that_are_of_no_use_are_named(
    files: tuple[Path, Path], chain: str | None, key: str | None, password: str | None, said: str
) -> None:
    folder = files[0].parent
    make_certificate(folder, "other")
    encrypted(files[1])
    (folder / "noise.pem").write_bytes(bytes(range(256)))
    given = {
        "ssl_certfile": None if chain is None else folder / chain,
        "ssl_keyfile": None if key is None else folder / key,
        "ssl_keyfile_password": password,
    }
    with pytest.raises(InvalidRequestError) as refusal:
        Certificate.of(Settings(**given))
    assert said in refusal.value.message
    assert "wrong" not in refusal.value.message


@pytest.mark.long
def test_a_bad_certificate_ends_the_program_before_it_looks_for_a_model(tmp_path: Path) -> None:
    options = ["--port", "0", "--models-dir", str(tmp_path), "--ssl-certfile", str(tmp_path / "absent.pem")]
    command = [forked_python(), "-m", "polyvox", "serve", *options]
    result = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].endswith("No such file or directory; see --ssl-certfile.")


def test_ray_takes_no_certificate(files: tuple[Path, Path]) -> None:
    result = CliRunner().invoke(app, ["serve", "--ray", "--ssl-certfile", str(files[0])])
    assert result.exit_code == 2
    assert "leave out --ssl-certfile" in " ".join(result.output.split())
