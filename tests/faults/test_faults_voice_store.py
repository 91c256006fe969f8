"""A voice store that lost its database, or has no room left, costs no recording and can be mended beside the server."""

import time
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from helpers.attacked_server import attacked_server
from helpers.full_disk import run_on_full_disk
from helpers.processes import ProgramProcess
from helpers.trials import watched
from helpers.voice_samples import registration
from polyvox.cli.main import app
from polyvox.voices.storage.store import FileVoiceStore

VOICES = 20
RECOVERY_SECONDS = 30.0


def registered(folder: Path, count: int) -> set[str]:
    """A store with voices in it; their ids."""
    store = FileVoiceStore(folder)
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


def repaired(server: ProgramProcess, data_dir: Path, ids: set[str]) -> None:
    """Repair the store beside the server, and wait until the server has its voices again."""
    result = CliRunner().invoke(app, ["voices", "repair", "--data-dir", str(data_dir)])
    assert result.exit_code == 0, result.output
    until = time.monotonic() + RECOVERY_SECONDS
    while (listed(server) != ids or warnings(server)) and time.monotonic() < until:
        time.sleep(0.2)
    assert (listed(server), warnings(server)) == (ids, {})


def damage(folder: Path) -> None:
    for path in folder.glob("voices.sqlite3*"):
        with path.open("r+b") as file:
            file.write(b"\xff" * path.stat().st_size)


def test_a_lost_and_then_a_damaged_database_cost_no_recording_and_no_engine_voice(tmp_path: Path, scale: int) -> None:
    data_dir = tmp_path / "data"
    folder = data_dir / "voices"
    ids = registered(folder, VOICES * min(scale, 4))
    recordings = {path.name for path in folder.rglob("*.wav")}
    (folder / "voices.sqlite3").unlink()
    with attacked_server(tmp_path) as server:
        with watched(server) as toll:
            assert {path.name for path in folder.rglob("*.wav")} == recordings
            assert "polyvox voices repair" in warnings(server)["voices"]
            repaired(server, data_dir, ids)

            damage(folder)
            until = time.monotonic() + RECOVERY_SECONDS
            while not warnings(server) and time.monotonic() < until:
                time.sleep(0.2)
            assert "polyvox voices repair" in warnings(server)["voices"]
            assert "polyvox_voice_store_available 0.0" in httpx.get(f"{server.url}/metrics").text
            spoken = httpx.post(f"{server.url}/v1/audio/speech", json={"input": "Hello.", "voice": "af_heart"})
            assert spoken.status_code == 200
            repaired(server, data_dir, ids)
            assert {path.name for path in folder.rglob("*.wav")} == recordings
        toll.check()


def test_every_voice_can_be_deleted_from_a_disk_that_is_really_full(tmp_path: Path) -> None:
    report = run_on_full_disk(tmp_path)
    if report is None:
        pytest.skip("this machine lets nobody mount a small disk")
    assert report["registered"] > 5
    assert report["left_behind"] is False
    assert report["spoken"] == 200
    assert report["deletions"] == [200] * report["registered"]
    assert report["recordings"] == 0
    assert report["registered_again"] > 5
