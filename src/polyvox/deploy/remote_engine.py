"""A proxy for an engine that runs in other processes."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt
import structlog
from structlog.contextvars import get_contextvars

from polyvox.deploy.messages import (
    ChunkMessage,
    DeferredVoice,
    EngineProfile,
    ErrorMessage,
    VoiceMissing,
    by_digest,
    picklable,
)
from polyvox.engines.base import (
    SupportsCodes,
    SupportsConversion,
    SupportsDialogue,
    SupportsMixing,
    SupportsPhonemes,
    SupportsStreamingText,
    SupportsStyle,
)
from polyvox.errors import UnavailableError
from polyvox.runtime.stage import Observer
from polyvox.service.telemetry.tracing import outgoing_headers
from polyvox.types import AudioChunk, Capabilities, EngineLocation, PreparedVoice, Utterance, Voice, VoicePrompt

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

ATTEMPTS = 2
"""Replicas tried for a request before its first chunk. A request that crashes replicas must not reach all of them."""

_CALL_TIMEOUT_SECONDS = 60.0
_RETRY_SECONDS = 5.0
_KNOWN_VOICES = 4_096

Answer = TypeVar("Answer")


class ReplicaLostError(Exception):
    """The replica ended before it answered."""


class Transport(Protocol):
    """Calls to an engine's replicas. `voice` is the digest of a voice; a replica that holds it is preferred."""

    async def ask(self, method: str, *arguments: object, voice: str = "") -> object:
        """Call one replica for one result."""

    def stream(self, method: str, *arguments: object, voice: str = "") -> AsyncGenerator[object, None]:
        """Stream results from one replica, produced no faster than they are read; closing this stops the replica."""


class RemoteEngine:
    """Implements `Engine` with replicas that have loaded their models already.

    If a replica is lost before the first chunk, another one starts over. After the first chunk the stream ends with an
    error, since audio that was sent cannot be taken back.
    """

    def __init__(self, profile: EngineProfile, transport: Transport) -> None:
        self._profile = profile
        self._transport = transport
        self._observer: Observer | None = None
        self._known: OrderedDict[str, None] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.warning = profile.warning
        self.obstacle = profile.obstacle or ""
        self.location = profile.location or EngineLocation()
        """Location of the replica that spoke last."""

    async def refresh(self) -> None:
        """Ask a replica for what may have changed: a warning, and what keeps it from speaking."""
        self.update(await self._ask(EngineProfile, "describe"))

    def update(self, profile: EngineProfile) -> None:
        """Take over what may have changed since the engine was made; its abilities stay."""
        self._profile = profile
        self.warning, self.obstacle = profile.warning, profile.obstacle or ""

    @property
    def profile(self) -> EngineProfile:
        """The engine as its process described it last."""
        return self._profile

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
        """Replicas are closed by the process that started them."""

    def check(self, utterance: Utterance) -> None:
        """No check here: it would block the event loop; the replica checks before the first chunk."""

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
            started = False
            try:
                async with aclosing(self._attempt(method, picklable(utterance), before)) as chunks:
                    async for chunk in chunks:
                        started = True
                        yield chunk
                return
            except ReplicaLostError:
                log.warning("replica lost", engine=self.name, audio_sent=started, attempt=attempt + 1)
                if started:
                    raise UnavailableError(
                        "The replica that served this request has ended; send the request again.", retry=True
                    ) from None
        raise self._no_replica()

    async def _attempt(
        self, method: str, utterance: Utterance, before: tuple[object, ...]
    ) -> AsyncGenerator[AudioChunk, None]:
        """The chunks from one replica, which is sent the whole voice only if it does not hold it."""
        digest = "" if utterance.prepared is None else utterance.prepared.digest
        variants = [by_digest(utterance), utterance] if digest in self._known else [utterance]
        session = get_contextvars().get("session", "")
        for variant in variants:
            items = self._transport.stream(method, *before, variant, session, outgoing_headers(), voice=digest)
            async with aclosing(items):
                async for item in items:
                    if isinstance(item, VoiceMissing):
                        break
                    yield self._unwrap(item)
                else:
                    break
        if digest:
            self._remember(digest)

    def _unwrap(self, item: object) -> AudioChunk:
        if isinstance(item, ErrorMessage):
            raise item.error()
        assert isinstance(item, ChunkMessage)
        self.warning = item.warning
        self.location = item.location or self.location
        if self._observer is not None:
            for report in item.reports:
                self._observer(report)
        return item.chunk

    async def _ask(self, kind: type[Answer], method: str, *arguments: object, voice: str = "") -> Answer:
        """Call a replica. Every call is idempotent, so one whose replica is lost is repeated."""
        for attempt in range(ATTEMPTS):
            try:
                answer = await self._transport.ask(method, *arguments, voice=voice)
            except ReplicaLostError:
                log.warning("replica lost", engine=self.name, method=method, attempt=attempt + 1)
                continue
            if isinstance(answer, ErrorMessage):
                raise answer.error()
            assert isinstance(answer, kind)
            return answer
        raise self._no_replica()

    def _blocking(self, call: Coroutine[Any, Any, Answer]) -> Answer:
        """Wait for a call from another thread, where the engine contract has a blocking method."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(call, self._loop).result(_CALL_TIMEOUT_SECONDS)

    def _remember(self, digest: str) -> None:
        self._known[digest] = None
        self._known.move_to_end(digest)
        if len(self._known) > _KNOWN_VOICES:
            self._known.popitem(last=False)

    def _no_replica(self) -> UnavailableError:
        return UnavailableError(
            f"The replicas of the model {self.name!r} keep failing; try again in {_RETRY_SECONDS:.0f} s.",
            retry=True,
            retry_after=_RETRY_SECONDS,
        )


class _WithPhonemes(RemoteEngine):
    def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
        return cast(tuple[str, list[int]], self._blocking(self._ask(tuple, "phonemize", text, language)))


class _WithMixing(RemoteEngine):
    def mixed_voice(self, expression: str) -> npt.NDArray[np.float32]:
        return self._blocking(self._ask(np.ndarray, "mixed_voice", expression))


class _WithCodes(RemoteEngine):
    def voice_from_codes(self, codes: Sequence[int], transcript: str) -> PreparedVoice:
        """The voice, unchecked; the replica checks it before the first chunk."""
        return DeferredVoice.of_codes(self.name, codes, transcript)


class _WithDialogue(RemoteEngine):
    def dialogue_voice(self, first: PreparedVoice, second: PreparedVoice) -> PreparedVoice:
        return DeferredVoice.of_two(self.name, first, second)


class _WithConversion(RemoteEngine):
    async def convert(self, source: VoicePrompt, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async with aclosing(self._chunks("convert", utterance, source)) as chunks:
            async for chunk in chunks:
                yield chunk


# `SupportsStreamingText` is not among them: on Ray, text that is still arriving would have to find its way to the one
# replica that speaks it. The service then sends sentence by sentence.
_ABILITIES: MappingProxyType[type, type[RemoteEngine]] = MappingProxyType(
    {
        SupportsPhonemes: _WithPhonemes,
        SupportsMixing: _WithMixing,
        SupportsCodes: _WithCodes,
        SupportsDialogue: _WithDialogue,
        SupportsConversion: _WithConversion,
    }
)


_NEARBY = (SupportsStyle, SupportsStreamingText)
"""Those that work across processes where a transport has abilities of its own for them."""


def abilities_of(engine: object) -> frozenset[str]:
    """Names of the optional protocols an engine supports that work across processes."""
    return frozenset(protocol.__name__ for protocol in (*_ABILITIES, *_NEARBY) if isinstance(engine, protocol))


def remote_engine(
    profile: EngineProfile,
    transport: Transport,
    nearby: Mapping[type, type[RemoteEngine]] = MappingProxyType({}),
) -> RemoteEngine:
    """An engine with exactly the abilities of the profile, so that `isinstance` checks hold.

    `nearby` are abilities that only its transport has.
    """
    known = {**_ABILITIES, **nearby}
    parts = [part for protocol, part in known.items() if protocol.__name__ in profile.abilities]
    kind: Callable[[EngineProfile, Transport], RemoteEngine] = type("RemoteEngine", (*parts, RemoteEngine), {})
    return kind(profile, transport)
