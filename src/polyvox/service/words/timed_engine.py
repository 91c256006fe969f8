"""An engine with word timings: its own chunks, with the times of words that were found in them afterwards."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from types import MappingProxyType
from typing import cast

import numpy as np
import numpy.typing as npt

from polyvox.engines.base import (
    Engine,
    SupportsCodes,
    SupportsConversion,
    SupportsDialogue,
    SupportsStreamingText,
    SupportsStyle,
)
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.delivery import closing
from polyvox.service.kinds.dialogue_segments import SPEAKERS
from polyvox.service.words.word_timer import WordTimer
from polyvox.service.words.word_track import WordTrack
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Utterance, Voice, VoicePrompt
from polyvox.voices.mixing import MixTerm


class TimedEngine:
    """Wraps an engine that has no word timings of its own; samples and chunks stay as they are.

    Words follow their audio: they come with a later chunk, the last ones with a chunk without samples behind the
    engine's last. Where another utterance follows in the same stream, the wait for them is short: not `patient`.
    """

    def __init__(self, engine: Engine, timer: WordTimer, executor: DeviceExecutor, patient: bool) -> None:
        self._patient = patient
        self._engine = engine
        self._timer = timer
        self._executor = executor

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def capabilities(self) -> Capabilities:
        return self._engine.capabilities

    @property
    def voices(self) -> Sequence[Voice]:
        return self._engine.voices

    async def start(self) -> None:
        await self._engine.start()

    async def close(self) -> None:
        await self._engine.close()

    def check(self, utterance: Utterance) -> None:
        self._engine.check(utterance)

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        return await self._engine.prepare(prompt)

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        track = self._track(utterance, lambda: utterance.text)
        async with aclosing(_timed(self._engine.speak(utterance), track)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _track(self, utterance: Utterance, text: Callable[[], str], *, text_follows: bool = False) -> WordTrack:
        can = self._engine.capabilities
        return WordTrack(
            self._timer,
            self._executor,
            utterance,
            text,
            tags=(can.tags or frozenset()) | {*SPEAKERS},
            languages=can.languages,
            text_follows=text_follows,
            patient=self._patient,
        )


async def _timed(speech: AsyncIterator[AudioChunk], track: WordTrack) -> AsyncGenerator[AudioChunk]:
    try:
        async with closing(speech):
            async for chunk in speech:
                yield track.push(chunk)
        if (words := await track.finish()) is not None:
            yield words
    finally:
        await track.close()


class _WithStreamingText(TimedEngine):
    async def speak_stream(self, utterance: Utterance, pieces: AsyncIterator[str]) -> AsyncIterator[AudioChunk]:
        fragments: list[str] = []

        async def noted() -> AsyncGenerator[str]:
            async with closing(pieces):
                async for piece in pieces:
                    fragments.append(piece)
                    yield piece

        track = self._track(utterance, lambda: "".join(fragments), text_follows=True)
        speech = cast(SupportsStreamingText, self._engine).speak_stream(utterance, noted())
        async with aclosing(_timed(speech, track)) as chunks:
            async for chunk in chunks:
                yield chunk


class _WithCodes(TimedEngine):
    def voice_from_codes(self, codes: Sequence[int], transcript: str) -> PreparedVoice:
        return cast(SupportsCodes, self._engine).voice_from_codes(codes, transcript)


class _WithStyle(TimedEngine):
    def voice_from_style(self, mix: Sequence[MixTerm], offset: npt.NDArray[np.float32], language: str) -> PreparedVoice:
        return cast(SupportsStyle, self._engine).voice_from_style(mix, offset, language)


class _WithDialogue(TimedEngine):
    def dialogue_voice(self, first: PreparedVoice, second: PreparedVoice) -> PreparedVoice:
        return cast(SupportsDialogue, self._engine).dialogue_voice(first, second)


class _WithConversion(TimedEngine):
    def convert(self, source: VoicePrompt, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        return cast(SupportsConversion, self._engine).convert(source, utterance)


_ABILITIES: MappingProxyType[type, type[TimedEngine]] = MappingProxyType(
    {
        SupportsStreamingText: _WithStreamingText,
        SupportsCodes: _WithCodes,
        SupportsStyle: _WithStyle,
        SupportsDialogue: _WithDialogue,
        SupportsConversion: _WithConversion,
    }
)


def timed_engine(engine: Engine, timer: WordTimer, executor: DeviceExecutor, *, patient: bool = True) -> TimedEngine:
    """The engine with word timings, and with exactly those of its abilities that a request can use."""
    parts = [part for protocol, part in _ABILITIES.items() if isinstance(engine, protocol)]
    kind: Callable[[Engine, WordTimer, DeviceExecutor, bool], TimedEngine] = type(
        "TimedEngine", (*parts, TimedEngine), {}
    )
    return kind(engine, timer, executor, patient)
