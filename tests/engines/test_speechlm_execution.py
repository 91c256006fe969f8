"""CUDA-graph capture or compilation of the codec language model, and the fall-back where it fails."""

import functools

import numpy as np
import pytest
import torch

from helpers.fixed_shapes import Fixed
from helpers.seeded_codec import seeded_codec
from helpers.tiny_lm import tiny_lm
from helpers.tiny_speechlm import CODEC, CODEC_SEED, tiny_speechlm_settings, write_tiny_model
from polyvox.engines.speechlm.engine import SpeechLmEngine
from polyvox.engines.speechlm.execution import capture_decoder, capture_scheduler
from polyvox.engines.speechlm.loading import SpeechLmNetworks
from polyvox.engines.speechlm.settings import SpeechLmSettings
from polyvox.engines.speechlm.windows import WindowCodes
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.lm_scheduler import LmScheduler, LmSchedulerConfig
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams
from polyvox.types import Span, Utterance

CPU = torch.device("cpu")
HELLO = Utterance("Selamat pagi semua.", "husein", seed=5, tuning={"max_tokens": 40, "temperature": 1.2})


class FailingReplay:
    """Captures `works` shapes, as on a GPU whose memory then runs out."""

    def __init__(self, works=2):
        self.left = works

    def __call__(self, key, work, given, idle=None):
        if not self.left:
            raise RuntimeError("out of memory\nand more")
        self.left -= 1
        return work(*given)


def decoder(tmp_path, recorder, **settings):
    section = tiny_speechlm_settings(tmp_path, **settings).section(SpeechLmSettings)
    return capture_decoder(SpeechLmNetworks(seeded_codec(CODEC, CODEC_SEED), CPU), section, recorder)


def samples(made):
    return made.decode([WindowCodes(np.arange(20), Span(0, 20 * 480))])[0].pcm


def test_the_codec_is_captured_for_the_lengths_of_the_settings(tmp_path):
    replay = Fixed()
    made, warning = decoder(tmp_path, lambda: replay, speechlm_graph_seconds=[0.5, 1.0], speechlm_codec_batch=2)
    assert warning == ""
    assert sorted(replay.shapes) == [("codec", rows, length) for rows in (1, 2) for length in (25, 50)]
    np.testing.assert_allclose(samples(made), samples(decoder(tmp_path, None)[0]), atol=5e-6)


def test_a_codec_that_cannot_be_captured_decodes_eagerly_with_a_warning(tmp_path):
    made, warning = decoder(tmp_path, FailingReplay)
    assert warning == ("NeuCodec's decoder could not be captured (out of memory), so it runs eagerly and more slowly.")
    assert np.array_equal(samples(made), samples(decoder(tmp_path, None)[0]))


@pytest.mark.long
def test_a_codec_that_cannot_be_compiled_decodes_eagerly_with_a_warning(tmp_path, monkeypatch):
    def broken(graph, given):
        raise AssertionError("no compiler here")

    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend=broken))
    made, warning = decoder(tmp_path, None, speechlm_compile=True)
    assert "no compiler here" in warning
    assert np.array_equal(samples(made), samples(decoder(tmp_path, None)[0]))


@pytest.mark.long
@pytest.mark.anyio
async def test_a_language_model_that_cannot_be_captured_decodes_eagerly_with_a_warning():
    executor = DeviceExecutor("test-lm", 1)
    config = LmSchedulerConfig(slots=4, capacity=128)

    def make(replay):
        return LmScheduler(tiny_lm(), config, executor=executor, replay=replay)

    tokens, warnings = [], []
    for recorder in (None, Fixed, FailingReplay):
        scheduler, warning = await executor.run(functools.partial(capture_scheduler, make, recorder))
        warnings.append(warning)
        async with scheduler.generate(Prompt((1, 2, 3)), SamplingParams(seed=1), GenerationLimits(20)) as stream:
            tokens.append([token async for token in stream])
        await scheduler.close()
    executor.close()
    assert tokens[0] == tokens[1] == tokens[2]
    assert warnings == [
        "",
        "",
        "The codec language model could not be captured (out of memory), so it runs eagerly and more slowly.",
    ]


@pytest.mark.long
@pytest.mark.anyio
async def test_the_engine_speaks_without_captured_graphs_and_shows_the_warnings(tmp_path, monkeypatch):
    async def spoken():
        engine = SpeechLmEngine(tiny_speechlm_settings(write_tiny_model(tmp_path / str(len(seen)))))
        await engine.start()
        try:
            chunks = [chunk async for chunk in engine.speak(HELLO)]
        finally:
            await engine.close()
        return np.concatenate([chunk.pcm for chunk in chunks]), engine.warning

    seen = []
    seen.append(await spoken())
    monkeypatch.setattr(SpeechLmEngine, "_recorder", lambda self, networks: FailingReplay)
    seen.append(await spoken())
    (eager, nothing), (fallen_back, warning) = seen
    assert np.array_equal(fallen_back, eager)
    assert nothing == ""
    assert "The codec language model could not be captured" in warning
    assert "NeuCodec's decoder could not be captured" in warning
