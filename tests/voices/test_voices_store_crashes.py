"""A store loses nothing that it acknowledged: not to SIGKILL at any line or moment, not to eight processes at once."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.store_workers import MOMENTS, PROCESSES, REGISTRATIONS, check_files, read_notes
from polyvox.voices.records import VoiceQuery
from polyvox.voices.store import VoiceStore

pytestmark = pytest.mark.slow


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: SIGKILL leaves the same behind there, and no disk is waited for."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        yield Path(folder)


def run_workers(how: str, folder: Path) -> dict[str, Any]:
    program = [sys.executable, "-m", "helpers.store_workers", how, str(folder)]
    result = subprocess.run(program, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_killed_at_every_line_it_keeps_what_it_acknowledged_and_sweeps_what_is_left(memory_folder):
    report = run_workers("every-line", memory_folder)
    assert report["code"] == 0
    assert report["lines"] > 200


def test_killed_at_any_moment_it_keeps_what_it_acknowledged_and_sweeps_what_is_left(memory_folder):
    report = run_workers("any-moment", memory_folder)
    assert report["killed"] > MOMENTS // 4


def test_a_thousand_registrations_from_eight_processes(memory_folder):
    report = run_workers("at-once", memory_folder)
    assert report["codes"] == [0] * PROCESSES
    notes = [note for process in range(PROCESSES) for note in read_notes(memory_folder / f"notes{process}")]
    added = {note["add"]: note["digest"] for note in notes if "add" in note}
    removed = {note["remove"] for note in notes if "remove" in note}
    won = [note["won"] for note in notes if "won" in note]
    assert len(added) >= REGISTRATIONS
    assert len(removed) > REGISTRATIONS // 2
    assert len(won) == len(set(won)) == len({note.get("won", note.get("lost")) for note in notes} - {None})

    store = VoiceStore(memory_folder / "voices")
    here = {voice.id: voice for voice in store.page(VoiceQuery(limit=2 * REGISTRATIONS)).voices}
    assert {voice.id: voice.audio_digest for voice in here.values()} == {
        voice_id: digest for voice_id, digest in added.items() if voice_id not in removed
    }
    for voice in here.values():
        store.recording(voice)  # which checks the hash
    assert store.sweep() == 0
    check_files(memory_folder, {voice.id: voice.audio_digest for voice in here.values()})
    store.close()
