"""Continuous batching: sequences join and leave between two steps of a language model, and none waits for another."""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import structlog

from polyvox.errors import EngineError, InvalidRequestError, PolyvoxError, UnavailableError
from polyvox.runtime.decoder import Decoder, DecoderModel
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.executors.fused_lm import fused_draw, fused_step
from polyvox.runtime.kv_cache import KvCache, PrefixStore
from polyvox.runtime.lm_sequence import LmSequence
from polyvox.runtime.lm_step import Begin, Drawn, Piece, Step, Turn
from polyvox.runtime.sampling import MOST_REPEAT_WINDOW, Sampler, Steps
from polyvox.runtime.slots import Slots
from polyvox.runtime.tokens import Limits, Prompt, Sampling, TokenStream

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_SEED_BITS = 63


@dataclass(frozen=True, slots=True)
class LmReport:
    """What one step did and took. `waiting` are without a slot.

    A report without anything read or drawn tells that a slot has become free.
    """

    slots: int
    busy: int
    waiting: int
    read: int
    """Positions of prompts."""
    drawn: int
    """Tokens."""
    prefill_seconds: float
    decode_seconds: float


@dataclass(frozen=True, slots=True)
class LmSizes:
    """How much runs at once. `prefill_rows` bounds what reading prompts may add to one step of all the others.

    A sequence whose reader is `most_unread` tokens behind pauses. Where steps are recorded and nobody waits to be read,
    up to `burst` tokens of each sequence are drawn before the host is asked again.
    """

    slots: int
    capacity: int
    prefill_rows: int = 256
    prefix_bytes: int = 0
    most_unread: int = 512
    burst: int = 8


class LmScheduler:
    """A language model shared by many sessions, on one thread of a device.

    In each step it reads at most `prefill_rows` positions of new prompts, turn by turn, and draws tokens for every
    sequence that has read its own. The step after a sequence was left uses its slot no more. Slots are given out in the
    order in which they were asked for. On a GPU, `replay` is a `CudaGraphs` that nobody else uses.
    """

    def __init__(
        self,
        model: DecoderModel,
        sizes: LmSizes,
        *,
        executor: DeviceExecutor,
        observer: Callable[[LmReport], None] | None = None,
        replay: Replay | None = None,
    ) -> None:
        weight = model.backbone.norm.weight
        cache = KvCache(model.backbone.config, sizes.slots, sizes.capacity, weight.dtype, weight.device)
        fused = None if replay is None else fused_step(model.backbone, cache)
        draw = None if replay is None else fused_draw(model.vocabulary, weight.device)
        sampler = Sampler(sizes.slots + 1, model.vocabulary, weight.device, draw)
        self._decoder = Decoder(model, cache, sampler, prefill_rows=sizes.prefill_rows, replay=replay, fused=fused)
        self._burst = 1 if replay is None else sizes.burst
        self._vocabulary = model.vocabulary
        self._sizes = sizes
        self._executor = executor
        self._observer = observer
        self._prefixes = PrefixStore(sizes.prefix_bytes)
        self._slots = Slots(sizes.slots)
        self._begins: dict[LmSequence, Begin] = {}
        self._turns: dict[LmSequence, Turn] = {}
        self._reading: deque[LmSequence] = deque()
        self._decoding: dict[LmSequence, None] = {}
        self._open: set[LmSequence] = set()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def busy(self) -> int:
        """Slots in use."""
        return self._slots.busy

    @property
    def waiting(self) -> int:
        """Sequences that wait for a slot."""
        return self._slots.waiting

    async def warm(self, *rules: Sampling) -> None:
        """Record what steps with these rules take, where they are replayed; the first callers then wait for none."""
        kinds = {Steps.for_all([rule], self._vocabulary) for rule in rules}
        await self._executor.run(partial(self._decoder.warm, list(kinds)))

    @asynccontextmanager
    async def generate(self, prompt: Prompt, sampling: Sampling, limits: Limits) -> AsyncIterator[TokenStream]:
        """The tokens behind a prompt, while the block lasts; leaving it ends the sequence and frees its slot."""
        self._check(prompt, limits, held=0)
        async with self.open(sampling) as sequence:
            yield sequence.go_on(prompt, limits)

    @asynccontextmanager
    async def open(self, sampling: Sampling) -> AsyncIterator[LmSequence]:
        """A slot, in its turn, for a sequence that may go on more than once."""
        if sampling.repeat_window > MOST_REPEAT_WINDOW:
            raise ValueError(f"repeat_window is at most {MOST_REPEAT_WINDOW}")
        if self._closed:
            raise self._closed_error()
        sequence = LmSequence(self._go_on, await self._slots.take(), sampling)
        self._open.add(sequence)
        try:
            yield sequence
        finally:
            self._leave(sequence)

    async def close(self) -> None:
        """Sequences still under way fail, and so do those that wait; the step under way ends by itself."""
        self._closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        self._fail(self._open, self._closed_error())
        self._slots.refuse(self._closed_error())

    def _go_on(self, sequence: LmSequence, prompt: Prompt, limits: Limits) -> TokenStream:
        if sequence.closed or self._closed:
            raise self._closed_error()
        if not sequence.stream.over:
            raise ValueError("A sequence goes on when its stream is over.")
        self._check(prompt, limits, held=sequence.length + sequence.follows)
        new = sequence.length == 0
        given = prompt.ids if prompt.rows is None else prompt.rows
        sequence.limits, sequence.drawn, sequence.input = limits, 0, given
        sequence.stream = TokenStream(on_read=self._wake.set)
        if new:
            self._begins[sequence] = self._beginning(sequence, prompt)
        self._turns[sequence] = Turn(sequence.slot, limits)
        self._reading.append(sequence)
        self._start()
        return sequence.stream

    def _check(self, prompt: Prompt, limits: Limits, *, held: int) -> None:
        length = len(prompt.ids) if prompt.rows is None else len(prompt.rows)
        if not length:
            raise ValueError("A sequence goes on by at least one position of input.")
        if limits.most < 1:
            raise InvalidRequestError("At least one token must be allowed.", field="max_tokens")
        if held + length + limits.most > self._sizes.capacity:
            raise InvalidRequestError(
                f"The text takes {held + length} positions of the model and up to {limits.most} tokens may follow, but "
                f"it holds {self._sizes.capacity} in all; send less text or allow fewer tokens.",
                field="max_tokens",
            )

    def _beginning(self, sequence: LmSequence, prompt: Prompt) -> Begin:
        """Skip what an earlier prompt has left in the store; what is not there yet will be kept."""
        prefix = None
        shared = min(prompt.shared, len(prompt.ids) - 1)
        if shared > 0 and self._sizes.prefix_bytes:
            key = prompt.ids[:shared]
            prefix = self._prefixes.get(key)
            if prefix is None:
                sequence.keep = (key, shared)
            else:
                sequence.length, sequence.input = shared, prompt.ids[shared:]
        given = sequence.sampling.seed
        seed = secrets.randbits(_SEED_BITS) if given is None else given
        return Begin(sequence.slot, sequence.sampling, seed, prompt.seen, prefix)

    def _leave(self, sequence: LmSequence) -> None:
        sequence.closed = True
        sequence.stream.finish(self._closed_error())
        self._open.discard(sequence)
        self._begins.pop(sequence, None)
        self._turns.pop(sequence, None)
        self._decoding.pop(sequence, None)
        if sequence in self._reading:
            self._reading.remove(sequence)
        self._slots.give_back(sequence.slot)
        self._report(Drawn([], [], [], 0.0, 0.0), read=0)

    def _start(self) -> None:
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run(), name="speech lm")

    async def _run(self) -> None:
        try:
            while True:
                plan = self._plan()
                if plan is None:
                    self._wake.clear()
                    await self._wake.wait()
                else:
                    await self._do(plan)
        except Exception:
            log.exception("language model scheduler failed")
            self._fail(self._open, EngineError("The language model failed; the cause is in the server's log."))

    async def _do(self, plan: "_Plan") -> None:
        try:
            drawn = await self._executor.run(partial(self._decoder.run, plan.step))
        except PolyvoxError as error:
            self._fail(plan.sequences, error)
            return
        except Exception:
            log.exception("language model step failed", sequences=len(plan.sequences))
            self._fail(plan.sequences, EngineError("The language model failed; the cause is in the server's log."))
            return
        self._deliver(plan, drawn)
        self._report(drawn, read=sum(piece.length for piece in plan.step.pieces))

    def _report(self, drawn: Drawn, *, read: int) -> None:
        if self._observer is None:
            return
        report = LmReport(
            slots=self._sizes.slots,
            busy=self.busy,
            waiting=self.waiting,
            read=read,
            drawn=len(drawn.first) + sum(map(len, drawn.following)),
            prefill_seconds=drawn.prefill_seconds,
            decode_seconds=drawn.decode_seconds,
        )
        self._observer(report)

    def _plan(self) -> "_Plan | None":
        """The next step, with whatever can take part in it."""
        readers, pieces = self._next_pieces()
        speakers = [one for one in self._decoding if not one.stream.ahead(self._sizes.most_unread)]
        if not readers and not speakers:
            return None
        starting = [sequence for sequence in readers if sequence in self._begins]
        turning = [sequence for sequence in readers if sequence in self._turns]
        answered = [sequence for sequence, piece in zip(readers, pieces, strict=True) if piece.last]
        step = Step(
            begins=[self._begins.pop(sequence) for sequence in starting],
            turns=[self._turns.pop(sequence) for sequence in turning],
            pieces=pieces,
            decoding=[sequence.slot for sequence in speakers],
            lengths=[sequence.length for sequence in speakers],
            tokens=self._tokens_at_once(speakers),
            sampling=Steps.for_all((one.sampling for one in (*answered, *speakers)), self._vocabulary),
        )
        return _Plan(step, readers, speakers)

    def _tokens_at_once(self, speakers: Sequence[LmSequence]) -> int:
        """Few where somebody waits to be read; else about as many as the first reader to be served waits for."""
        if self._reading or not speakers:
            return 1
        soonest = min(sequence.stream.missing for sequence in speakers)
        return min(self._burst, max(soonest, (self._burst + 1) // 2))

    def _next_pieces(self) -> tuple[list[LmSequence], list[Piece]]:
        """As many sequences, first come, first served, as read their next pieces in `prefill_rows` rows together.

        They are padded to the length of the first. Whoever has more to read then stands in line again.
        """
        readers: list[LmSequence] = []
        pieces: list[Piece] = []
        longest = 0
        for sequence in self._reading:
            piece = sequence.next_piece(longest or self._sizes.prefill_rows)
            longest = longest or piece.length
            if (len(pieces) + 1) * longest > self._sizes.prefill_rows:
                break
            readers.append(sequence)
            pieces.append(piece)
        return readers, pieces

    def _deliver(self, plan: "_Plan", drawn: Drawn) -> None:
        for key, saved in drawn.kept:
            self._prefixes.put(key, saved)
        first = iter(drawn.first)
        for sequence, piece in zip(plan.readers, plan.step.pieces, strict=True):
            token = next(first) if piece.last else None
            if sequence.closed:
                continue
            sequence.was_read(piece)
            self._reading.remove(sequence)
            if token is None:
                self._reading.append(sequence)
            else:
                self._accept(sequence, token)
        for sequence, tokens in zip(plan.speakers, drawn.following, strict=True):
            for token in tokens:
                if sequence.closed or sequence.stream.over:
                    break
                sequence.length += 1
                self._accept(sequence, token)

    def _accept(self, sequence: LmSequence, token: int) -> None:
        sequence.accept(token)
        if sequence.stream.over:
            self._decoding.pop(sequence, None)
        else:
            self._decoding[sequence] = None

    def _fail(self, sequences: "Sequence[LmSequence] | set[LmSequence]", error: PolyvoxError) -> None:
        """Their owners get the error and leave; until then they hold their slots but take part in nothing."""
        for sequence in sequences:
            sequence.closed = True
            sequence.stream.finish(error)
            self._decoding.pop(sequence, None)
            if sequence in self._reading:
                self._reading.remove(sequence)

    @staticmethod
    def _closed_error() -> UnavailableError:
        return UnavailableError("The language model is closed; the engine is shutting down.")


@dataclass(frozen=True, slots=True)
class _Plan:
    """A step, and whose pieces and tokens it holds."""

    step: Step
    readers: list[LmSequence]
    speakers: list[LmSequence]

    @property
    def sequences(self) -> list[LmSequence]:
        return [*self.readers, *self.speakers]
