"""An engine in a package of its own: it plays a note for every word, so that there is nothing to download.

Install it beside Polyvox and name its model: `polyvox serve --model chime`, or `Speaker("chime")`.
"""

import re
from collections.abc import AsyncIterator
from typing import ClassVar

import numpy as np
from pydantic import Field

from polyvox.config import Settings, SettingsSection
from polyvox.engines.kit.progress import ChunkLedger
from polyvox.engines.spec import EngineSpec
from polyvox.errors import TextError, UnavailableError
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Span, Utterance, Voice, VoicePrompt, WordTiming

RATE = 24_000
PITCHES = {"low": 220.0, "high": 440.0}
LANGUAGES = frozenset({"en-us"})


class ChimeSettings(SettingsSection):
    """`POLYVOX_CHIME_NOTE_SECONDS`, or `chime_note_seconds` in polyvox.yaml."""

    section: ClassVar[str] = "chime"

    note_seconds: float = Field(0.25, gt=0, le=2, description="Length of a note.")


class ChimeEngine:
    """One note a word, as long as the settings say; a chunk for every word."""

    name = "chime"
    capabilities = Capabilities(languages=LANGUAGES, sample_rate=RATE, native_speed=True, word_timings=True)
    voices = tuple(Voice(id=name, name=name.capitalize(), language="en-us") for name in PITCHES)

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.section(ChimeSettings).note_seconds

    async def start(self) -> None:
        """Load weights here."""

    async def close(self) -> None:
        """Release them here."""

    def check(self, utterance: Utterance) -> None:
        """Refuse a voice or a text before any work."""
        if utterance.voice not in PITCHES:
            raise UnavailableError(f"Chime has the voices {', '.join(PITCHES)}.", field="voice")
        if not re.search(r"\w", utterance.text):
            raise TextError("There is no word in the text.", field="input")

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        raise UnavailableError("Chime does not clone voices.")

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        ledger = ChunkLedger(RATE, policy=None)
        seconds = self._seconds / utterance.speed
        time = np.arange(int(seconds * RATE), dtype=np.float32) / RATE
        note = (0.3 * np.sin(2 * np.pi * PITCHES[utterance.voice] * time) * np.exp(-6 * time)).astype(np.float32)
        for word in re.finditer(r"\w+", utterance.text):
            start, span = ledger.samples / RATE, Span(*word.span())
            timing = WordTiming(word.group(), start, start + len(note) / RATE, span)
            yield ledger.chunk(note, text=word.group(), span=span, words=(timing,))


CHIME = EngineSpec(
    family="chime",
    title="Chime",
    models={"chime": ChimeEngine},
    languages={"chime": LANGUAGES},
    voices=lambda _model, _settings: ChimeEngine.voices,
    settings=ChimeSettings,
)
