"""A text of fifty thousand characters: heard from its first clause on, with no more of it in hand than a few chunks."""

import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helpers.cloning import Studio, opened
from helpers.zipvoice_fakes import fake_networks
from polyvox.engines.zipvoice.engine import ZipVoiceEngine
from polyvox.engines.zipvoice.frontend import ZipVoiceFrontend
from polyvox.engines.zipvoice.networks import ZipVoiceNetworks
from polyvox.engines.zipvoice.variants import VARIANTS
from polyvox.installation import load_settings
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.types import AudioChunk, PreparedVoice, Utterance, VoicePrompt

pytestmark = pytest.mark.anyio
RATE = 24_000
TEXT = "The tide was out, and the boats lay on the sand; nobody was there. " * 750
ASKED = Utterance(TEXT, "mine", tuning={"num_steps": 1.0})
BUFFER = 2
LONGEST_SECONDS = 27.0
"""The model says 25 s at once, in letters, of which English has a few less than sounds."""


class WatchedFrontend(ZipVoiceFrontend):
    """Counts what it has read, and how far into the text that was."""

    readings = place = 0

    def read(self, *arguments: Any) -> Iterator[Any]:
        for reading in super().read(*arguments):
            self.readings += 1
            self.place = reading.span.end
            yield reading


class WatchedEngine(ZipVoiceEngine):
    """Counts the samples that it has made and that somebody still holds."""

    def __init__(self, networks: ZipVoiceNetworks) -> None:
        super().__init__(VARIANTS["zipvoice_distill"], load_settings(espeak="no-such-program"))
        self._networks = networks
        self.held = self.most_held = 0

    async def start(self) -> None:
        await self.start_with(self._networks, torch.device("cpu"))

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async for chunk in super().speak(utterance):
            size = len(chunk.pcm)
            self.held += size
            self.most_held = max(self.most_held, self.held)
            weakref.finalize(chunk.pcm, self._dropped, size)
            yield chunk
            del chunk

    def _dropped(self, size: int) -> None:
        self.held -= size


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> list[WatchedFrontend]:
    made: list[WatchedFrontend] = []

    def watched(*arguments: Any, **options: Any) -> WatchedFrontend:
        made.append(WatchedFrontend(*arguments, **options))
        return made[-1]

    monkeypatch.setattr("polyvox.engines.zipvoice.engine.ZipVoiceFrontend", watched)
    return made


def known(voice: PreparedVoice) -> Callable[[], Awaitable[ResolvedVoice]]:
    """Casts a voice that is prepared already."""

    async def prepare(engine: object) -> PreparedVoice:
        return voice

    async def cast() -> ResolvedVoice:
        return ResolvedVoice("mine", prepare)

    return cast


@pytest.mark.slow
async def test_fifty_thousand_characters_stream_in_bounded_memory(
    tmp_path: Path, reader: list[WatchedFrontend]
) -> None:
    assert len(TEXT) >= 50_000
    networks, _ = fake_networks()
    engine = WatchedEngine(networks)
    shown: Any = engine
    studio = Studio(tmp_path, shown, session_buffer=BUFFER)
    async with opened(studio):
        recording = (np.sin(np.arange(RATE) * 0.05) * 0.1).astype(np.float32)
        voice = await engine.prepare(VoicePrompt(recording, RATE, "Hello there, it is me.", "digest"))
        seconds, read = 0.0, 0
        async with await studio.speech.open(SpeechRequest(ASKED, resolve_voice=known(voice)), LOCAL_CALL) as session:
            async for chunk in session:
                read += 1
                seconds += chunk.duration
                if read == 1:  # when the first words are heard, hardly any of the text has been looked at
                    assert reader[0].place < len(TEXT) / 50
                assert chunk.duration <= LONGEST_SECONDS
                # Read but not yet taken by the client: what is buffered, what is being made, and the one after that.
                assert reader[0].readings - read <= BUFFER + 2
        assert reader[0].place == len(TEXT.rstrip())
        assert seconds > 600.0
        assert engine.most_held <= (BUFFER + 3) * LONGEST_SECONDS * RATE
