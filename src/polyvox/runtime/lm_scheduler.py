"""Continuous batching: sequences join and leave a language model's batch between two steps."""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import structlog

from polyvox.errors import EngineError, InvalidRequestError, PolyvoxError, UnavailableError
from polyvox.runtime.causal_lm import CausalLm, FrameSteps
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.executors.fused_lm import fused_backbone, fused_sampling
from polyvox.runtime.kv_cache import KvCache, PrefixCache
from polyvox.runtime.lm_runner import LmRunner
from polyvox.runtime.lm_sequence import LmSequence
from polyvox.runtime.lm_step import (
    PrefillChunk,
    RunningStep,
    SlotLimits,
    SlotStart,
    StepOutput,
    StepPlan,
    Token,
)
from polyvox.runtime.sampling.sampler import MAX_REPEAT_WINDOW, Sampler, SamplingPlan
from polyvox.runtime.slot_pool import SlotPool
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams, TokenStream

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_SEED_BITS = 63


@dataclass(frozen=True, slots=True)
class LmReport:
    """Work and cost of one step, and the load after it: `running` sequences hold a slot, `waiting` ones wait for one.

    A report without tokens says that a slot has become free.
    """

    slots: int
    running: int
    waiting: int
    prompt_tokens: int
    """Positions of prompts that were prefilled."""
    generated_tokens: int
    prefill_seconds: float
    decode_seconds: float


@dataclass(frozen=True, slots=True)
class LmSchedulerConfig:
    """Sizes of the scheduler's batches and caches.

    `capacity` is the positions of a slot. `prefill_rows` bounds what prefilling prompts may add to one step of all
    other sequences. A sequence pauses while its reader is `max_unread` tokens behind. Where steps are replayed, each is
    launched before the one before it is read, and has up to `decode_steps` tokens of each sequence while no prompt
    waits.
    """

    slots: int
    capacity: int
    prefill_rows: int = 256
    prefix_bytes: int = 0
    max_unread: int = 512
    decode_steps: int = 4
    float8: bool = False
    """True if a GPU's weights are rounded to float8."""
    nested_top_p: bool = False
    """True if top-p is a share of what top-k leaves, instead of all."""
    late_penalty: bool = False
    """True if the repetition penalty applies to what top-k and top-p leave, instead of before them."""


class LmScheduler:
    """A language model shared by many sessions, on one thread of a device.

    Each step prefills at most `prefill_rows` positions of new prompts, in turns, and decodes tokens for every sequence
    whose prompt is complete. A sequence that is left is not part of the next step. Slots are assigned first come, first
    served. On a GPU, `replay` is a `CudaGraphs` that is used nowhere else. There, a step is launched shortly before the
    last one ends: the device does not wait for the host, and a new prompt not for a step that was launched long before.
    A sequence that turns out to have ended takes part once more, to no effect. A sequence whose stream is held, and
    that is alone, generates no more than its reader waits for, so that the device is free for what is made of it.
    """

    def __init__(
        self,
        model: CausalLm,
        config: LmSchedulerConfig,
        *,
        executor: DeviceExecutor,
        observer: Callable[[LmReport], None] | None = None,
        replay: Replay | None = None,
        frames: FrameSteps | None = None,
    ) -> None:
        """With `frames`, each token becomes a frame of codes, and streams carry the codes of all frames in turn."""
        weight = model.backbone.norm.weight
        cache = KvCache(model.backbone.config, config.slots, config.capacity, weight.dtype, weight.device)
        fused = None if replay is None else fused_backbone(model.backbone, cache, float8=config.float8)
        nested, late = config.nested_top_p, config.late_penalty
        fuses = replay is not None and not late
        sample = fused_sampling(model.vocabulary, weight.device, nested=nested) if fuses else None
        sampler = Sampler(config.slots + 1, model.vocabulary, weight.device, sample, nested=nested, late_penalty=late)
        self._runner = LmRunner(
            model,
            cache,
            sampler,
            prefill_rows=config.prefill_rows,
            replay=replay,
            fused=fused,
            frames=frames,
            prefixes=config.prefix_bytes > 0,
        )
        self._groups = 1 if frames is None else frames.groups
        self._decode_steps = 1 if replay is None else config.decode_steps
        self._overlaps = replay is not None
        self._vocabulary = model.vocabulary
        self._config = config
        self._executor = executor
        self._observer = observer
        self._prefixes = PrefixCache(config.prefix_bytes)
        self._slots = SlotPool(config.slots)
        self._starts: dict[LmSequence, SlotStart] = {}
        self._limits: dict[LmSequence, SlotLimits] = {}
        self._prefilling: deque[LmSequence] = deque()
        self._decoding: dict[LmSequence, None] = {}
        self._open: set[LmSequence] = set()
        self._tainted: set[int] = set()
        """Slots that hold values that are not finite."""
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def running(self) -> int:
        """Sequences that hold a slot."""
        return self._slots.used

    @property
    def waiting(self) -> int:
        """Sequences that wait for a slot."""
        return self._slots.waiting

    async def warm(self, *sampling: SamplingParams) -> None:
        """Call `capture` on the device's thread."""
        await self._executor.run(partial(self.capture, *sampling))

    def capture(self, *sampling: SamplingParams) -> None:
        """Capture all steps that sample by these parameters, where steps are replayed, before any caller waits.

        Must run on the device's thread, with no step under way. RuntimeError where a shape cannot be captured.
        """
        self._runner.warm(list({SamplingPlan.of([params], self._vocabulary) for params in sampling}))

    @asynccontextmanager
    async def generate(
        self, prompt: Prompt, sampling: SamplingParams, limits: GenerationLimits
    ) -> AsyncIterator[TokenStream]:
        """The tokens behind a prompt, while the block lasts; leaving it ends the sequence and frees its slot."""
        self._check(prompt, limits, held=0)
        async with self.open(sampling) as sequence:
            yield sequence.extend(prompt, limits)

    @asynccontextmanager
    async def open(self, sampling: SamplingParams, frame: SamplingParams | None = None) -> AsyncIterator[LmSequence]:
        """Wait for a slot; a sequence that may be extended more than once.

        `frame` samples the codes behind a frame's first.
        """
        if sampling.repeat_window > MAX_REPEAT_WINDOW:
            raise ValueError(f"repeat_window is at most {MAX_REPEAT_WINDOW}")
        if self._closed:
            raise self._closed_error()
        sequence = LmSequence(self._extend, await self._slots.acquire(), sampling, frame, self._wake.set)
        self._open.add(sequence)
        try:
            yield sequence
        finally:
            self._finish(sequence)

    async def close(self) -> None:
        """Fail running and waiting sequences; the step under way ends by itself."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._fail(self._open, self._closed_error())
        self._slots.fail_waiting(self._closed_error())

    def _extend(self, sequence: LmSequence, prompt: Prompt, limits: GenerationLimits) -> TokenStream:
        if sequence.closed or self._closed:
            raise self._closed_error()
        if not sequence.stream.over:
            raise ValueError("A sequence is extended when its stream is over.")
        self._check(prompt, limits, held=sequence.cached + sequence.last_pending)
        new = sequence.cached == 0
        given = prompt.ids if prompt.embeds is None else prompt.embeds
        sequence.limits, sequence.generated, sequence.coming, sequence.pending = limits, 0, 0, given
        sequence.stream = TokenStream(on_read=self._wake.set)
        if new:
            self._starts[sequence] = self._slot_start(sequence, prompt)
        self._limits[sequence] = SlotLimits(sequence.slot, limits)
        self._prefilling.append(sequence)
        self._ensure_running()
        return sequence.stream

    def _check(self, prompt: Prompt, limits: GenerationLimits, *, held: int) -> None:
        length = len(prompt.ids) if prompt.embeds is None else len(prompt.embeds)
        if not length:
            raise ValueError("A sequence is extended by at least one position of input.")
        if limits.max_tokens < 1:
            raise InvalidRequestError("At least one token must be allowed.", field="max_tokens")
        if held + length + limits.max_tokens > self._config.capacity:
            raise InvalidRequestError(
                f"The text takes {held + length} positions of the model and up to {limits.max_tokens} tokens may "
                f"follow, but it holds {self._config.capacity} in all; send less text or allow fewer tokens.",
                field="max_tokens",
            )

    def _slot_start(self, sequence: LmSequence, prompt: Prompt) -> SlotStart:
        """Skip a prefix that is in the prefix cache; one that is not will be saved there."""
        prefix = None
        shared = min(prompt.shared, len(sequence.pending) - 1)
        key = prompt.ids[:shared] if prompt.embeds is None else prompt.key
        if shared <= 0 or key is None or not self._config.prefix_bytes:
            shared = 0
        else:
            prefix = self._prefixes.get(key)
            if prefix is None:
                sequence.save_prefix = (key, shared)
            else:
                sequence.cached, sequence.pending = shared, sequence.pending[shared:]
        given = sequence.sampling.seed
        seed = secrets.randbits(_SEED_BITS) if given is None else given
        clear = sequence.slot in self._tainted
        self._tainted.discard(sequence.slot)
        return SlotStart(sequence.slot, sequence.sampling, seed, prompt.seen, prefix, shared, clear, sequence.frame)

    def _finish(self, sequence: LmSequence) -> None:
        """Free all that a sequence holds."""
        sequence.closed = True
        sequence.stream.finish(self._closed_error())
        self._open.discard(sequence)
        self._starts.pop(sequence, None)
        self._limits.pop(sequence, None)
        self._decoding.pop(sequence, None)
        if sequence in self._prefilling:
            self._prefilling.remove(sequence)
        self._slots.release(sequence.slot)
        self._report(StepOutput([], [], 0.0, 0.0), prompt_tokens=0)

    def _ensure_running(self) -> None:
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="speech lm")

    async def _run(self) -> None:
        running: _RunningStep | None = None
        try:
            while True:
                scheduled = self._schedule()
                if scheduled is None and running is None:
                    self._wake.clear()
                    await self._wake.wait()
                    continue
                launched = None if scheduled is None else await self._launch(scheduled)
                if running is not None:
                    await self._read(running)
                if launched is not None and not await self._goes_on(launched):
                    await self._read(launched)
                    launched = None
                running = launched
        except Exception:
            log.exception("language model scheduler failed")
            self._fail(self._open, _failure())

    async def _goes_on(self, launched: "_RunningStep") -> bool:
        """Return whether the next step may be launched before this one is read; waits until it is time for that."""
        if self._overlaps:
            await self._executor.run(launched.step.wait_nearly_done)
        return self._overlaps

    async def _launch(self, scheduled: "_ScheduledStep") -> "_RunningStep | None":
        """Give the device a step; None where it fails, and its sequences with it."""
        try:
            step = await self._executor.run(partial(self._runner.launch, scheduled.plan, wait=not self._overlaps))
        except Exception as error:  # noqa: BLE001 - whatever a device raises, the sequences' readers must know
            self._fail(scheduled.sequences, _logged(error, len(scheduled.sequences)))
            return None
        for key, prefix in step.prefixes:
            self._prefixes.put(key, prefix)
        if step.prefill_error is not None:
            self._fail(scheduled.prefilling, _logged(step.prefill_error, len(scheduled.prefilling)))
        return _RunningStep(scheduled, step)

    async def _read(self, running: "_RunningStep") -> None:
        """Wait for a step's tokens and give them to the sequences."""
        scheduled = running.scheduled
        try:
            output = await self._executor.run(running.step.output) if self._overlaps else running.step.output()
        except Exception as error:  # noqa: BLE001 - see above
            self._fail(scheduled.sequences, _logged(error, len(scheduled.sequences)))
            return
        scheduled.charge(output)
        self._postprocess(scheduled, output)
        self._report(output, prompt_tokens=sum(chunk.length for chunk in scheduled.plan.chunks))

    def _report(self, output: StepOutput, *, prompt_tokens: int) -> None:
        if self._observer is None:
            return
        report = LmReport(
            slots=self._config.slots,
            running=self.running,
            waiting=self.waiting,
            prompt_tokens=prompt_tokens,
            generated_tokens=len(output.first) + sum(map(len, output.following)),
            prefill_seconds=output.prefill_seconds,
            decode_seconds=output.decode_seconds,
        )
        self._observer(report)

    def _schedule(self) -> "_ScheduledStep | None":
        """The next step, with every sequence that can take part in it; it counts as done as far as it is certain."""
        prefilling, chunks = self._next_chunks()
        decoding = [sequence for sequence in self._decoding if self._may_decode(sequence)]
        if not prefilling and not decoding:
            return None
        starting = [sequence for sequence in prefilling if sequence in self._starts]
        limited = [sequence for sequence in prefilling if sequence in self._limits]
        completed = [sequence for sequence, chunk in zip(prefilling, chunks, strict=True) if chunk.last]
        plan = StepPlan(
            starts=[self._starts.pop(sequence) for sequence in starting],
            texts=[text for sequence in (*prefilling, *decoding) if (text := sequence.take_text()) is not None],
            limits=[self._limits.pop(sequence) for sequence in limited],
            chunks=chunks,
            decoding=[sequence.slot for sequence in decoding],
            lengths=[sequence.position for sequence in decoding],
            tokens=self._tokens_per_step(decoding),
            sampling=SamplingPlan.of(_sampling((*completed, *decoding)), self._vocabulary),
        )
        for sequence in decoding:
            sequence.decodes(plan.tokens)
        for sequence, chunk in zip(prefilling, chunks, strict=True):
            sequence.prefills(chunk)
            self._prefilling.remove(sequence)
            if chunk.last:
                self._decoding[sequence] = None
            else:
                self._prefilling.append(sequence)
        return _ScheduledStep(plan, prefilling, decoding)

    def _may_decode(self, sequence: LmSequence) -> bool:
        """Return whether tokens are allowed beyond those coming, with their text, and the reader is not far behind."""
        if sequence.coming >= sequence.limits.max_tokens - sequence.generated:
            return False
        if sequence.text_open and sequence.frames_with_text < 1:
            return False
        most = 0 if self._holds(sequence) else self._groups * self._config.max_unread
        return not sequence.stream.is_ahead(most, self._groups * sequence.coming)

    def _holds(self, sequence: LmSequence) -> bool:
        """Return whether a sequence makes way for the work that its reader waits for, which no other one shares."""
        return self._overlaps and sequence.stream.held and len(self._decoding) == 1 and not self._prefilling

    def _tokens_per_step(self, decoding: Sequence[LmSequence]) -> int:
        """One while a prompt waits; else about as many as the reader waits for that will be served first."""
        if self._prefilling or not decoding:
            return 1
        soonest = min(max(0, sequence.stream.missing // self._groups - sequence.coming) for sequence in decoding)
        most = max(sequence.limits.max_tokens - sequence.generated - sequence.coming for sequence in decoding)
        worded = min(sequence.frames_with_text for sequence in decoding)
        least = 1 if self._holds(decoding[0]) else (self._decode_steps + 1) // 2
        return int(min(self._decode_steps, most, worded, max(soonest, least)))

    def _next_chunks(self) -> tuple[list[LmSequence], list[PrefillChunk]]:
        """As many sequences, first come, first served, as can prefill their next chunks in `prefill_rows` rows.

        Rows that pad a batch to a captured shape count as well, so that one of ten does not cost as much as two of
        eight. A sequence with input left then queues again.
        """
        sequences: list[LmSequence] = []
        chunks: list[PrefillChunk] = []
        longest = 0
        for sequence in self._prefilling:
            rows = self._runner.padded_rows(len(chunks) + 1)
            chunk = self._next_chunk(sequence, longest, self._config.prefill_rows // rows)
            longest = max(longest, chunk.length)
            if rows * longest > self._config.prefill_rows:
                break
            sequences.append(sequence)
            chunks.append(chunk)
        return sequences, chunks

    def _next_chunk(self, sequence: LmSequence, longest: int, room: int) -> PrefillChunk:
        """The next chunk of a sequence in a batch with chunks of at most `longest` positions and with `room` for more.

        All of its input, where the others are then padded to twice their length at most: what is cut off would take a
        step of its own. Of longer input, as much as costs nothing.
        """
        if not longest:
            return sequence.next_chunk(room)
        width = self._runner.padded_width(longest)
        whole = sequence.next_chunk(min(2 * width, room))
        return whole if whole.last else sequence.next_chunk(max(longest, min(width, room)))

    def _postprocess(self, scheduled: "_ScheduledStep", output: StepOutput) -> None:
        """Give the sequences their tokens, as far as they have not ended meanwhile."""
        first = iter(output.first)
        streams = iter(scheduled.streams)
        for sequence, chunk in zip(scheduled.prefilling, scheduled.plan.chunks, strict=True):
            stream = next(streams)
            if not sequence.closed and chunk.last:
                self._append_tokens(sequence, stream, [next(first)], cached=0)
            elif chunk.last:
                next(first, None)
        for sequence, tokens in zip(scheduled.decoding, output.following, strict=True):
            self._append_tokens(sequence, next(streams), tokens, cached=1)

    def _append_tokens(
        self, sequence: LmSequence, stream: TokenStream, tokens: Sequence[Token], *, cached: int
    ) -> None:
        """Pass on tokens of a stream; before each, `cached` more positions are in the KV cache."""
        # An ended sequence may have been extended since, and the tokens are none of its new stream's.
        if sequence.closed or sequence.stream is not stream or stream.over:
            return
        if not sequence.append_tokens(tokens, cached=cached):
            self._tainted.add(sequence.slot)
            self._fail([sequence], _not_finite())
        elif stream.over:
            self._decoding.pop(sequence, None)

    def _fail(self, sequences: "Sequence[LmSequence] | set[LmSequence]", error: PolyvoxError) -> None:
        """Raise the error in the sequences' readers; until their owners leave they hold their slots, but do not run."""
        for sequence in sequences:
            sequence.closed = True
            sequence.stream.finish(error)
            self._decoding.pop(sequence, None)
            if sequence in self._prefilling:
                self._prefilling.remove(sequence)

    @staticmethod
    def _closed_error() -> UnavailableError:
        return UnavailableError("The language model is closed; the engine is shutting down.")


def _sampling(sequences: Iterable[LmSequence]) -> Iterator[SamplingParams]:
    """All parameters by which a step's tokens and the codes behind them are sampled."""
    for sequence in sequences:
        yield sequence.sampling
        if sequence.frame is not None:
            yield sequence.frame


def _failure() -> EngineError:
    return EngineError("The language model failed; the cause is in the server's log.")


def _not_finite() -> EngineError:
    log.warning("The language model computed values that are not finite, and ended that sequence.")
    return EngineError("The language model computed values that are not finite; ask again, or with another text.")


def _logged(error: Exception, sequences: int) -> PolyvoxError:
    """The error that the sequences' readers get; the cause of any other error is only logged."""
    if isinstance(error, PolyvoxError):
        return error
    log.error("language model step failed", sequences=sequences, exc_info=error)
    return _failure()


@dataclass(frozen=True, slots=True)
class _ScheduledStep:
    """A step's plan, and the sequences that its chunks and tokens belong to."""

    plan: StepPlan
    prefilling: list[LmSequence]
    decoding: list[LmSequence]
    streams: list[TokenStream] = field(init=False)
    """Those that the sequences had when the step was planned."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "streams", [sequence.stream for sequence in self.sequences])

    @property
    def sequences(self) -> list[LmSequence]:
        return [*self.prefilling, *self.decoding]

    def charge(self, output: StepOutput) -> None:
        """Add to each sequence its share of the step's time."""
        for sequence in self.prefilling:
            sequence.stream.charge(output.prefill_seconds / len(self.prefilling))
        for sequence in self.decoding:
            sequence.stream.charge(output.decode_seconds / len(self.decoding))


@dataclass(frozen=True, slots=True)
class _RunningStep:
    """A step that the device has been given."""

    scheduled: _ScheduledStep
    step: RunningStep
