"""The speech service as a whole: what it refuses, how it starts and shuts down, and how it handles failures."""

import asyncio
import math
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace

import numpy as np
import pytest
from structlog.testing import capture_logs

from helpers.fakes import BusyEngine, PlainToneEngine, ToneEngine, missing_bundle, running, tone_service
from helpers.tables import each_row
from polyvox.errors import (
    BrokenAudioError,
    EngineError,
    InvalidRequestError,
    OverloadedError,
    PolyvoxError,
    TextError,
    UnavailableError,
    UnknownModelError,
    UnknownVoiceError,
    status_of,
)
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.session import SessionState
from polyvox.service.speech import SpeechService
from polyvox.service.speech_request import PhonemeNeed, SpeechRequest
from polyvox.types import AudioChunk, Capabilities, Utterance
from polyvox.voices.records import SHARED_OWNER

pytestmark = pytest.mark.anyio


def request(text: str = "one two three", *, speed: float = 1.0, voice: str = "low", **options) -> SpeechRequest:
    return SpeechRequest(Utterance(text, voice, speed=speed), door="test", **options)


async def speak(service: SpeechService, asked: SpeechRequest) -> list[AudioChunk]:
    async with await service.open(asked, LOCAL_CALL) as session:
        return [chunk async for chunk in session]


@pytest.mark.parametrize("need", PhonemeNeed)
async def test_an_engine_is_told_whether_anybody_asks_for_phonemes(need: PhonemeNeed) -> None:
    told = []

    class Listening(ToneEngine):
        @property
        def capabilities(self) -> Capabilities:
            return replace(super().capabilities, phoneme_timings=True)

        async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
            told.append(utterance.phonemes)
            async for chunk in super().speak(utterance):
                yield chunk

    async with running(tone_service(Listening())) as service:
        await speak(service, request(phonemes=need))
    assert told == [need is not PhonemeNeed.NONE]


class TestRefusals:
    @each_row(
        ("asked", "error", "field"),
        [
            (request(""), TextError, "input"),
            (request(" \n\t "), TextError, "input"),
            (request("x" * 101), TextError, "input"),
            (request("?!"), TextError, "input"),
            (request(speed=0.0), InvalidRequestError, "speed"),
            (request(speed=100.0), InvalidRequestError, "speed"),
            (request(speed=math.nan), InvalidRequestError, "speed"),
            (request(volume=0.0), InvalidRequestError, "volume"),
            (request(volume=4.1), InvalidRequestError, "volume"),
            (request(volume=math.nan), InvalidRequestError, "volume"),
            (request(sample_rate=7_999), InvalidRequestError, "sample_rate"),
            (request(sample_rate=48_001), InvalidRequestError, "sample_rate"),
            (request(loudness=-51.0), InvalidRequestError, "loudness"),
            (request(loudness=0.0), InvalidRequestError, "loudness"),
            (request(deadline=0.0), InvalidRequestError, "deadline"),
            (request(deadline=math.nan), InvalidRequestError, "deadline"),
            (request(voice="nobody"), UnknownVoiceError, "voice"),
            (request(model="nothing"), UnknownModelError, "model"),
        ],
    )
    async def test_name_the_field_and_cost_nothing(
        self, asked: SpeechRequest, error: type[PolyvoxError], field: str
    ) -> None:
        engine = ToneEngine()
        async with running(tone_service(engine, max_input_chars=100)) as service:
            with pytest.raises(error) as caught:
                await service.open(asked, LOCAL_CALL)
            assert caught.value.field == field
            assert engine.heard == []
            assert service.metrics.registry.get_sample_value("polyvox_active_sessions") == 0
            assert len(await speak(service, request("x" * 100))) == 3

    async def test_include_what_an_engines_own_check_stumbles_over(self) -> None:
        class Clumsy(ToneEngine):
            def check(self, utterance: Utterance) -> None:
                raise KeyError(utterance.text)

        with capture_logs() as lines:
            async with running(tone_service(Clumsy())) as service:
                with pytest.raises(EngineError, match="the server's log has the cause under"):
                    await service.open(request(), LOCAL_CALL)
                assert (
                    service.metrics.registry.get_sample_value("polyvox_failures_total", {"kind": "engine_failed"}) == 1
                )
        assert any(line.get("exc_info") for line in lines)

    async def test_hold_before_the_start_and_after_the_end(self) -> None:
        service = tone_service()
        with pytest.raises(UnavailableError, match="starting"):
            await service.open(request(), LOCAL_CALL)
        async with running(service):
            await speak(service, request())
        with pytest.raises(UnavailableError, match="shutting down"):
            await service.open(request(), LOCAL_CALL)

    @each_row("asked", [request(speed=0.25), request(speed=4.0), request(volume=4.0, sample_rate=8000)])
    async def test_leave_the_limits_themselves_in(self, asked: SpeechRequest) -> None:
        async with running(tone_service()) as service:
            assert await speak(service, asked)


class TestInstructions:
    async def test_are_ignored_with_a_warning_where_the_engine_cannot_follow_them(self) -> None:
        engine = ToneEngine()
        async with running(tone_service(engine)) as service:
            session = await service.open(SpeechRequest(Utterance("hello", "low", instructions="Whisper.")), LOCAL_CALL)
            async with session:
                assert [chunk.index async for chunk in session] == [0, 1, 2]
        assert session.warnings == ("The model 'tone' cannot follow instructions; they were ignored.",)
        assert engine.heard[0].instructions is None

    async def test_reach_an_engine_that_can_follow_them(self) -> None:
        engine = ToneEngine(instructions=True)
        async with running(tone_service(engine)) as service:
            session = await service.open(SpeechRequest(Utterance("hello", "low", instructions="Whisper.")), LOCAL_CALL)
            async with session:
                assert [chunk.index async for chunk in session] == [0, 1, 2]
        assert session.warnings == ()
        assert engine.heard[0].instructions == "Whisper."


class TestSpeed:
    async def test_is_left_to_an_engine_that_sets_its_own_pace(self) -> None:
        engine = ToneEngine(native_speed=True, chunk_seconds=1.0)
        async with running(tone_service(engine)) as service:
            chunks = await speak(service, request(speed=2.0))
        assert engine.heard[0].speed == 2.0
        assert sum(chunk.duration for chunk in chunks) == pytest.approx(1.5)

    async def test_is_applied_to_the_audio_of_an_engine_that_cannot(self) -> None:
        engine = ToneEngine(native_speed=False, chunk_seconds=1.0)
        async with running(tone_service(engine)) as service:
            chunks = await speak(service, request(speed=2.0))
        assert engine.heard[0].speed == 1.0
        assert sum(chunk.duration for chunk in chunks) == pytest.approx(1.5, abs=0.01)


class TestReadiness:
    async def test_comes_with_the_start_and_goes_with_the_end(self) -> None:
        service = tone_service()
        assert not service.ready.ok
        assert set(service.ready.reasons) == {"server", "tone"}
        async with running(service):
            assert service.ready.ok
            assert service.ready.reasons == {}
        assert not service.ready.ok

    async def test_is_withheld_with_the_remedy_when_the_default_model_is_missing(self) -> None:
        async with running(tone_service(ToneEngine(start_error=missing_bundle()))) as service:
            assert not service.ready.ok
            assert "polyvox pull tone" in service.ready.reasons["tone"]
            with pytest.raises(UnavailableError, match="polyvox pull tone"):
                await service.open(request(), LOCAL_CALL)

    async def test_needs_only_the_default_model(self) -> None:
        factories = {
            "tone": lambda _: ToneEngine(),
            "other": lambda _: ToneEngine("other", start_error=missing_bundle()),
        }
        async with running(tone_service(factories=factories, models=["tone", "other"])) as service:
            assert service.ready.ok
            assert set(service.ready.reasons) == {"other"}


class TestPhonemesAndMixes:
    async def test_are_forwarded_to_the_engine_off_the_loop(self) -> None:
        where: list[str] = []

        class Noting(ToneEngine):
            def phonemize(self, text: str, language: str) -> tuple[str, list[int]]:
                where.append(threading.current_thread().name)
                return super().phonemize(text, language)

        async with running(tone_service(Noting())) as service:
            read = await service.side_requests.phonemize("Ab", "en-us", None, _found, owner=SHARED_OWNER)
            assert read == ("ab", [97, 98])
            blend = await service.side_requests.mixed_voice("low+high", None, np.asarray, owner=SHARED_OWNER)
            assert blend.shape == (510, 1, 256)
            np.testing.assert_array_equal(blend, 330.0)
            with pytest.raises(UnknownVoiceError):
                await service.side_requests.mixed_voice("low+nobody", None, np.asarray, owner=SHARED_OWNER)
            with pytest.raises(TextError):
                await service.side_requests.phonemize("  ", "en-us", None, _found, owner=SHARED_OWNER)
        assert threading.main_thread().name not in where

    async def test_are_refused_by_name_where_the_engine_has_none(self) -> None:
        async with running(tone_service(PlainToneEngine())) as service:
            with pytest.raises(InvalidRequestError, match="phonemes"):
                await service.side_requests.phonemize("hello", "en-us", None, _found, owner=SHARED_OWNER)
            with pytest.raises(InvalidRequestError, match="cannot be mixed"):
                await service.side_requests.mixed_voice("low+high", None, np.asarray, owner=SHARED_OWNER)


def _found(phonemes: str, tokens: list[int]) -> tuple[str, list[int]]:
    return phonemes, tokens


class TestClosing:
    async def test_lets_open_and_queued_sessions_finish(self) -> None:
        service = tone_service(ToneEngine(chunks=5, delay=0.01), max_sessions=1)
        await service.start()
        readers = [asyncio.create_task(speak(service, request())) for _ in range(3)]
        await asyncio.sleep(0.02)
        await service.close()
        assert [len(await reader) for reader in readers] == [5, 5, 5]

    async def test_refuses_newcomers_meanwhile(self) -> None:
        gate = asyncio.Event()
        service = tone_service(ToneEngine(gate=gate))
        await service.start()
        reader = asyncio.create_task(speak(service, request()))
        await asyncio.sleep(0.01)
        closing = asyncio.create_task(service.close())
        await asyncio.sleep(0.01)
        with pytest.raises(UnavailableError, match="shutting down"):
            await service.open(request(), LOCAL_CALL)
        assert not service.ready.ok
        gate.set()
        await closing
        assert len(await reader) == 3

    async def test_cancels_visibly_what_outlasts_the_drain(self) -> None:
        engine = ToneEngine(chunks=10_000, delay=0.001)
        service = tone_service(engine, drain_seconds=0.05)
        await service.start()
        reader = asyncio.create_task(speak(service, request()))
        await asyncio.sleep(0.01)
        await service.close()
        with pytest.raises(UnavailableError, match="shutting down"):
            await reader
        assert (engine.speaking, engine.is_closed) == (0, True)

    async def test_leaves_no_task_and_no_thread_behind(self) -> None:
        tasks, threads = asyncio.all_tasks(), set(threading.enumerate())
        engine = BusyEngine(burn=0.002, native_speed=False, chunks=20)
        service = tone_service(engine, drain_seconds=0.02, max_sessions=4, max_queue=4)
        await service.start()
        asked = request(speed=1.5, sample_rate=16_000, volume=0.5)
        sessions = [await service.open(asked, LOCAL_CALL) for _ in range(8)]
        async with sessions[0]:
            await anext(aiter(sessions[0]))
        await service.close()
        await asyncio.sleep(0.01)
        assert asyncio.all_tasks() == tasks
        mine = {thread for thread in set(threading.enumerate()) - threads if not thread.name.startswith("asyncio_")}
        assert mine == set()
        assert (engine.speaking, len(service._sessions)) == (0, 0)


class TestLoad:
    async def test_four_times_too_much_is_refused_in_part_and_recovered_from(self) -> None:
        engine = ToneEngine(chunks=3, delay=0.005)
        async with running(tone_service(engine, max_sessions=4, max_queue=4)) as service:
            outcomes: Counter[str] = Counter()
            advice: list[float] = []

            async def client(number: int) -> None:
                try:
                    session = await service.open(request(), LOCAL_CALL)
                except OverloadedError as error:
                    advice.append(error.retry_after)
                    return
                async with session:
                    if number % 3 == 0:
                        await anext(aiter(session))
                        return
                    outcomes[f"{len([chunk async for chunk in session])} chunks"] += 1

            await asyncio.gather(*(client(number) for number in range(32)))
            assert len(advice) == 24
            assert min(advice) >= 1.0
            assert outcomes == {"3 chunks": 5}
            assert engine.most_speaking <= 4
            assert engine.speaking == 0
            again = [await service.open(request(), LOCAL_CALL) for _ in range(8)]
            for session in again:
                async with session:
                    assert len([chunk async for chunk in session]) == 3
                assert session.state is SessionState.DONE

    async def test_audio_is_the_same_alone_and_in_company(self) -> None:
        async with running(tone_service(ToneEngine(native_speed=False, chunk_seconds=0.3))) as service:
            asked = request(speed=1.3, sample_rate=16_000, volume=0.7)
            alone = await speak(service, asked)
            others = [request(speed=speed, voice="high") for speed in (0.5, 2.0, 3.0)]
            crowd = await asyncio.gather(*(speak(service, one) for one in (*others, asked, *others)))
        assert [(chunk.index, chunk.start) for chunk in crowd[3]] == [(chunk.index, chunk.start) for chunk in alone]
        for one, other in zip(crowd[3], alone, strict=True):
            np.testing.assert_array_equal(one.pcm, other.pcm)

    @pytest.mark.alone
    async def test_the_event_loop_stays_free_while_engines_burn_and_audio_is_shaped(self) -> None:
        lags: list[float] = []

        async def watchdog() -> None:
            while True:
                asleep = time.monotonic()
                await asyncio.sleep(0.005)
                lags.append(time.monotonic() - asleep - 0.005)

        engine = BusyEngine(burn=0.4, chunks=2, chunk_seconds=20.0, native_speed=False)
        async with running(tone_service(engine, factories={"tone": lambda _: engine})) as service:
            watching = asyncio.create_task(watchdog())
            asked = request(speed=1.5, sample_rate=48_000)
            began = time.monotonic()
            await asyncio.gather(speak(service, asked), speak(service, asked))
            spent = time.monotonic() - began
            watching.cancel()
        assert spent > 0.8
        # Both burns would show as 0.4 s each; one hiccup of the machine is forgiven.
        assert sorted(lags)[-2] < 0.2


class TestAccounts:
    async def test_count_requests_audio_and_failures_by_kind(self) -> None:
        engine = ToneEngine(chunks=2, chunk_seconds=0.5)
        async with running(tone_service(engine)) as service:
            await speak(service, request())
            with pytest.raises(TextError):
                await service.open(request(""), LOCAL_CALL)
            with pytest.raises(UnknownModelError):
                await service.open(request(model="x" * 1000), LOCAL_CALL)
            sample = service.metrics.registry.get_sample_value
            assert sample("polyvox_requests_total", {"door": "test", "model": "tone"}) == 2
            assert sample("polyvox_requests_total", {"door": "test", "model": "unknown"}) == 1
            assert sample("polyvox_failures_total", {"kind": "invalid_text"}) == 1
            assert sample("polyvox_failures_total", {"kind": "model_not_found"}) == 1
            assert sample("polyvox_audio_seconds_total", {"model": "tone"}) == 1.0
            assert sample("polyvox_chunks_total", {"model": "tone"}) == 2
            assert sample("polyvox_time_to_first_audio_seconds_count", {"model": "tone"}) == 1
            assert sample("polyvox_real_time_factor_count", {"model": "tone"}) == 1
            assert sample("polyvox_session_seconds_count", {"state": "done"}) == 1

    @pytest.mark.long
    async def test_leave_a_slow_clients_time_out_of_the_real_time_factor(self) -> None:
        async with running(tone_service(ToneEngine(chunks=4, chunk_seconds=0.1), session_buffer=1)) as service:
            async with await service.open(request(), LOCAL_CALL) as session:
                async for _ in session:
                    await asyncio.sleep(0.1)
            factor = service.metrics.registry.get_sample_value("polyvox_real_time_factor_sum", {"model": "tone"})
        assert factor is not None
        assert factor < 0.5

    async def test_include_the_batches_of_an_engines_stages(self) -> None:
        engine = BusyEngine(burn=0.01, chunks=1)
        async with running(tone_service(engine, factories={"tone": lambda _: engine})) as service:
            await asyncio.gather(speak(service, request()), speak(service, request()))
            sample = service.metrics.registry.get_sample_value
            assert sample("polyvox_stage_batch_size_sum", {"stage": "burn"}) == 2
            assert sample("polyvox_stage_run_seconds_sum", {"stage": "burn"}) >= 0.01


class BrokenEngine(ToneEngine):
    """Its second chunk holds a sample that is no number."""

    async def speak(self, utterance):
        async for chunk in super().speak(utterance):
            if chunk.index == 1:
                chunk.pcm[10] = np.nan
            yield chunk


@each_row("rate", [None, 16_000])
async def test_samples_that_are_no_numbers_end_the_speech_with_an_error(rate):
    async with running(tone_service(BrokenEngine())) as service:
        with pytest.raises(BrokenAudioError, match="not finite"):
            await speak(service, request(sample_rate=rate))
        metric = service.metrics.registry.get_sample_value("polyvox_failures_total", {"kind": "broken_audio"})
        assert metric == 1


class TestOutput:
    async def test_the_form_of_the_audio_is_known_before_the_text(self) -> None:
        async with running(tone_service(ToneEngine())) as service:
            form = await service.output(replace(request("", sample_rate=16_000), model="tts-1"), LOCAL_CALL)
        assert (form.model, form.sample_rate, form.channels, form.warnings) == ("tone", 16_000, 1, ())

    @each_row(
        ("asked", "error"),
        [
            (request("", voice="nobody"), UnknownVoiceError),
            (request("", model="nothing"), UnknownModelError),
            (request("", speed=100.0), InvalidRequestError),
        ],
    )
    async def test_what_cannot_be_spoken_is_refused_and_counted_without_a_text(
        self, asked: SpeechRequest, error: type[PolyvoxError]
    ) -> None:
        async with running(tone_service()) as service:
            with pytest.raises(error):
                await service.output(asked, LOCAL_CALL)
            kind = status_of(error("")).code
            assert service.metrics.registry.get_sample_value("polyvox_failures_total", {"kind": kind}) == 1
