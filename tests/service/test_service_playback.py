"""Gaps that a listener hears because a stream is made too slowly."""

import asyncio

import pytest

from helpers.fakes import ToneEngine, running, tone_service
from helpers.tables import each_row
from polyvox.service.call_context import CallContext
from polyvox.service.playback import Playback
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance

CHUNK = 0.1


def test_a_chunk_that_comes_while_the_last_one_plays_leaves_no_gap() -> None:
    playback = Playback()
    assert not playback.add(5.0, 1.0), "what comes first has nothing to follow"
    assert not playback.add(5.9, 1.0)
    assert not playback.add(7.0, 1.0), "the lead of the chunks before is counted"


def test_a_late_chunk_is_one_gap_and_playback_goes_on_from_there() -> None:
    playback = Playback()
    playback.add(0.0, 1.0)
    assert playback.add(1.5, 1.0)
    assert not playback.add(2.4, 1.0)
    assert playback.add(3.6, 1.0)


def test_a_client_that_reads_nothing_has_no_gap() -> None:
    playback = Playback()
    playback.add(0.0, 1.0)
    playback.pause(10.0)
    assert not playback.add(10.5, 1.0)


def test_a_chunk_without_samples_is_never_late() -> None:
    playback = Playback()
    playback.add(0.0, 1.0)
    assert not playback.add(9.0, 0.0)


@pytest.mark.long
@pytest.mark.anyio
@each_row(("delay", "background", "gaps"), [(0.0, False, 0), (2 * CHUNK, False, 2), (2 * CHUNK, True, 0)])
async def test_gaps_of_a_stream_that_is_heard_are_counted(delay: float, background: bool, gaps: int) -> None:
    """Each chunk lasts 100 ms; made every 200 ms, the second and the third come too late."""
    async with running(tone_service(ToneEngine(chunks=3, delay=delay))) as service:
        request = SpeechRequest(Utterance("one two three", "low"), door="test")
        async with asyncio.timeout(5), await service.open(request, CallContext(background=background)) as session:
            assert [round(chunk.duration, 3) async for chunk in session] == [CHUNK] * 3
        counted = service.metrics.registry.get_sample_value("polyvox_underruns_total", {"model": "tone"})
    assert counted == gaps
