"""HTTP/2 that is none: whatever arrives on the port of gRPC, other calls are answered and no bug is logged."""

import contextlib
import random
import socket
import struct
from collections.abc import Iterator

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from helpers.attacked_server import attacked_server
from helpers.processes import ProgramProcess

pytestmark = pytest.mark.long
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = b"\0\0\0\4\0\0\0\0\0"
MOST_KINDS = 12
CONNECTIONS = 25


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramProcess]:
    with attacked_server(tmp_path_factory.mktemp("server"), grpc_port=0) as server:
        yield server


def frame(chance: random.Random) -> bytes:
    """A frame of any kind on any stream, whose length may be a lie."""
    payload = chance.randbytes(chance.choice((0, 1, 5, 6, 8, 40, 400)))
    length = len(payload) if chance.random() < 0.8 else chance.choice((0, 1, 16_384, 2**24 - 1))
    stream = chance.choice((0, 1, 1, 2, 3, 2**31 - 1, 2**32 - 1))
    head = struct.pack(">BBI", chance.randrange(MOST_KINDS), chance.choice((0, 1, 4, 5, 0x25, 0xFF)), stream)
    return length.to_bytes(3, "big") + head + payload


def garbage(chance: random.Random) -> bytes:
    kind = chance.randrange(4)
    if kind == 0:
        return chance.randbytes(chance.randrange(1, 300))
    if kind == 1:
        return PREFACE[: chance.randrange(len(PREFACE))] + chance.randbytes(30)
    return PREFACE + SETTINGS * (kind == 2) + b"".join(frame(chance) for _ in range(chance.randrange(1, 20)))


def test_whatever_arrives_in_place_of_frames_other_calls_are_answered(server: ProgramProcess, scale: int) -> None:
    host, port = server.grpc.rsplit(":", 1)
    for seed in range(CONNECTIONS * scale):
        client = socket.create_connection((host, int(port)), timeout=5)
        with client, contextlib.suppress(OSError):  # a server may hang up in the midst of it
            client.sendall(garbage(random.Random(seed)))
            client.shutdown(socket.SHUT_WR)
            while client.recv(65_536):
                continue
    with grpc.insecure_channel(server.grpc) as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=10)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    assert "Traceback" not in server.log()
