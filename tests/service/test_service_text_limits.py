"""The limits of a text, checked before any work, and what cannot be ready in time."""

import pytest

from helpers.fakes import ToneEngine, running, tone_service
from helpers.tables import each_row
from polyvox.errors import MarkupError, TextError
from polyvox.service.admission.capacity import ThroughputEstimator
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.service.text_limits import TextLimits
from polyvox.types import Utterance

LIMITS = TextLimits(100_000, 300.0, 21_600.0)


@each_row("text", ["lorem ipsum " * 8_333, "一" * 100_000, "a" + "[pause:10s]" * 30])
def test_a_long_chapter_is_taken(text: str) -> None:
    assert LIMITS.check(text, 1.0) > 0


def test_pauses_count_together() -> None:
    with pytest.raises(MarkupError, match="301 s together"):
        LIMITS.check("a" + "[pause:10s]" * 30 + "[pause 1000ms]", 1.0)
    with pytest.raises(MarkupError):
        LIMITS.check("a" + "[pa\u200buse:10s]" * 31, 1.0)


def test_figures_count_as_the_words_they_become() -> None:
    with pytest.raises(TextError, match="minutes to speak"):
        LIMITS.check("1" * 100_000, 1.0)
    with pytest.raises(TextError, match="minutes to speak"):
        LIMITS.check("lorem ipsum " * 8_333, 0.25)


def test_the_least_time_for_an_answer_is_that_of_the_best_recent_request() -> None:
    throughput = ThroughputEstimator(32)
    assert throughput.least_seconds(1_000.0) == 0.0
    throughput.completed(1.0, 0.01)  # too short to tell
    throughput.completed(10.0, 5.0)
    throughput.completed(10.0, 2.0)
    assert throughput.least_seconds(1_000.0) == pytest.approx(200.0)


@pytest.mark.anyio
async def test_a_whole_answer_that_cannot_be_ready_in_time_is_refused_at_once() -> None:
    async with running(tone_service(ToneEngine(chunks=1, chunk_seconds=4.0, delay=0.1), deadline_seconds=2)) as service:
        async with await service.open(SpeechRequest(Utterance("Hello.", "low")), LOCAL_CALL) as session:
            async for _ in session:
                continue
        long = SpeechRequest(Utterance("word " * 10_000, "low"))
        with pytest.raises(TextError, match="a request may take 2 s"):
            await service.open(long, LOCAL_CALL, whole=True)
