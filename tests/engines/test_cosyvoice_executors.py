"""CUDA graphs, compilation and cache modes change the speed of CosyVoice's networks, and nothing else."""

import asyncio
import functools
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest
import torch
from structlog.testing import capture_logs

from helpers.fixed_shapes import Fixed
from helpers.replaying import Poisoned
from helpers.tables import each_row
from helpers.tiny_cosyvoice import tiny_model
from polyvox.engines.cosyvoice import engine as engine_module
from polyvox.engines.cosyvoice import running_model
from polyvox.engines.cosyvoice.decoder import executors as executors_module
from polyvox.engines.cosyvoice.decoder import running_decoder
from polyvox.engines.cosyvoice.decoder.batching import BatchingKernels, batch_flow, batch_vocoder
from polyvox.engines.cosyvoice.decoder.budget import ByteBudget
from polyvox.engines.cosyvoice.decoder.executors import Token2WavExecutors
from polyvox.engines.cosyvoice.decoder.hops import HopLengths, Hops, hop_lengths
from polyvox.engines.cosyvoice.decoder.speech_decoder import Hop
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.engines.cosyvoice.execution import compile_flow, start_lm
from polyvox.engines.cosyvoice.lm_adapter import CosyVoiceLmAdapter
from polyvox.engines.cosyvoice.loading import load_model
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.engines.cosyvoice.synthesis import SegmentSynthesizer, default_sampling
from polyvox.installation import load_settings
from polyvox.models.cosyvoice.flow import Flow, FlowPrompt
from polyvox.models.cosyvoice.noise import flow_noise
from polyvox.models.paged_attention import paged_attention
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.lm_scheduler import LmSchedulerConfig
from polyvox.runtime.placement import Placement
from polyvox.runtime.tokens import GenerationLimits, Prompt, SamplingParams
from polyvox.types import ChunkPolicy, PreparedVoice, Utterance

pytestmark = pytest.mark.anyio
VERSIONS = pytest.mark.parametrize("version", [2, 3])
SIZES = LmSchedulerConfig(slots=4, capacity=512)


@pytest.fixture
def model(tmp_path, version):
    return load_model(tiny_model(tmp_path / "model", version), version, CosyVoiceSettings())


@pytest.fixture
async def device():
    executor = DeviceExecutor("test-lm", 1)
    yield executor
    await asyncio.to_thread(executor.close)


async def drawn(source, adapter, sampling, count=4):
    """The tokens of some sequences side by side."""

    async def one(seed):
        prompt = Prompt(ids=adapter.prompt(range(10, 20 + seed), ()))
        rule = SamplingParams(sampling.temperature, sampling.top_k, sampling.top_p, seed=seed, repeat_window=10)
        async with source.generate(prompt, rule, GenerationLimits(20 + 5 * seed)) as stream:
            return [token async for token in stream]

    return await asyncio.gather(*(one(seed) for seed in range(count)))


@pytest.mark.long
@VERSIONS
async def test_captured_steps_have_few_shapes_and_sample_the_same_tokens(model, version, device):
    adapter, sampling = CosyVoiceLmAdapter(model.networks.lm), default_sampling(model.bundle.config)
    replay = Fixed()
    recorded, warning = await start_lm(adapter, SIZES, sampling, device, lambda: replay)
    assert warning == ""
    shapes = replay.recorded
    assert 0 < shapes <= 20
    plain, _ = await start_lm(adapter, SIZES, sampling, device, None)
    assert await drawn(recorded, adapter, sampling) == await drawn(plain, adapter, sampling)
    assert replay.recorded == shapes
    await recorded.close()
    await plain.close()


@pytest.mark.long
@pytest.mark.parametrize("version", [3])
async def test_a_gpu_that_cannot_capture_decodes_eagerly_and_says_so(model, version, device):
    def broken():
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing\nmore of it")

    adapter, sampling = CosyVoiceLmAdapter(model.networks.lm), default_sampling(model.bundle.config)
    with capture_logs() as logs:
        source, warning = await start_lm(adapter, SIZES, sampling, device, broken)
    assert "not permitted when stream is capturing), so it runs eagerly and more slowly." in warning
    assert [entry["event"] for entry in logs] == [warning]
    assert len((await drawn(source, adapter, sampling, 1))[0]) == 20
    await source.close()


@pytest.mark.long
async def test_the_engine_captures_on_a_gpu_and_warns_of_what_it_could_not(tmp_path, monkeypatch):
    """The weights stay where they are: what is on a GPU here is only its name."""
    asked = []

    def recorder():
        asked.append("recorder")
        raise RuntimeError("no such thing here")

    def placed_on_gpu(*given):
        model = load_model(*given)
        object.__setattr__(model, "placement", Placement("cuda", torch.float32))
        return model

    monkeypatch.setattr(running_model, "CudaGraphs", recorder)
    monkeypatch.setattr(engine_module, "load_model", placed_on_gpu)
    monkeypatch.setattr(running_model, "use_own_stream", lambda device: None)
    monkeypatch.setattr(executors_module, "triton_kernels", lambda: BatchingKernels(paged_attention))
    folder = tiny_model(tmp_path / "model", 3)
    engine = CosyVoiceEngine(load_settings(cosyvoice3_dir=folder, cosyvoice_flow_bytes=1 << 27), 3)
    await engine.start()
    await engine.captured()
    assert asked == ["recorder", "recorder"]
    assert "CosyVoice's language model could not be captured (no such thing here)" in engine.warning
    assert "CosyVoice's audio decoder could not be captured (no such thing here)" in engine.warning
    async with aclosing(engine.speak(Utterance("er.", "spk_a", seed=1))) as chunks:
        assert [chunk async for chunk in chunks]
    await engine.close()


@pytest.mark.long
@pytest.mark.parametrize("version", [3])
def test_streams_are_decoded_one_by_one_where_their_batches_compute_something_else(model, version, monkeypatch):
    def wrong(query, *others):
        return paged_attention(query, *others).flip(-1)

    token2wav, hops = model.networks.token2wav, HopLengths(frozenset({25}), frozenset({25}))
    one_by_one = token2wav.flow_stage
    settings = CosyVoiceSettings(flow_bytes=1 << 24, vocoder_executor="eager")
    executors = executors_module.Token2WavExecutors(token2wav, model.bundle, settings)
    monkeypatch.setattr(executors_module, "triton_kernels", lambda: BatchingKernels(wrong))
    with capture_logs() as logs:
        warning = executors.prepare(hops, 1, gpu=True)
    assert "CosyVoice's flow of many streams could not be captured (it deviates from PyTorch by" in warning
    assert [entry["event"] for entry in logs] == [warning]
    assert not executors.batched
    assert token2wav.flow_stage is one_by_one
    monkeypatch.setattr(executors_module, "triton_kernels", lambda: BatchingKernels(paged_attention))
    assert executors.prepare(hops, 1, gpu=True) == ""
    assert executors.batched
    assert token2wav.flow_stage is not one_by_one


@each_row(
    ("policy", "later"),
    [
        (ChunkPolicy(25, 2.0, 100), {50, 100}),
        (ChunkPolicy(5, 2.0, 100), {25, 50, 100}),
        (ChunkPolicy(25, 1.0, 25), {25}),
        (ChunkPolicy(25, 1.5, 100), {50, 75, 100}),
        (ChunkPolicy(100, 2.0, 25), {100}),
    ],
)
def test_hop_lengths_are_those_of_all_hops_with_prompts_of_any_length(policy, later):
    lengths = hop_lengths(policy, 25)
    assert lengths.later == later
    first, following = set(), set()
    for prompt in range(100):
        hops = Hops(policy, prompt, 25, 3)
        first.add(hops.end)
        for _ in range(8):
            hops = hops.after()
            following.add(hops.end - hops.done)
    assert (first, following) == (lengths.first, lengths.later)


def compiling_with(backend, monkeypatch):
    """A test must not need the machine's C++ compiler: what is captured is the same for every backend."""
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend=backend))


@torch.inference_mode()
def mel(flow: Flow, lengths):
    """The frames of a stream in chunks of these many tokens."""
    prompt = FlowPrompt(
        torch.arange(30)[None], torch.zeros(1, flow.config.bins, 60), torch.ones(1, flow.config.speaker)
    )
    state, frames, done = flow.start(prompt, flow_noise()), [], 0
    for length in lengths:
        made, state = flow.step(torch.arange(done, done + length)[None], state, final=length == lengths[-1])
        frames.append(made)
        done += length
    return torch.cat(frames, dim=2)


@pytest.mark.long
@VERSIONS
def test_compiled_the_flow_is_the_same_and_captured_once_for_all_lengths(model, version, monkeypatch):
    compiling_with("eager", monkeypatch)
    flow = model.networks.token2wav.flow
    plain = [mel(flow, lengths) for lengths in ((28, 25, 9), (53, 7))]
    assert compile_flow(flow, lambda: mel(flow, (28, 9))) == ""
    captured = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert captured > 0
    for lengths, expected in zip(((28, 25, 9), (53, 7)), plain, strict=True):
        torch.testing.assert_close(mel(flow, lengths), expected, atol=1e-4, rtol=0)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == captured


@pytest.mark.long
@pytest.mark.parametrize("version", [3])
def test_a_machine_that_cannot_compile_runs_the_flow_eagerly_and_says_so(model, version, monkeypatch):
    def broken(graph, given):
        raise AssertionError("no compiler here")

    compiling_with(broken, monkeypatch)
    flow = model.networks.token2wav.flow
    plain = mel(flow, (28, 9))
    with capture_logs() as logs:
        warning = compile_flow(flow, lambda: mel(flow, (28, 9)))
    assert "CosyVoice's flow could not be captured" in warning
    assert [entry["event"] for entry in logs] == [warning]
    assert torch.equal(mel(flow, (28, 9)), plain)


@pytest.mark.long
@VERSIONS
async def test_the_minimum_length_is_kept_or_is_the_originals(model, version, device):
    config, adapter = model.bundle.config, CosyVoiceLmAdapter(model.networks.lm)
    source, _ = await start_lm(adapter, SIZES, default_sampling(config), device, None)
    speech = config.lm.speech
    ours = SegmentSynthesizer(config, adapter, source, None).limits(10)
    theirs = SegmentSynthesizer(config, adapter, source, None, original=True).limits(10)
    assert (ours.min_tokens, ours.max_tokens, ours.stop_tokens) == (
        theirs.min_tokens,
        theirs.max_tokens,
        theirs.stop_tokens,
    )
    assert ours.held_tokens == ours.stop_tokens == frozenset(range(speech.speech, speech.rows))
    assert theirs.held_tokens == {speech.speech}
    assert (speech.eos in theirs.held_tokens) is (version == 2)
    await source.close()


@pytest.mark.long
@VERSIONS
def test_the_flow_cache_of_a_stream_is_counted_and_bounded_as_the_settings_ask(tmp_path, version):
    kept = {}
    for memory in ("full", "window", "recompute"):
        folder = tiny_model(tmp_path / memory, version)
        model = load_model(folder, version, CosyVoiceSettings(flow_memory=memory, flow_window=100))
        token2wav = model.networks.token2wav
        state = token2wav.start(model.voices["spk_a"])
        kept[memory] = token2wav.step(range(78), state, final=False).state.nbytes
    assert kept["full"] > kept["window"] > kept["recompute"] == 0


def voice_of(prompt, seed):
    draws = np.random.default_rng(seed)
    arrays = {"tokens": draws.integers(0, 300, prompt), "mel": draws.standard_normal((80, 2 * prompt), np.float32)}
    return PreparedVoice("", "", {**arrays, "embedding": draws.standard_normal(192, np.float32)})


STEPS = ((0, 53, False), (53, 78, False), (78, 95, True))


def in_turns(token2wav, streams, between=lambda: None):
    """The steps of several streams in turns; tokens are the stream's own."""
    states = [token2wav.start(voice_of(*stream)) for stream in streams]
    made = [[] for _ in streams]
    for step, (start, stop, final) in enumerate(STEPS):
        for index, (prompt, seed) in enumerate(streams):
            between()
            pad = -prompt % 25
            tokens = [(7 * token + seed) % 300 for token in range(start + pad * (step > 0), stop + pad)]
            decoded = token2wav.step(tokens, states[index], final=final)
            states[index] = decoded.state
            made[index].append(decoded.pcm)
    return [np.concatenate(chunks) for chunks in made]


def together(token2wav, streams):
    """The steps of several streams, each step of all of them in one batch."""
    states = [token2wav.start(voice_of(*stream)) for stream in streams]
    made = [[] for _ in streams]
    for step, (start, stop, final) in enumerate(STEPS):
        hops = []
        for state, (prompt, seed) in zip(states, streams, strict=True):
            pad = -prompt % 25
            tokens = [(7 * token + seed) % 300 for token in range(start + pad * (step > 0), stop + pad)]
            hops.append(Hop(tuple(tokens), state, final))
        for index, decoded in enumerate(token2wav.step_batch(hops)):
            states[index] = decoded.state
            made[index].append(decoded.pcm)
    return [np.concatenate(chunks) for chunks in made]


@pytest.mark.long
@pytest.mark.parametrize("version", [2])
@pytest.mark.parametrize("gpu", [False, True])
async def test_a_hop_that_fails_ends_its_own_stream_only(model, device, gpu):
    token2wav, reports = model.networks.token2wav, []
    stage = running_decoder._stage("s", token2wav, device, reports.append, 2, gpu=gpu)
    good = Hop(tuple(range(53)), token2wav.start(voice_of(30, 1)), final=False)
    bad = replace(good, tokens=(10**6,) * 53)
    ours, error = await asyncio.gather(stage(good), stage(bad), return_exceptions=True)
    assert [report.size for report in reports] == [2]
    assert isinstance(error, IndexError)
    assert np.array_equal(ours.pcm, token2wav.step_batch([good])[0].pcm)
    await stage.close()


@pytest.mark.long
@VERSIONS
def test_captured_streams_of_one_batch_sound_like_eager_ones_alone(model, version):
    streams, token2wav, replay = [(60, 1), (37, 2)], model.networks.token2wav, Poisoned()
    alone = [in_turns(token2wav, [stream])[0] for stream in streams]
    hops = HopLengths(frozenset({50, 75}), frozenset({25}))
    flow = batch_flow(token2wav.flow, token2wav.flow_noise, 1 << 27, BatchingKernels(paged_attention))
    vocoder = batch_vocoder(token2wav, 2, hops)
    with torch.inference_mode():
        for blocks in (2, 4):
            flow.capture(blocks, replay)
        for call, rows in vocoder.shapes:
            if rows == 2:
                vocoder.capture(call, rows, replay)
    token2wav.use(flow_stage=flow, vocoder_stage=vocoder)
    replay.calls.clear()
    for ours, theirs in zip(together(token2wav, streams), alone, strict=True):
        assert ours.shape == theirs.shape
        assert decibels(ours, theirs) > 30
    assert {key[0] for key in replay.calls} == {"flow", "vocoder"}


def decibels(ours, theirs):
    """Signal-to-difference ratio: vocoders amplify rounding, for their phases are long sums."""
    return 10 * np.log10(np.square(theirs).mean() / max(np.square(ours - theirs).mean(), 1e-30))


@pytest.mark.long
@VERSIONS
def test_streams_beyond_the_memory_budget_recompute_and_sound_the_same(tmp_path, version):
    folder = tiny_model(tmp_path / "model", version)
    model = load_model(folder, version, CosyVoiceSettings())
    roomy, voices = model.networks.token2wav, model.voices
    first = roomy.step(range(78), roomy.start(voices["spk_a"]), final=False).state
    one = first.nbytes
    tight = load_model(folder, version, CosyVoiceSettings(flow_bytes=2 * one)).networks.token2wav
    with capture_logs() as logs:
        states = [tight.step(range(78), tight.start(voices["spk_a"]), final=False).state for _ in range(3)]
    assert [state.flow is None for state in states] == [False, False, True]
    assert [state.nbytes for state in states] == [one, one, 0]
    assert ["exhausted" in entry["event"] for entry in logs] == [True]
    expected = roomy.step(range(40), first, final=True)
    for state in states:
        decoded = tight.step(range(40), state, final=True)
        assert decoded.frames == expected.frames
        assert decibels(decoded.pcm, expected.pcm) > 30
    del states, state, decoded
    assert tight.step(range(78), tight.start(voices["spk_a"]), final=False).state.flow is not None


def test_a_budget_gets_back_leases_that_are_dropped():
    budget = ByteBudget(100)
    first, second = budget.take(60), budget.take(40)
    assert budget.take(1) is None
    assert budget.used == 100
    held = [first, second]
    del first
    assert budget.used == 100
    held.pop(0)
    assert budget.used == 40
    assert budget.take(61) is None
    assert budget.take(60) is not None
    assert budget.used == 40


@pytest.mark.long
@pytest.mark.parametrize("version", [3])
def test_prompts_of_recent_voices_keep_an_eighth_of_the_caches_unless_told_otherwise(model, version):
    """On a laptop too: a prompt of five seconds takes most of a gigabyte in single precision."""
    token2wav = model.networks.token2wav
    assert Token2WavExecutors(token2wav, model.bundle, CosyVoiceSettings()).prompt_bytes == token2wav.cache_bytes // 8
    assert Token2WavExecutors(token2wav, model.bundle, CosyVoiceSettings(prompt_bytes=7)).prompt_bytes == 7
