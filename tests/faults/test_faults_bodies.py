"""Bodies that are never finished share one budget of memory."""

import base64
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import repeat

import grpc
import httpx
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess
from helpers.raw_grpc import UnfinishedCall
from helpers.raw_http import connections, request_head, sent
from helpers.serving import wait_for
from helpers.trials import watched

BODY = 17_000_000
SPEECH = {"model": "kokoro", "input": "Hi.", "voice": "af_heart", "response_format": "pcm"}
KEY = "a-key-of-the-trial"
MESSAGE = 14_000_000
METHODS = (
    "/polyvox.v1.Speech/Speak",
    "/polyvox.v1.Speech/Converse",
    "/grpc.health.v1.Health/Check",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
)
SERVING = health_pb2.HealthCheckResponse.SERVING
_BLOCK = b"a" * 65_536


@pytest.fixture(scope="module", params=["uvicorn", "granian"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server"), server=request.param) as server:
        yield server


@pytest.fixture(scope="module")
def grpc_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server"), grpc_port=0, api_keys=KEY) as server:
        yield server


def test_unfinished_bodies_are_bounded_together_and_texts_are_still_spoken(server: ProgramProcess, scale: int) -> None:
    head = request_head("POST", "/v1/voices", "Content-Type: application/json", f"Content-Length: {BODY}")
    pieces = [head, b'{"audio":"', *repeat(_BLOCK, BODY // len(_BLOCK) - 1)]
    with watched(server) as toll, connections(server, min(100, 30 * scale)) as attackers:
        for attacker in attackers:
            sent(attacker, pieces)

        spoken = httpx.post(f"{server.url}/v1/audio/speech", json=SPEECH)
        held = pending(server)
    toll.check()
    assert spoken.status_code == 200
    assert 100 * 2**20 < held < 160 * 2**20


def test_unfinished_messages_of_grpc_are_bounded_together_and_calls_are_still_answered(
    grpc_server: ProgramProcess, scale: int
) -> None:
    with watched(grpc_server) as toll, ExitStack() as stack:
        authorization = ("authorization", f"Bearer {KEY}")
        methods = METHODS * min(25, 12 * scale)
        calls = [UnfinishedCall(grpc_server, method, MESSAGE, authorization) for method in methods]
        for call in calls:
            stack.enter_context(call.connection)
        for call in calls:
            call.send_all_but(1)
        assert health(grpc_server) == SERVING
    toll.check(200 * 2**20)  # one method without a bound would take more


def test_a_call_without_a_key_has_no_message_read(grpc_server: ProgramProcess) -> None:
    call = UnfinishedCall(grpc_server, "/polyvox.v1.Speech/Speak", MESSAGE)
    with call.connection:
        assert call.send_all_but(1) < 1_000_000


def health(server: ProgramProcess) -> int:
    with grpc.insecure_channel(server.grpc) as channel:
        request = health_pb2.HealthCheckRequest()
        return health_pb2_grpc.HealthStub(channel).Check(request, timeout=5).status


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
