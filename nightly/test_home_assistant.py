"""Home Assistant's own Wyoming integration speaks and listens through a server with real models."""

import os
import re
import socket

import pytest

from helpers.client_environment import run_client
from helpers.processes import polyvox_process

TEXT = "The tide is out. The boats lie on the sand."


@pytest.mark.skipif(
    "HOME_ASSISTANT_TESTS" not in os.environ, reason="Home Assistant needs Python 3.13, and none is found"
)
def test_it_finds_speaks_and_hears() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with polyvox_process(["serve", "--port", "0", "--wyoming-port", str(port)], {"POLYVOX_MODELS": "wren"}):
        found = run_client("homeassistant", "home_assistant_voice.py", "127.0.0.1", port, "af_heart", TEXT)
    assert found["platforms"] == ["stt", "tts"]
    assert found["name"] == "polyvox"
    assert "af_heart" in found["voices"]
    assert found["kind"] == "wav"
    assert 2.0 < found["seconds"] < 5.0
    assert re.findall("[a-z]+", found["heard"].lower()) == re.findall("[a-z]+", TEXT.lower())
