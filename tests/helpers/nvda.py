"""Stand-ins for the modules of NVDA that a speech driver imports, shaped as its source of 2025 has them."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


class Action:
    """An extension point: those who registered are told by keyword."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def notify(self, **values: Any) -> None:
        self.told.append(values)


class Driver:
    """NVDA's base: `_get_x` and `_set_x` of a class become its property `x`."""

    def __init_subclass__(cls) -> None:
        for name in {each[5:] for each in dir(cls) if each.startswith(("_get_", "_set_"))}:
            setattr(cls, name, property(getattr(cls, f"_get_{name}", None), getattr(cls, f"_set_{name}", None)))

    VoiceSetting = RateSetting = PitchSetting = VolumeSetting = classmethod(lambda cls: object())

    def _get_availableVoices(self) -> Any:
        return self._getAvailableVoices()

    def terminate(self) -> None:
        self.is_terminated = True


class Player:
    """A WavePlayer that keeps what it is fed. Callbacks come when all is played, and not after a stop."""

    def __init__(self, channels: int, samplesPerSec: int, bitsPerSample: int, outputDevice: str = "") -> None:
        assert (bitsPerSample, outputDevice) == (16, "the speakers")
        self.channels, self.samplesPerSec = channels, samplesPerSec
        self._callbacks: list[Any] = []
        self.acts: list[str] = []
        self.fed = b""
        PLAYERS.append(self)

    def feed(self, data: bytes, size: int | None = None, onDone: Any = None) -> None:
        assert len(data) % (2 * self.channels) == 0
        self.acts.append("feed")
        self.fed += data
        if onDone is not None:
            self._callbacks.append(onDone)

    def idle(self) -> None:
        self.acts.append("idle")
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def stop(self) -> None:
        self.acts.append("stop")
        self._callbacks = []

    def pause(self, switch: bool) -> None:
        self.acts.append("pause" if switch else "resume")

    def close(self) -> None:
        self.stop()


PLAYERS: list[Player] = []


_FIELDS = {"IndexCommand": "index", "BreakCommand": "time", "LangChangeCommand": "lang"}


def _command(name: str, field: str) -> type:
    """A command that carries one value."""
    return type(name, (), {"__init__": lambda self, value: setattr(self, field, value)})


class _Prosody:
    def __init__(self, offset: int = 0) -> None:
        self.isDefault, self.newValue = offset == 0, 50 + offset


def install(monkeypatch: pytest.MonkeyPatch, drivers: str, settings: str) -> SimpleNamespace:
    """Put them where imports find them, with the drivers of a folder, and return what a test needs of them."""
    PLAYERS.clear()
    commands = {
        **{name: _command(name, field) for name, field in _FIELDS.items()},
        **{name: type(name, (_Prosody,), {}) for name in ("PitchCommand", "RateCommand", "VolumeCommand")},
    }
    errors: list[str] = []
    names = {"__init__": lambda self, *row: setattr(self, "row", row), "language": property(lambda self: self.row[2])}
    done, reached = Action(), Action()
    modules = {
        "config": {"conf": {"audio": {"outputDevice": "the speakers"}}},
        "globalVars": {"appArgs": SimpleNamespace(configPath=settings)},
        "logHandler": {"log": SimpleNamespace(error=lambda text, **_: errors.append(text))},
        "nvwave": {"WavePlayer": Player},
        "speech": {},
        "speech.commands": commands,
        "synthDriverHandler": {
            "SynthDriver": Driver,
            "VoiceInfo": type("VoiceInfo", (), names),
            "synthDoneSpeaking": done,
            "synthIndexReached": reached,
        },
        "synthDrivers": {"__path__": [drivers]},
    }
    for name, values in modules.items():
        module = ModuleType(name)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("polyvox", "_polyvox_server", "_polyvox_utterance"):
        monkeypatch.delitem(sys.modules, f"synthDrivers.{name}", raising=False)
    return SimpleNamespace(**commands, done=done, reached=reached, errors=errors)
