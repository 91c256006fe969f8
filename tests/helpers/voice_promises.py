"""What servers that are killed have promised about voices, and clients that keep account of it."""

import random
import threading
import time
from dataclasses import dataclass, field

import httpx
import numpy as np

from helpers.hostile import RATE, as_wav
from helpers.processes import ProgramProcess
from helpers.vowels import vowels

CLIENTS = 2
LONGEST_LIFE = 0.8
"""After the first voice is registered, in seconds."""
FIRST_VOICE_SECONDS = 30.0
RECORDINGS = [as_wav((vowels(1.5, RATE) * gain).astype(np.float32)) for gain in (1.0, 0.9, 0.8)]


@dataclass
class Promises:
    """What a server has acknowledged to its clients, and what it was asked when it died."""

    kept: dict[str, str] = field(default_factory=dict)
    """Names of registered voices by their ids."""
    removed: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    """Names that were being registered, and ids that were being removed."""
    count: int = 0
    acknowledged: threading.Event = field(default_factory=threading.Event)

    def check(self, server: ProgramProcess) -> None:
        """Hold a new server's list against the promises; what was under way may be there or not."""
        here = listed(server)
        assert self.kept.keys() - here.keys() <= self.unsure
        assert not self.removed & here.keys()
        assert {here[voice] for voice in here.keys() - self.kept.keys()} <= self.unsure
        self.kept, self.unsure = here, set()
        for voice in list(here)[:3]:
            audio = httpx.get(f"{server.url}/v1/voices/{voice}/audio")  # which checks its hash
            assert audio.status_code == 200
            assert audio.content.startswith(b"RIFF")
            assert len(audio.content) > 2 * RATE


def listed(server: ProgramProcess) -> dict[str, str]:
    """Names of all voices by their ids, the newest first."""
    voices: dict[str, str] = {}
    after: str | None = ""
    while after is not None:
        page = httpx.get(server.url + "/v1/voices", params={"limit": 100, "after": after}).json()
        voices |= {voice["id"]: voice["name"] for voice in page["data"]}
        after = page["next"]
    return voices


def change_voices(server: ProgramProcess, promises: Promises, chance: random.Random, client: int) -> None:
    """Register and remove voices until the server is gone."""
    with httpx.Client(base_url=server.url, timeout=30) as http:
        while True:
            mine = [voice for voice, name in promises.kept.items() if name.endswith(f"client {client}")]
            try:
                if len(mine) > 1 and chance.randrange(3) == 0:  # so that something is kept, whenever it dies
                    remove(http, promises, chance.choice(mine))
                else:
                    register(http, promises, f"voice {promises.count} {chance.random()} client {client}", chance)
            except httpx.TransportError:
                return


def register(http: httpx.Client, promises: Promises, name: str, chance: random.Random) -> None:
    promises.count += 1
    promises.unsure.add(name)
    form = {"name": name, "transcript": "The tide is out."}
    answer = http.post("/v1/voices", data=form, files={"audio": ("a.wav", chance.choice(RECORDINGS))})
    assert answer.status_code == 201, answer.text
    promises.kept[answer.json()["id"]] = name
    promises.acknowledged.set()
    promises.unsure.discard(name)


def remove(http: httpx.Client, promises: Promises, voice: str) -> None:
    promises.unsure.add(voice)
    assert http.delete(f"/v1/voices/{voice}").status_code == 200
    del promises.kept[voice]
    promises.removed.add(voice)
    promises.unsure.discard(voice)


def live_and_die(server: ProgramProcess, promises: Promises, chance: random.Random) -> None:
    """Let clients change voices for a moment, and kill the server meanwhile."""
    promises.acknowledged.clear()
    clients = [
        threading.Thread(target=change_voices, args=(server, promises, random.Random(chance.random()), number))
        for number in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    assert promises.acknowledged.wait(FIRST_VOICE_SECONDS)
    time.sleep(chance.uniform(0.0, LONGEST_LIFE))
    server.process.kill()
    server.process.wait()
    for client in clients:
        client.join()
