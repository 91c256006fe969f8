"""Wyoming beside HTTP in one process: it starts and ends with it, and its options are checked before a model loads."""

import json
import socket
import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from helpers.attacked_server import attacked_server
from polyvox.api.dialects.wyoming.event import Event
from polyvox.cli.main import app
from polyvox.errors import ForbiddenError, UnavailableError
from polyvox.installation import load_settings
from polyvox.server.process import run_server

SECONDS_OF_NOISE = 20


@pytest.mark.long
@pytest.mark.parametrize("server", ["uvicorn", "granian"])
def test_it_speaks_beside_http_and_a_signal_lets_it_finish(tmp_path: Path, server: str) -> None:
    with attacked_server(tmp_path, server=server, wyoming_port=0) as process:
        host, port = process.wyoming.split(":")
        assert httpx.get(f"{process.url}/health").status_code == 200
        with socket.create_connection((host, int(port)), timeout=30) as client:
            client.sendall(Event("synthesize", {"text": "Hello there."}).encoded())
            stream = client.makefile("rb")
            line = stream.readline()
            process.process.terminate()
            time.sleep(0.3)  # what is left is read only after the signal
            received = 0
            while line:
                head = json.loads(line)
                stream.read(head.get("data_length", 0))
                received += len(stream.read(head.get("payload_length", 0)))
                last, line = head["type"], stream.readline()
        assert process.process.wait(30) == 0
    assert last == "audio-stop"
    assert received == 2 * 24_000 * SECONDS_OF_NOISE
    assert "Traceback" not in process.log()


def test_other_machines_are_kept_out_before_a_model_loads(tmp_path: Path) -> None:
    given = {
        "port": 0,
        "models": ["kokoro"],
        "models_dir": tmp_path,
        "data_dir": tmp_path,
        "wyoming_port": 0,
        "api_keys": ["key"],
    }
    with pytest.raises(ForbiddenError, match="WYOMING_ALLOW_WITHOUT_KEY"):
        run_server(load_settings(**given, wyoming_host="0.0.0.0"), {"kokoro": lambda _: pytest.fail("it loads")})


def test_a_port_in_use_is_named_with_its_option(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        given = {"port": 0, "models": ["kokoro"], "models_dir": tmp_path, "data_dir": tmp_path, "wyoming_port": port}
        with pytest.raises(UnavailableError, match=f"port {port}.*--wyoming-port"):
            run_server(load_settings(**given), {"kokoro": lambda _: None})


def test_ray_has_no_wyoming() -> None:
    result = CliRunner().invoke(app, ["serve", "--ray", "--wyoming-port", "0"])
    assert result.exit_code == 2
    assert "leave out --wyoming-port" in " ".join(result.output.split())
