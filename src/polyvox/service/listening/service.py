"""The listening service: every door has its recordings transcribed here."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from uuid import uuid4

import numpy as np
import structlog

from polyvox.config import Settings
from polyvox.errors import (
    AudioDecodeError,
    OverloadedError,
    PolyvoxError,
    RefusalReason,
    RequestTooLargeError,
    status_of,
)
from polyvox.runtime.cancellation import current_token
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.call_context import CallContext
from polyvox.service.keys.access import require
from polyvox.service.keys.accounts import Accounts
from polyvox.service.keys.limiter import QuotaLease
from polyvox.service.keys.operations import Operation
from polyvox.service.listening.arriving_audio import SAMPLE_BYTES, ArrivingAudio, TurnEvent
from polyvox.service.listening.listening_request import ListeningRequest
from polyvox.service.listening.recognisers import ChosenRecogniser, Recognisers
from polyvox.service.listening.transcript import Passage, Transcript
from polyvox.service.listening.word_times import WordTimes
from polyvox.service.telemetry.metrics import Metrics
from polyvox.service.voices.transcriber import Lazy
from polyvox.types import Pcm
from polyvox.voices.limits import LISTENING_RATE, PromptLimits
from polyvox.voices.recognition.recogniser import RecognitionTask
from polyvox.voices.recognition.speech_windows import speech_windows
from polyvox.voices.recording.decoder import decode_bounded
from polyvox.voices.recording.vad import SileroVad

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_RETRY_SECONDS = 5.0

Heard = Callable[[Passage], None]


class ListeningService:
    """Transcribes recordings, `listen_workers` at a time and `listen_queue` more that wait; beyond that it refuses.

    One key or address has at most `max_share` of these places.
    Its threads give way to those that speak. A caller that is cancelled frees its place at once, and its thread at the
    next token.
    """

    def __init__(self, settings: Settings, accounts: Accounts, metrics: Metrics) -> None:
        self.recognisers = Recognisers(settings)
        self._accounts = accounts
        self._metrics = metrics
        self._limits = PromptLimits.for_listening(settings)
        self._executor = DeviceExecutor("polyvox-listen", settings.listen_workers, niceness=DeviceExecutor.LOW)
        self._turn_executor = DeviceExecutor("polyvox-turns", 1, niceness=DeviceExecutor.LOW)
        self._most = settings.listen_workers + settings.listen_queue
        self._most_of_one = max(1, int(self._most * settings.max_share))
        self._present = 0
        self._by_client: Counter[str] = Counter()
        self._running = 0
        self._detector = Lazy(SileroVad)
        self._word_times = WordTimes(settings)
        metrics.watch_listening(waiting=lambda: self._present - self._running, running=lambda: self._running)

    @property
    def max_bytes(self) -> int:
        """Largest recording that is taken."""
        return self._limits.max_bytes

    @property
    def max_samples(self) -> int:
        """Longest turn that is taken, in samples at 16 kHz."""
        return min(int(self._limits.max_seconds * LISTENING_RATE), self._limits.max_bytes // SAMPLE_BYTES)

    async def listen(
        self, request: ListeningRequest, call: CallContext, heard: Heard = lambda passage: None
    ) -> Transcript:
        """Transcribe a recording; `heard` is called on the event loop with each passage as soon as it is there."""
        outcome = "ok"
        try:
            return await self._listen(request, call, heard)
        except PolyvoxError as error:
            outcome = status_of(error).code
            log.info("recording refused", door=request.door, error=outcome, field=error.field)
            raise
        except BaseException:
            outcome = "cancelled"
            raise
        finally:
            self._metrics.listened(request.door, outcome)

    async def passages(self, request: ListeningRequest, call: CallContext) -> AsyncGenerator[Passage | Transcript]:
        """Transcribe a recording: each passage as soon as it is there, and at the end the transcript of them all."""
        found: asyncio.Queue[Passage | None] = asyncio.Queue()
        work = asyncio.create_task(self.listen(request, call, found.put_nowait))
        work.add_done_callback(lambda _: found.put_nowait(None))
        try:
            while (passage := await found.get()) is not None:
                yield passage
            yield await work
        finally:
            work.cancel()
            await asyncio.wait([work])

    async def follow(self, audio: ArrivingAudio, pcm: Pcm) -> list[TurnEvent]:
        """Add samples to a client's sound, and find the turns that begin or end in them.

        All clients share one thread: give it a second of sound at a time, so that they take turns on it.
        """
        return await self._turn_executor.run(lambda: audio.push(pcm, self._detector.get()))

    async def close(self) -> None:
        """End the threads, once what they work on has ended."""
        for executor in (self._executor, self._turn_executor):
            await asyncio.to_thread(executor.close)

    async def _listen(self, request: ListeningRequest, call: CallContext, heard: Heard) -> Transcript:
        async with self._leased(call) as lease:
            chosen = await asyncio.to_thread(self.recognisers.choose, request.model, request.task)
            async with self._turn(call.client):
                began = time.monotonic()
                pcm = await self._decoded(request.recording)
                loop = asyncio.get_running_loop()
                work = partial(self._transcribed, pcm, request.task, chosen, lambda each: _tell(loop, heard, each))
                transcript = await self._executor.run_reserved(work)
            lease.sent(transcript.seconds)
            self._report(request, transcript, time.monotonic() - began)
            return transcript

    async def _decoded(self, recording: bytes | Pcm) -> Pcm:
        """The samples of a recording whose turn has come; where it has none, its thread is free again."""
        if not isinstance(recording, bytes):
            return recording
        try:
            pcm, _ = await decode_bounded(recording, self._limits)
        except BaseException as error:
            self._executor.release()
            if isinstance(error, AudioDecodeError | RequestTooLargeError):
                error.field = error.field or "file"
            raise
        return pcm

    @asynccontextmanager
    async def _leased(self, call: CallContext) -> AsyncIterator[QuotaLease]:
        """A place within the limits of the caller's key."""
        limiter = self._accounts.limiter
        holder = limiter.holder(call.client)
        rate = None
        if holder is not None:
            require(holder.scopes, Operation.LISTEN)
            rate = await limiter.count_request(holder)
        lease = await limiter.reserve(holder, 0, stream=uuid4().hex, rate=rate)
        try:
            yield lease
        finally:
            lease.close()

    @asynccontextmanager
    async def _turn(self, client: str) -> AsyncIterator[None]:
        """The turn of a recording, with a thread reserved; until then it is not even decoded."""
        self._check_room(client)
        self._present += 1
        self._by_client[client] += 1
        try:
            await self._executor.reserve()
            self._running += 1
            try:
                yield
            finally:
                self._running -= 1
        finally:
            self._present -= 1
            self._by_client -= Counter([client])

    def _check_room(self, client: str) -> None:
        """Refuse a recording where all places are taken, or all of those that one client may have."""
        reason = None
        if self._present >= self._most:
            reason = RefusalReason.QUEUE
        elif client and self._by_client[client] >= self._most_of_one:
            reason = RefusalReason.SHARE
        if reason is not None:
            whose = "of yours " if reason is RefusalReason.SHARE else ""
            raise OverloadedError(
                f"Too many recordings {whose}wait to be transcribed already; try again in {_RETRY_SECONDS:.0f} s.",
                retry_after=_RETRY_SECONDS,
                reason=reason,
            )

    def _transcribed(self, pcm: Pcm, task: RecognitionTask, chosen: ChosenRecogniser, tell: Heard) -> Transcript:
        """Transcribe the samples; blocks."""
        check = current_token().check
        recogniser = self.recognisers.recogniser(chosen)
        detector = self._detector.get()
        passages: list[Passage] = []
        for window in speech_windows(pcm, detector.speech(pcm, LISTENING_RATE), recogniser.longest):
            check()
            part = pcm[window.start : window.end]
            recognition = recogniser.recognise(part, task, check)
            if recognition.text:
                start = window.start / LISTENING_RATE
                words = self._word_times.of(part, recognition, start) if task.words else ()
                silence = float(1 - np.mean(detector.probabilities(part)))
                passages.append(Passage(start, window.end / LISTENING_RATE, recognition, words, silence))
                tell(passages[-1])
        language = _language(passages, task, chosen)
        model = (passages[0].recognition.model if passages else "") or chosen.model.name
        return Transcript(tuple(passages), language, len(pcm) / LISTENING_RATE, model, chosen.warnings)

    def _report(self, request: ListeningRequest, transcript: Transcript, seconds: float) -> None:
        self._metrics.heard(transcript.model, transcript.seconds, seconds)
        log.info(
            "recording transcribed",
            door=request.door,
            model=transcript.model,
            language=transcript.language,
            audio_seconds=round(transcript.seconds, 2),
            seconds=round(seconds, 2),
        )


def _tell(loop: asyncio.AbstractEventLoop, heard: Heard, passage: Passage) -> None:
    loop.call_soon_threadsafe(heard, passage)


def _language(passages: Sequence[Passage], task: RecognitionTask, chosen: ChosenRecogniser) -> str:
    """The language that was spoken; of a silent recording the one that was asked for, or the model's first."""
    if passages:
        return passages[0].recognition.language
    return task.language or ("en" if "en" in chosen.model.languages else min(chosen.model.languages))
