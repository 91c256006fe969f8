"""A voice store that lost its database costs no recording and no engine voice; it is mended beside the server."""

import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.trials import watched
from helpers.voice_samples import registration
from polyvox.cli.main import app
from polyvox.voices.store import VoiceStore

VOICES = 20
RECOVERY_SECONDS = 30.0


def lose(database: Path) -> None:
    database.unlink()


def damage(database: Path) -> None:
    database.write_bytes(b"something else entirely" * 1_000)


def registered(folder: Path, count: int) -> set[str]:
    """A store with voices in it; their ids."""
    store = VoiceStore(folder)
    ids = {store.add(registration(f"voice {seed}", seed)).record.id for seed in range(count)}
    store.close()
    return ids


def listed(server: ProgramProcess) -> set[str]:
    answer = httpx.get(f"{server.url}/v1/voices", params={"limit": 100})
    return {voice["id"] for voice in answer.json()["data"]} if answer.status_code == 200 else set()


def warnings(server: ProgramProcess) -> dict[str, str]:
    answer = httpx.get(f"{server.url}/ready")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    found: dict[str, str] = answer.json().get("warnings", {})
    return found


@pytest.mark.parametrize("harm", [lose, damage])
def test_a_lost_database_costs_nothing(tmp_path: Path, harm: Callable[[Path], None], scale: int) -> None:
    folder = tmp_path / "data" / "voices"
    ids = registered(folder, VOICES * min(scale, 4))
    recordings = {path.name for path in folder.rglob("*.wav")}
    harm(folder / "voices.sqlite3")
    with attacked_server(tmp_path) as server:
        with watched(server) as toll:
            assert {path.name for path in folder.rglob("*.wav")} == recordings
            assert "polyvox voices repair" in warnings(server)["voices"]
            spoken = httpx.post(f"{server.url}/v1/audio/speech", json={"input": "Hello.", "voice": "af_heart"})
            assert spoken.status_code == 200

            command = ["voices", "repair", "--data-dir", str(tmp_path / "data")]
            result = CliRunner().invoke(app, command)
            assert result.exit_code == 0, result.output
            until = time.monotonic() + RECOVERY_SECONDS
            while (listed(server) != ids or warnings(server)) and time.monotonic() < until:
                time.sleep(0.2)
            assert listed(server) == ids
            assert warnings(server) == {}
            assert {path.name for path in folder.rglob("*.wav")} == recordings
        toll.check()
