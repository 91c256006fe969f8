"""Debian's Speech Dispatcher drives `polyvox speechd`."""

import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.speech_dispatcher import PROGRAM, SpeechClient, speech_dispatcher, tones_module

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(PROGRAM is None, reason="speech-dispatcher is not installed"),
]


def events_until(client: SpeechClient, last: str) -> list[str]:
    """The events of a message, by their last lines, up to one of them."""
    events: list[str] = []
    while not events or events[-1] != last:
        events.append(client.reply()[-1])
    return events


def test_speech_dispatcher_speaks_spells_and_stops(tmp_path: Path) -> None:
    path = ":".join(entry for entry in sys.path if entry)
    with speech_dispatcher(tmp_path, tones_module(), PYTHONPATH=path) as (client, heard):
        voices = [line.split("\t")[0] for line in client.ask("LIST SYNTHESIS_VOICES")]
        assert {"249-low", "249-high"} <= set(voices)
        client.speak("Good morning. How are you?")
        assert events_until(client, "702 END")[0] == "701 BEGIN"
        samples = np.frombuffer(heard.read_bytes(), "<i2")
        assert np.abs(samples).max() > 1000
        for command in ("CHAR a", "CHAR space", "KEY control_a"):
            assert client.ask(command)[-1] == "225 OK MESSAGE QUEUED"
            assert events_until(client, "702 END")[0] == "701 BEGIN"
        client.speak("slow words without an end")
        assert client.reply()[-1] == "701 BEGIN"
        assert client.ask("STOP SELF") == ["210 OK STOPPED"]
        assert events_until(client, "703 CANCELED")[-1] == "703 CANCELED"
        client.speak("Spoken after a stop.")
        assert events_until(client, "702 END") == ["701 BEGIN", "702 END"]
        assert client.ask("QUIT")[-1].startswith("231")
    assert "Traceback" not in (tmp_path / "polyvox.log").read_text()


@pytest.mark.slow
def test_wren_is_heard_through_speech_dispatcher(tmp_path: Path, models_dir: Path) -> None:
    path = ":".join(entry for entry in sys.path if entry)
    command = [sys.executable, "-m", "polyvox", "speechd", "--model", "wren", "--models-dir", str(models_dir)]
    with speech_dispatcher(tmp_path, command, PYTHONPATH=path) as (client, heard):
        client.speak("Good morning.")
        events_until(client, "702 END")
        usual = len(heard.read_bytes())
        client.ask("SET SELF RATE 100")
        client.speak("Good morning.")
        events_until(client, "702 END")
        quick = len(heard.read_bytes()) - usual
    assert 24_000 < usual < 96_000
    assert 0.15 < quick / usual < 0.6
