"""An engine that runs in other processes, for the doors to use as if it were here."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt
import structlog
from structlog.contextvars import get_contextvars

from polyvox.deploy.wire import (
    Failure,
    Parcel,
    Profile,
    PromisedVoice,
    VoiceWanted,
    by_digest,
    packed,
)
from polyvox.engines.base import SupportsCodes, SupportsConversion, SupportsDialogue, SupportsMixing, SupportsPhonemes
from polyvox.errors import UnavailableError
from polyvox.runtime.stage import Observer
from polyvox.types import AudioChunk, Capabilities, PreparedVoice, Utterance, Voice, VoicePrompt

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

ATTEMPTS = 2
"""How often a request is given to a replica, as long as nothing of it was heard. One that brings replicas down must not
go round them all."""

_ANSWER_SECONDS = 60.0
_KNOWN_VOICES = 4_096

Answer = TypeVar("Answer")


class ReplicaLostError(Exception):
    """The process that was to answer is gone."""


class Line(Protocol):
    """The way to an engine's replicas. `voice` is the digest of a voice that the replica had better hold already."""

    async def ask(self, method: str, *arguments: object, voice: str = "") -> object:
        """One answer from one replica."""

    def stream(self, method: str, *arguments: object, voice: str = "") -> AsyncGenerator[object, None]:
        """Answers from one replica, made no faster than they are taken; closing this stops the replica's work."""


class RemoteEngine:
    """Fulfils `Engine` with the replicas at the end of a line; they have loaded their models when this one starts.

    A replica that is lost before the first chunk is no loss: another one starts over. After the first chunk the speech
    breaks off with an error, since what was heard cannot be taken back.
    """

    def __init__(self, profile: Profile, line: Line) -> None:
        self._profile = profile
        self._line = line
        self._observer: Observer | None = None
        self._known: OrderedDict[str, None] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.warning = profile.warning

    @property
    def name(self) -> str:
        return self._profile.name

    @property
    def capabilities(self) -> Capabilities:
        return self._profile.capabilities

    @property
    def voices(self) -> Sequence[Voice]:
        return self._profile.voices

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()

    async def close(self) -> None:
        """The replicas are closed by whoever started them."""

    def check(self, utterance: Utterance) -> None:
        """The replica checks, before the first chunk: asking it here would hold up the event loop."""

    async def prepare(self, prompt: VoicePrompt) -> PreparedVoice:
        voice = await self._ask(PreparedVoice, "prepare", prompt, voice=prompt.digest)
        self._remember(voice.digest)
        return voice

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async with aclosing(self._chunks("speak", utterance)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _chunks(self, method: str, utterance: Utterance, *before: object) -> AsyncGenerator[AudioChunk, None]:
        for attempt in range(ATTEMPTS):
            heard = False
            try:
                async with aclosing(self._attempt(method, packed(utterance), before)) as chunks:
                    async for chunk in chunks:
                        heard = True
                        yield chunk
                return
            except ReplicaLostError:
                log.warning("replica lost", engine=self.name, heard=heard, attempt=attempt + 1)
                if heard:
                    raise UnavailableError("The replica that was speaking has ended; send the request again.") from None
        raise self._no_replica()

    async def _attempt(
        self, method: str, utterance: Utterance, before: tuple[object, ...]
    ) -> AsyncGenerator[AudioChunk, None]:
        """The chunks from one replica, which is sent the voice only if it does not hold it."""
        digest = "" if utterance.prepared is None else utterance.prepared.digest
        ways = [by_digest(utterance), utterance] if digest in self._known else [utterance]
        session = get_contextvars().get("session", "")
        for way in ways:
            items = self._line.stream(method, *before, way, session, voice=digest)
            async with aclosing(items):
                async for item in items:
                    if isinstance(item, VoiceWanted):
                        break
                    yield self._opened(item)
                else:
                    break
        if digest:
            self._remember(digest)

    def _opened(self, item: object) -> AudioChunk:
        if isinstance(item, Failure):
            raise item.error()
        assert isinstance(item, Parcel)
        self.warning = item.warning
        if self._observer is not None:
            for report in item.reports:
                self._observer(report)
        return item.chunk

    async def _ask(self, kind: type[Answer], method: str, *arguments: object, voice: str = "") -> Answer:
        """One answer. Every question may be asked twice, so a replica that is lost over it costs only time."""
        for attempt in range(ATTEMPTS):
            try:
                answer = await self._line.ask(method, *arguments, voice=voice)
            except ReplicaLostError:
                log.warning("replica lost", engine=self.name, method=method, attempt=attempt + 1)
                continue
            if isinstance(answer, Failure):
                raise answer.error()
            assert isinstance(answer, kind)
            return answer
        raise self._no_replica()

    def _blocking(self, question: Coroutine[Any, Any, Answer]) -> Answer:
        """An answer for a caller on another thread, where the contract has a plain method."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(question, self._loop).result(_ANSWER_SECONDS)

    def _remember(self, digest: str) -> None:
        self._known[digest] = None
        self._known.move_to_end(digest)
        if len(self._known) > _KNOWN_VOICES:
            self._known.popitem(last=False)

    def _no_replica(self) -> UnavailableError:
        return UnavailableError(f"The replicas of {self.name!r} fail one after another; try again in a moment.")


class _Phonemizing(RemoteEngine):
    def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
        return cast(tuple[str, list[int]], self._blocking(self._ask(tuple, "phonemize", text, language)))


class _Mixing(RemoteEngine):
    def mixed_voice(self, expression: str) -> npt.NDArray[np.float32]:
        return self._blocking(self._ask(np.ndarray, "mixed_voice", expression))


class _Coded(RemoteEngine):
    def voice_from_codes(self, codes: Sequence[int], transcript: str) -> PreparedVoice:
        """The voice as it was sent; the replica checks it before the first chunk."""
        return PromisedVoice.of_codes(self.name, codes, transcript)


class _Duetting(RemoteEngine):
    def dialogue_voice(self, first: PreparedVoice, second: PreparedVoice) -> PreparedVoice:
        return PromisedVoice.of_two(self.name, first, second)


class _Converting(RemoteEngine):
    async def convert(self, source: VoicePrompt, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async with aclosing(self._chunks("convert", utterance, source)) as chunks:
            async for chunk in chunks:
                yield chunk


# `SupportsStreamingText` is not among them: arriving text would have to find its way to the one replica that speaks.
# The hall then sends sentence by sentence.
_ABILITIES: MappingProxyType[type, type[RemoteEngine]] = MappingProxyType(
    {
        SupportsPhonemes: _Phonemizing,
        SupportsMixing: _Mixing,
        SupportsCodes: _Coded,
        SupportsDialogue: _Duetting,
        SupportsConversion: _Converting,
    }
)


def abilities_of(engine: object) -> frozenset[str]:
    """What an engine can do besides speaking, as far as it can be done from another process."""
    return frozenset(protocol.__name__ for protocol in _ABILITIES if isinstance(engine, protocol))


def remote_engine(profile: Profile, line: Line) -> RemoteEngine:
    """An engine with the abilities of the profile and no others, so that asking for one tells the truth."""
    parts = [part for protocol, part in _ABILITIES.items() if protocol.__name__ in profile.abilities]
    kind: Callable[[Profile, Line], RemoteEngine] = type("RemoteEngine", (*parts, RemoteEngine), {})
    return kind(profile, line)
