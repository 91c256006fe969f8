"""Passages that are heard after they are spoken, and spoken again where words are wrong."""

import asyncio
import itertools
from dataclasses import dataclass, field, replace

import pytest

from helpers.fakes import ToneEngine, running, tone_service
from helpers.listening import ScriptedRecogniser, listening_with
from polyvox.books.narration.options import NarrationOptions
from polyvox.books.narration.passage_check import PassageCheck
from polyvox.books.narration.plan import Passage
from polyvox.errors import NotServedError, UnavailableError
from polyvox.service.jobs.checked_narrator import CheckedNarrator, clause_passages
from polyvox.service.jobs.narrator import Narrator
from polyvox.service.jobs.proofreader import Proofreader
from polyvox.service.voices.voices import VoiceService
from polyvox.speaker import Speaker
from polyvox.types import AudioChunk, Voice
from polyvox.voices.records import SHARED_OWNER

TEXT = "The boats lie on the sand, and then the sea comes back."
PASSAGE = Passage(TEXT, None, 0, 7)
NONSENSE = "The goats buy old cement, and Ben the tea runs black."


@dataclass
class Hears(ScriptedRecogniser):
    """Hears these transcripts, one for each window."""

    transcripts: list[str] = field(default_factory=list)

    def recognise(self, window, task, check):
        return replace(super().recognise(window, task, check), text=self.transcripts.pop(0))


def verified(transcripts, *, engine=None, passage=PASSAGE, options=None, better=None, known="english"):
    """The chunks and the check of a passage of which these transcripts are heard; and the engine that spoke."""
    speaking = engine or ToneEngine(chunks=1)
    factories, settings = {"tone": lambda _: speaking}, {}
    if better is not None:
        factories["better"] = lambda _: better
        settings = {"models": ["tone", "better"], "hd_model": "better"}
    hears = Hears(transcripts=list(transcripts))

    async def run():
        service = listening_with(tone_service(factories=factories, **settings), **{known: hears})
        async with running(service):
            voices, proofreader = VoiceService.for_service(service), Proofreader.for_service(service)
            try:
                chosen = options or NarrationOptions(verify=True)
                narrator = Narrator(service, voices.resolver, chosen, owner=SHARED_OWNER, client="book", door="jobs")
                parts = [part async for part in CheckedNarrator(narrator, proofreader).speak(passage)]
                return [part for part in parts if isinstance(part, AudioChunk)], parts[-1]
            finally:
                await proofreader.close()
                await voices.close()

    chunks, check = asyncio.run(run())
    assert not hears.transcripts, "not all takes were heard"
    return chunks, check


def test_a_passage_whose_words_are_heard_is_spoken_once_also_where_homophones_are_written():
    engine = ToneEngine(chunks=1)
    chunks, check = verified(["The boats lye on the sand and then the see comes back"], engine=engine)
    assert (check.words, check.wrong, check.takes, check.passed, check.notable) == (12, 0, 1, True, False)
    assert len(engine.heard) == len(chunks) == 1


def test_a_passage_with_wrong_words_is_spoken_clause_by_clause_with_the_times_and_places_of_the_whole():
    engine = ToneEngine(chunks=1, chunk_seconds=1.0)
    chunks, check = verified([NONSENSE, TEXT], engine=engine)
    assert [one.text for one in engine.heard][1:] == ["The boats lie on the sand,", "and then the sea comes back."]
    assert (check.takes, check.kept, check.wrong, check.passed, check.heard) == (2, 2, 0, True, TEXT)
    assert check.first_wrong >= 4
    words = [word for chunk in chunks for word in chunk.words]
    assert [TEXT[word.span.start : word.span.end].strip(",.") for word in words] == [
        w.strip(",.") for w in TEXT.split()
    ]
    assert all(one.start <= other.start for one, other in itertools.pairwise(words))
    assert words[-1].end <= sum(chunk.duration for chunk in chunks) + 1e-6


def test_the_earlier_of_equal_takes_is_kept_and_what_is_still_wrong_remains():
    chunks, check = verified([NONSENSE, NONSENSE])
    assert (check.takes, check.kept, check.passed, check.wrong) == (2, 1, False, check.first_wrong)
    assert len(chunks) == 1


def test_of_takes_with_as_many_wrong_words_the_one_with_fewer_wrong_sounds_is_kept():
    without = [TEXT.replace(word, "", 1) for word in ("boats ", "on ")]
    _, check = verified(without)
    assert (check.first_wrong, check.wrong, check.kept, check.passed) == (1, 1, 2, False)


def test_a_model_that_draws_its_speech_is_given_other_seeds():
    engine = ToneEngine(chunks=1)
    engine._capabilities = replace(engine.capabilities, stochastic=True)
    _, check = verified([NONSENSE, NONSENSE, TEXT], engine=engine)
    assert len({one.seed for one in engine.heard}) == 3
    assert {one.text for one in engine.heard} == {TEXT}
    assert (check.takes, check.kept, check.passed) == (3, 3, True)


def test_the_better_model_of_the_server_speaks_what_the_other_cannot():
    engine, better = ToneEngine(chunks=1), ToneEngine("better", chunks=1)
    short = Passage("The boats lie still.", None, 0, 7)
    _, check = verified(["The pillows lie still.", "The boats lie still."], engine=engine, better=better, passage=short)
    assert ([one.voice for one in better.heard], check.kept, check.passed) == (["low"], 2, True)


def test_a_retake_that_fails_leaves_the_first_take():
    better = ToneEngine("better", chunks=1, fail_at=0)
    short = Passage("The boats lie still.", None, 0, 7)
    chunks, check = verified(["The pillows lie still."], better=better, passage=short)
    assert (len(chunks), check.takes, check.passed) == (1, 1, False)


def test_a_server_that_stops_in_the_midst_of_a_retake_decides_nothing():
    better = ToneEngine("better", chunks=1, fail_at=0, error=UnavailableError("It stops.", retry=True))
    short = Passage("The boats lie still.", None, 0, 7)
    with pytest.raises(UnavailableError, match="It stops"):
        verified(["The pillows lie still."], better=better, passage=short)


def test_a_language_that_nobody_hears_is_said_and_spoken_all_the_same(monkeypatch):
    monkeypatch.setattr(ToneEngine, "voices", property(lambda _: [Voice("low", "Low", "fr-fr")]))
    chunks, check = verified([])
    assert chunks
    assert check == PassageCheck(unheard=check.unheard)
    assert "polyvox pull whisper-base" in check.unheard or "no model" in check.unheard


def test_clauses_are_not_too_short_and_markup_is_not_cut():
    def parts(text):
        return [passage.text for passage in clause_passages(Passage(text, None, 0, 1))]

    assert parts("Yes, it came in; then it went out.") == ["Yes, it came in;", "then it went out."]
    assert parts("It came in, too.") == ["It came in, too."]
    assert parts("One [pause:1s], then the other one.") == ["One [pause:1s], then the other one."]
    assert parts("Nothing to cut") == ["Nothing to cut"]


@pytest.mark.slow
def test_wren_is_heard_right_and_a_dropped_word_is_found(models_dir):
    said, wanted = "Nobody had the piano for years.", "Nobody had touched the piano for years."

    async def run(service):
        voices, proofreader = VoiceService.for_service(service), Proofreader.for_service(service)
        options = NarrationOptions(voice="af_heart", verify=True)
        narrator = Narrator(service, voices.resolver, options, owner=SHARED_OWNER, client="", door="cli")
        try:
            await proofreader.check_language("en-us")
            with pytest.raises(NotServedError, match="cannot be verified"):
                await proofreader.check_language("hi")
            parts = [part async for part in CheckedNarrator(narrator, proofreader).speak(Passage(wanted, None, 0, 1))]
            dropped = [chunk async for chunk in narrator.speak(Passage(said, None, 0, 1))]
            return parts[-1], await proofreader.read(wanted, dropped, "en-us")
        finally:
            await proofreader.close()
            await voices.close()

    with Speaker("wren", models_dir=models_dir) as speaker:
        check, proof = speaker._loop.run(run(speaker._service))
    assert (check.takes, check.wrong, check.passed) == (1, 0, True)
    assert (proof.words.missed, proof.passed) == (1, False)
