"""One request, from its ticket to its last chunk."""

import asyncio
import gc
import weakref
from itertools import pairwise

import numpy as np
import pytest
from structlog.contextvars import get_contextvars
from structlog.testing import capture_logs

from helpers.fakes import PlainToneEngine, ToneEngine, running, tone, tone_service
from helpers.tables import each_row
from polyvox.errors import DeadlineError, EngineError, InvalidRequestError, StalledError, TextError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.session import Session, SessionState
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import AudioChunk, Utterance

pytestmark = pytest.mark.anyio

LEGAL = {
    ("queued", "preparing"),
    ("queued", "cancelled"),
    ("queued", "failed"),
    ("preparing", "speaking"),
    ("preparing", "cancelled"),
    ("preparing", "failed"),
    ("speaking", "done"),
    ("speaking", "cancelled"),
    ("speaking", "failed"),
}


def request(text: str = "one two three", voice: str = "low", **options: object) -> SpeechRequest:
    return SpeechRequest(Utterance(text, voice), door="test", **options)


async def read(session: Session) -> list[AudioChunk]:
    async with session:
        return [chunk async for chunk in session]


async def until_waiting(session: Session, chunks: int) -> None:
    """Until the session has made that many chunks that nobody has read."""
    async with asyncio.timeout(5):
        while len(session._buffer) < chunks:  # noqa: ASYNC110
            await asyncio.sleep(0.001)


@each_row("before", SessionState)
@each_row("after", SessionState)
async def test_a_session_moves_only_along_its_legal_steps(before: SessionState, after: SessionState) -> None:
    if (before, after) in LEGAL:
        assert before.moved_to(after) is after
    else:
        with pytest.raises(RuntimeError, match=f"from {before} to {after}"):
            before.moved_to(after)


async def test_a_session_passes_through_its_states_in_order() -> None:
    gate = asyncio.Event()
    async with running(tone_service(ToneEngine(gate=gate), max_sessions=1)) as service:
        ahead, session = await service.open(request(), LOCAL_CALL), await service.open(request(), LOCAL_CALL)
        seen = [session.state]
        ahead.cancel()
        await asyncio.sleep(0.01)
        seen.append(session.state)
        gate.set()
        async with session:
            async for _ in session:
                seen.append(session.state)
        seen.append(session.state)
    assert list(dict.fromkeys(seen)) == ["queued", "preparing", "speaking", "done"]


async def test_chunks_arrive_unchanged_when_nothing_was_asked_of_them() -> None:
    async with running(tone_service(ToneEngine(chunks=3))) as service:
        session = await service.open(request(), LOCAL_CALL)
        chunks = await read(session)
    assert (session.sample_rate, session.channels, session.engine) == (24_000, 1, "tone")
    assert [chunk.index for chunk in chunks] == [0, 1, 2]
    assert all(one.end == other.start for one, other in pairwise(chunks))
    np.testing.assert_array_equal(np.concatenate([chunk.pcm for chunk in chunks]), tone(220.0, 0, 7200, 24_000))
    assert [word.word for chunk in chunks for word in chunk.words] == ["one", "two", "three"]


async def test_ids_are_unique() -> None:
    async with running(tone_service()) as service:
        sessions = [await service.open(request(), LOCAL_CALL) for _ in range(20)]
        await asyncio.gather(*(read(session) for session in sessions))
    assert len({session.id for session in sessions}) == 20


class TestLeaving:
    async def test_the_block_cancels_what_is_left_within_one_chunk(self) -> None:
        engine = ToneEngine(chunks=1000, delay=0.01)
        async with running(tone_service(engine, session_buffer=2, max_sessions=1)) as service:
            session = await service.open(request(), LOCAL_CALL)
            async with session:
                await anext(aiter(session))
            assert session.state is SessionState.CANCELLED
            assert (engine.speaking, engine.closed) == (0, 1)

    async def test_the_generator_is_closed_before_the_place_is_given_on(self) -> None:
        class SlowToClose(ToneEngine):
            async def _work(self) -> None:
                try:
                    await asyncio.sleep(0.001)
                except asyncio.CancelledError:
                    await asyncio.sleep(0.05)
                    raise

        engine = SlowToClose(chunks=10_000)
        async with running(tone_service(engine, max_sessions=1)) as service:
            first = await service.open(request(), LOCAL_CALL)
            second = await service.open(request(), LOCAL_CALL)
            async with first:
                await anext(aiter(first))
            async with second:
                await anext(aiter(second))
        assert engine.most_speaking == 1

    async def test_after_the_last_chunk_is_no_cancellation(self) -> None:
        async with running(tone_service(ToneEngine(chunks=2))) as service:
            session = await service.open(request(), LOCAL_CALL)
            async with session:
                reader = aiter(session)
                await anext(reader)
                await until_waiting(session, 1)
                await asyncio.sleep(0.01)
                await anext(reader)
            assert session.state is SessionState.DONE

    async def test_before_the_first_step_frees_the_place(self) -> None:
        async with running(tone_service(max_sessions=1, max_queue=0)) as service:
            session = await service.open(request(), LOCAL_CALL)
            async with session:
                pass
            assert session.state is SessionState.CANCELLED
            assert len(await read(await service.open(request(), LOCAL_CALL))) == 3

    async def test_while_queued_leaves_the_queue(self) -> None:
        gate = asyncio.Event()
        async with running(tone_service(ToneEngine(gate=gate), max_sessions=1, max_queue=1)) as service:
            first = await service.open(request(), LOCAL_CALL)
            queued = await service.open(request(), LOCAL_CALL)
            async with queued:
                pass
            assert queued.state is SessionState.CANCELLED
            third = await service.open(request(), LOCAL_CALL)
            gate.set()
            assert len(await read(first)) == len(await read(third)) == 3

    async def test_a_cancelled_reader_cancels_its_session(self) -> None:
        engine = ToneEngine(gate=asyncio.Event())
        async with running(tone_service(engine)) as service:
            session = await service.open(request(), LOCAL_CALL)
            reader = asyncio.create_task(read(session))
            await asyncio.sleep(0.01)
            assert engine.speaking == 1
            reader.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reader
            assert session.state is SessionState.CANCELLED
            assert engine.speaking == 0

    async def test_an_engine_that_ignores_its_cancellation_is_stopped_at_its_next_chunk(self) -> None:
        class Deaf(ToneEngine):
            async def _work(self) -> None:
                try:
                    await asyncio.sleep(0.02)
                except asyncio.CancelledError:
                    return

        engine = Deaf(chunks=10_000)
        async with running(tone_service(engine)) as service:
            session = await service.open(request(), LOCAL_CALL)
            async with session:
                await anext(aiter(session))
            assert session.state is SessionState.CANCELLED
            assert engine.speaking == 0


class TestCancelling:
    async def test_from_elsewhere_ends_the_readers_loop(self) -> None:
        async with running(tone_service(ToneEngine(chunks=1000, delay=0.001))) as service:
            session = await service.open(request(), LOCAL_CALL)
            reader = asyncio.create_task(read(session))
            await asyncio.sleep(0.01)
            session.cancel()
            async with asyncio.timeout(1):
                await reader
            assert session.state is SessionState.CANCELLED

    async def test_drops_what_the_reader_has_not_taken(self) -> None:
        async with running(tone_service(ToneEngine(chunks=1000))) as service:
            session = await service.open(request(), LOCAL_CALL)
            await until_waiting(session, 4)
            session.cancel()
            assert await read(session) == []

    async def test_with_a_reason_raises_it_in_the_reader(self) -> None:
        async with running(tone_service(ToneEngine(gate=asyncio.Event()))) as service:
            session = await service.open(request(), LOCAL_CALL)
            reader = asyncio.create_task(read(session))
            await asyncio.sleep(0.01)
            session.cancel(InvalidRequestError("Enough."))
            with pytest.raises(InvalidRequestError, match="Enough"):
                await reader

    async def test_too_late_changes_nothing(self) -> None:
        async with running(tone_service(ToneEngine(fail_at=1))) as service:
            session = await service.open(request(), LOCAL_CALL)
            await asyncio.wait({session.task})
            session.cancel()
            assert session.state is SessionState.FAILED
            assert (await anext(aiter(session))).index == 0
            with pytest.raises(EngineError):
                await anext(aiter(session))

    async def test_twice_is_once(self) -> None:
        async with running(tone_service(ToneEngine(gate=asyncio.Event()))) as service:
            session = await service.open(request(), LOCAL_CALL)
            await asyncio.sleep(0)
            session.cancel()
            session.cancel()
            assert await read(session) == []


class TestSlowReaders:
    async def test_hold_at_most_their_buffer_of_chunks(self) -> None:
        engine = ToneEngine(chunks=50)
        made: list[int] = []
        original = engine._chunk
        engine._chunk = lambda *args: made.append(args[1]) or original(*args)
        async with running(tone_service(engine, session_buffer=3)) as service:
            session = await service.open(request(), LOCAL_CALL)
            async with session:
                await until_waiting(session, 3)
                await asyncio.sleep(0.02)
                assert made == [0, 1, 2]
                await anext(aiter(session))
                await asyncio.sleep(0.02)
                assert made == [0, 1, 2, 3]

    async def test_stall_nobody_else(self) -> None:
        async with running(tone_service(ToneEngine(chunks=20), session_buffer=1)) as service:
            slow = await service.open(request(), LOCAL_CALL)
            async with slow:
                await until_waiting(slow, 1)
                async with asyncio.timeout(2):
                    assert len(await read(await service.open(request(), LOCAL_CALL))) == 20
                assert slow.state is SessionState.SPEAKING

    async def test_are_dropped_when_they_read_nothing_for_too_long(self) -> None:
        engine = ToneEngine(chunks=20)
        async with running(tone_service(engine, session_buffer=2, stall_seconds=0.05, max_sessions=1)) as service:
            session = await service.open(request(), LOCAL_CALL)
            await asyncio.sleep(0.2)
            assert session.state is SessionState.FAILED
            assert (engine.speaking, engine.closed) == (0, 1)
            with pytest.raises(StalledError, match=r"0\.05 s"):
                await anext(aiter(session))
            assert 'polyvox_failures_total{kind="client_stalled"} 1.0' in service.metrics.render().decode()

    async def test_are_dropped_also_when_only_the_last_chunks_are_unread(self) -> None:
        engine = ToneEngine(chunks=2)
        async with running(tone_service(engine, session_buffer=4, stall_seconds=0.05)) as service:
            session = await service.open(request(), LOCAL_CALL)
            await asyncio.sleep(0.2)
            assert session.state is SessionState.FAILED

    async def test_may_take_their_time_as_long_as_they_read(self) -> None:
        async with running(tone_service(ToneEngine(chunks=6), session_buffer=1, stall_seconds=0.2)) as service:
            session = await service.open(request(), LOCAL_CALL)
            async with session:
                count = 0
                async for _ in session:
                    count += 1
                    await asyncio.sleep(0.05)
            assert (count, session.state) == (6, SessionState.DONE)


class TestDeadlines:
    async def test_end_a_request_that_takes_too_long(self) -> None:
        engine = ToneEngine(chunks=1000, delay=0.02)
        async with running(tone_service(engine, deadline_seconds=0.1)) as service:
            session = await service.open(request(), LOCAL_CALL)
            with pytest.raises(DeadlineError, match=r"0\.1 s"):
                await read(session)
            assert session.state is SessionState.FAILED
            assert engine.speaking == 0

    async def test_count_the_time_in_the_queue(self) -> None:
        async with running(tone_service(ToneEngine(gate=asyncio.Event()), max_sessions=1)) as service:
            first = await service.open(request(), LOCAL_CALL)
            queued = await service.open(request(deadline=0.05), LOCAL_CALL)
            with pytest.raises(DeadlineError):
                await read(queued)
            assert first.state is SessionState.PREPARING
            first.cancel()

    @pytest.mark.long
    @each_row(("own", "shorter"), [(0.05, True), (600.0, False), (None, False)])
    async def test_of_a_request_can_only_be_shorter_than_the_servers(self, own: float | None, shorter: bool) -> None:
        engine = ToneEngine(gate=asyncio.Event())
        async with running(tone_service(engine, deadline_seconds=0.3)) as service:
            session = await service.open(request(deadline=own), LOCAL_CALL)
            with pytest.raises(DeadlineError, match=r"0\.05 s" if shorter else r"0\.3 s"):
                await read(session)

    async def test_hold_even_for_an_engine_that_catches_its_cancellation(self) -> None:
        class Deaf(ToneEngine):
            async def _work(self) -> None:
                try:
                    await asyncio.sleep(0.02)
                except asyncio.CancelledError:
                    return

        async with running(tone_service(Deaf(chunks=10_000), deadline_seconds=0.05)) as service:
            session = await service.open(request(), LOCAL_CALL)
            with pytest.raises(DeadlineError):
                await read(session)


class TestFailures:
    async def test_before_the_first_chunk_are_raised_to_the_reader(self) -> None:
        async with running(tone_service(ToneEngine(fail_at=0))) as service:
            session = await service.open(request(), LOCAL_CALL)
            with pytest.raises(EngineError, match=session.id):
                await read(session)
            assert session.state is SessionState.FAILED

    @pytest.mark.long
    async def test_in_mid_stream_come_after_the_chunks_made_before(self) -> None:
        async with running(tone_service(ToneEngine(fail_at=2), session_buffer=4)) as service:
            session = await service.open(request(), LOCAL_CALL)
            await asyncio.sleep(0.02)
            assert session.state is SessionState.FAILED
            async with session:
                reader = aiter(session)
                assert [(await anext(reader)).index, (await anext(reader)).index] == [0, 1]
                with pytest.raises(EngineError, match=session.id):
                    await anext(reader)

    async def test_leave_a_traceback_in_the_log_and_none_in_the_message(self) -> None:
        with capture_logs() as lines:
            async with running(tone_service(ToneEngine(fail_at=1))) as service:
                session = await service.open(request(), LOCAL_CALL)
                with pytest.raises(EngineError) as caught:
                    await read(session)
        assert "the tone broke" not in caught.value.message
        (line,) = [line for line in lines if line["event"] == "engine failed"]
        assert str(line["exc_info"]) == "the tone broke"
        assert line["exc_info"].__traceback__ is not None

    async def test_that_are_typed_pass_through_as_they_are(self) -> None:
        engine = ToneEngine(fail_at=0, error=TextError("Nothing to say.", field="input"))
        async with running(tone_service(engine)) as service:
            with pytest.raises(TextError, match="Nothing to say"):
                await read(await service.open(request(), LOCAL_CALL))

    async def test_include_an_engine_timing_out_by_itself(self) -> None:
        async with running(tone_service(ToneEngine(fail_at=0, error=TimeoutError()))) as service:
            with pytest.raises(EngineError):
                await read(await service.open(request(), LOCAL_CALL))

    async def test_include_an_engine_that_says_nothing(self) -> None:
        async with running(tone_service(ToneEngine(chunks=0))) as service:
            with pytest.raises(TextError, match="Nothing in the text"):
                await read(await service.open(request(), LOCAL_CALL))

    @pytest.mark.long
    async def test_include_an_engine_that_fails_while_it_is_closed(self) -> None:
        class Sore(PlainToneEngine):
            async def speak(self, utterance):
                try:
                    async for chunk in super().speak(utterance):
                        yield chunk
                finally:
                    raise ValueError("sore")

        async with running(tone_service(Sore(chunks=100, delay=0.001), max_sessions=1, max_queue=0)) as service:
            session = await service.open(request(), LOCAL_CALL)
            async with session:
                await anext(aiter(session))
            assert session.state is SessionState.FAILED
            assert service.metrics.registry.get_sample_value("polyvox_active_sessions") == 0


class TestLogLines:
    async def test_carry_the_session_id_wherever_they_are_written(self) -> None:
        seen: list[object] = []

        class Noting(ToneEngine):
            async def _work(self) -> None:
                seen.append(get_contextvars().get("session"))
                seen.append(await asyncio.to_thread(lambda: get_contextvars().get("session")))

        async with running(tone_service(Noting(chunks=1))) as service:
            session = await service.open(request(), LOCAL_CALL)
            async with session:
                seen.append(get_contextvars().get("session"))
                async for _ in session:
                    pass
            assert "session" not in get_contextvars()
        assert seen == [session.id] * 3

    async def test_end_each_session_with_its_account_and_without_its_text(self) -> None:
        with capture_logs() as lines:
            async with running(tone_service(ToneEngine(chunks=3, chunk_seconds=0.5))) as service:
                await read(await service.open(request("confidential words here"), LOCAL_CALL))
        (line,) = [line for line in lines if line["event"] == "session"]
        fields = ("state", "door", "model", "voice", "chars", "chunks", "audio_seconds", "error")
        assert [line[field] for field in fields] == ["done", "test", "tone", "low", 23, 3, 1.5, None]
        assert line["ttfa_ms"] > 0
        assert line["rtf"] > 0
        assert "confidential" not in str(lines)

    async def test_show_every_chunk_when_debugging(self) -> None:
        with capture_logs() as lines:
            async with running(tone_service(ToneEngine(chunks=2))) as service:
                await read(await service.open(request("a b"), LOCAL_CALL))
        chunks = [line for line in lines if line["event"] == "chunk"]
        assert [(line["index"], line["samples"], line["tokens"]) for line in chunks] == [
            (0, (0, 2400), (0, 1)),
            (1, (2400, 4800), (1, 2)),
        ]
        assert all(line["log_level"] == "debug" for line in chunks)


async def finished_session(service: SpeechService) -> "weakref.ref[Session]":
    session = await service.open(request(), LOCAL_CALL)
    await read(session)
    return weakref.ref(session)


@pytest.mark.long
async def test_a_finished_session_is_forgotten() -> None:
    async with running(tone_service()) as service:
        trace = await finished_session(service)
        await asyncio.sleep(0)
        gc.collect()
        assert trace() is None
