"""Processes that work on a voice store and may be killed: `python -m helpers.store_workers HOW FOLDER`.

Workers are forked, so that each costs milliseconds instead of the imports. What the store has told them is done, they
write down before they go on.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from helpers.voice_samples import RATE, noise, registration
from polyvox.errors import ConflictError
from polyvox.voices import recordings, store, sweep
from polyvox.voices.recordings import digest_of, wav_bytes
from polyvox.voices.records import VoiceQuery
from polyvox.voices.store import VoiceStore

TRACED = frozenset(module.__file__ for module in (recordings, store, sweep))
PROCESSES = 8
REGISTRATIONS = 1_000
MOMENTS = 60

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


def change_everything(folder: Path, seed: int) -> None:
    """Every kind of change to a store of two voices, `old` and `again`; a note after each."""
    notes = Notes(folder / "notes")
    voices = VoiceStore(folder / "voices")
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


def check(folder: Path, before: Content, seed: int) -> Content:
    """Hold the disk against what a dead worker was told: all of that is there, and at most the step it was at."""
    done = len(read_notes(folder / "notes"))
    (folder / "notes").unlink(missing_ok=True)
    voices = VoiceStore(folder / "voices")
    here = voices.page(VoiceQuery(limit=1_000)).voices
    content = {voice.name: (voice.audio_digest, voice.transcript) for voice in here}
    assert content in contents_after_each_change(before, seed)[done : done + 2], (done, content)
    for voice in here:
        voices.recording(voice)  # which checks the hash
    voices.sweep()
    voices.update_sidecars()
    check_files(folder, {voice.id: voice.audio_digest for voice in here})
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


def start(folder: Path) -> Content:
    voices = VoiceStore(folder / "voices")
    two_voices(voices, 0)
    voices.close()
    return {name: (digest_of_seed(seed), "The tide is out.") for seed, name in enumerate(("old", "again"))}


def die_at_line(count: int) -> None:
    """Arrange for SIGKILL when that many more lines of the store's code are about to run."""
    left = count

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in TRACED:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def kill_at_every_line(folder: Path) -> None:
    """Let a worker die at each line of the store's code that it runs, in turn."""
    content, line, code = start(folder), 0, -signal.SIGKILL
    while code == -signal.SIGKILL:
        line += 1
        seed = 10 * line

        def work(line: int = line, seed: int = seed) -> None:
            die_at_line(line)
            change_everything(folder, seed)

        code = ending(forked(work))
        content = check(folder, content, seed)
    print(json.dumps({"lines": line - 1, "code": code}))


def kill_at_any_moment(folder: Path) -> None:
    """Let workers die wherever they are after some milliseconds: within a write, a sync, a commit."""
    chance = random.Random(1)
    content, codes = start(folder), []
    seed = 10 * (MOMENTS + 1)
    began = time.monotonic()
    ending(forked(lambda: change_everything(folder, seed)))
    whole = time.monotonic() - began
    content = check(folder, content, seed)
    for moment in range(MOMENTS):
        seed = 10 * (moment + 1)
        pid = forked(lambda seed=seed: change_everything(folder, seed))
        time.sleep(chance.uniform(0.0, whole))
        os.kill(pid, signal.SIGKILL)
        codes.append(ending(pid))
        content = check(folder, content, seed)
    print(json.dumps({"killed": codes.count(-signal.SIGKILL), "finished": codes.count(0)}))


def all_at_once(folder: Path) -> None:
    """Many processes register, delete and sweep in one folder, some of them under the same names."""

    def work(process: int) -> None:
        chance = random.Random(process)
        notes = Notes(folder / f"notes{process}")
        voices = VoiceStore(folder / "voices")
        mine: list[str] = []
        for turn in range(REGISTRATIONS // PROCESSES):
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


if __name__ == "__main__":
    ways = {"every-line": kill_at_every_line, "any-moment": kill_at_any_moment, "at-once": all_at_once}
    ways[sys.argv[1]](Path(sys.argv[2]))
