import asyncio
import time

import numpy as np
import pytest

from helpers.scorers import direction, fake_scorers
from helpers.tables import each_row
from polyvox.errors import InvalidRequestError, UnknownVoiceError
from polyvox.evaluate.evaluation import MAX_TEXT_CHARS, Evaluation, UtteranceResult, run_evaluation, similarities
from polyvox.evaluate.scorers import Scorers
from polyvox.evaluate.texts import with_spoken_forms
from polyvox.types import Pcm

pytestmark = pytest.mark.anyio

RATE = 1_000


class Speaker:
    """Speaks one second for each word; the voice named by a figure turns that far."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    async def __call__(self, voice: str, text: str) -> tuple[Pcm, int]:
        self.said.append((voice, text))
        if text == "refuse":
            raise UnknownVoiceError("There is no such voice.")
        if text == "hang":
            await asyncio.sleep(60)
        seconds = len(text.split())
        return np.full(seconds * RATE, 0.0 if text == "hush" else float(voice), np.float32), RATE


async def run(
    evaluation: Evaluation, scorers: Scorers | None = None, speaker: Speaker | None = None
) -> list[UtteranceResult]:
    return await run_evaluation(
        evaluation, speaker or Speaker(), scorers or fake_scorers("one two"), on_result=lambda sample: None
    )


async def test_every_voice_says_every_text_in_order():
    speaker, seen = Speaker(), []
    evaluation = Evaluation(("0.25", "0.5"), ("one two", "three"))
    samples = await run_evaluation(evaluation, speaker, fake_scorers(), seen.append)
    expected = [("0.25", "one two"), ("0.25", "three"), ("0.5", "one two"), ("0.5", "three")]
    assert speaker.said == expected
    assert [(sample.voice, sample.text) for sample in samples] == expected
    assert [sample.number for sample in samples] == [sample.number for sample in seen] == [1, 2, 3, 4]
    assert evaluation.utterances == 4


async def test_an_utterance_gets_the_scores_of_all_models():
    (first, second) = await run(Evaluation(("0.25",), ("one two", "one too many")))
    assert (first.seconds, first.transcript, first.distillmos) == (2.0, "one two", 2.0)
    assert (first.dnsmos.overall, first.dnsmos.p808) == (2.0, 2.1)
    assert (first.words.errors, first.words.words) == (0, 2)
    assert (second.words.errors, second.words.words) == (2, 3)
    assert first.similarity == pytest.approx(1.0)


async def test_only_the_loaded_models_score():
    (sample,) = await run(Evaluation(("0.25",), ("one two",)), Scorers(distillmos=fake_scorers().distillmos))
    assert sample.distillmos == 2.0
    assert (sample.transcript, sample.words, sample.similarity, sample.dnsmos) == (None, None, None, None)


async def test_a_voice_is_compared_with_its_reference_where_it_has_one():
    evaluation = Evaluation(("0.25", "0.5"), ("one", "two"), references={"0.25": direction(0.0)})
    samples = await run(evaluation)
    assert [sample.similarity for sample in samples] == pytest.approx([0.0, 0.0, 1.0, 1.0], abs=1e-6)


@each_row("failing", ["refuse", "hush"])
async def test_what_fails_is_noted_and_the_rest_goes_on(failing):
    evaluation = Evaluation(("0.25",), ("one two", failing, "three"))
    before, failed, after = await run(evaluation)
    assert failed.error in ("There is no such voice.", "The recording is silent; send one in which somebody speaks.")
    assert (failed.similarity, failed.distillmos, failed.words) == (None, None, None)
    assert before.error == after.error == ""
    assert before.similarity == after.similarity == pytest.approx(1.0)


async def test_an_utterance_that_never_ends_is_given_up():
    began = time.monotonic()
    (sample,) = await run(Evaluation(("0.25",), ("hang",), timeout=0.05))
    assert sample.error == "It was not spoken within 0.05 seconds."
    assert time.monotonic() - began < 5


async def test_a_fault_of_our_own_is_not_taken_for_the_voices():
    async def broken(voice: str, text: str) -> tuple[Pcm, int]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run_evaluation(Evaluation(("0.25",), ("one",)), broken, fake_scorers(), lambda sample: None)


@each_row(
    ("text", "language", "counted"),
    [("one two", None, True), ("one two", "en-GB", True), ("uno dos", "es", False), ("一二三", None, False)],
)
async def test_words_are_counted_where_the_recogniser_knows_the_language(text, language, counted):
    (sample,) = await run(Evaluation(("0.25",), (text,), language))
    assert (sample.words is not None) == counted
    assert (sample.transcript is not None) == counted


async def test_figures_need_a_spoken_form_and_count_against_it():
    texts, spoken = with_spoken_forms(["one 2", "one 3\tone two\tone too", "one two"])
    assert texts == ("one 2", "one 3", "one two")
    unknown, given, plain = await run(Evaluation(("0.25",), texts, spoken=spoken))
    assert (unknown.words, unknown.reading) == (None, None)
    assert (given.words.errors, given.reading.errors) == (0, 1)
    assert (plain.words.errors, plain.reading) == (0, None)


def test_each_utterance_is_compared_with_the_others_and_not_with_itself():
    found = similarities([direction(0.0), direction(0.25), None, direction(0.5)], None)
    assert found == [pytest.approx(-0.5), pytest.approx(0.0, abs=1e-6), None, pytest.approx(-0.5)]


def test_a_single_utterance_has_nothing_to_be_compared_with():
    assert similarities([direction(0.1)], None) == [None]
    assert similarities([direction(0.1), None], None) == [None, None]
    assert similarities([direction(0.1)], direction(0.1)) == [pytest.approx(1.0)]


@each_row(
    ("voices", "texts", "complaint"),
    [
        ((), ("one",), "no voice"),
        (("a",), (), "no text"),
        (tuple(map(str, range(50))), tuple(map(str, range(50))), "2500 utterances, more than 2000"),
        (("a",), ("x" * (MAX_TEXT_CHARS + 1),), "2001 characters is too long"),
    ],
)
def test_an_evaluation_has_limits(voices, texts, complaint):
    with pytest.raises(InvalidRequestError, match=complaint):
        Evaluation(voices, texts)


def test_an_evaluation_needs_time():
    with pytest.raises(InvalidRequestError, match="timeout must be above 0"):
        Evaluation(("a",), ("one",), timeout=0)
