"""Words found in real speech: Kokoro's, spoken as if it did not know when, beside what it and a forced aligner say."""

import asyncio
from itertools import pairwise

import numpy as np
import pytest

from helpers.speech import align_words
from helpers.untimed import Untimed
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.installation import load_settings
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.service.words import word_track
from polyvox.service.words.timed_engine import timed_engine
from polyvox.service.words.word_timer import Stretch, WordTimer
from polyvox.text.timed_words import timed_words
from polyvox.types import NormalizationOptions, TimingSource, Utterance

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

SPOKEN = [
    ("af_heart", "The old keeper climbed the stairs, carrying a lamp and a book. Nobody had ever asked to see it."),
    ("bm_george", "Four hours of steady work faced us."),
]


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
async def spoken(models_dir, anyio_backend):
    """For each text: its samples, the words found in them, and those that Kokoro itself timed."""
    settings = load_settings(models_dir=models_dir)
    kokoro = KokoroEngine(settings)
    await kokoro.start()
    untimed, executor = Untimed(kokoro), DeviceExecutor("test-words", 1)
    engine = timed_engine(untimed, WordTimer(settings), executor)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_track, "_MOST_PATIENCE_SECONDS", 120.0)  # a busy machine must not make estimates of them
        for voice, text in SPOKEN:
            chunks = [chunk async for chunk in engine.speak(Utterance(text, voice))]
            pcm = np.concatenate([chunk.pcm for chunk in chunks])
            found.append((text, pcm, [word for chunk in chunks for word in chunk.words], untimed.truth))
    await kokoro.close()
    await asyncio.to_thread(executor.close)
    return found


async def test_the_words_are_those_that_the_model_would_have_timed(spoken):
    for text, pcm, words, truth in spoken:
        assert [word.span for word in words] == [word.span for word in truth]
        assert [word.word for word in words] == [text[word.span.start : word.span.end] for word in words]
        assert all(before.start <= after.start for before, after in pairwise(words))
        assert words[-1].end <= len(pcm) / 24_000
        assert {word.source for word in words} == {TimingSource.ALIGNMENT}


async def test_starts_are_right_to_60_ms_by_the_models_durations_and_by_a_forced_aligner(spoken):
    by_model = [
        abs(one.start - other.start) for _, _, words, truth in spoken for one, other in zip(words, truth, strict=True)
    ]
    assert np.median(by_model) <= 0.030
    assert np.percentile(by_model, 95) <= 0.120
    by_aligner = [
        abs(one.start - other.start)
        for text, pcm, words, _ in spoken
        for one, other in zip(words, align_words(pcm, 24_000, text), strict=True)
    ]
    assert np.median(by_aligner) <= 0.045
    assert np.percentile(by_aligner, 95) <= 0.150


async def test_estimates_are_near_without_any_model(spoken, tmp_path):
    timer = WordTimer(load_settings(models_dir=tmp_path))
    errors = []
    for text, pcm, _, truth in spoken:
        words = timed_words(text, NormalizationOptions(), "en")
        timed = timer.time(Stretch(pcm, 24_000, 0, words, whole=True))
        assert set(timed.sources) == {TimingSource.ESTIMATE}
        errors += [abs(span.start / 24_000 - word.start) for span, word in zip(timed.spans, truth, strict=True)]
    assert np.median(errors) <= 0.150
