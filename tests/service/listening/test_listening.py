"""The listening service: choice of a recogniser, limits, cancellation, and results that depend on nothing else."""

import asyncio
from itertools import pairwise
from threading import Event

import numpy as np
import pytest

from helpers.fakes import running, tone_service
from helpers.listening import SPEECH, ScriptedRecogniser, listening_with
from polyvox.audio.decode import decode
from polyvox.audio.encode import AudioFormat, encode
from polyvox.errors import (
    AudioDecodeError,
    InvalidRequestError,
    NotServedError,
    OverloadedError,
    RequestTooLargeError,
    UnknownModelError,
)
from polyvox.service.call_context import LOCAL_CALL, CallContext
from polyvox.service.listening.listening_request import ListeningRequest
from polyvox.service.listening.recognisers import Recognisers
from polyvox.types import Span
from polyvox.voices.recognition.languages import LANGUAGES, language_named, writes_traditional
from polyvox.voices.recognition.recogniser import RATE, RecognitionTask
from polyvox.voices.recognition.speech_windows import speech_windows

pytestmark = pytest.mark.anyio


def asked(recording: bytes = SPEECH, model: str | None = None, **task: object) -> ListeningRequest:
    return ListeningRequest(recording, RecognitionTask(**task), model)


def recognisers(*names: str) -> Recognisers:
    scripted = {name: ScriptedRecogniser() for name in names}
    return listening_with(tone_service(), **scripted).listening.recognisers


def test_the_quickest_model_that_can_do_all_of_a_task_is_chosen():
    both = recognisers("english", "any")
    rows = [
        (RecognitionTask(language="en"), "english"),
        (RecognitionTask(), "any"),
        (RecognitionTask(language="fr"), "any"),
        (RecognitionTask(language="en", prompt="Wren"), "any"),
        (RecognitionTask(language="en", temperature=0.5), "any"),
        (RecognitionTask(language="en", translate=True), "any"),
    ]
    for task, name in rows:
        for alias in (None, "whisper-1", "gpt-4o-transcribe", "scribe_v1"):
            chosen = both.choose(alias, task)
            assert (chosen.model.name, chosen.warnings) == (name, ()), task


def test_what_the_only_model_cannot_do_is_refused_or_warned_of():
    english = recognisers("english")
    refused = [(RecognitionTask(language="fr"), NotServedError), (RecognitionTask(translate=True), NotServedError)]
    for task, error in refused:
        with pytest.raises(error, match="needs another model"):
            english.choose("whisper-1", task)
    with pytest.raises(InvalidRequestError, match="does not know the language 'fr'"):
        english.choose("english", RecognitionTask(language="fr"))
    with pytest.raises(UnknownModelError, match="no model 'nova' that transcribes"):
        english.choose("nova", RecognitionTask())
    warned = english.choose(None, RecognitionTask(prompt="Wren", temperature=0.3)).warnings
    assert [sentence.split(" ", 3)[1] for sentence in warned] == ["takes", "takes", "always"]


def test_a_model_that_is_not_installed_is_named_with_its_remedy(tmp_path):
    absent = Recognisers(tone_service(models_dir=tmp_path).settings)
    assert absent.installed() == []
    with pytest.raises(NotServedError, match="polyvox pull"):
        absent.choose("whisper-1", RecognitionTask(language="en"))
    with pytest.raises(NotServedError, match="moonshine-base is not installed; run: "):
        absent.choose("moonshine-base", RecognitionTask(language="en"))


def test_languages_go_by_their_codes_and_names():
    for written in ("de", "de-AT", "DEU", "German", "de_DE"):
        assert language_named(written) == "de"
    for written, traditional in (("zh-TW", True), ("zh_Hant", True), ("zh", False), ("zh-CN", False), ("ja-TW", False)):
        assert writes_traditional(written) is traditional, written
    assert not writes_traditional(None)
    assert len({row.alpha3 for row in LANGUAGES.values()}) == len(LANGUAGES) == 99
    with pytest.raises(InvalidRequestError, match="'klingon' is no language"):
        language_named("klingon")


async def test_where_the_language_is_detected_english_goes_to_the_model_for_english():
    rows = [
        ("en", None, {}, "english", "English words."),
        ("fr", None, {}, "any", "Any words."),
        ("en", None, {"prompt": "Wren"}, "any", "Any words."),
        ("en", None, {"translate": True}, "any", "Any words."),
        ("en", "any", {}, "any", "Any words."),
    ]
    for language, model, wishes, heard_by, text in rows:
        english = ScriptedRecogniser(("English", "words."), longest=2.0)
        service = listening_with(
            tone_service(), english=english, any=ScriptedRecogniser(("Any", "words."), language=language)
        )
        async with running(service):
            transcript = await service.listening.listen(asked(model=model, words=True, **wishes), LOCAL_CALL)
        assert (transcript.model, transcript.language) == (heard_by, language)
        assert transcript.text.startswith(text), "a window that is too long for the model is heard in parts"
        assert all(seconds <= 2.0 for seconds in english.windows)
        assert (english.tasks != []) == (heard_by == "english")
        assert transcript.words


async def test_a_transcript_does_not_depend_on_who_else_is_heard():
    service = listening_with(tone_service(listen_workers=2), any=ScriptedRecogniser())
    async with running(service):
        alone = await service.listening.listen(asked(words=True), LOCAL_CALL)
        together = await asyncio.gather(*(service.listening.listen(asked(words=True), LOCAL_CALL) for _ in range(4)))
    assert all(each == alone for each in together)
    assert alone.text == "Hello there."
    assert [(word.word, word.span) for word in alone.words] == [("Hello", Span(0, 5)), ("there.", Span(6, 12))]
    assert 0 <= alone.words[0].start < alone.words[1].start < alone.words[1].end <= alone.seconds


async def test_passages_are_told_as_they_come_and_joined_in_order():
    pcm, rate = decode(SPEECH, max_seconds=10, max_samples=1_000_000)
    gap = np.zeros(3 * rate, np.float32)
    recording = encode(np.concatenate([pcm, gap, pcm]), AudioFormat.WAV, rate)
    told = []
    service = listening_with(tone_service(), any=ScriptedRecogniser())
    async with running(service):
        transcript = await service.listening.listen(asked(recording, words=True), LOCAL_CALL, told.append)
    assert tuple(told) == transcript.passages
    assert transcript.text == "Hello there. Hello there."
    assert [transcript.text[w.span.start : w.span.end] for w in transcript.words] == [w.word for w in transcript.words]
    assert transcript.segments[1].start > 5


async def test_silence_has_no_words_and_meets_no_recogniser():
    heard = ScriptedRecogniser()
    silence = encode(np.zeros(24_000, np.float32), AudioFormat.WAV, 24_000)
    service = listening_with(tone_service(), any=heard)
    async with running(service):
        transcript = await service.listening.listen(asked(silence, language="fr"), LOCAL_CALL)
    assert (transcript.text, transcript.words, transcript.language, heard.tasks) == ("", (), "fr", [])


async def test_what_is_no_recording_or_too_large_is_refused_before_a_recogniser_is_asked():
    heard = ScriptedRecogniser()
    service = listening_with(tone_service(listen_max_bytes=len(SPEECH), listen_max_seconds=1.0), any=heard)
    rows = [(b"hello", AudioDecodeError), (SPEECH + b"x", RequestTooLargeError), (SPEECH, AudioDecodeError)]
    async with running(service):
        for recording, error in rows:
            with pytest.raises(error) as refused:
                await service.listening.listen(asked(recording), LOCAL_CALL)
            assert refused.value.field == "file"
        assert heard.tasks == []


async def test_a_full_queue_refuses_and_a_caller_that_leaves_frees_its_place_and_thread():
    held = ScriptedRecogniser(held=Event())
    service = listening_with(tone_service(listen_workers=1, listen_queue=0), any=held)
    async with running(service):
        first = asyncio.create_task(service.listening.listen(asked(), LOCAL_CALL))
        assert await asyncio.to_thread(held.begun.wait, 10)
        with pytest.raises(OverloadedError, match="wait to be transcribed already"):
            await service.listening.listen(asked(), LOCAL_CALL)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert await asyncio.to_thread(held.stopped.wait, 10)
        held.held.set()
        assert (await service.listening.listen(asked(), LOCAL_CALL)).text == "Hello there."
    for outcome in ("ok", "cancelled", "overloaded"):
        counted = {"door": "", "outcome": outcome}
        assert service.metrics.registry.get_sample_value("polyvox_listening_requests_total", counted) == 1


async def test_one_client_leaves_places_to_others():
    held = ScriptedRecogniser(held=Event())
    service = listening_with(tone_service(listen_workers=1, listen_queue=3, max_share=0.5), any=held)
    greedy, other = CallContext("address:10.0.0.1"), CallContext("address:10.0.0.2")
    async with running(service):
        taken = [asyncio.create_task(service.listening.listen(asked(), greedy)) for _ in range(2)]
        assert await asyncio.to_thread(held.begun.wait, 10)
        with pytest.raises(OverloadedError, match="Too many recordings of yours"):
            await service.listening.listen(asked(), greedy)
        waiting = asyncio.create_task(service.listening.listen(asked(), other))
        held.held.set()
        assert {each.text for each in await asyncio.gather(*taken, waiting)} == {"Hello there."}
        assert (await service.listening.listen(asked(), greedy)).text == "Hello there."


def test_windows_hold_all_speech_within_the_limit_and_part_at_long_pauses():
    noise = np.random.default_rng(1).normal(0, 0.1, 60 * RATE).astype(np.float32)
    noise[18 * RATE : 19 * RATE] = 0
    second = lambda *times: [Span(int(start * RATE), int(end * RATE)) for start, end in times]  # noqa: E731
    assert speech_windows(noise, [], 20) == []
    rows = [
        (second((1, 2), (3, 4)), [(0.8, 4.2)]),
        (second((1, 2), (6, 7)), [(0.8, 2.2), (5.8, 7.2)]),
        (second((1, 15), (16, 25)), [(0.8, 15.2), (15.8, 25.2)]),
    ]
    for speech, expected in rows:
        assert speech_windows(noise, speech, 20) == second(*expected)
    parts = speech_windows(noise, second((0, 60)), 20)
    assert (parts[0].start, parts[-1].end) == (0, len(noise))
    assert all(one.end == other.start for one, other in pairwise(parts))
    assert max(map(len, parts)) <= 20 * RATE
    assert 18 * RATE < parts[0].end < 19 * RATE
