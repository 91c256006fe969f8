"""The NVDA add-on as it is packed, with stand-ins for NVDA's modules, against a real server."""

import importlib
import importlib.util
import json
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.fakes import tone_service
from helpers.nvda import PLAYERS, install
from helpers.serving import served, wait_for
from helpers.studio_engine import StudioEngine
from polyvox import __version__
from polyvox.screen_reader.message_settings import MessageSettings

BUILD = Path(__file__).parents[2] / "deploy/nvda/build.py"


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    spec = importlib.util.spec_from_file_location("nvda_build", BUILD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.build(tmp_path)


@pytest.fixture
def nvda(monkeypatch: pytest.MonkeyPatch, packed: Path, tmp_path: Path) -> SimpleNamespace:
    """What NVDA would have after it has installed the file."""
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path / "addon")
    found = install(monkeypatch, str(tmp_path / "addon/synthDrivers"), str(tmp_path))
    found.settings = tmp_path / "polyvox.json"
    found.driver = lambda: importlib.import_module("synthDrivers.polyvox").SynthDriver()
    found.utterance = lambda: importlib.import_module("synthDrivers._polyvox_utterance")
    yield found
    for name in [each for each in sys.modules if each.startswith("synthDrivers.")]:
        del sys.modules[name]


def test_the_packed_file_has_the_manifest_the_drivers_and_the_version_of_the_package(packed: Path) -> None:
    assert packed.name == f"polyvox-{__version__}.nvda-addon"
    with zipfile.ZipFile(packed) as archive:
        assert archive.namelist() == [
            "manifest.ini",
            "synthDrivers/_polyvox_server.py",
            "synthDrivers/_polyvox_utterance.py",
            "synthDrivers/polyvox.py",
        ]
        rows = dict(line.split(" = ", 1) for line in archive.read("manifest.ini").decode().splitlines())
    assert {"name", "summary", "author", "version", "minimumNVDAVersion", "lastTestedNVDAVersion"} <= set(rows)
    assert rows["name"] == "polyvox"


def test_rate_pitch_and_volume_are_those_of_the_module_for_speech_dispatcher(nvda: SimpleNamespace) -> None:
    utterance = nvda.utterance()
    for percent in (0, 25, 50, 80, 100):
        prosody = utterance.Prosody(rate=percent, volume=percent)
        same = MessageSettings(rate=2 * percent - 100, volume=2 * percent - 100)
        assert utterance.Text("", "", prosody).speed == pytest.approx(same.speed), percent
        assert utterance.Text("", "", prosody).gain == pytest.approx(same.gain), percent
        high = utterance.Text("", "", utterance.Prosody(pitch=percent))
        assert high.pitch_factor == pytest.approx(MessageSettings(pitch=2 * percent - 100).pitch_factor), percent
        assert high.speed * high.pitch_factor == pytest.approx(1.0), "the pace does not move with the pitch"
    halved = utterance.quieter(np.array([1000, -1000], "<i2").tobytes(), 0.5)
    assert np.frombuffer(halved, "<i2").tolist() == [500, -500]


def test_a_sequence_becomes_texts_pauses_and_marks(nvda: SimpleNamespace) -> None:
    utterance = nvda.utterance()
    plain = utterance.Prosody()
    sequence = [
        *("Hello", "world", nvda.IndexCommand(1), "...", nvda.BreakCommand(99_999), "a"),
        *(nvda.LangChangeCommand("fr_FR"), "oui", nvda.LangChangeCommand(None)),
        *(nvda.PitchCommand(30), "B", nvda.PitchCommand(), "end", nvda.IndexCommand(2)),
    ]
    found = utterance.items_of(sequence, "low", plain, lambda language: f"voice of {language}")
    assert found == [
        utterance.Text("Hello world", "low", plain),
        utterance.Mark(1),
        utterance.Pause(10_000),
        utterance.Text("A", "low", plain),
        utterance.Text("oui", "voice of fr_FR", plain),
        utterance.Text("B", "low", utterance.Prosody(pitch=80)),
        utterance.Text("end", "low", plain),
        utterance.Mark(2),
    ]


def test_it_speaks_tells_of_marks_in_their_order_and_falls_silent_at_once(nvda: SimpleNamespace) -> None:
    engine = StudioEngine(chunks=3, chunk_seconds=0.1)
    with served(tone_service(engine, api_keys=["secret"])) as url:
        nvda.settings.write_text(json.dumps({"address": url, "key": "wrong"}))
        with pytest.raises(ValueError, match="401"):
            nvda.driver()
        nvda.settings.write_text(json.dumps({"address": url, "key": "secret"}))
        driver = nvda.driver()
        assert {name: voice.row[1:] for name, voice in driver.availableVoices.items()} == {
            "low": ("Low", "en_US"),
            "high": ("High", "en_GB"),
        }
        driver.voice, driver.rate, driver.volume = "high", 75, 50
        driver.speak(["one", nvda.IndexCommand(1), "two", nvda.PitchCommand(30), "three", nvda.IndexCommand(2)])
        wait_for(lambda: nvda.done.told or nvda.errors, seconds=30.0)
        assert nvda.errors == []
        assert [told["index"] for told in nvda.reached.told] == [1, 2]
        assert [each.text for each in engine.heard] == ["one", "two", "three"]
        assert engine.spoken == ["high"] * 3
        assert [round(each.speed, 3) for each in engine.heard] == [2.0, 2.0, round(2 * 2 ** (-30 / 150), 3)]
        assert [player.samplesPerSec for player in PLAYERS] == [24_000, round(24_000 * 2 ** (30 / 150))]
        assert 0.1 < np.abs(np.frombuffer(PLAYERS[0].fed, "<i2") / 32768).max() < 0.5, "half of the volume"

        engine.chunks, engine.delay = 1000, 0.02
        driver.speak(["a long text", nvda.IndexCommand(3)])
        fed = [len(player.acts) for player in PLAYERS]
        wait_for(lambda: [len(player.acts) for player in PLAYERS] != fed, seconds=30.0)
        driver.cancel()
        wait_for(lambda: engine.speaking == 0, seconds=10.0)
        engine.delay = 60.0
        driver.speak(["a text whose first sound is long in coming"])
        wait_for(lambda: engine.speaking == 1, seconds=10.0)
        driver.cancel()
        wait_for(lambda: engine.speaking == 0, seconds=10.0)
        engine.chunks, engine.delay = 1, 0.0
        driver.speak(["short", nvda.IndexCommand(4)])
        wait_for(lambda: len(nvda.done.told) == 2 or nvda.errors, seconds=30.0)
        assert nvda.errors == []
        assert [told["index"] for told in nvda.reached.told] == [1, 2, 4], "what was cancelled is not told of"
        driver.pause(True)
        assert PLAYERS[-1].acts[-1] == "pause"
        driver.terminate()
        assert driver.is_terminated
    with pytest.raises(OSError, match="refused"):
        nvda.driver()
