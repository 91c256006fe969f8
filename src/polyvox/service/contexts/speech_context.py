"""A context: one text that arrives in fragments, spoken as it comes."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from polyvox.audio.encode import NO_TAGS, AudioFormat, Tags
from polyvox.errors import InvalidRequestError, SilentTextError, TextError
from polyvox.provenance.notary import Seal
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.call_context import CallContext
from polyvox.service.contexts.patience import Patience
from polyvox.service.contexts.text_feed import TextFeed
from polyvox.service.kinds.joining import UtteranceJoiner
from polyvox.service.kinds.stream_in import SpeakStream
from polyvox.service.session import Session
from polyvox.service.session_trace import SessionTrace
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.text.segmentation.surrogates import SurrogateJoiner
from polyvox.types import AudioChunk, Span


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """Options of a context for its text.

    Text without a boundary is kept back for `max_delay` seconds at most. An `eager` context speaks each fragment at
    once. After `patience` seconds without a message it ends; None leaves that to the server's `stall_seconds`.
    """

    max_delay: float = 3.0
    eager: bool = False
    patience: float | None = None


@dataclass(frozen=True, slots=True)
class ContextAudio:
    """A chunk of a context: numbering, samples and word times run on through all of it, spans are of all its text."""

    chunk: AudioChunk


@dataclass(frozen=True, slots=True)
class Flushed:
    """All audio of the text before a flush has been given out."""

    number: int


ContextEvent = ContextAudio | Flushed


@dataclass(slots=True)
class _Generation:
    """The text from one flush to the next: one session of the service. `start` is its offset in the context's text."""

    feed: TextFeed
    start: int
    request: SpeechRequest
    flush: int | None = field(default=None)

    def in_whole(self, span: Span) -> Span:
        return Span(self.start + span.start, self.start + span.end)


class SpeechContext:
    """Speaks what is pushed, in order, as one stream: `async with context: async for event in context: ...`.

    A flush ends a generation, and with it the session that speaks it, so that a context which waits for its next words
    holds nothing. The first words of a generation open its session; one reader iterates.
    """

    def __init__(
        self,
        service: SpeechService,
        request: SpeechRequest,
        call: CallContext,
        options: ContextOptions = ContextOptions(),
    ) -> None:
        self.request = request
        self._service = service
        self._call = call
        self._options = options
        self._patience = Patience(service.settings.stall_seconds if options.patience is None else options.patience)
        self._fragments: list[str] = []
        self._chars = 0
        self._surrogates = SurrogateJoiner()
        self._flushes = 0
        self._joiner = UtteranceJoiner()
        self._generation = self._next_generation()
        self._generations = deque([self._generation])
        self._ended = False
        self._cancelled = False
        self._opening: asyncio.Task[Session] | None = None
        self._session: Session | None = None
        self._plays_until = 0.0
        self._warnings: list[str] = []

    @property
    def text(self) -> str:
        """Everything pushed so far."""
        return "".join(self._fragments)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of all generations so far, each once."""
        current = () if self._session is None else self._session.warnings
        return tuple(dict.fromkeys((*self._warnings, *current)))

    @property
    def is_ended(self) -> bool:
        """True if no more text is taken."""
        return self._ended

    @property
    def executor(self) -> DeviceExecutor:
        """The executor on which its audio may be encoded."""
        return self._service.executor

    @property
    def session_id(self) -> str | None:
        """The id of the session that speaks now, for logs."""
        return None if self._session is None else self._session.id

    @property
    def trace(self) -> SessionTrace | None:
        """The spans of that session, where it is traced."""
        return None if self._session is None else self._session.trace

    def tags(self, format: AudioFormat) -> Tags:  # noqa: A002
        """The marks of the session that speaks now, as tags of a file in that format."""
        return NO_TAGS if self._session is None else self._session.tags(format)

    def seal(self, format: AudioFormat) -> Seal:  # noqa: A002
        """The seal of all that the context speaks, by the content id of the session that speaks now."""
        return Seal(self._service.notary, None) if self._session is None else self._session.seal(format)

    def push(self, text: str) -> None:
        """Add text; `TextError` beyond the longest that a request may have."""
        self._patience.touch()
        if self._ended:
            raise InvalidRequestError("Text came after the end; open another context for it.", field="text")
        text = self._surrogates.push(text)
        limit = self._service.settings.max_input_chars
        if self._chars + len(text) > limit:
            raise TextError(
                f"The text has more than the {limit:,} characters that this server takes; send it in several contexts.",
                field="text",
            )
        if not text:
            return
        self._chars += len(text)
        self._fragments.append(text)
        self._generation.feed.push(text)
        if self._options.eager:
            self.flush()

    def speak_as(self, request: SpeechRequest) -> None:
        """Let another voice of the same model speak what is pushed from now on; what came before is flushed."""
        if self._generation.start < self._chars:
            self.flush()
        self.request = self._generation.request = request

    def touch(self) -> None:
        """Keep the context alive without text."""
        self._patience.touch()

    def flush(self) -> int:
        """Speak what is there without waiting for more; the number with which `Flushed` will report it."""
        self._patience.touch()
        if self._ended:
            raise InvalidRequestError("A flush came after the end; everything is spoken already.", field="flush")
        self._flushes += 1
        ended, self._generation = self._generation, self._next_generation()
        self._generations.append(self._generation)
        ended.flush = self._flushes
        ended.feed.close()
        return self._flushes

    def end(self) -> None:
        """No more text follows; idempotent."""
        self._ended = True
        self._generation.feed.close()

    async def cancel(self) -> None:
        """Stop the inference under way, free the slot and end the iteration; idempotent."""
        is_first = not self._cancelled and bool(self._generations)
        began = time.monotonic()
        await self._stop()
        if is_first:
            self._service.metrics.context_cancelled(self.request.door, time.monotonic() - began)

    async def _stop(self) -> None:
        self._cancelled = True
        self.end()
        if self._opening is not None:
            self._opening.cancel()
        if self._session is not None:
            self._session.cancel()
            await asyncio.wait([self._session.task])

    async def __aenter__(self) -> Self:
        self._service.metrics.context_opened(self.request.door)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._stop()
        finally:
            self._service.metrics.context_closed(self.request.door)

    async def __aiter__(self) -> AsyncGenerator[ContextEvent]:
        while self._generations and not self._cancelled:
            generation = self._generations[0]
            async with aclosing(self._spoken(generation)) as chunks:
                async for chunk in chunks:
                    yield ContextAudio(chunk)
            self._generations.popleft()
            if generation.flush is not None and not self._cancelled:
                yield Flushed(generation.flush)

    async def _spoken(self, generation: _Generation) -> AsyncGenerator[AudioChunk]:
        """The audio of one generation, numbered as part of the context."""
        if not await generation.feed.speakable() or (session := await self._open(generation)) is None:
            return
        self._joiner.begin()
        try:
            async with session:
                async for chunk in session:
                    yield self._joiner.append(chunk, generation.in_whole)
        except SilentTextError:
            return
        finally:
            self._warnings = list(self.warnings)
            self._plays_until = asyncio.get_running_loop().time() + session.seconds_ahead
            self._session = None

    async def _open(self, generation: _Generation) -> Session | None:
        """A session for the generation's text; None where the context is cancelled meanwhile."""
        request = generation.request
        limit, speed = self._service.settings.max_input_chars, request.utterance.speed
        kind = SpeakStream(generation.feed, limit, speed, max_delay=self._options.max_delay)
        self._opening = asyncio.create_task(self._opened(replace(request, kind=kind)))
        try:
            return await self._opening
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._cancelled or (task is not None and task.cancelling()):
                self._opening.cancel()
                raise
            return None
        finally:
            self._opening = None

    async def _opened(self, request: SpeechRequest) -> Session:
        """A session, noted in the step that opens it, so that `cancel` finds either its opening or the session."""
        continues = asyncio.get_running_loop().time() < self._plays_until
        self._session = await self._service.open(request, replace(self._call, continues=continues))
        return self._session

    def _next_generation(self) -> _Generation:
        return _Generation(TextFeed(self._patience), self._chars, self.request)
