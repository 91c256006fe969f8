"""A server that stops lets the speech on its sockets end, and closes those on which nothing happens."""

import asyncio
import json
import os
import signal

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from helpers.attacked_server import attacked_server
from helpers.frequency_server import PROGRAM, SAMPLE_RATE, WORD_SECONDS
from helpers.realtime_client import PATH

pytestmark = pytest.mark.anyio

WORDS = 600


async def event_of(client: ClientConnection, kind: str) -> dict[str, object]:
    while (event := json.loads(await client.recv()))["type"] != kind:
        pass
    return event


@pytest.mark.long
async def test_speech_under_way_ends_before_its_socket_is_closed(tmp_path):
    with attacked_server(tmp_path, program=PROGRAM) as server:
        url = server.url.replace("http", "ws", 1) + PATH
        async with connect(url) as speaking, connect(url) as idle:
            for message in ({"type": "start"}, {"type": "text", "text": "440 " * WORDS}, {"type": "end"}):
                await speaking.send(json.dumps(message))
            await event_of(speaking, "audio")
            os.kill(server.pid, signal.SIGTERM)
            heard = asyncio.create_task(event_of(speaking, "done"))
            with pytest.raises(ConnectionClosed):
                await idle.recv()
            assert not heard.done(), "the idle socket was closed with the one that speaks"
            event = await heard
            with pytest.raises(ConnectionClosed):
                await speaking.recv()
    assert event["samples"] == round(WORDS * WORD_SECONDS * SAMPLE_RATE)
    assert speaking.close_code == 1012
