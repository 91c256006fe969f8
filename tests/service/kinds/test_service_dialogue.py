"""A dialogue as a session: produced ahead of its reader within the buffer, freed when the reader leaves."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from helpers.cloning import CloneEngine, Studio, opened
from helpers.fakes import ToneEngine
from polyvox.engines.kit.seeds import derive_seed
from polyvox.errors import InvalidRequestError, SilentTextError
from polyvox.service.call_context import LOCAL_CALL
from polyvox.service.kinds.dialogue import DialogueScript, resolve_dialogue
from polyvox.service.kinds.dialogue_segments import DialogueTurn
from polyvox.service.speech_request import SpeechRequest
from polyvox.types import AudioChunk, Utterance
from polyvox.voices.records import SHARED_OWNER

pytestmark = pytest.mark.anyio
LOW_AND_HIGH = [DialogueTurn("low" if index % 2 == 0 else "high", f"Turn number {index}.") for index in range(12)]


def request(
    studio: Studio, turns: Sequence[DialogueTurn], *, pause: float | None = 0.1, seed: int | None = None
) -> SpeechRequest:
    settings = studio.speech.settings
    resolve_kind = partial(
        resolve_dialogue, turns, pause, studio.voices.resolver, settings, owner=SHARED_OWNER, model=None, speed=1.0
    )
    return SpeechRequest(Utterance("", "dialogue", seed=seed), door="test", resolve_kind=resolve_kind)


async def settled() -> None:
    """Let every task that can run do so."""
    for _ in range(200):
        await asyncio.sleep(0)


async def test_turns_are_produced_ahead_of_the_reader_within_the_buffer(
    tmp_path,
) -> None:
    engine = CloneEngine(chunks=2)
    studio = Studio(tmp_path, engine, session_buffer=3)
    async with opened(studio), await studio.speech.open(request(studio, LOW_AND_HIGH), LOCAL_CALL) as session:
        read = 0
        async for _ in session:
            read += 1
            await settled()
            # Two chunks and a pause for each turn: so many turns were begun to have made what is read and buffered.
            begun = len(engine.heard)
            assert begun <= (read + 3) // 3 + 1
            if read == 1:
                assert begun == 2
        assert read == 2 * len(LOW_AND_HIGH) + len(LOW_AND_HIGH) - 1
        assert engine.most_speaking == 1


async def test_a_reader_that_leaves_frees_the_current_turn_and_later_turns_never_start(tmp_path) -> None:
    engine = CloneEngine()
    studio = Studio(tmp_path, engine, session_buffer=1)
    async with opened(studio):
        async with await studio.speech.open(request(studio, LOW_AND_HIGH), LOCAL_CALL) as session:
            await anext(aiter(session))
        assert engine.speaking == 0
        assert engine.closed == len(engine.heard) <= 2


async def test_a_dialogue_is_the_same_beside_other_requests(tmp_path) -> None:
    studio = Studio(tmp_path, CloneEngine(delay=0.001))

    async def heard(turns: Sequence[DialogueTurn]) -> list[AudioChunk]:
        async with await studio.speech.open(request(studio, turns, seed=3), LOCAL_CALL) as session:
            return [chunk async for chunk in session]

    async with opened(studio):
        alone = await heard(LOW_AND_HIGH)
        together = await asyncio.gather(
            *(heard(turns) for turns in (LOW_AND_HIGH[::-1], LOW_AND_HIGH, LOW_AND_HIGH[:3]))
        )
    assert [(chunk.index, chunk.start, chunk.text, chunk.span, chunk.words) for chunk in together[1]] == [
        (chunk.index, chunk.start, chunk.text, chunk.span, chunk.words) for chunk in alone
    ]
    for ours, theirs in zip(together[1], alone, strict=True):
        np.testing.assert_array_equal(ours.pcm, theirs.pcm)


async def test_each_turn_has_a_seed_that_no_segment_of_another_turn_has(tmp_path) -> None:
    engine = CloneEngine()
    studio = Studio(tmp_path, engine)
    async with opened(studio), await studio.speech.open(request(studio, LOW_AND_HIGH, seed=3), LOCAL_CALL) as session:
        async for _ in session:
            continue
    turns = [utterance.seed for utterance in engine.heard]
    assert turns[0] == 3
    segments = [derive_seed(turn, "segment", index) for turn in turns for index in range(50)]
    assert len(set(segments)) == len(segments)


async def test_word_spans_refer_to_the_text_of_the_whole_dialogue(tmp_path) -> None:
    studio = Studio(tmp_path)
    whole = "\n".join(turn.text for turn in LOW_AND_HIGH)
    async with opened(studio), await studio.speech.open(request(studio, LOW_AND_HIGH), LOCAL_CALL) as session:
        words = [word for chunk in [chunk async for chunk in session] for word in chunk.words]
    assert [whole[word.span.start : word.span.end] for word in words] == whole.split()


class TrailingEngine(CloneEngine):
    """Begins and ends every chunk with silence of its own; the second chunk of three is nothing else."""

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        async for chunk in super().speak(utterance):
            pcm = np.ones_like(chunk.pcm)
            pcm[:100] = pcm[-500:] = 0.0
            yield replace(chunk, pcm=pcm * (chunk.index != 1))


@pytest.mark.parametrize("channels", [1, 2])
async def test_the_pause_replaces_the_trailing_silence_of_a_turn(tmp_path, channels: int) -> None:
    studio = Studio(tmp_path, TrailingEngine(channels=channels))
    async with (
        opened(studio),
        await studio.speech.open(request(studio, LOW_AND_HIGH[:2], pause=0.05), LOCAL_CALL) as session,
    ):
        chunks = [chunk async for chunk in session]
    assert [chunk.start for chunk in chunks] == [0, *np.cumsum([len(chunk.pcm) for chunk in chunks])[:-1]]
    pcm = np.concatenate([chunk.pcm for chunk in chunks])
    assert pcm.shape[1:] == (() if channels == 1 else (2,))
    loud = pcm if channels == 1 else pcm[:, 0]
    edges = np.flatnonzero(np.diff(np.concatenate(([0.0], loud, [0.0]))))
    silences = (edges[2:-1:2] - edges[1:-2:2]).tolist()
    inside, between = 500 + 2400 + 100, round(0.05 * 24_000)
    assert silences == [inside, between, inside]
    assert len(loud) - edges[-1] == 500  # behind the last turn it stays


class DeafEngine(CloneEngine):
    """Finds nothing to speak in a text of the letter x alone, as an engine does in letters that it cannot read."""

    async def speak(self, utterance: Utterance) -> AsyncIterator[AudioChunk]:
        if set(utterance.text) == {"x"}:
            raise SilentTextError("Nothing in the text can be spoken.", field="input")
        async for chunk in super().speak(utterance):
            yield chunk


async def test_a_later_turn_in_which_the_engine_finds_nothing_to_speak_is_left_out_with_a_warning(tmp_path) -> None:
    studio, nothing = Studio(tmp_path, DeafEngine()), DialogueTurn("low", "xx")
    async with opened(studio):
        turns = [LOW_AND_HIGH[0], nothing, LOW_AND_HIGH[1]]
        async with await studio.speech.open(request(studio, turns), LOCAL_CALL) as session:
            words = [word.word for chunk in [chunk async for chunk in session] for word in chunk.words]
            assert words == "Turn number 0. Turn number 1.".split()
            assert session.warnings == ("nothing-to-speak: xx",)
        async with await studio.speech.open(request(studio, [nothing, *turns]), LOCAL_CALL) as session:
            with pytest.raises(SilentTextError) as caught:
                await anext(session)
            assert caught.value.field == "turns[0].text"


async def test_refusals_are_counted(tmp_path) -> None:
    studio = Studio(tmp_path, ToneEngine())
    async with opened(studio):
        with pytest.raises(InvalidRequestError):
            await studio.speech.open(request(studio, []), LOCAL_CALL)
    count = studio.speech.metrics.registry.get_sample_value("polyvox_requests_total", {"door": "test", "model": "tone"})
    assert count == 1


@pytest.mark.parametrize("pause", [-1.0, 60.1, float("nan"), float("inf")])
def test_a_pause_out_of_range_is_refused_before_any_work(tmp_path, pause: float) -> None:
    settings = Studio(tmp_path).speech.settings
    with pytest.raises(InvalidRequestError) as caught:
        DialogueScript.checked(LOW_AND_HIGH, pause, settings)
    assert caught.value.field == "pause"
