"""A file of keys that is lost under a running server, or before it starts, lets nobody in who was not let in before."""

import time
from collections.abc import Callable
from pathlib import Path

import httpx
from typer.testing import CliRunner

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.trials import watched
from polyvox.cli.main import app
from polyvox.service.keys.keyring import FOLLOW_SECONDS
from polyvox.service.keys.ledger import WRITE_SECONDS
from polyvox.service.keys.store import KeyStore

Loss = Callable[[Path], None]

WAIT_SECONDS = 30.0
LATER_SECONDS = 2 * WRITE_SECONDS + FOLLOW_SECONDS
"""By then a server has written usage, and has looked at what it wrote."""


def created(data_dir: Path, name: str) -> str:
    """A key made by the command line beside the server."""
    scopes = ["--scope", "speak", "--scope", "admin"]
    result = CliRunner().invoke(app, ["keys", "create", name, *scopes, "--data-dir", str(data_dir)])
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def spoken(server: ProgramProcess, key: str | None) -> int:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx.post(f"{server.url}/v1/audio/speech", json={"input": "Hello."}, headers=headers).status_code


def warned(server: ProgramProcess) -> bool:
    answer = httpx.get(f"{server.url}/ready")
    assert answer.status_code == 200
    return "keys" in answer.json().get("warnings", {})


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end, "this did not come to pass"
        time.sleep(0.05)


def is_shut(server: ProgramProcess, known: str) -> bool:
    """Fail where anybody but the holder of a known key is let in, or that one is not."""
    assert (spoken(server, None), spoken(server, "pvx_guess"), spoken(server, known)) == (401, 401, 200)
    return True


def emptied(path: Path) -> None:
    path.unlink()
    KeyStore(path).make()


def overwritten(path: Path) -> None:
    path.write_bytes(b"\xff" * 8192)


def lost_and_made_anew(server: ProgramProcess, path: Path, key: str, lose: Loss, seconds: float) -> str:
    """Lose the file, watch the server until it has noticed and for some seconds, and make another; its key."""
    assert is_shut(server, key)
    lose(path)
    end = time.monotonic() + seconds
    until(lambda: is_shut(server, key) and warned(server) and time.monotonic() >= end)
    metrics = httpx.get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {key}"}).text
    assert "polyvox_key_store_available 0.0" in metrics
    assert path.exists() == (lose is not Path.unlink)
    path.unlink(missing_ok=True)
    new = created(path.parent, f"after-{lose.__name__}")
    until(lambda: spoken(server, new) == 200)
    assert (spoken(server, None), spoken(server, key)) == (401, 401)
    until(lambda: not warned(server))
    return new


def test_nobody_is_let_in_while_the_file_of_keys_is_lost_and_new_keys_work_at_once(tmp_path: Path, scale: int) -> None:
    data_dir = tmp_path / "data"
    key = created(data_dir, "first")
    with attacked_server(tmp_path) as server:
        with watched(server) as toll:
            for lose in (Path.unlink, emptied, overwritten):
                key = lost_and_made_anew(
                    server, data_dir / "keys.sqlite", key, lose, LATER_SECONDS if scale > 1 else 0.0
                )
                toll.requests += 1
        assert server.log().count("keys cannot be read; those read before") == toll.requests
        toll.check()


def test_a_server_that_starts_without_the_keys_it_once_had_lets_nobody_in_until_one_is_made(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    old = created(data_dir, "first")
    (data_dir / "keys.sqlite").unlink()
    with attacked_server(tmp_path) as server:
        assert (spoken(server, None), spoken(server, old)) == (401, 401)
        assert warned(server)
        new = created(data_dir, "second")
        until(lambda: spoken(server, new) == 200)
        assert (spoken(server, None), spoken(server, old), warned(server)) == (401, 401, False)
