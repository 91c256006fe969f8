"""One body cannot hold the server up: long lists, deep nesting and base64 that is none."""

from collections.abc import Iterator

import httpx
import pytest

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.trials import watched

JSON = {"Content-Type": "application/json"}
MILLION_TURNS = b'{"turns":[' + b",".join([b"1"] * 1_000_000) + b"]}"
BODIES = {
    "turns": ("/v1/audio/dialogue", MILLION_TURNS),
    "tags": ("/v1/voices", MILLION_TURNS.replace(b"turns", b"tags")),
    "nesting": ("/v1/audio/speech", b'{"input":' + b"[" * 1_000_000),
    "names": ("/v1/audio/speech", b"{" + b",".join(b'"%d":1' % n for n in range(200_000)) + b"}"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.mark.parametrize("name", BODIES)
def test_one_hostile_body_holds_nobody_up(name: str, server: ProgramProcess, scale: int) -> None:
    path, body = BODIES[name]
    with watched(server) as toll:
        for _ in range(3 * min(scale, 5)):
            answer = httpx.post(server.url + path, content=body, headers=JSON, timeout=60)
            assert 400 <= answer.status_code < 500
    toll.check()
