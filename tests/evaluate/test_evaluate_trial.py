import asyncio
import time

import numpy as np
import pytest

from helpers.listeners import direction, panel
from polyvox.errors import InvalidRequestError, UnknownVoiceError
from polyvox.evaluate.panel import Panel
from polyvox.evaluate.trial import MAX_TEXT_CHARS, Sample, Trial, likenesses, run_trial
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


async def run(trial: Trial, listening: Panel | None = None, speaker: Speaker | None = None) -> list[Sample]:
    return await run_trial(trial, speaker or Speaker(), listening or panel("one two"), on_sample=lambda sample: None)


async def test_every_voice_says_every_text_in_order():
    speaker, seen = Speaker(), []
    trial = Trial(("0.25", "0.5"), ("one two", "three"))
    samples = await run_trial(trial, speaker, panel(), seen.append)
    expected = [("0.25", "one two"), ("0.25", "three"), ("0.5", "one two"), ("0.5", "three")]
    assert speaker.said == expected
    assert [(sample.voice, sample.text) for sample in samples] == expected
    assert [sample.number for sample in samples] == [sample.number for sample in seen] == [1, 2, 3, 4]
    assert trial.utterances == 4


async def test_an_utterance_gets_the_figures_of_all_listeners():
    (first, second) = await run(Trial(("0.25",), ("one two", "one too many")))
    assert (first.seconds, first.transcript, first.distillmos) == (2.0, "one two", 2.0)
    assert (first.dnsmos.overall, first.dnsmos.p808) == (2.0, 2.1)
    assert (first.words.errors, first.words.words) == (0, 2)
    assert (second.words.errors, second.words.words) == (2, 3)
    assert first.similarity == pytest.approx(1.0)


async def test_only_those_who_sit_on_the_panel_are_heard():
    (sample,) = await run(Trial(("0.25",), ("one two",)), Panel(distillmos=panel().distillmos))
    assert sample.distillmos == 2.0
    assert (sample.transcript, sample.words, sample.similarity, sample.dnsmos) == (None, None, None, None)


async def test_a_voice_is_compared_with_its_reference_where_it_has_one():
    trial = Trial(("0.25", "0.5"), ("one", "two"), references={"0.25": direction(0.0)})
    samples = await run(trial)
    assert [sample.similarity for sample in samples] == pytest.approx([0.0, 0.0, 1.0, 1.0], abs=1e-6)


@pytest.mark.parametrize("failing", ["refuse", "hush"])
async def test_what_fails_is_noted_and_the_rest_goes_on(failing):
    trial = Trial(("0.25",), ("one two", failing, "three"))
    before, failed, after = await run(trial)
    assert failed.error in ("There is no such voice.", "The recording is silent; send one in which somebody speaks.")
    assert (failed.similarity, failed.distillmos, failed.words) == (None, None, None)
    assert before.error == after.error == ""
    assert before.similarity == after.similarity == pytest.approx(1.0)


async def test_an_utterance_that_never_ends_is_given_up():
    began = time.monotonic()
    (sample,) = await run(Trial(("0.25",), ("hang",), timeout=0.05))
    assert sample.error == "It was not spoken within 0.05 seconds."
    assert time.monotonic() - began < 5


async def test_a_fault_of_our_own_is_not_taken_for_the_voices():
    async def broken(voice: str, text: str) -> tuple[Pcm, int]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await run_trial(Trial(("0.25",), ("one",)), broken, panel(), lambda sample: None)


@pytest.mark.parametrize(
    ("text", "language", "counted"),
    [("one two", None, True), ("one two", "en-GB", True), ("uno dos", "es", False), ("一二三", None, False)],
)
async def test_words_are_counted_where_the_recogniser_knows_the_language(text, language, counted):
    (sample,) = await run(Trial(("0.25",), (text,), language))
    assert (sample.words is not None) == counted
    assert (sample.transcript is not None) == counted


def test_each_utterance_is_compared_with_the_others_and_not_with_itself():
    found = likenesses([direction(0.0), direction(0.25), None, direction(0.5)], None)
    assert found == [pytest.approx(-0.5), pytest.approx(0.0, abs=1e-6), None, pytest.approx(-0.5)]


def test_a_single_utterance_has_nothing_to_be_compared_with():
    assert likenesses([direction(0.1)], None) == [None]
    assert likenesses([direction(0.1), None], None) == [None, None]
    assert likenesses([direction(0.1)], direction(0.1)) == [pytest.approx(1.0)]


@pytest.mark.parametrize(
    ("voices", "texts", "complaint"),
    [
        ((), ("one",), "no voice"),
        (("a",), (), "no text"),
        (tuple(map(str, range(50))), tuple(map(str, range(50))), "2500 utterances, more than 2000"),
        (("a",), ("x" * (MAX_TEXT_CHARS + 1),), "2001 characters is too long"),
    ],
)
def test_a_trial_has_limits(voices, texts, complaint):
    with pytest.raises(InvalidRequestError, match=complaint):
        Trial(voices, texts)


def test_a_trial_has_time():
    with pytest.raises(InvalidRequestError, match="timeout must be above 0"):
        Trial(("a",), ("one",), timeout=0)
