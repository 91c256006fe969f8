"""Passages of a book, spoken through the service behind all live requests."""

import asyncio

import numpy as np
import pytest

from helpers.fakes import ToneEngine, running, tone_service
from helpers.tables import each_row
from polyvox.audio.edges import speech_span
from polyvox.books.manuscript import Chapter, Manuscript
from polyvox.books.narration.chapter_audio import ChapterAudio
from polyvox.books.narration.narration import Narration
from polyvox.books.narration.options import BookFormats, NarrationOptions
from polyvox.books.narration.plan import Passage
from polyvox.errors import (
    EngineError,
    InvalidRequestError,
    OverloadedError,
    PolyvoxError,
    UnknownModelError,
    UnknownVoiceError,
)
from polyvox.service.jobs import narrator as narrator_module
from polyvox.service.jobs.narrator import Narrator
from polyvox.service.voices.voices import VoiceService
from polyvox.speaker import Speaker
from polyvox.types import Voice
from polyvox.voices.records import SHARED_OWNER

PASSAGE = Passage("It came in.", None, 0, 7)


def narrated(check, engine=None, options=None, **settings):
    """Run `check(narrator, service)` on a narrator of a running service."""

    async def run():
        async with running(tone_service(engine, default_voice="low", **settings)) as service:
            voices = VoiceService.for_service(service)
            try:
                chosen = options or NarrationOptions()
                narrator = Narrator(service, voices.resolver, chosen, owner=SHARED_OWNER, client="book", door="jobs")
                return await check(narrator, service)
            finally:
                await voices.close()

    return asyncio.run(run())


async def spoken(narrator, passage=PASSAGE):
    return [chunk async for chunk in narrator.speak(passage)]


def test_a_passage_is_a_background_session_with_its_own_seed_voice_and_words(monkeypatch):
    engine, asked = ToneEngine(), []

    async def check(narrator, service):
        opened = service.open
        monkeypatch.setattr(service, "open", lambda *given: (asked.append(given), opened(*given))[1])
        first = await spoken(narrator)
        await spoken(narrator, Passage("Two.", "high", 1, 8))
        return first

    options = NarrationOptions(speed=2.0, language="en-us")
    chunks = narrated(check, engine, options)
    assert [(one.voice, one.seed, one.speed, one.language) for one in engine.heard] == [
        ("low", 7, 2.0, "en-us"),
        ("high", 8, 2.0, "en-us"),
    ]
    assert all(call.background and request.words for request, call in asked)
    assert {call.owner for _, call in asked} == {SHARED_OWNER}
    assert [word.word for chunk in chunks for word in chunk.words][:2] == ["It", "came"]


def test_a_books_dictionaries_are_looked_up():
    with pytest.raises(PolyvoxError, match="names"):
        narrated(lambda narrator, service: spoken(narrator), options=NarrationOptions(dictionaries=("names",)))


def test_a_full_server_is_waited_for(monkeypatch):
    monkeypatch.setattr(narrator_module, "_RETRY_SECONDS", (0.0, 0.0))
    refusals = [OverloadedError("full", retry_after=5.0)] * 3

    async def check(narrator, service):
        opened = service.open

        async def crowded(request, call):
            if refusals:
                raise refusals.pop()
            return await opened(request, call)

        monkeypatch.setattr(service, "open", crowded)
        return await spoken(narrator)

    assert narrated(check)
    assert not refusals


class FailsOnce(ToneEngine):
    """Breaks in the midst of its first utterance."""

    async def speak(self, utterance):
        self.fail_at = None if self.heard else 1
        async for chunk in super().speak(utterance):
            yield chunk


@pytest.mark.long
def test_an_engine_that_fails_once_is_asked_again_and_one_that_always_fails_is_given_up():
    engine = FailsOnce()
    assert len(narrated(lambda narrator, service: spoken(narrator), engine)) == engine.chunks
    assert len(engine.heard) == 2
    with pytest.raises(EngineError):
        narrated(lambda narrator, service: spoken(narrator), ToneEngine(fail_at=1))


@each_row(
    ("options", "voice", "error"),
    [
        (NarrationOptions(voice="nobody"), None, UnknownVoiceError),
        (NarrationOptions(), "nobody", UnknownVoiceError),
        (NarrationOptions(model="nothing"), None, UnknownModelError),
    ],
)
def test_what_cannot_be_spoken_is_refused_before_the_book_is_begun(options, voice, error):
    with pytest.raises(error):
        narrated(lambda narrator, service: narrator.check(voice), options=options)
    with pytest.raises(InvalidRequestError, match="speed"):
        NarrationOptions(speed=9.0)


def test_a_book_in_another_language_gets_a_voice_that_speaks_it(monkeypatch):
    voices = [
        Voice("low", "Low", "en-us"),
        Voice("mute", "Mute", "fr-fr", reason="no espeak"),
        Voice("high", "H", "fr-fr"),
    ]
    monkeypatch.setattr(ToneEngine, "voices", property(lambda self: voices))

    async def check(narrator, service):
        return [narrator.default_voice(language) for language in ("fr", "fr-CA", "en-GB", "", "sw")]

    assert narrated(check) == ["high", "high", "", "", ""]


@pytest.mark.slow
def test_kokoro_reads_two_sentences_with_the_pauses_of_a_book(models_dir, tmp_path):
    text = ("The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background.",)
    manuscript = Manuscript("Planks", "", "en", None, (Chapter("", text),))
    narration = Narration.create(tmp_path, manuscript, NarrationOptions(voice="af_heart", seed=1))

    async def run(service):
        voices = VoiceService.for_service(service)
        narrator = Narrator(service, voices.resolver, narration.plan.options, owner=SHARED_OWNER, client="", door="cli")
        await narration.narrate(narrator.speak)
        await voices.close()
        return await narration.bind(BookFormats(), service.executor)

    with Speaker("wren", models_dir=models_dir) as speaker:
        (file,) = speaker._loop.run(run(speaker._service))
    assert file.bytes > 20_000
    pauses = narration.plan.options.pauses
    audio = ChapterAudio(tmp_path, 1, narration.plan.chapters[0], pauses)
    first, second = audio.passages()
    rate = audio.sample_rate
    pcm = np.concatenate(list(audio.pieces()))
    cut = first.samples - first.behind
    ends = speech_span(pcm[:cut], rate).end
    begins = cut + speech_span(pcm[cut:], rate).start
    assert (begins - ends) / rate == pytest.approx(pauses.sentence, abs=0.02)
    assert [word.word for _, words in audio.words() for word in words][:3] == ["The", "birch", "canoe"]
    assert second.entry.seconds > 1.5
