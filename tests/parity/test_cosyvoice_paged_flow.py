"""Blocks of many streams in one call of the flow: each stream is what one pass over all of its tokens gives.

The flow is solved in two steps here: that one pass of the ten is the original's is for the tests of the flow.
"""

import dataclasses
from functools import cache

import pytest
import torch

from helpers import plain_kernels
from helpers.cosyvoice_golden import assert_near, flow, flow_prompt, golden
from helpers.replaying import Poisoned
from polyvox.engines.cosyvoice.decoder.decoder_stages import FlowHop
from polyvox.engines.cosyvoice.decoder.flow_streams import FlowStreams
from polyvox.models.cosyvoice.noise import flow_noise
from polyvox.models.cosyvoice.paged_flow import PagedFlow, flow_layout
from polyvox.models.paged_attention import paged_attention
from polyvox.models.paged_cache import RESERVED_BLOCKS
from polyvox.runtime.block_allocator import BlockAllocator

VERSIONS = pytest.mark.parametrize("version", [2, 3])
STEPS = 2
BLOCKS = 40
CUTS = ([40, 25, 50, 84], [65, 134], [90, 25, 84])
"""How the tokens of each stream arrive; the streams of one batch are at different places."""


@cache
def one_pass(version):
    tokens = golden(version, "flow")["chunked.token"]
    return flow(version, STEPS).render(flow_prompt(version), tokens, flow_noise(), streaming=True, final=True)


class Streams:
    """The flow of a version; memory that no stream has written to is NaN."""

    def __init__(self, version, *, blocks=BLOCKS, kernels=None, shapes=(1, 3, 8)):
        network = flow(version, STEPS)
        self.paged = PagedFlow(network, flow_layout(network), blocks, paged_attention, kernels)
        for memory in self.paged.memory:
            memory[1:] = float("nan")
        self.allocator = BlockAllocator(RESERVED_BLOCKS, blocks)
        self.streams = FlowStreams(self.paged, self.allocator, flow_noise(), shapes)
        self.tokens = golden(version, "flow")["chunked.token"][0].tolist()
        self.base = self.streams.start(flow_prompt(version))

    def speak(self, cuts):
        """The mels of streams that arrive cut in these ways, hop by hop together."""
        states, done, mels = [self.base] * len(cuts), [0] * len(cuts), [[] for _ in cuts]
        for turn in range(max(map(len, cuts))):
            alive = [index for index, own in enumerate(cuts) if turn < len(own)]
            hops = []
            for index in alive:
                end = done[index] + cuts[index][turn]
                hops.append(FlowHop(self.tokens[done[index] : end], states[index], turn == len(cuts[index]) - 1))
                done[index] = end
            for index, result in zip(alive, self.streams.step(hops), strict=True):
                mels[index].append(result.mel)
                states[index] = result.state
        return [torch.cat(each, dim=1) for each in mels]


@pytest.mark.long
@VERSIONS
@torch.inference_mode()
def test_streams_at_different_places_are_computed_together(version):
    own = Streams(version)
    for mel in own.speak(CUTS):
        assert_near(mel[None], one_pass(version))
    assert own.allocator.used == 0


@pytest.mark.long
@VERSIONS
@torch.inference_mode()
def test_the_fused_estimator_is_the_plain_one(version):
    own = Streams(version, kernels=plain_kernels)
    for mel in own.speak(CUTS[:2]):
        assert_near(mel[None], one_pass(version))


@pytest.mark.long
@VERSIONS
@torch.inference_mode()
def test_a_captured_call_is_padded_and_depends_on_its_arguments_alone(version):
    replay, own = Poisoned(), Streams(version, shapes=(1, 3))
    for blocks in own.streams.shapes:
        own.streams.capture(blocks, replay)
    shapes = replay.recorded
    together, alone = own.speak([CUTS[1], [90]]), own.speak(CUTS[1:2])
    assert_near(together[0][None], alone[0][None], 1e-5)
    assert_near(alone[0][None], one_pass(version))
    assert replay.recorded == shapes


@pytest.mark.long
@torch.inference_mode()
def test_a_state_is_continued_twice_and_never_written_to():
    own = Streams(3)
    prompted = own.streams.step([FlowHop((), own.base)])[0].state
    assert len(prompted.blocks) == len(own.base.pending) // 25
    kept = dataclasses.replace(prompted)
    hop = FlowHop(own.tokens[:60], prompted)
    first, second = own.streams.step([hop, hop])
    (third,) = own.streams.step([hop])
    assert torch.equal(first.mel, second.mel)
    assert_near(first.mel, third.mel, 1e-5)
    assert prompted == kept
    shared = {lease.index for lease in prompted.blocks}
    assert {lease.index for lease in first.state.blocks} & {lease.index for lease in second.state.blocks} == shared


@pytest.mark.long
@torch.inference_mode()
def test_a_stream_without_room_is_told_so_and_the_others_go_on():
    own = Streams(3, blocks=RESERVED_BLOCKS + 14)
    hop = FlowHop(own.tokens, own.base, final=True)
    fits, without = own.streams.step([hop, hop])
    assert without.mel is None
    assert_near(fits.mel[None], one_pass(3))


@pytest.mark.long
@torch.inference_mode()
def test_a_broken_row_leaves_its_neighbours_as_they_are():
    own = Streams(3)
    hop = FlowHop(own.tokens, own.base, final=True)
    broken = dataclasses.replace(hop, state=dataclasses.replace(own.base, speaker=own.base.speaker * float("nan")))
    first, second, third = own.streams.step([hop, broken, hop])
    assert not second.mel.isfinite().all()
    for result in (first, third):
        assert_near(result.mel[None], one_pass(3))
