"""Granian as a process. What it owes to streams and to clients that leave is tested beside uvicorn's."""

import re
import subprocess
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from helpers.fork_server import forked_python
from helpers.tables import each_row
from polyvox import extras
from polyvox.cli.main import app
from polyvox.errors import UnavailableError
from polyvox.installation import load_settings
from polyvox.server.process import run_server


@pytest.mark.long
def test_a_signal_lets_an_open_stream_finish_and_is_a_good_end() -> None:
    command = [forked_python(), "-m", "polyvox", "bench", "null-server", "--server", "granian"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert found is not None
        body = {"model": "null", "input": "Hello there.", "response_format": "pcm"}
        with httpx.stream("POST", f"{found[0]}/v1/audio/speech", json=body, timeout=30) as response:
            assert response.headers["server"] == "granian"
            pieces = response.iter_raw(65_536)
            received = len(next(pieces))
            process.terminate()
            received += sum(len(piece) for piece in pieces)
        assert received == 2 * 24_000 * 20
        assert process.wait(60) == 0
    finally:
        process.kill()
        _, messages = process.communicate()
    assert "Traceback" not in messages


@each_row(
    ("options", "said"),
    [
        (["--port", "50000", "--max_conc", "4"], "give the gRPC port with --grpc-port"),
        (["--ray", "--grpc-port", "0"], "leave out --grpc-port"),
        (["--ray", "--server", "granian"], "leave out --grpc-port and --server"),
        (["--server", "other"], "Setting 'server'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["serve", *options])
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize(
    ("missing", "settings"), [("granian", {"server": "granian"}), ("grpc", {"grpc_port": 0})], ids=["granian", "grpc"]
)
def test_what_is_not_installed_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str, settings: dict[str, object]
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(UnavailableError, match=rf"pip install -e '\.\[{missing}\]'"):
        run_server(
            load_settings(port=0, models=["kokoro"], models_dir=tmp_path, data_dir=tmp_path, **settings),
            {"kokoro": lambda _: None},
        )
