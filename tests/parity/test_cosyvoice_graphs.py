"""Recorded, flow and vocoder give what they give unrecorded: from what they are handed, and from nothing else."""

from functools import cache

import pytest
import torch
from cosyvoice_golden import SPEECH_IDS, assert_near, flow, flow_prompt, golden, seeded

from polyvox.engines.cosyvoice.flow_graphs import FlowGraphs
from polyvox.models.cosyvoice_flow import FlowPrompt
from polyvox.models.cosyvoice_noise import flow_noise
from replaying import Poisoned

VERSIONS = pytest.mark.parametrize("version", [2, 3])
SIZES, EXTENTS = (50, 100, 200), (256, 512)


class Recorded:
    """A recorded flow whose buffers and results are spoiled before each call."""

    def __init__(self, version, steps=10):
        self.model = flow(version, steps)
        self.replay = Poisoned()
        self.graphs = FlowGraphs(self.model, self.replay, SIZES, EXTENTS)
        self.replay.buffers = self.graphs.buffers
        self.graphs.warm()
        self.shapes = self.replay.recorded
        self.replay.calls.clear()

    def __call__(self, point, stretch, past):
        self.replay.poison()
        return self.graphs(point, stretch, past)


@cache
def recorded(version):
    with torch.inference_mode():
        return Recorded(version)


def streamed(version, prompt, pieces, tokens, *, window=None, solver=None):
    """All mels of tokens that arrive in pieces of these sizes, and the states after each."""
    model = flow(version)
    state, mels, states = model.start(prompt, flow_noise(), window=window), [], []
    for index, piece in enumerate(tokens.split(pieces, dim=1)):
        mel, state = model.step(piece, state, final=index == len(pieces) - 1, solver=solver)
        mels.append(mel)
        states.append(state)
    return mels, states


def assert_same(ours, theirs, share=1e-5):
    """To a hundred-thousandth of the largest value."""
    assert_near(ours, theirs, share * theirs.abs().max().item())


@VERSIONS
@pytest.mark.parametrize("pieces", [[40, 25, 50, 84], [40, 159], [199], [65, 50, 84]])
@torch.inference_mode()
def test_a_recorded_stream_is_the_unrecorded_one(version, pieces):
    solver, tokens = recorded(version), golden(version, "flow")["chunked.token"]
    mels, states = streamed(version, flow_prompt(version), pieces, tokens, solver=solver)
    plain, plain_states = streamed(version, flow_prompt(version), pieces, tokens)
    for ours, theirs in zip(mels, plain, strict=True):
        assert_same(ours, theirs)
    for ours, theirs in zip(states[:-1], plain_states[:-1], strict=True):
        assert ours.nbytes == theirs.nbytes
        assert_same(ours.steps.tails, theirs.steps.tails)
        assert_same(torch.cat(ours.steps.rows, dim=-2), torch.cat(theirs.steps.rows, dim=-2))
    assert_near(torch.cat(mels, dim=2), golden(version, "flow")["chunked.reference_one_shot"])
    assert solver.replay.recorded == solver.shapes
    assert len(solver.shapes) == len(SIZES) * len(EXTENTS)
