"""Recordings that mean harm, through the doors of a real server: each is refused, soon, and others do not notice."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.hostile import FILES, SPEECH
from helpers.processes import ProgramProcess
from helpers.quick_server import PROGRAM
from helpers.trials import watched

MOST_SECONDS = 30.0
"""For one recording, on a machine that is busy."""
EVERYDAY_SHARE = 8
"""In the everyday tests, one file of so many is sent, to each door in turn."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    folder = tmp_path_factory.mktemp("server")
    with attacked_server(folder, program=PROGRAM) as server:
        yield server
        assert "Traceback" not in server.log()


def registered(client: httpx.Client, data: bytes) -> httpx.Response:
    return client.post("/v1/voices", data={"name": "bomb", "transcript": "x"}, files={"audio": ("a.wav", data)})


def sent_as_a_form(client: httpx.Client, data: bytes) -> httpx.Response:
    form = {"tts_text": "Hi.", "prompt_text": "x"}
    return client.post("/inference_zero_shot", data=form, files={"prompt_wav": ("a.wav", data)})


def sent_inline(client: httpx.Client, data: bytes) -> httpx.Response:
    voice = "base64+" + base64.b64encode(data).decode()
    return client.post("/v1/audio/speech", json={"input": "Hi.", "voice": voice, "prompt_text": "x"})


DOORS = (registered, sent_as_a_form, sent_inline)


def attacks(scale: int) -> Iterator[tuple[str, bytes, Callable[[httpx.Client, bytes], httpx.Response]]]:
    for number, (name, make) in enumerate(FILES.items()):
        if scale > 1:
            yield from ((name, make(), door) for door in DOORS)
        elif number % EVERYDAY_SHARE == 0:
            yield name, make(), DOORS[number // EVERYDAY_SHARE % len(DOORS)]


@pytest.mark.parametrize("door", DOORS)
def test_an_honest_recording_passes(
    server: ProgramProcess, door: Callable[[httpx.Client, bytes], httpx.Response]
) -> None:
    with httpx.Client(base_url=server.url, timeout=2 * MOST_SECONDS) as client:
        assert door(client, SPEECH).status_code in (200, 201)


def test_hostile_recordings_are_refused_and_cost_nobody_else(
    server: ProgramProcess, scale: int, tmp_path: Path
) -> None:
    accepted: dict[str, int] = {}
    seconds: dict[str, float] = {}
    with watched(server) as toll, httpx.Client(base_url=server.url, timeout=2 * MOST_SECONDS) as client:
        for name, data, door in attacks(scale):
            began = time.monotonic()
            status = door(client, data).status_code
            seconds[f"{name}, {door.__name__}"] = time.monotonic() - began
            toll.requests += 1
            if not 400 <= status < 500:
                accepted[f"{name}, {door.__name__}"] = status
    slowest = max(seconds, key=lambda name: seconds[name])
    print(json.dumps({"slowest": slowest, "seconds": round(seconds[slowest], 2)}))
    assert accepted == {}
    assert seconds[slowest] < MOST_SECONDS
    toll.check()
