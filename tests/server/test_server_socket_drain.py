"""A server that stops lets the speech on its sockets end, and closes those on which nothing happens."""

import json
import os
import signal
import time

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from helpers.attacked_server import attacked_server
from helpers.frequency_server import PROGRAM, SAMPLE_RATE, WORD_SECONDS
from helpers.realtime_client import PATH

pytestmark = pytest.mark.anyio

WORDS = 600


@pytest.mark.long
async def test_speech_under_way_ends_before_its_socket_is_closed(tmp_path):
    with attacked_server(tmp_path, program=PROGRAM) as server:
        url = server.url.replace("http", "ws", 1) + PATH
        async with connect(url) as speaking, connect(url) as idle:
            for message in ({"type": "start"}, {"type": "text", "text": "440 " * WORDS}, {"type": "end"}):
                await speaking.send(json.dumps(message))
            while json.loads(await speaking.recv())["type"] != "audio":
                pass
            os.kill(server.pid, signal.SIGTERM)
            asked = time.monotonic()
            with pytest.raises(ConnectionClosed):
                await idle.recv()
            assert time.monotonic() - asked < 2.0
            while (event := json.loads(await speaking.recv()))["type"] != "done":
                pass
            with pytest.raises(ConnectionClosed):
                await speaking.recv()
    assert event["samples"] == round(WORDS * WORD_SECONDS * SAMPLE_RATE)
    assert speaking.close_code == 1012
