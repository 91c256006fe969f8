"""The flow's velocity estimator as an ONNX graph: one step of the solver, with its caches as inputs and outputs."""

from typing import cast

import onnx

from polyvox.bundles.onnx_graphs.builder import FLOAT, INT64, GraphBuilder
from polyvox.engines.cosyvoice.onnx_export.dit import build_dit
from polyvox.engines.cosyvoice.onnx_export.layers import PackedStepCache, SelfAttention, build_mask, build_positions
from polyvox.engines.cosyvoice.onnx_export.unet import build_unet
from polyvox.engines.kit.onnx_export import as_array
from polyvox.models.cosyvoice.dit import DiT
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow
from polyvox.models.cosyvoice.unet import UNet


def estimator_graph(flow: Flow) -> onnx.ModelProto:
    """The velocity of mel frames at one step, doubled for guidance: with the conditions, and without.

    `step` chooses the time; `end` is the position behind the last frame; `contexts` and `kv` are this step's share of
    the cache.
    """
    graph, estimator = GraphBuilder(), flow.estimator
    assert isinstance(estimator, DiT | UNet)
    time = graph.op("Gather", graph.constant(as_array(flow.time)), "step", axis=0)
    time = graph.op("Squeeze", time, graph.integers(0))
    frames = graph.size("mel", 2)
    keys = graph.op("Add", graph.size("kv", 3), frames)
    mask = build_mask(graph, frames, keys, "end", FRAMES_PER_TOKEN * flow.config.block)
    speaker = graph.op("Expand", graph.op("Unsqueeze", "speaker", graph.integers(2)), graph.op("Shape", "mel"))
    cache = PackedStepCache(graph, *_heads(estimator))
    if isinstance(estimator, DiT):
        inputs = graph.op("Concat", "mel", "condition", "mu", speaker, axis=1)
        positions = build_positions(graph, frames, "end")
        velocity = build_dit(graph, estimator, inputs, time, positions, cache, mask)
    else:
        inputs = graph.op("Concat", "mel", "mu", speaker, "condition", axis=1)
        velocity = build_unet(graph, estimator, inputs, time, cache, mask)
    bins = flow.config.bins
    rows = (cache.BATCH, bins, "frames")
    return graph.model(
        {
            "mel": (FLOAT, rows),
            "mu": (FLOAT, rows),
            "speaker": (FLOAT, (cache.BATCH, bins)),
            "condition": (FLOAT, rows),
            "step": (INT64, (1,)),
            "end": (INT64, (1,)),
            **cache.inputs(),
        },
        {"velocity": (velocity, rows), **cache.outputs()},
        name="cosyvoice",
    )


def _heads(estimator: DiT | UNet) -> tuple[int, int]:
    """The number of attention heads, and the width of one."""
    found = next(module for name, module in estimator.named_modules() if name.endswith((".attn", ".attn1")))
    attention = cast(SelfAttention, found)
    return attention.heads, attention.to_q.weight.shape[0] // attention.heads
