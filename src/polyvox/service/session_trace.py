"""The spans of one session: its wait, its preparation, its chunks by stages, their encoding."""

import time
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from opentelemetry.trace import Span
from structlog.contextvars import bound_contextvars

from polyvox.engines.base import Engine
from polyvox.errors import PolyvoxError, status_of
from polyvox.service.session_plan import SessionPlan
from polyvox.service.telemetry.tracing import (
    Attributes,
    RequestTracer,
    TraceOrigin,
    current_origin,
    end_span,
    log_ids,
)
from polyvox.service.voices.voice_resolver import ResolvedVoice
from polyvox.types import AudioChunk, PreparedVoice, Seconds

T = TypeVar("T")

DETAILED_CHUNKS = 8
"""Chunks with spans of their own. Of later ones a long text has hundreds; the span of the session has their sums."""

_STAGES = ("lm", "flow", "vocoder")
_NANOSECONDS = 1_000_000_000


class SessionTrace:
    """Records a session's spans from times that are known afterwards: a batch works for several sessions at once."""

    def __init__(self, tracer: RequestTracer, span: Span, *, is_first: bool) -> None:
        self._tracer = tracer
        self.span = span
        self._is_first = is_first
        self._began = time.time_ns()
        self._ready_at = 0
        self._chunks = 0
        self._encodings = 0
        self._sums: dict[str, float] = {}
        self._first_sent = False
        self._error: str | None = None
        self._settled = False
        self._reading = False

    @classmethod
    def begin(cls, tracer: RequestTracer, session_id: str, door: str) -> "SessionTrace":
        """The trace of a session that is about to be opened in the running context."""
        origin = current_origin()
        span = origin.begin(tracer, "speech")
        span.set_attributes(
            {
                "polyvox.session.id": session_id,
                "polyvox.door": door,
                "gen_ai.operation.name": "generate_content",
                "gen_ai.provider.name": "polyvox",
                "gen_ai.output.type": "speech",
            }
        )
        return cls(tracer, span, is_first=origin.span is None)

    @property
    def ids(self) -> Mapping[str, str]:
        """For lines of the log."""
        return log_ids(self.span)

    @property
    def own_ids(self) -> Mapping[str, str]:
        """For lines of the session's opener and reader, unless a door has given them those of its own span."""
        return self.ids if self._is_first else {}

    @property
    def origin(self) -> TraceOrigin:
        """The origin of work for the session."""
        return TraceOrigin(span=self.span)

    def opened(self, plan: SessionPlan) -> None:
        """The text has been read and the voice looked up: the wait for a slot begins."""
        self.span.update_name(f"speech {plan.model}")
        voice, seed = plan.utterance.voice, plan.utterance.seed
        self.span.set_attributes(
            {"gen_ai.request.model": plan.model, "polyvox.engine": plan.engine.name, "polyvox.voice": voice}
        )
        if seed is not None:
            self.span.set_attribute("gen_ai.request.seed", seed)
        self._began = self._record("prepare text", self._began)

    def granted(self) -> None:
        """The session has its slot."""
        self._record("queue", self._began)

    def timed(self, voice: ResolvedVoice) -> ResolvedVoice:
        """The voice, whose preparation is recorded."""

        async def prepare(engine: Engine) -> PreparedVoice | None:
            began = time.time_ns()
            try:
                return await voice.prepare(engine)
            finally:
                self._ready_at = self._record("prepare voice", began)

        return replace(voice, prepare=prepare)

    def made(self, chunk: AudioChunk, began: int) -> None:
        """A chunk is there that the engine was asked for at `began`."""
        ended = time.time_ns()
        if not self._chunks:
            self.span.add_event("first audio")
        self._chunks += 1
        stages = {name: spent for name in _STAGES if (spent := getattr(chunk.stages, name)) is not None}
        for name, spent in stages.items():
            self._add(name, spent.wall)
        if self._chunks > DETAILED_CHUNKS or not self.span.is_recording():
            return
        facts = {"polyvox.chunk.index": chunk.index, "polyvox.chunk.seconds": round(chunk.duration, 6)}
        span = self._tracer.child(self.span, "synthesize", start=began, attributes=facts)
        self._record_stages(span, stages, max(began, self._ready_at), ended)
        span.end(ended)

    def encoded(self, began: int) -> None:
        """An encoder has done its work on a chunk, asked for at `began`."""
        self._add("encode", (time.time_ns() - began) / _NANOSECONDS)
        self._encodings += 1
        if self._encodings <= DETAILED_CHUNKS:
            self._record("encode", began)

    def sent(self) -> None:
        """The client has been sent bytes of audio."""
        if not self._first_sent:
            self._first_sent = True
            self.span.add_event("first byte")

    @contextmanager
    def opening(self) -> Iterator[None]:
        """The block opens the session; where it fails, no session comes of the request and the trace is over."""
        try:
            with bound_contextvars(**self.own_ids):
                yield
        except PolyvoxError as error:
            end_span(self.span, status_of(error).code)
            raise
        except BaseException as error:
            end_span(self.span, type(error).__name__)
            raise

    def entered(self) -> None:
        """A reader has come; the trace is over when it has left."""
        self._reading = True

    def settled(self, attributes: Attributes, error: str | None) -> None:
        """The session has come to its end; the encoder of its reader may still be at work."""
        self.span.set_attributes(attributes)
        self._error, self._settled = error, True
        if not self._reading:
            self._end()

    def left(self) -> None:
        """The reader has left, and the session is over."""
        self._reading = False
        if self._settled:
            self._end()

    def _end(self) -> None:
        self.span.set_attributes({f"polyvox.{name}_seconds": round(seconds, 6) for name, seconds in self._sums.items()})
        end_span(self.span, self._error)

    def _add(self, name: str, seconds: float) -> None:
        self._sums[name] = self._sums.get(name, 0.0) + seconds

    def _record(self, name: str, began: int) -> int:
        """Record a span that ends now; when that is."""
        ended = time.time_ns()
        if self.span.is_recording():
            self._tracer.child(self.span, name, start=began).end(ended)
        return ended

    def _record_stages(self, span: Span, stages: Mapping[str, Seconds], began: int, ended: int) -> None:
        """Spans of measured lengths: the language model from the beginning on, flow and vocoder up to the end."""
        for name in reversed(_STAGES):
            if (spent := stages.get(name)) is None:
                continue
            length = round(spent.wall * _NANOSECONDS)
            start = began if name == "lm" else ended - length
            attributes = {} if spent.device is None else {"polyvox.device_seconds": round(spent.device, 6)}
            self._tracer.child(span, name, start=start, attributes=attributes).end(start + length)
            ended = start


async def encoding(trace: SessionTrace | None, work: Awaitable[T]) -> T:
    """The result of an encoder's work on a chunk, recorded where its session is traced."""
    if trace is None:
        return await work
    began = time.time_ns()
    try:
        return await work
    finally:
        trace.encoded(began)


def mark_sent(trace: SessionTrace | None) -> None:
    """Note that a client has been sent bytes of audio: its door is back for more."""
    if trace is not None:
        trace.sent()
