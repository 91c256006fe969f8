"""Captured, flow and vocoder compute what they compute eagerly, and from their arguments alone."""

from functools import cache

import pytest
import torch
from polyvox.engines.cosyvoice.cuda_graphs.encoder import TokenEncoderGraphs
from polyvox.engines.cosyvoice.cuda_graphs.flow import SolverGraphs
from polyvox.engines.cosyvoice.cuda_graphs.vocoder import CausalHiftGraphs, HiftGraphs
from torch.nn import functional

from helpers.cosyvoice_golden import (
    assert_near,
    causal_hift,
    causal_hift_noise,
    flow,
    flow_prompt,
    golden,
    hift,
    hift_noise,
    seeded,
)
from helpers.replaying import Poisoned
from polyvox.models.cosyvoice.flow import FlowPrompt, FlowRunner
from polyvox.models.cosyvoice.noise import flow_noise
from polyvox.runtime.executors.cuda_graphs import bucket_for

VERSIONS = pytest.mark.parametrize("version", [2, 3])
SIZES, EXTENTS = (50, 100, 200), (256, 512)
ROUNDING = 2e-4
"""Of the vocoders in single precision: magnitudes are exponentials, and phases are sums of thousands of pitches."""


class CapturedFlow:
    """A captured flow whose buffers and results are filled with NaN before each call."""

    def __init__(self, version, extents=EXTENTS):
        model, self.replay = flow(version), Poisoned()
        self._solver = SolverGraphs(model, self.replay, SIZES, extents)
        self._encoder = TokenEncoderGraphs(
            model, self.replay, [size // 2 for size in SIZES], [each // 2 for each in extents]
        )
        for graphs in (self._encoder, self._solver):
            graphs.capture()
        self.replay.buffers = (*self._encoder.buffers, *self._solver.buffers)
        self.shapes = self.replay.recorded
        self.replay.calls.clear()

    @property
    def runner(self):
        return FlowRunner(self._poisoned(self._encoder), self._poisoned(self._solver))

    def _poisoned(self, graphs):
        def call(*given):
            self.replay.poison()
            return graphs(*given)

        return call


@cache
def captured_flow(version):
    with torch.inference_mode():
        return CapturedFlow(version)


def streamed(version, prompt, pieces, tokens, *, window=None, runner=None):
    """All mels of tokens that arrive in pieces of these sizes, and the states after each."""
    model = flow(version)
    state, mels, states = model.start(prompt, flow_noise(), window=window), [], []
    for index, piece in enumerate(tokens.split(pieces, dim=1)):
        mel, state = model.step(piece, state, final=index == len(pieces) - 1, runner=runner)
        mels.append(mel)
        states.append(state)
    return mels, states


def assert_same(ours, theirs, share=1e-5):
    """To a hundred-thousandth of the largest value."""
    assert_near(ours, theirs, share * theirs.abs().max().item())


@VERSIONS
@pytest.mark.parametrize("pieces", [[40, 25, 50, 84], [40, 159], [199], [65, 50, 84]])
@torch.inference_mode()
def test_a_captured_stream_equals_the_eager_one(version, pieces):
    graphs, tokens = captured_flow(version), golden(version, "flow")["chunked.token"]
    mels, states = streamed(version, flow_prompt(version), pieces, tokens, runner=graphs.runner)
    plain, plain_states = streamed(version, flow_prompt(version), pieces, tokens)
    for ours, theirs in zip(mels, plain, strict=True):
        assert_same(ours, theirs)
    for ours, theirs in zip(states[:-1], plain_states[:-1], strict=True):
        assert ours.solver_cache.nbytes == theirs.solver_cache.nbytes
        for cached, eager_cached in zip(ours.encoder_cache, theirs.encoder_cache, strict=True):
            if cached.shape == eager_cached.shape:
                assert_same(cached, eager_cached)
        assert_same(ours.solver_cache.contexts, theirs.solver_cache.contexts)
        assert_same(torch.cat(ours.solver_cache.kv, dim=-2), torch.cat(theirs.solver_cache.kv, dim=-2))
    assert_near(torch.cat(mels, dim=2), golden(version, "flow")["chunked.reference_one_shot"])
    assert graphs.replay.recorded == graphs.shapes
    assert len(graphs.shapes) == 2 * len(SIZES) * len(EXTENTS)


@VERSIONS
@torch.inference_mode()
def test_a_window_is_the_same_window_captured(version):
    graphs, tokens, pieces = (
        captured_flow(version),
        golden(version, "flow")["chunked.token"],
        [40, 25, 25, 25, 25, 25, 34],
    )
    graphs.replay.calls.clear()
    mels, states = streamed(version, flow_prompt(version), pieces, tokens, window=100, runner=graphs.runner)
    plain, plain_states = streamed(version, flow_prompt(version), pieces, tokens, window=100)
    assert_same(torch.cat(mels, dim=2), torch.cat(plain, dim=2))
    assert [state.solver_cache.length for state in states[:-1]] == [
        state.solver_cache.length for state in plain_states[:-1]
    ]
    assert states[-2].solver_cache.length == 100
    assert sum(key[0] == "flow" for key in graphs.replay.calls) == len(pieces)


@torch.inference_mode()
def test_what_fits_no_captured_shape_runs_eagerly():
    """A stream that has grown too long, and several streams at once."""
    graphs, tokens, prompt = CapturedFlow(3, extents=(256,)), golden(3, "flow")["chunked.token"], flow_prompt(3)
    mels, _ = streamed(3, prompt, [40, 50, 109], tokens, runner=graphs.runner)
    assert graphs.replay.calls == [("encoder", 50, 128), ("flow", 100, 256), ("encoder", 50, 128), ("flow", 100, 256)]
    assert_near(torch.cat(mels, dim=2), golden(3, "flow")["chunked.reference_one_shot"])
    twice = FlowPrompt(*(torch.cat((each, each)) for each in (prompt.tokens, prompt.mel, prompt.embedding)))
    both, _ = streamed(3, twice, [40, 50, 109], torch.cat((tokens, tokens)), runner=graphs.runner)
    assert len(graphs.replay.calls) == 4
    assert_same(torch.cat(both, dim=2)[1:], torch.cat(mels, dim=2))


FIRST, LATER, LAST = (24, 50, 56), (20, 30), (12, 24)
PIECES = [[50, 20, 30, 10], [24, 30, 30, 20, 6], [56, 20, 7, 3, 24], [5, 50, 30, 25], [90, 20], [22]]


class Vocoders:
    """A vocoder of either version, captured and eager, on the same noise."""

    def __init__(self, version, dtype=torch.float32):
        self.model = hift(dtype) if version == 2 else causal_hift(dtype)
        self.replay = Poisoned()
        self._version = version
        self._generator = seeded(1)

    def captured(self):
        kind = HiftGraphs if self._version == 2 else CausalHiftGraphs
        graphs = kind(self.model, self.replay, FIRST, LATER, LAST)
        graphs.capture()
        self.replay.calls.clear()
        return graphs

    @property
    def start(self):
        return None if self._version == 2 else self.model.start(causal_hift_noise())

    def noise(self, frames, state):
        """What version 2 is given with each step."""
        return [hift_noise(self._generator, frames + (8 if state else 0))] if self._version == 2 else []


@VERSIONS
@pytest.mark.parametrize("pieces", PIECES)
@torch.inference_mode()
def test_a_captured_vocoder_gives_the_eager_ones_samples(version, pieces):
    """A step of no captured length runs eagerly, and the next is replayed again."""
    if version == 2 and pieces[0] <= 8:
        pieces = pieces[1:]
    vocoders = Vocoders(version)
    graphs, model, replay = vocoders.captured(), vocoders.model, vocoders.replay
    shapes, state, plain = replay.recorded, vocoders.start, vocoders.start
    for index, piece in enumerate(golden(3, "hift")["chunked.mel"][:, :, : sum(pieces)].split(pieces, dim=2)):
        final, noise = index == len(pieces) - 1, vocoders.noise(piece.shape[2], state)
        replay.poison()
        ours, state = graphs.step(piece, *noise, state, final=final)
        theirs, plain = model.step(piece, *noise, plain, final=final)
        torch.testing.assert_close(ours, theirs, rtol=0, atol=ROUNDING if final else 1e-6)
        assert final or version == 2 or (state.rendered, state.voiced) == (plain.rendered, plain.voiced)
    expected = [("vocoder start", pieces[0])] if pieces[0] in FIRST and len(pieces) > 1 else []
    expected += [("vocoder", piece) for piece in pieces[1:-1] if piece in LATER]
    if pieces[-1] <= LAST[-1]:
        expected.append(("vocoder end", len(pieces) == 1, bucket_for(pieces[-1], LAST)))
    assert replay.calls == expected
    assert replay.recorded == shapes


@VERSIONS
@pytest.mark.parametrize("rendered", [0, 50])
@pytest.mark.parametrize("left", [60, 9, 2])
@torch.inference_mode()
def test_padding_at_the_end_of_a_stream_does_not_change_it(version, rendered, left):
    frames, vocoders = golden(3, "hift")["chunked.mel"], Vocoders(version, torch.float64)
    model, state, missing = vocoders.model, vocoders.start, 70 - left
    if rendered:
        _, state = model.step(frames[:, :, :rendered], *vocoders.noise(rendered, None), state)
    rest, noise = frames[:, :, rendered : rendered + left], vocoders.noise(left, state)
    expected, _ = model.step(rest, *noise, state, final=True)
    more = [functional.pad(each, (0, 0, 0, 480 * missing)) for each in noise]
    filled = functional.pad(rest, (0, missing))
    samples, _ = model.step(filled, *more, state, final=True, padding=torch.tensor(missing))
    assert samples.shape[1] - expected.shape[1] == 480 * missing
    assert_near(samples[:, : expected.shape[1]], expected, 1e-9)
