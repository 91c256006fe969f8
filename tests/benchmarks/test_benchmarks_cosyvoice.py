"""The benchmark of CosyVoice at full size, tried out at a size that this machine can bear."""

from contextlib import aclosing
from dataclasses import replace

import pytest
import torch

from benchmarks import cosyvoice_gpu
from benchmarks.cosyvoice_gpu import (
    Agreement,
    StreamLoad,
    agreement,
    deviation,
    random_networks,
    record,
    released,
    report,
    streams,
)
from helpers.replaying import Poisoned
from helpers.tables import each_row
from polyvox.engines.cosyvoice.decoder.batching import BatchingKernels, captures
from polyvox.models.cosyvoice.conformer import ConformerConfig
from polyvox.models.cosyvoice.dit import DiTConfig
from polyvox.models.cosyvoice.flow import FlowConfig
from polyvox.models.cosyvoice.flow_v2 import Flow2Config
from polyvox.models.cosyvoice.flow_v3 import Flow3Config
from polyvox.models.cosyvoice.unet import UNetConfig
from polyvox.models.hift.filter import FilterConfig
from polyvox.models.hift.model import HiftConfig
from polyvox.models.hift.source import SourceConfig
from polyvox.models.paged_attention import paged_attention
from polyvox.models.qwen.model import QwenConfig
from polyvox.runtime.placement import Placement
from polyvox.types import ChunkPolicy

pytestmark = pytest.mark.anyio
CPU = Placement("cpu", torch.float32)
LOAD = StreamLoad(seconds=4, prompt_seconds=1, text_ids=4, policy=ChunkPolicy(25, 1.0, 25))


def tiny(version):
    full = released(version)
    backbone = QwenConfig(vocabulary=800, hidden=32, feed_forward=32, layers=1, heads=2, key_heads=1, head_width=16)
    unet = UNetConfig(channels=32, heads=2, head_width=16, transformers=1, mid_blocks=1)
    conformer = ConformerConfig(width=32, heads=2, feed_forward=32, blocks=1, up_blocks=1)
    dit = DiTConfig(width=32, depth=1, heads=2, head_width=16, feed_forward=32)
    steps = FlowConfig(steps=2)
    return replace(
        full,
        lm=replace(full.lm, backbone=backbone),
        flow=Flow2Config(steps, conformer, unet) if version == 2 else Flow3Config(steps, 16, dit),
        hift=HiftConfig(SourceConfig(channels=16), FilterConfig(channels=32)),
    )


@pytest.mark.long
@each_row("version", [2, 3])
async def test_streams_are_timed_chunk_by_chunk(version):
    async with aclosing(streams(random_networks(tiny(version), CPU), tiny(version), [LOAD, LOAD], None)) as runs:
        measured = [figures async for figures in runs]
    assert len(measured) == 2
    for figures in measured:
        assert sum(chunk.audio for chunk in figures.chunks) == pytest.approx(LOAD.seconds)
        arrivals = [chunk.arrived for chunk in figures.chunks]
        assert arrivals == sorted(arrivals)
        assert figures.first_audio == arrivals[0] > 0
        assert "real-time factor" in report(figures, "CosyVoice")


def of_one_stream(*given):
    """Those captures that the hops of a single stream replay."""
    return [each for each in captures(*given) if each.name in ("flow of 1", "flow of 2", "vocoder of 1")]


@pytest.mark.long
@pytest.mark.parametrize("version", [2, 3])
def test_recorded_results_are_compared_with_unrecorded_ones(version, monkeypatch):
    networks = random_networks(tiny(version), CPU)
    assert agreement(networks, tiny(version), LOAD) == Agreement(0, 0, 0)
    replay = Poisoned()
    monkeypatch.setattr(cosyvoice_gpu, "CudaGraphs", lambda: replay)
    monkeypatch.setattr(cosyvoice_gpu, "_CACHE_BYTES", 1 << 24)
    monkeypatch.setattr(cosyvoice_gpu, "triton_kernels", lambda: BatchingKernels(paged_attention))
    monkeypatch.setattr(cosyvoice_gpu, "captures", of_one_stream)
    assert "recorded in" in record(networks, tiny(version), [LOAD])
    replay.calls.clear()
    agreed = agreement(networks, tiny(version), LOAD)
    assert 0 < agreed.mel < 1e-5
    assert 0 < agreed.spread < 1e-5
    # The vocoder's phases are long sums, in which rounding grows: 5e-5 was seen.
    assert agreed.samples < 1e-3
    assert {key[0] for key in replay.calls} == {"flow", "vocoder"}


@pytest.mark.long
def test_precision_is_judged_against_single():
    assert deviation(tiny(3), CPU, LOAD) == 0
    assert 0 < deviation(tiny(3), Placement("cpu", torch.bfloat16), LOAD) < 0.5
