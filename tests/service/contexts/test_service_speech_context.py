"""Contexts: text pushed in fragments comes out as one stream of audio, and what is cancelled leaves nothing behind."""

import asyncio

import numpy as np
import pytest

from helpers.fakes import PlainToneEngine, ToneEngine, running, tone_service
from helpers.tables import each_row
from polyvox.audio.encode import AudioFormat
from polyvox.errors import InvalidRequestError, OverloadedError, StalledError, TextError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.contexts.context_encoding import encoded_context
from polyvox.service.contexts.speech_context import ContextAudio, ContextOptions, Flushed, SpeechContext
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio


def context_of(service, **options):
    request = SpeechRequest(Utterance("", "low"), door="test")
    return SpeechContext(service, request, LOCAL_CALL, ContextOptions(**options))


async def events_of(context):
    async with context:
        return [event async for event in context]


def audio(events):
    return [event.chunk for event in events if isinstance(event, ContextAudio)]


async def freed(service):
    async with asyncio.timeout(5):
        while service._admission.active or service._sessions:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_fragments_and_flushes_are_one_stream():
    engine = ToneEngine(chunks=1)
    async with running(tone_service(engine)) as service:
        context = context_of(service)
        for fragment in ("One t", "wo. Three", " fo"):
            context.push(fragment)
        assert context.flush() == 1
        context.push("ur. 😀 ")
        assert context.flush() == 2
        context.push("Five six.")
        context.end()
        events = await events_of(context)
        await freed(service)
    chunks = audio(events)
    assert [utterance.text for utterance in engine.heard] == ["One two.", "Three fo", "ur.", "Five six."]
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))
    assert [chunk.start for chunk in chunks] == [sum(len(c.pcm) for c in chunks[:at]) for at in range(len(chunks))]
    words = [word for chunk in chunks for word in chunk.words]
    assert [context.text[word.span.start : word.span.end] for word in words] == [word.word for word in words]
    assert [word.start for word in words] == sorted(word.start for word in words)
    assert [event.number for event in events if isinstance(event, Flushed)] == [1, 2]
    assert isinstance(events[2], Flushed), "it follows the audio before it, at once"


async def test_the_first_words_are_spoken_before_the_rest_arrives():
    async with running(tone_service(ToneEngine())) as service, context_of(service) as context:
        context.push("Hello there. And then")
        event = await anext(aiter(context))
        assert len(event.chunk.pcm)


async def test_a_context_that_waits_for_text_leaves_its_slot_to_others():
    async with running(tone_service(ToneEngine(chunks=1), max_sessions=1, max_queue=0)) as service:
        context = context_of(service)
        context.push("Hello there. And then")
        events = aiter(context)
        await anext(events)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.2)
        other = context_of(service)
        other.push("Mine.")
        other.end()
        assert audio(await events_of(other))
        context.push(" it goes on. And then")
        assert len((await waiting).chunk.pcm)
        await context.cancel()
        await events.aclose()
        await freed(service)


@each_row("seconds", [60.0, 0.001])
async def test_a_context_goes_on_in_a_full_server_while_it_is_heard_and_no_longer(seconds):
    gate = asyncio.Event()
    gate.set()
    engine = ToneEngine(chunks=1, chunk_seconds=seconds, gate=gate)
    async with running(tone_service(engine, max_sessions=1, max_queue=0)) as service, context_of(service) as context:
        events = aiter(context)
        context.push("One.")
        context.flush()
        assert [type(await anext(events)) for _ in range(2)] == [ContextAudio, Flushed]
        gate.clear()
        other = await service.open(SpeechRequest(Utterance("hello", "low"), door="test"), LOCAL_CALL)
        await asyncio.sleep(0.01)
        context.push("Two.")
        context.flush()
        going_on = asyncio.ensure_future(anext(events))
        if seconds < 1.0:
            with pytest.raises(OverloadedError):
                await going_on
        else:
            async with asyncio.timeout(5):
                while service._admission.active < 2:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            gate.set()
            assert isinstance(await going_on, ContextAudio)
        other.cancel()


async def test_an_eager_context_speaks_every_fragment_as_it_is():
    engine = ToneEngine()
    async with running(tone_service(engine)) as service:
        context = context_of(service, eager=True)
        context.push("Hello th")
        context.push("ere.")
        context.end()
        await events_of(context)
    assert [utterance.text for utterance in engine.heard] == ["Hello th", "ere."]


async def test_text_that_says_nothing_is_no_error():
    async with running(tone_service(ToneEngine())) as service:
        context = context_of(service)
        context.push(" ... ")
        context.flush()
        context.end()
        assert await events_of(context) == [Flushed(1)]


async def test_halves_of_a_surrogate_pair_meet():
    engine = ToneEngine()
    async with running(tone_service(engine)) as service:
        context = context_of(service)
        for fragment in ("Hi \ud83d", "\ude00 you", "\ud83d", " there."):
            context.push(fragment)
        context.end()
        await events_of(context)
    assert context.text == "Hi 😀 you\ufffd there."


async def test_cancelling_stops_the_engine_within_a_chunk():
    engine = ToneEngine(chunks=1000, delay=0.01)
    async with running(tone_service(engine)) as service:
        context = context_of(service)
        context.push("Hello. ")
        context.flush()
        context.push("More.")
        events = aiter(context)
        await anext(events)
        await context.cancel()
        assert [event async for event in events] == []
        await freed(service)
        with pytest.raises(InvalidRequestError):
            context.push("late")


@each_row("steps", range(12))
async def test_a_context_may_be_cancelled_at_any_step_of_its_opening(steps):
    engine = ToneEngine(gate=asyncio.Event())
    async with running(tone_service(engine)) as service:
        context = context_of(service)
        context.push("Hello there.")
        context.end()
        reader = asyncio.create_task(events_of(context))
        for _ in range(steps):
            await asyncio.sleep(0)
        await context.cancel()
        async with asyncio.timeout(5):
            assert await reader == []
        await freed(service)
        assert engine.speaking == 0


async def test_a_context_may_be_cancelled_before_its_session_opens():
    async with running(tone_service(ToneEngine())) as service:
        context = context_of(service)
        events = asyncio.ensure_future(events_of(context))
        await asyncio.sleep(0)
        context.push("Hello.")
        await asyncio.sleep(0)
        await context.cancel()
        assert audio(await events) == []
        await freed(service)


@pytest.mark.long
async def test_silence_of_the_client_ends_it_unless_it_gives_a_sign():
    async with running(tone_service(ToneEngine())) as service:
        context = context_of(service, patience=0.15)
        task = asyncio.ensure_future(events_of(context))
        for _ in range(4):
            await asyncio.sleep(0.08)
            context.touch()
        assert not task.done()
        with pytest.raises(StalledError):
            await task


async def test_too_much_text_is_refused():
    async with running(tone_service(ToneEngine(), max_input_chars=10)) as service, context_of(service) as context:
        context.push("12345678")
        with pytest.raises(TextError):
            context.push("901")


@each_row("engine", [PlainToneEngine, ToneEngine])
async def test_one_encoder_serves_all_generations(engine):
    async with running(tone_service(engine())) as service:
        context = context_of(service)
        context.push("One.")
        context.flush()
        context.push("Two.")
        context.end()
        async with context:
            events = [event async for event in encoded_context(context, AudioFormat.WAV)]
    data = b"".join(event.data for event in events)
    assert data.count(b"RIFF") == 1
    assert [event.flushed for event in events if event.flushed] == [1]
    samples = np.frombuffer(data[data.index(b"data") + 8 :], "<i2")
    assert len(samples) == sum(len(event.chunk.pcm) for event in events if event.chunk)


@pytest.mark.long
async def test_cancelled_contexts_are_counted_with_the_time_until_their_slot_is_free():
    engine = ToneEngine(chunks=50, delay=1.0)
    async with running(tone_service(engine)) as service:
        sample = service.metrics.registry.get_sample_value
        labels = {"door": "test"}
        async with context_of(service) as context:
            assert sample("polyvox_open_contexts", labels) == 1
            context.push("One two. ")
            context.flush()
            await anext(aiter(context))
            await context.cancel()
            assert service._admission.active == 0
            await context.cancel()
        assert sample("polyvox_open_contexts", labels) == 0
        assert sample("polyvox_cancelled_contexts_total", labels) == 1
        assert sample("polyvox_cancel_seconds_sum", labels) < 1.0


async def test_a_context_that_ends_by_itself_was_not_cancelled():
    async with running(tone_service()) as service:
        context = context_of(service)
        context.push("One two.")
        context.end()
        await events_of(context)
        await context.cancel()
        assert service.metrics.registry.get_sample_value("polyvox_cancelled_contexts_total", {"door": "test"}) is None


async def test_another_voice_speaks_what_is_pushed_after_it_was_named():
    engine = ToneEngine(chunks=1)
    async with running(tone_service(engine)) as service:
        context, high = context_of(service), SpeechRequest(Utterance("", "high"), door="test")
        context.push("One two")
        context.speak_as(high)
        context.push("Three four")
        context.speak_as(high)
        context.end()
        events = await events_of(context)
    assert [(heard.voice, heard.text) for heard in engine.heard] == [("low", "One two"), ("high", "Three four")]
    words = [word for chunk in audio(events) for word in chunk.words]
    assert [context.text[word.span.start : word.span.end] for word in words] == [word.word for word in words]


async def test_the_log_tells_how_much_text_came(capsys):
    async with running(tone_service(ToneEngine())) as service:
        context = context_of(service)
        context.push("Hello ")
        context.push("there.")
        context.end()
        await events_of(context)
    line = next(line for line in capsys.readouterr().out.splitlines() if "audio_seconds" in line)
    assert "chars=12" in line
