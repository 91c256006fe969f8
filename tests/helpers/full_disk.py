"""A server whose data lie on a disk that is really full: `python -m helpers.full_disk` in a mount namespace of its own.

The disk is a small tmpfs. What happened is printed as one JSON object.
"""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from helpers.cloning import sample, studio_client

TESTS = Path(__file__).parents[1]
DISK_MB = 8
NO_MOUNT = 99


def run_on_full_disk(folder: Path) -> dict[str, Any] | None:
    """The report of a server on a full disk mounted at `folder`; None where this machine lets nobody mount one."""
    if shutil.which("unshare") is None:
        return None
    mount = f"mount -t tmpfs -o size={DISK_MB}m tmpfs '{folder}'"
    worker = f"exec '{sys.executable}' -m helpers.full_disk '{folder}'"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))}
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f"{mount} || exit {NO_MOUNT}; {worker}"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode == NO_MOUNT or "unshare failed" in result.stderr:
        return None
    assert result.returncode == 0, result.stderr
    report: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return report


async def registered_until_full(client: httpx.AsyncClient) -> int:
    """Register voices until there is no room; returns how many."""
    count = 0
    while True:
        body = {"name": f"voice {count}", "transcript": "x", "audio": base64.b64encode(sample(count)).decode()}
        answer = await client.post("/v1/voices", json=body)
        if answer.status_code != 201:
            assert answer.status_code == 503, answer.text
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


async def main(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = {}
    async with studio_client(folder) as (_, client):
        report["registered"] = await registered_until_full(client)
        report["left_behind"] = (folder / "voices" / "audio" / "incoming").exists()
        fill_the_rest(folder)
        spoken = await client.post("/v1/audio/speech", json={"input": "Hello.", "voice": "voice 0"})
        report["spoken"] = spoken.status_code
    async with studio_client(folder) as (_, client):  # a server that starts while the disk is full
        voices = (await client.get("/v1/voices", params={"limit": 100})).json()["data"]
        report["found"] = len(voices)
        report["deletions"] = []
        for voice in voices:
            report["deletions"].append((await client.delete(f"/v1/voices/{voice['id']}")).status_code)
            fill_the_rest(folder)
        report["recordings"] = len(list((folder / "voices" / "audio").rglob("*.wav")))
        (folder / "of-another-program").unlink()
        report["registered_again"] = await registered_until_full(client)
    return report


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
