"""NVDA's driver for Polyvox: speech of a server, played while it arrives.

It uses what NVDA's own Python has and nothing else. Its names are those that NVDA looks for.
"""

import json
import queue
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import config
import globalVars
import nvwave
from logHandler import log
from synthDriverHandler import SynthDriver as BaseDriver
from synthDriverHandler import VoiceInfo, synthDoneSpeaking, synthIndexReached

from ._polyvox_server import Server, Speech
from ._polyvox_utterance import COMMANDS, Item, Mark, Pause, Prosody, Text, items_of, quieter

DEFAULT_ADDRESS = "http://127.0.0.1:8880"
SETTINGS_FILE = "polyvox.json"
"""In NVDA's folder of settings: `address`, `key` and `model`, all optional."""


class SynthDriver(BaseDriver):
    """One worker thread asks the server and feeds the player; what is cancelled is never heard."""

    name = "polyvox"
    description = "Polyvox"
    supportedSettings = (
        BaseDriver.VoiceSetting(),
        BaseDriver.RateSetting(),
        BaseDriver.PitchSetting(),
        BaseDriver.VolumeSetting(),
    )
    supportedCommands = COMMANDS
    supportedNotifications = frozenset({synthIndexReached, synthDoneSpeaking})

    @classmethod
    def check(cls) -> bool:
        """Offer it always: whether the server runs is known only when it is chosen."""
        return True

    def __init__(self) -> None:
        super().__init__()
        file = Path(globalVars.appArgs.configPath) / SETTINGS_FILE
        given = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        self._server = Server(given.get("address", DEFAULT_ADDRESS), given.get("key"), given.get("model"))
        self._voices = OrderedDict(
            (row["id"], VoiceInfo(row["id"], row["title"], row["language"])) for row in self._server.voices()
        )
        self._voice = next(iter(self._voices))
        self._prosody = Prosody()
        self._utterances: queue.Queue[tuple[int, list[Item]] | None] = queue.Queue()
        self._generation = 0
        self._speech: Speech | None = None
        self._player: nvwave.WavePlayer | None = None
        self._worker = threading.Thread(target=self._run, name="polyvox", daemon=True)
        self._worker.start()

    def terminate(self) -> None:
        """End the worker."""
        self.cancel()
        self._utterances.put(None)
        self._worker.join()
        if self._player is not None:
            self._player.close()
        super().terminate()

    def speak(self, speechSequence: Sequence[object]) -> None:
        """Queue an utterance."""
        self._utterances.put((self._generation, items_of(speechSequence, self._voice, self._prosody, self._voice_for)))

    def cancel(self) -> None:
        """Silence at once: nothing that was queued, asked for or fed before this is heard."""
        self._generation += 1
        if (speech := self._speech) is not None:
            speech.stop()
        if (player := self._player) is not None:
            player.stop()

    def pause(self, switch: bool) -> None:
        """Pause or go on."""
        if self._player is not None:
            self._player.pause(switch)

    def _run(self) -> None:
        while (utterance := self._utterances.get()) is not None:
            generation, items = utterance
            try:
                for item in items:
                    self._play(item, generation)
                if generation == self._generation and self._player is not None:
                    self._player.idle()
                if generation == self._generation:
                    synthDoneSpeaking.notify(synth=self)
            except Exception:  # noqa: BLE001 - the thread must outlive whatever the player or a listener raises
                log.error("Polyvox could not speak", exc_info=True)

    def _play(self, item: Item, generation: int) -> None:
        if generation != self._generation:
            return
        if isinstance(item, Mark):
            self._mark(item.index, generation)
        elif isinstance(item, Pause):
            self._rest(item.milliseconds, generation)
        else:
            self._say(item, generation)

    def _say(self, text: Text, generation: int) -> None:
        """Feed the speech of a text as it arrives; one that the server refuses is logged, and the rest is spoken."""
        self._speech = speech = self._server.speech(text)
        try:
            if generation != self._generation:
                return
            for pcm in speech:
                self._open_player(round(speech.sample_rate * text.pitch_factor), speech.channels)
                self._feed(quieter(pcm, text.gain), generation)
                if generation != self._generation:
                    return
        except (OSError, ValueError) as error:
            if generation == self._generation:
                log.error(f"Polyvox: {error}")
        finally:
            self._speech = None
            speech.close()

    def _rest(self, milliseconds: int, generation: int) -> None:
        if self._player is None:
            self._open_player(self._server.SAMPLE_RATE, 1)
        frames = self._player.samplesPerSec * milliseconds // 1000
        self._feed(bytes(2 * self._player.channels * frames), generation)

    def _open_player(self, rate: int, channels: int) -> None:
        """A higher rate than the voice's is a higher pitch, which `Text.speed` makes up for in time."""
        if self._player is not None:
            if (self._player.samplesPerSec, self._player.channels) == (rate, channels):
                return
            self._player.idle()
        device = config.conf["audio"]["outputDevice"]
        self._player = nvwave.WavePlayer(channels, rate, 16, outputDevice=device)

    def _feed(self, pcm: bytes, generation: int) -> None:
        if generation == self._generation:
            self._player.feed(pcm)
        if generation != self._generation:  # it was cancelled while it was fed
            self._player.stop()

    def _mark(self, index: int, generation: int) -> None:
        """Tell NVDA of an index when playback comes to it: at the end of one silent frame."""

        def reached() -> None:
            if generation == self._generation:
                synthIndexReached.notify(synth=self, index=index)

        if self._player is None:
            reached()
        else:
            self._player.feed(bytes(2 * self._player.channels), onDone=reached)

    def _voice_for(self, language: str | None) -> str:
        """The chosen voice, or the first that speaks a language which the chosen one does not."""
        wanted = (language or "").lower().replace("-", "_").partition("_")[0]
        for voice in (self._voice, *self._voices):
            if (self._voices[voice].language or "").lower().partition("_")[0] == wanted:
                return voice
        return self._voice

    def _getAvailableVoices(self) -> "OrderedDict[str, VoiceInfo]":
        return self._voices

    def _get_voice(self) -> str:
        return self._voice

    def _set_voice(self, value: str) -> None:
        if value not in self._voices:
            raise LookupError(f"There is no voice {value}")
        self._voice = value

    def _get_rate(self) -> int:
        return self._prosody.rate

    def _set_rate(self, value: int) -> None:
        self._prosody = self._prosody.changed("rate", value)

    def _get_pitch(self) -> int:
        return self._prosody.pitch

    def _set_pitch(self, value: int) -> None:
        self._prosody = self._prosody.changed("pitch", value)

    def _get_volume(self) -> int:
        return self._prosody.volume

    def _set_volume(self, value: int) -> None:
        self._prosody = self._prosody.changed("volume", value)
