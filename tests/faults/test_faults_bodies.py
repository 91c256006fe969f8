"""Bodies that are never finished share one budget of memory."""

import base64
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.raw_http import connections, request_head, sent
from helpers.serving import wait_for
from helpers.trials import watched

BODY = 17_000_000
SPEECH = {"model": "kokoro", "input": "Hi.", "voice": "af_heart", "response_format": "pcm"}
_BLOCK = b"a" * 65_536


@pytest.fixture(scope="module", params=["uvicorn", "granian"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server"), server=request.param) as server:
        yield server


def test_unfinished_bodies_are_bounded_together_and_texts_are_still_spoken(server: ProgramProcess, scale: int) -> None:
    head = request_head("POST", "/v1/voices", "Content-Type: application/json", f"Content-Length: {BODY}")
    pieces = [head, b'{"audio":"', *repeat(_BLOCK, BODY // len(_BLOCK) - 1)]
    with watched(server) as toll, connections(server, min(100, 30 * scale)) as attackers:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda each: sent(each, pieces), attackers))

        spoken = httpx.post(f"{server.url}/v1/audio/speech", json=SPEECH)
        held = pending(server)
    toll.check()
    assert spoken.status_code == 200
    assert 100 * 2**20 < held < 160 * 2**20


def test_the_budget_is_free_again_when_its_clients_have_left(server: ProgramProcess) -> None:
    wait_for(lambda: pending(server) == 0)
    recording = base64.b64encode(os.urandom(6_000_000)).decode()
    for _ in range(2):
        refused = httpx.post(f"{server.url}/v1/voices", json={"name": "x", "audio": recording}, timeout=30)
        assert refused.status_code == 400  # it is noise
    assert pending(server) == 0


def pending(server: ProgramProcess) -> float:
    metrics = httpx.get(f"{server.url}/metrics").text
    return float(re.findall(r"^polyvox_pending_body_bytes (\S+)$", metrics, re.MULTILINE)[0])
