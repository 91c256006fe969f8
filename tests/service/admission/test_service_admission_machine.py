"""Admission under any order of events: no slot leaks, no client starves, and what is over stays over.

The server's own controller on a virtual clock, with callers that come, stall, leave and come back.
"""

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from benchmarks.virtual_time import VirtualTimeLoop
from helpers.examples import runs
from polyvox.errors import OverloadedError
from polyvox.service.admission.admission_request import AdmissionRequest
from polyvox.service.admission.controller import AdmissionController
from polyvox.service.admission.ticket import LONGEST_START_WAIT, Ticket, TicketState

CLIENTS, MODELS = ("anna", "ben", "cleo", "dan"), ("kokoro", "zipvoice")
CHUNK_SECONDS = 2.0
STALL_SECONDS = 60.0
"""Time without reading after which a session ends by itself."""
LONGEST = 20_000.0
"""Virtual seconds within which all that a trial can ask for must have been spoken."""
ROUNDING = 1e-6


@dataclass(eq=False)
class Stream:
    """A request as its session handles it; `chunks` of audio are spoken, and read unless the client has stalled."""

    ticket: Ticket
    chunks: int
    arriving: float = 0.0
    reads: asyncio.Event = field(default_factory=asyncio.Event)
    waited: float | None = None
    refusal: OverloadedError | None = None
    task: "asyncio.Task[None] | None" = None

    async def run(self, now: Callable[[], float], seconds_for: Callable[[Ticket], float]) -> None:
        ticket = self.ticket
        try:
            await ticket.granted()
        except OverloadedError as refusal:
            self.refusal = refusal
            return
        finally:
            self.waited = now() - ticket.entered
        for _ in range(self.chunks):
            if not self.reads.is_set():
                ticket.pause()
                await self._reading()
                ticket.resume()
            await ticket.turn()
            await self._text()
            began = now()
            await asyncio.sleep(seconds_for(ticket))
            ticket.produced(CHUNK_SECONDS, now() - began)
            ticket.read()
        ticket.finish()
        await self._reading()

    async def _text(self) -> None:
        if self.arriving:
            self.ticket.idle()
            await asyncio.sleep(self.arriving)
            await self.ticket.text_came()

    async def _reading(self) -> None:
        """Wait until the client reads; one that does not for long loses its session."""
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await self.reads.wait()
        except TimeoutError:
            raise asyncio.CancelledError from None


class WatchedController(AdmissionController):
    """Holds every grant against the limits, and against what others who wait were granted meanwhile."""

    def watch(self, max_active: int, *, in_order: bool) -> None:
        self.max_active, self.in_order = max_active, in_order
        self.largest: defaultdict[str, float] = defaultdict(float)
        self.overtaken_by: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))

    def enter(self, asked: AdmissionRequest = AdmissionRequest(), capacity: float | None = None) -> Ticket:
        ticket = super().enter(asked, capacity)
        self.largest[asked.client] = max(self.largest[asked.client], ticket.size)
        return ticket

    def _grant(self, ticket: Ticket) -> None:
        super()._grant(ticket)
        assert self.active <= self.max_active, "a slot was granted that there is not"
        assert len(self._open) <= 2 * self.max_active, "more sessions are open than two a slot"
        background = [other for other in self._open if other.background and other.state is TicketState.ACTIVE]
        if ticket.background:
            assert len(background) <= max(1, self.max_active // 2), "background requests hold more than half"
        if not self.in_order:
            return
        waiting = {other.client for other in self._waiting.live()}
        assert not (ticket.background and waiting), "a background request went before a live one"
        self.largest[ticket.client] = max(self.largest[ticket.client], ticket.size)
        self.overtaken_by.pop(ticket.client, None)
        for client in waiting - {ticket.client}:
            audio = self.overtaken_by[client]
            audio[ticket.client] += ticket.size
            fair = self.largest[client] + self.largest[ticket.client] + ROUNDING
            assert audio[ticket.client] <= fair, f"{client} waited for {audio} s of others"

    def forget_turns(self) -> None:
        """Clients with nobody waiting are not overtaken."""
        waiting = {ticket.client for ticket in self._waiting.live()}
        for client in [client for client in self.overtaken_by if client not in waiting]:
            del self.overtaken_by[client]


class AdmissionMachine(RuleBasedStateMachine):
    """Requests of four clients for two models."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualTimeLoop()
        self.streams: list[Stream] = []
        self.ended: list[Stream] = []
        self.refused: list[float] = []

    @initialize(
        max_active=st.sampled_from((1, 1, 2, 4)),
        max_waiting=st.sampled_from((1, 4, 30)),
        adaptive=st.booleans(),
        max_share=st.sampled_from((0.25, 0.5, 1.0)),
        capacity=st.sampled_from((None, 1.5, 3.0)),
        rate=st.sampled_from((1.5, 4.0, 40.0)),
    )
    def start(
        self, max_active: int, max_waiting: int, adaptive: bool, max_share: float, capacity: float | None, rate: float
    ) -> None:
        self.max_waiting, self.rate = max_waiting, rate
        self.capacity = capacity if adaptive else None
        self.admission = WatchedController(
            max_active, max_waiting, adaptive=adaptive, max_share=max_share, clock=self.loop.time
        )
        self.admission.watch(max_active, in_order=not adaptive)

    @rule(
        client=st.sampled_from(CLIENTS),
        model=st.sampled_from(MODELS),
        chars=st.sampled_from((100, 5, 400, 0)),
        max_wait=st.sampled_from((math.inf, math.inf, math.inf, 2.0, 30.0)),
        kind=st.sampled_from(("live", "live", "background", "unpaced", "arriving")),
        chunks=st.sampled_from((1, 2, 8)),
        count=st.integers(1, 6),
    )
    def enter(self, client: str, model: str, chars: int, max_wait: float, kind: str, chunks: int, count: int) -> None:
        """One request, or several at once."""
        self._run(self._enter(client, model, chars, max_wait, [kind] * count, chunks))

    @rule(
        clients=st.permutations(CLIENTS[:3]),
        batches=st.integers(0, 2),
        model=st.sampled_from(MODELS),
        chunks=st.sampled_from((1, 4)),
    )
    def crowd(self, clients: list[str], batches: int, model: str, chunks: int) -> None:
        """Everybody wants much at once; some have batches spoken beside."""
        for place, client in enumerate(clients):
            kinds = ["background"] * 4 + ["live"] if place < batches else ["live"] * 4
            self._run(self._enter(client, model, 100, math.inf, kinds, chunks))

    @rule(place=st.integers(0, 40))
    @precondition(lambda self: self.streams)
    def cancel(self, place: int) -> None:
        """A client leaves, wherever its request is."""
        task = self._stream(place).task
        assert task is not None
        task.cancel()

    @rule(client=st.sampled_from(CLIENTS))
    def give_up(self, client: str) -> None:
        """A client withdraws all that it has waiting but the last."""
        mine = [stream for stream in self.streams if stream.ticket.client == client]
        for stream in [stream for stream in mine if stream.ticket.state is TicketState.WAITING][:-1]:
            assert stream.task is not None
            stream.task.cancel()

    @rule(place=st.integers(0, 40))
    @precondition(lambda self: self.streams)
    def stall(self, place: int) -> None:
        self._stream(place).reads.clear()

    @rule()
    @precondition(lambda self: self.streams)
    def stall_all(self) -> None:
        for stream in self.streams:
            stream.reads.clear()

    @rule(place=st.integers(0, 40))
    @precondition(lambda self: self.streams)
    def read(self, place: int) -> None:
        self._stream(place).reads.set()

    @rule(place=st.integers(0, 40))
    @precondition(lambda self: self.ended)
    def come_back_late(self, place: int) -> None:
        """What a session may still do when its ticket is gone opens nothing again."""
        ticket = self.ended[place % len(self.ended)].ticket
        self._run(self._all_of(ticket))
        assert ticket.state is TicketState.LEFT

    @rule(seconds=st.sampled_from((0.1, 1.0, 6.0, 6.0, 40.0)))
    def pass_time(self, seconds: float) -> None:
        self._run(asyncio.sleep(seconds))

    @invariant()
    def nothing_leaks(self) -> None:
        if not hasattr(self, "admission"):
            return
        self._run(asyncio.sleep(0))
        self._part()
        self.admission.forget_turns()
        tickets = [stream.ticket for stream in self.streams]
        states = [ticket.state for ticket in tickets]
        assert TicketState.LEFT not in states
        assert all(1.0 <= seconds < math.inf for seconds in self.refused)
        assert self.admission.active == states.count(TicketState.ACTIVE)
        assert self.admission.waiting == states.count(TicketState.WAITING)
        held = [self.loop.time() - ticket.stalled_since for ticket in tickets if ticket.state is TicketState.STARTING]
        assert max(held, default=0.0) <= LONGEST_START_WAIT + ROUNDING, "a stream with a slot is held back for ever"
        live = [ticket for ticket in tickets if ticket.state is TicketState.WAITING and not ticket.background]
        assert len(live) <= self.max_waiting
        assert set(self.admission._open) == {ticket for ticket in tickets if ticket.state is not TicketState.WAITING}
        for queue in self.admission._queues.values():
            mine = [ticket for ticket in tickets if ticket.queue is queue]
            assert queue.active == {ticket for ticket in mine if ticket.state is TicketState.ACTIVE}
            assert queue.held_back == {ticket for ticket in mine if ticket.state is TicketState.STARTING}
            assert queue.running == len(queue.active)
            assert queue.streams_of.total() == len(queue.active) + len(queue.held_back)
        assert {client for client, _ in self.admission._waiting._virtual_finish} == {
            ticket.client for ticket in tickets
        }

    def teardown(self) -> None:
        """Everybody who reads is heard beside those who do not, then these as well, and nothing is left."""
        if hasattr(self, "admission"):
            self._finish([stream for stream in self.streams if stream.reads.is_set()])
            for stream in self.streams:
                stream.reads.set()
            self._finish(self.streams)
            self.nothing_leaks()
            assert not self.streams
            if (timer := self.admission._timer) is not None:
                timer.cancel()
        self.loop.close()

    async def _enter(self, client: str, model: str, chars: int, max_wait: float, kinds: list[str], chunks: int) -> None:
        for kind in kinds:
            before, background = self.admission.waiting, kind == "background"
            try:
                asked = AdmissionRequest(model, client, chars, max_wait, paced=kind != "unpaced", background=background)
                ticket = self.admission.enter(asked, self.capacity)
            except OverloadedError as refusal:
                self.refused.append(refusal.retry_after)
                assert not background, "a batch bounds its own number"
                assert self.admission.waiting == before, "one that was refused waits"
            else:
                self.streams.append(self._opened(Stream(ticket, chunks, 1.5 if kind == "arriving" else 0.0)))

    def _finish(self, streams: list[Stream]) -> None:
        tasks = [stream.task for stream in streams if stream.task is not None]
        if tasks:
            _, waiting = self.loop.run_until_complete(asyncio.wait(tasks, timeout=LONGEST))
            assert not waiting, "somebody is never heard"

    def _opened(self, stream: Stream) -> Stream:
        stream.reads.set()
        stream.task = task = asyncio.ensure_future(stream.run(self.loop.time, self._chunk_seconds))
        stream.ticket.on_drop = task.cancel  # type: ignore[assignment]
        task.add_done_callback(lambda _: stream.ticket.release())
        return stream

    def _chunk_seconds(self, ticket: Ticket) -> float:
        """All streams of a model share its rate."""
        return CHUNK_SECONDS / self.rate * max(1, ticket.queue.running)

    def _stream(self, place: int) -> Stream:
        return self.streams[place % len(self.streams)]

    async def _all_of(self, ticket: Ticket) -> None:
        ticket.pause()
        ticket.resume()
        ticket.idle()
        await ticket.text_came()
        ticket.produced(CHUNK_SECONDS, 0.1)
        ticket.finish()
        ticket.release()

    def _run(self, work: "asyncio.Future[None] | object") -> None:
        async def run() -> None:
            await work  # type: ignore[misc]
            for _ in range(4):  # whatever that set going has its turn
                await asyncio.sleep(0)

        self.loop.run_until_complete(run())

    def _part(self) -> None:
        """Note what has ended, and hold each wait against what its caller accepts."""
        for stream in [stream for stream in self.streams if stream.task is not None and stream.task.done()]:
            self.streams.remove(stream)
            self.ended.append(stream)
            assert stream.task is not None
            if not stream.task.cancelled():
                stream.task.result()
            waited, accepted = stream.waited or 0.0, stream.ticket.max_wait
            assert waited <= accepted + ROUNDING
            if stream.refusal is not None and stream.ticket.background:
                assert waited >= accepted - ROUNDING, "an item of a batch was refused in favour of others"


@pytest.mark.hypothesis
@pytest.mark.long
def test_no_order_of_events_leaks_a_slot_or_starves_a_client() -> None:
    run_state_machine_as_test(AdmissionMachine, settings=runs(stateful_step_count=50))  # type: ignore[no-untyped-call]
