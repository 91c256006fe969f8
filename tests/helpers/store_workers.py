"""Processes that work on a voice store and may be killed: `python -m helpers.store_workers HOW FOLDER [SETTINGS]`.

HOW is `lines=STEP`, `moments=KILLS` or `at-once=REGISTRATIONS`. SETTINGS, a JSON object, are those of a shared store;
without them the store lies in the folder.

Workers are forked, so that each costs milliseconds instead of the imports. What the store has told them is done, they
write down before they go on.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from helpers.voice_samples import RATE, noise, registration
from polyvox.errors import ConflictError
from polyvox.installation import load_settings
from polyvox.voices.records import VoiceQuery
from polyvox.voices.storage import recordings, store, sweep
from polyvox.voices.storage.contract import VoiceStore
from polyvox.voices.storage.location import location_of
from polyvox.voices.storage.recordings import digest_of, wav_bytes
from polyvox.voices.storage.store import FileVoiceStore

PROCESSES = 8

Content = dict[str, tuple[str, str]]
"""A store's voices: the recording's digest and the transcript, by name."""


class Notes:
    """What the store has acknowledged, one JSON object a line."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, **note: Any) -> None:
        os.write(self._file, (json.dumps(note) + "\n").encode())


def read_notes(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def forked(work: Callable[[], None]) -> int:
    """A child that does the work and ends, with 0 if it came to the end."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException:  # noqa: BLE001 - a forked child must end here
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def ending(pid: int) -> int:
    """A child's exit code, or the negative signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def digest_of_seed(seed: int) -> str:
    return digest_of(wav_bytes(noise(seed), RATE))


@dataclass(frozen=True)
class FolderTrial:
    """A store in a folder."""

    folder: Path

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        """Whose lines a worker dies at."""
        return recordings, store, sweep

    def opened(self) -> VoiceStore:
        return FileVoiceStore(self.folder / "voices")

    def settle(self) -> None:
        """A dead process does nothing more to a folder."""

    def check_recordings(self, voices: VoiceStore, here: dict[str, str]) -> None:
        """Hold the files against the voices, ids to digests."""
        voices.sweep()
        voices.update_sidecars()
        check_files(self.folder, here)


@dataclass(frozen=True)
class SharedTrial:
    """A store in a database and a bucket."""

    folder: Path
    settings: dict[str, Any]

    @property
    def modules(self) -> tuple[ModuleType, ...]:
        from polyvox.voices.storage import postgres, postgres_records, s3, shared_store

        return shared_store, postgres_records, postgres, s3

    def opened(self) -> VoiceStore:
        return location_of(load_settings(data_dir=self.folder, **self.settings)).open()

    def settle(self) -> None:
        """Wait until the database has ended what a dead process had asked for."""
        ask = """SELECT count(*) FROM pg_stat_activity
            WHERE application_name = 'polyvox' AND datname = current_database()"""
        while self._execute(ask)[0][0]:
            time.sleep(0.005)

    def check_recordings(self, voices: VoiceStore, here: dict[str, str]) -> None:
        """Hold the objects against the voices: with uploads grown old, each has its own and there is no other."""
        for days in (1, 2):  # abandoned, and then deleted once more
            self._execute(f"UPDATE polyvox_uploads SET started = started - interval '{days} day'")
            voices.sweep()
        assert self._execute("SELECT count(*) FROM polyvox_uploads")[0][0] == 0
        keys = {row[0] for row in self._execute("SELECT object_key FROM polyvox_voices")}
        assert len(keys) == len(here)
        assert self._objects() == keys

    def _execute(self, statement: str) -> list[Any]:
        import psycopg

        url = self.settings["voice_database"]
        with psycopg.connect(url, autocommit=True, application_name="trial") as db:
            found = db.execute(statement.encode())
            return found.fetchall() if found.description else []

    def _objects(self) -> set[str]:
        from helpers.shared_services import Bucket

        port = int(self.settings["voice_objects_endpoint"].rpartition(":")[2])
        return Bucket(self.folder, port).objects(self.settings["voice_objects"].rpartition("/")[2])


Trial = FolderTrial | SharedTrial


def change_everything(trial: Trial, seed: int) -> None:
    """Every kind of change to a store of two voices, `old` and `again`; a note after each."""
    notes = Notes(trial.folder / "notes")
    voices = trial.opened()
    added = voices.add(registration("new", seed)).record
    notes.write(done="add")
    voices.update(added.id, {"transcript": "Changed."})
    notes.write(done="change")
    voices.add(registration("again", seed + 1), replacing=True)
    notes.write(done="replace")
    voices.remove(voices.find("", "old").id)
    notes.write(done="remove")
    voices.update(added.id, {"name": "old"})
    notes.write(done="rename")
    voices.sweep()
    voices.close()


def contents_after_each_change(before: Content, seed: int) -> list[Content]:
    """What `change_everything` makes of a store, step by step."""
    new = digest_of_seed(seed)
    steps: list[Content] = [before]
    steps.append(before | {"new": (new, "The tide is out.")})
    steps.append(steps[-1] | {"new": (new, "Changed.")})
    steps.append(steps[-1] | {"again": (digest_of_seed(seed + 1), "The tide is out.")})
    steps.append({name: voice for name, voice in steps[-1].items() if name != "old"})
    steps.append({"old": (new, "Changed."), "again": steps[-1]["again"]})
    return steps


def check(trial: Trial, before: Content, seed: int) -> Content:
    """Hold the store against what a dead worker was told: all of that is there, and at most the step it was at."""
    trial.settle()
    done = len(read_notes(trial.folder / "notes"))
    (trial.folder / "notes").unlink(missing_ok=True)
    voices = trial.opened()
    here = voices.page(VoiceQuery(limit=1_000)).voices
    content = {voice.name: (voice.audio_digest, voice.transcript) for voice in here}
    assert content in contents_after_each_change(before, seed)[done : done + 2], (done, content)
    for voice in here:
        voices.recording(voice)  # which checks the hash
    trial.check_recordings(voices, {voice.id: voice.audio_digest for voice in here})
    two_voices(voices, seed + 2)
    content = {voice.name: (voice.audio_digest, voice.transcript) for voice in voices.page(VoiceQuery()).voices}
    voices.close()
    return content


def check_files(folder: Path, voices: dict[str, str]) -> None:
    """Hold the files against the voices, ids to digests: each has its recording and its side-car, and nothing else."""
    names = {path.parent.name + path.name for path in (folder / "voices" / "audio").glob("*/*")}
    recordings = {f"{digest}.wav" for digest in voices.values()}
    assert names == recordings | {f"{digest}.{voice_id}.json" for voice_id, digest in voices.items()}
    assert not (folder / "voices" / "audio" / "incoming").exists()
    assert not (folder / "voices" / "unclaimed").exists()


def two_voices(voices: VoiceStore, seed: int) -> None:
    """Bring a store to where `change_everything` begins."""
    if (left_over := voices.find("", "new")) is not None:
        voices.remove(left_over.id)
    for name, number in (("old", seed), ("again", seed + 1)):
        voices.add(registration(name, number), replacing=True)


def start(trial: Trial) -> Content:
    voices = trial.opened()
    two_voices(voices, 0)
    voices.close()
    return {name: (digest_of_seed(seed), "The tide is out.") for seed, name in enumerate(("old", "again"))}


def die_at_line(count: int, modules: tuple[ModuleType, ...]) -> None:
    """Arrange for SIGKILL when that many more lines of the store's code are about to run."""
    left = count
    traced = frozenset(module.__file__ for module in modules)

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in traced:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def kill_at_lines(trial: Trial, step: int) -> None:
    """Let a worker die at each line of the store's code that it runs, or at every so many, in turn."""
    content, line, code, kills = start(trial), 0, -signal.SIGKILL, 0
    while code == -signal.SIGKILL:
        line += step
        seed = 10 * line

        def work(line: int = line, seed: int = seed) -> None:
            die_at_line(line, trial.modules)
            change_everything(trial, seed)

        code = ending(forked(work))
        kills += code == -signal.SIGKILL
        content = check(trial, content, seed)
    print(json.dumps({"lines": line - step, "kills": kills, "code": code}))


def kill_at_moments(trial: Trial, moments: int) -> None:
    """Let workers die wherever they are after some milliseconds: within a write, a sync, a commit."""
    chance = random.Random(1)
    content, codes, acknowledged = start(trial), [], 0
    seed = 10 * (moments + 1)
    began = time.monotonic()
    ending(forked(lambda: change_everything(trial, seed)))
    whole = time.monotonic() - began
    content = check(trial, content, seed)
    for moment in range(moments):
        seed = 10 * (moment + 1)
        pid = forked(lambda seed=seed: change_everything(trial, seed))
        time.sleep(chance.uniform(0.0, whole))
        os.kill(pid, signal.SIGKILL)
        codes.append(ending(pid))
        if codes[-1] == 0:
            whole *= 0.8  # the first worker, whose time was taken, may have had a busy moment
        acknowledged += len(read_notes(trial.folder / "notes"))
        content = check(trial, content, seed)
    killed = codes.count(-signal.SIGKILL)
    print(json.dumps({"killed": killed, "finished": codes.count(0), "acknowledged": acknowledged}))


def all_at_once(trial: Trial, registrations: int) -> None:
    """Many processes register, delete and sweep in one store, some of them under the same names."""

    def work(process: int) -> None:
        chance = random.Random(process)
        notes = Notes(trial.folder / f"notes{process}")
        voices = trial.opened()
        mine: list[str] = []
        for turn in range(registrations // PROCESSES):
            seed = chance.randrange(100)  # so that processes often have the same recording
            record = voices.add(registration(f"voice {process} {turn}", seed)).record
            notes.write(add=record.id, digest=record.audio_digest)
            mine.append(record.id)
            if turn % 25 == 0:
                contest(voices, notes, turn)
            if chance.random() < 0.8:
                gone = mine.pop(chance.randrange(len(mine)))
                assert voices.remove(gone) is not None
                notes.write(remove=gone)
            if turn % 20 == 0:
                voices.sweep()
        voices.close()

    children = [forked(lambda process=process: work(process)) for process in range(PROCESSES)]
    print(json.dumps({"codes": [ending(pid) for pid in children]}))


def contest(voices: VoiceStore, notes: Notes, turn: int) -> None:
    """Try for a name that every process wants."""
    try:
        record = voices.add(registration(f"contested {turn}", 1_000)).record
    except ConflictError:
        notes.write(lost=turn)
    else:
        notes.write(add=record.id, digest=record.audio_digest, won=turn)


def check_all_at_once(trial: Trial, registrations: int) -> None:
    """Hold the store against what the processes of `all_at_once` were told."""
    notes = [note for process in range(PROCESSES) for note in read_notes(trial.folder / f"notes{process}")]
    added = {note["add"]: note["digest"] for note in notes if "add" in note}
    removed = {note["remove"] for note in notes if "remove" in note}
    won = [note["won"] for note in notes if "won" in note]
    assert len(added) >= registrations // PROCESSES * PROCESSES
    assert len(removed) > registrations // 2
    assert len(won) == len(set(won)) == len({note.get("won", note.get("lost")) for note in notes} - {None})

    voices = trial.opened()
    here = {voice.id: voice for voice in voices.page(VoiceQuery(limit=2 * registrations)).voices}
    assert {voice.id: voice.audio_digest for voice in here.values()} == {
        voice_id: digest for voice_id, digest in added.items() if voice_id not in removed
    }
    for voice in here.values():
        voices.recording(voice)  # which checks the hash
    assert voices.sweep() == 0
    trial.check_recordings(voices, {voice.id: voice.audio_digest for voice in here.values()})
    voices.close()


def run_workers(how: str, folder: Path, settings: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run this program and return what it reports."""
    program = [sys.executable, "-m", "helpers.store_workers", how, str(folder)]
    program += [] if settings is None else [json.dumps(settings)]
    result = subprocess.run(program, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    report: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return report


def main() -> None:
    how, folder, *settings = sys.argv[1:]
    trial = SharedTrial(Path(folder), json.loads(settings[0])) if settings else FolderTrial(Path(folder))
    assert trial.modules  # imported before any worker is forked, each of which would take a second for it
    kind, _, number = how.partition("=")
    ways = {"lines": kill_at_lines, "moments": kill_at_moments, "at-once": all_at_once}
    ways[kind](trial, int(number))


if __name__ == "__main__":
    main()
