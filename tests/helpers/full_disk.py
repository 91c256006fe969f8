"""A voice store on a disk that is really full: `python -m helpers.full_disk` in a mount namespace of its own.

The disk is a small tmpfs. What happened is printed as one JSON object.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from helpers.voice_samples import noise, registration
from polyvox.errors import UnavailableError
from polyvox.voices.records import VoiceQuery
from polyvox.voices.store import VoiceStore

TESTS = Path(__file__).parents[1]
DISK_MB = 12
VOICE_SECONDS = 5.0


def run_on_full_disk(folder: Path) -> dict[str, Any] | None:
    """The report of a store on a full disk mounted at `folder`; None where this machine lets nobody mount one."""
    if shutil.which("unshare") is None:
        return None
    mount = f"mount -t tmpfs -o size={DISK_MB}m tmpfs '{folder}'"
    worker = f"exec '{sys.executable}' -m helpers.full_disk '{folder}'"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))}
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f"{mount} || exit 99; {worker}"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode == 99 or "unshare failed" in result.stderr:
        return None
    assert result.returncode == 0, result.stderr
    report: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return report


def fill_with_voices(store: VoiceStore, names: str) -> int:
    """Register voices until there is no room; returns how many."""
    count = 0
    while True:
        try:
            store.add(registration(f"{names} {count}", pcm=noise(count, VOICE_SECONDS)))
        except UnavailableError:
            return count
        count += 1


def fill_the_rest(folder: Path) -> None:
    """Take every byte that is left, as another program might."""
    with (folder / "of-another-program").open("ab", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def main(folder: Path) -> dict[str, Any]:
    store = VoiceStore(folder / "voices")
    report: dict[str, Any] = {"registered": fill_with_voices(store, "voice")}
    report["left_behind"] = (folder / "voices" / "audio" / "incoming").exists()
    fill_the_rest(folder)
    store.touch(store.page(VoiceQuery()).voices[0])
    store.close()

    store = VoiceStore(folder / "voices")  # a server that starts while the disk is full
    voices = store.page(VoiceQuery(limit=1_000)).voices
    report["found"] = len(voices)
    report["deleted"] = 0
    for voice in voices:
        store.remove(voice.id)
        report["deleted"] += 1
        fill_the_rest(folder)
    report["recordings"] = len(list((folder / "voices" / "audio").rglob("*.wav")))
    (folder / "of-another-program").unlink()
    report["registered_again"] = fill_with_voices(store, "again")
    report["reserve"] = (folder / "voices" / "reserve").exists()
    store.close()
    return report


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
