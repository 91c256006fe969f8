"""The model `wren` with its real weights, beside `kokoro`."""

import numpy as np
import pytest

from polyvox.engines.catalog import Catalog
from polyvox.evaluate.wer import word_error_rate
from polyvox.installation import load_settings
from polyvox.types import Utterance

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

TEXT = "Help the woman get back to her feet."
MIX = "af_heart(0.6)+am_michael(0.4)"


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


async def spoken(model, models_dir):
    engine = Catalog.installed().factories[model](load_settings(models_dir=models_dir, kokoro_executor="onnx"))
    await engine.start()
    try:
        return [[chunk async for chunk in engine.speak(Utterance(TEXT, voice))] for voice in ("bf_emma", MIX)]
    finally:
        await engine.close()


@pytest.fixture(scope="module")
async def both(models_dir, anyio_backend):
    return await spoken("wren", models_dir), await spoken("kokoro", models_dir)


async def test_it_is_understood(both, moonshine):
    for chunks in both[0]:
        pcm = np.concatenate([chunk.pcm for chunk in chunks])
        assert word_error_rate(TEXT, moonshine.transcribe(pcm, 24_000)).errors == 0


async def test_it_is_as_long_and_about_as_loud_as_kokoro_and_times_the_same_words(both):
    for ours, theirs in zip(*both, strict=True):
        pcm, their_pcm = (np.concatenate([chunk.pcm for chunk in chunks]) for chunks in (ours, theirs))
        assert len(pcm) == pytest.approx(len(their_pcm), abs=2_400)
        assert np.std(pcm) == pytest.approx(np.std(their_pcm), rel=0.25)
        words, their_words = ([word for chunk in chunks for word in chunk.words] for chunks in (ours, theirs))
        assert [word.word for word in words] == [word.word for word in their_words]
        assert [word.end for word in words] == pytest.approx([word.end for word in their_words], abs=0.1)


async def test_it_is_heard_in_pieces(both):
    assert all(len(ours[0].pcm) < 0.4 * 24_000 < len(theirs[0].pcm) for ours, theirs in zip(*both, strict=True))
