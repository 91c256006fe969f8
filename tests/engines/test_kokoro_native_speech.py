"""Kokoro in PyTorch with its real weights, beside the same on ONNX Runtime."""

import numpy as np
import pytest

pytest.importorskip("torch")

from polyvox.engines.kokoro import engine as engine_module
from polyvox.engines.kokoro.engine import KokoroEngine
from polyvox.engines.kokoro.native import loading
from polyvox.engines.kokoro.native.loading import load_anywhere
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.evaluate.wer import word_error_rate
from polyvox.installation import load_settings
from polyvox.types import Utterance

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

TEXTS = ("The sun rose.",)
ROUNDING = 2e-5


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


async def spoken(models_dir, executor):
    """Each text as samples and timed words, and what the engine warns of."""
    engine = KokoroEngine(load_settings(models_dir=models_dir, kokoro_executor=executor, kokoro_device="cpu"))
    await engine.start()
    try:
        chunks = [[chunk async for chunk in engine.speak(Utterance(text, "af_heart"))] for text in TEXTS]
    finally:
        await engine.close()
    assert engine.warning == ""
    return [
        (np.concatenate([chunk.pcm for chunk in text]), [word for chunk in text for word in chunk.words])
        for text in chunks
    ]


@pytest.fixture(scope="module")
def native(installed):
    settings = load_settings(kokoro_device="cpu", kokoro_batch=2).section(KokoroSettings)
    return load_anywhere(settings, installed("kokoro"))[0]


@pytest.fixture(scope="module", autouse=True)
def quick_start(native):
    """An engine takes the network that is loaded, and a word to learn its pace."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "load_anywhere", lambda settings, bundle: (native, ""))
        patch.setattr(engine_module, "_WARM_UP", Utterance("I.", "af_heart"))
        yield


@pytest.fixture(scope="module")
async def both(models_dir, anyio_backend):
    return await spoken(models_dir, "native"), await spoken(models_dir, "onnx")


async def test_it_is_understood_as_well_as_on_onnx_runtime(both, moonshine):
    native, onnx = (
        sum(
            word_error_rate(text, moonshine.transcribe(pcm, 24_000)).errors
            for text, (pcm, _) in zip(TEXTS, texts, strict=True)
        )
        for texts in both
    )
    assert native <= onnx


async def test_it_is_as_long_and_as_loud_and_times_the_same_words(both):
    for (ours, our_words), (theirs, their_words) in zip(*both, strict=True):
        assert len(ours) == pytest.approx(len(theirs), rel=0.08)
        assert np.sqrt(np.mean(ours**2)) == pytest.approx(np.sqrt(np.mean(theirs**2)), rel=0.2)
        assert [(word.word, word.span) for word in our_words] == [(word.word, word.span) for word in their_words]
        assert [word.start for word in our_words] == pytest.approx([word.start for word in their_words], abs=0.15)


async def test_two_words_at_once_sound_as_one_at_a_time(native, installed):
    """Prosody in 64 bits and the decoder in 32, as on every CPU."""
    styles = np.fromfile(installed("kokoro").file("voices/af_heart.bin"), dtype="<f4").reshape(510, 1, 256)
    items = [ModelInput(ids, styles[len(ids) - 1], 2.0) for ids in ((56, 4), (52, 156, 4))]
    timed = native.predict_durations(items)
    together = native.decode(timed)
    assert len(together[0]) != len(together[1])
    for mixed, one, item in zip(timed, together, items, strict=True):
        (by_itself,) = native.predict_durations([item])
        assert np.array_equal(mixed.durations, by_itself.durations)
        np.testing.assert_allclose(one, native.decode([by_itself])[0], atol=ROUNDING)
