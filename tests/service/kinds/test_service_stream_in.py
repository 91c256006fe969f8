"""The stream-in request kind: when speech starts, what it depends on, and what is refused."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from helpers.fakes import PlainToneEngine, ToneEngine, running, tone_service
from helpers.tables import each_row
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.errors import TextError, UnknownVoiceError
from polyvox.installation import load_settings
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.kinds.stream_in import SpeakStream
from polyvox.service.session import SessionState
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Span, Utterance

pytestmark = pytest.mark.anyio

TEXT = "One two. Three four five! ... Six, seven\neight. "


async def in_pieces(*pieces):
    for piece in pieces:
        yield piece


def request(pieces, *, max_chars=1000, speed=1.0, voice="low", **options):
    utterance = Utterance("", voice, speed=speed)
    return SpeechRequest(utterance, door="test", kind=SpeakStream(pieces, max_chars, speed), **options)


async def spoken(service, asked):
    async with await service.open(asked, LOCAL_CALL) as session:
        return [chunk async for chunk in session]


def compared(chunks):
    return [replace(chunk, pcm=None, wall_seconds=0.0, device_seconds=0.0) for chunk in chunks]


class Parrot(ToneEngine):
    """Reads along: one chunk for each character, as soon as it is there."""

    async def speak_stream(self, utterance, pieces):
        assert utterance.text == ""
        index = 0
        async for piece in pieces:
            for _ in piece:
                yield self._chunk(utterance, index, [], 0.0)
                index += 1


class TestSentenceBySentence:
    @each_row("size", [1, 2, 7, len(TEXT)])
    async def test_it_does_not_matter_how_the_text_was_cut(self, size):
        engine = ToneEngine()
        async with running(tone_service(engine)) as service:
            chunks = await spoken(
                service, request(in_pieces(*(TEXT[at : at + size] for at in range(0, len(TEXT), size))))
            )
        assert [utterance.text for utterance in engine.heard] == [
            "One two.",
            "Three four five!",
            "Six, seven",
            "eight.",
        ]
        async with running(tone_service(ToneEngine())) as service:
            assert compared(chunks) == compared(await spoken(service, request(in_pieces(TEXT))))

    async def test_all_sentences_are_one_utterance(self):
        async with running(tone_service(ToneEngine(chunks=2))) as service:
            chunks = await spoken(service, request(in_pieces(TEXT)))
        assert [chunk.index for chunk in chunks] == list(range(8))
        assert [chunk.start for chunk in chunks] == [2400 * place for place in range(8)]
        words = [word for chunk in chunks for word in chunk.words]
        assert [word.word for word in words] == [TEXT[word.span.start : word.span.end] for word in words]
        assert len(words) == 8
        assert [word.start for word in words] == sorted(word.start for word in words)
        assert words[-1].end == pytest.approx(0.8)
        assert [chunk.tokens for chunk in chunks[:4]] == [Span(0, 1), Span(1, 2), Span(2, 3), Span(3, 5)]
        assert [TEXT[chunk.span.start : chunk.span.end] for chunk in chunks if chunk.span][-1] == "eight."

    async def test_a_sentence_is_heard_before_the_next_one_is_written(self):
        more = asyncio.Event()

        async def typing():
            yield "One two. Three "
            await more.wait()
            yield "four."

        async with (
            running(tone_service(ToneEngine())) as service,
            await service.open(request(typing()), LOCAL_CALL) as session,
        ):
            for place in range(3):
                chunk = await asyncio.wait_for(anext(session), 5)
                assert (chunk.index, chunk.start) == (place, 2400 * place)
            assert session.state is SessionState.SPEAKING
            more.set()
            assert [chunk.index async for chunk in session] == [3, 4, 5]

    async def test_speed_is_the_engines_or_the_deliverys(self):
        for native in (True, False):
            async with running(tone_service(ToneEngine(native_speed=native))) as service:
                chunks = await spoken(service, request(in_pieces("One. Two."), speed=2.0))
                assert sum(len(chunk.pcm) for chunk in chunks) == pytest.approx(6 * 1200, abs=600)


class TestAPauseInTheText:
    """After `max_delay` seconds without text, what no further text can change is spoken."""

    async def heard(self, engine, pauses, max_delay=0.05):
        """What the engine has been given when the text has paused, and all of it."""
        more, spoken_first = asyncio.Event(), []

        async def typing():
            yield pauses[0]
            await more.wait()
            yield pauses[1]

        async with running(tone_service(engine)) as service:
            kind = SpeakStream(typing(), 1000, max_delay=max_delay)
            asked = SpeechRequest(Utterance("", "low"), door="test", kind=kind)
            async with await service.open(asked, LOCAL_CALL) as session:
                chunks = asyncio.create_task(self.collect(session))
                await asyncio.sleep(0.4)
                spoken_first = [utterance.text for utterance in engine.heard]
                more.set()
                return spoken_first, [utterance.text for utterance in engine.heard], await chunks

    async def collect(self, session):
        return [chunk async for chunk in session]

    @pytest.mark.long
    @each_row(
        ("pauses", "first", "rest"),
        [
            (("Let me check that for you.", " Here it is."), ["Let me check that for you."], ["Here it is."]),
            (("We all paid them, about $1,2", "00.50 in all."), ["We all paid them,"], ["about $1,200.50 in all."]),
            (("We met old Dr.", " Smith there."), [], ["We met old Dr. Smith there."]),
            (("Hi \ud83d", "\ude00 you."), [], ["Hi 😀 you."]),
        ],
    )
    async def test_what_is_safe_is_spoken(self, pauses, first, rest):
        engine = ToneEngine()
        heard_first, _, chunks = await self.heard(engine, pauses)
        assert heard_first == first
        assert [utterance.text for utterance in engine.heard] == first + rest
        whole = "".join(pauses).encode("utf-16", "surrogatepass").decode("utf-16")
        words = [word for chunk in chunks for word in chunk.words]
        assert [word.word for word in words] == [whole[word.span.start : word.span.end] for word in words]

    @pytest.mark.long
    async def test_without_a_delay_it_waits_for_a_boundary(self):
        heard_first, _, _ = await self.heard(ToneEngine(), ("Let me check that for you.", " Yes."), max_delay=None)
        assert heard_first == []

    async def test_leaving_during_the_pause_closes_the_pieces(self):
        closed = asyncio.Event()

        async def typing():
            try:
                yield "Let me check that for you."
                await asyncio.Event().wait()
            finally:
                closed.set()

        kind = SpeakStream(typing(), 1000, max_delay=0.01)
        asked = SpeechRequest(Utterance("", "low"), door="test", kind=kind)
        async with running(tone_service(ToneEngine())) as service, await service.open(asked, LOCAL_CALL) as session:
            await asyncio.wait_for(anext(session), 5)
        assert closed.is_set()

    async def test_the_engine_is_idle_only_while_it_has_nothing_to_speak(self):
        told, engine = [], ToneEngine()

        async def typing():
            yield "Let me check that for you."
            await asyncio.sleep(0.3)
            yield " Yes."

        kind = SpeakStream(typing(), 1000, max_delay=0.1)

        async def text_came():
            told.append(False)

        kind.on_idle, kind.on_text = lambda: told.append(True), text_came
        async with running(tone_service(engine)):
            states = [tuple(told) async for _ in kind.synthesize(engine, Utterance("", "low"))]
        assert states[0][-1] is False
        assert told[:4] == [True, False, True, False]


class TestReadingAlong:
    async def test_an_engine_that_can_hears_the_pieces_themselves(self):
        engine = Parrot()
        async with running(tone_service(engine)) as service:
            chunks = await spoken(service, request(in_pieces("ab", "", "c")))
        assert len(chunks) == 3
        assert engine.heard == []

    async def test_it_never_hears_half_a_character(self):
        heard = []

        class Listener(Parrot):
            async def speak_stream(self, utterance, pieces):
                async for piece in pieces:
                    heard.append(piece)
                    yield self._chunk(utterance, len(heard) - 1, [], 0.0)

        async with running(tone_service(Listener())) as service:
            await spoken(service, request(in_pieces("a\ud83d", "\ude00b", "\ud83d", "c\ud83d")))
        assert heard == ["a", "😀b", "", "\ufffdc", "\ufffd"]

    async def test_its_text_has_the_same_limit(self):
        async with running(tone_service(Parrot())) as service:
            with pytest.raises(TextError, match="more than the 3 characters"):
                await spoken(service, request(in_pieces("ab", "cd"), max_chars=3))


class TestRefusals:
    async def test_a_text_over_the_limit_ends_with_the_error_behind_what_was_said(self):
        asked = request(in_pieces("One two. Three ", "four five six"), max_chars=20)
        async with running(tone_service(ToneEngine())) as service, await service.open(asked, LOCAL_CALL) as session:
            heard = [await anext(session) for _ in range(3)]
            with pytest.raises(TextError, match="more than the 20 characters") as refused:
                await anext(session)
        assert refused.value.field == "input"
        assert len(heard) == 3

    @each_row("pieces", [(), ("",), (" \n ", "?! ", "...")])
    async def test_a_text_without_words_is_refused(self, pieces):
        async with running(tone_service(ToneEngine())) as service:
            with pytest.raises(TextError, match="Nothing in the text"):
                await spoken(service, request(in_pieces(*pieces)))

    async def test_an_unknown_voice_is_refused_before_any_text(self):
        async with running(tone_service(ToneEngine())) as service:
            with pytest.raises(UnknownVoiceError):
                await service.open(request(in_pieces("Hi."), voice="nobody"), LOCAL_CALL)


@pytest.mark.slow
async def test_kokoro_speaks_sentences_as_they_are_completed(models_dir):
    text = "Hello there. How are you?"
    engine = KokoroEngine(load_settings(models_dir=models_dir, kokoro_decoder="wren"))
    await engine.start()

    async def heard(*pieces):
        kind = SpeakStream(in_pieces(*pieces), 100)
        return [chunk async for chunk in kind.synthesize(engine, Utterance("", "af_heart"))]

    try:
        whole, by_letter = await heard(text), await heard(*text)
    finally:
        await engine.close()
    assert compared(whole) == compared(by_letter)
    for one, other in zip(whole, by_letter, strict=True):
        np.testing.assert_allclose(one.pcm, other.pcm, atol=1e-4)
    assert [chunk.start for chunk in whole] == [0, *np.cumsum([len(chunk.pcm) for chunk in whole])[:-1]]
    words = [word for chunk in whole for word in chunk.words]
    assert [text[word.span.start : word.span.end] for word in words] == ["Hello", "there", "How", "are", "you"]
    assert all(before.end <= after.start + 0.05 for before, after in pairwise(words))


@each_row("engine", [PlainToneEngine, Parrot])
async def test_leaving_closes_the_pieces_and_the_speech(engine):
    closed = asyncio.Event()

    async def typing():
        try:
            yield "One two. Three "
            await asyncio.Event().wait()
        finally:
            closed.set()

    tone = engine()
    async with running(tone_service(tone)) as service:
        async with await service.open(request(typing()), LOCAL_CALL) as session:
            first = await anext(session)
        assert closed.is_set()
        assert session.state is SessionState.CANCELLED
        assert tone.speaking == 0
    assert np.abs(first.pcm).max() > 0
