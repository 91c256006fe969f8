"""An engine is told where nobody listens until all is spoken."""

import pytest

from helpers.fakes import ToneEngine, running, tone_service
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import Utterance

pytestmark = pytest.mark.anyio


async def test_the_utterance_says_whether_its_answer_is_streamed() -> None:
    engine = ToneEngine()
    cases = (("plain", False), ("plain", True), ("[voice:high]marked[/voice]", True))
    async with running(tone_service(engine)) as service:
        for text, whole in cases:
            engine.heard.clear()
            request = SpeechRequest(Utterance(text, "low"), door="test")
            async with await service.open(request, LOCAL_CALL, whole=whole) as session:
                assert [chunk async for chunk in session]
            assert [utterance.whole for utterance in engine.heard] == [whole], text


async def test_an_utterance_that_is_whole_stays_so_in_a_session_that_is_read_chunk_by_chunk() -> None:
    engine = ToneEngine()
    async with running(tone_service(engine)) as service:
        request = SpeechRequest(Utterance("a passage of a book", "low", whole=True), door="test")
        async with await service.open(request, LOCAL_CALL) as session:
            assert [chunk async for chunk in session]
    assert [utterance.whole for utterance in engine.heard] == [True]
