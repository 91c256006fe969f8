"""The estimator graph that is published with a model: another reading of its weights, to compare the network with.

It has no caches and no block mask, so it cannot stream.
"""

from pathlib import Path

import numpy as np
import torch

from polyvox.engines.cosyvoice.decoder.self_test import deviation
from polyvox.errors import BundleError
from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache
from polyvox.models.cosyvoice.flow import Flow
from polyvox.models.cosyvoice.ode_solver import FlowPoint, cosine_schedule
from polyvox.runtime.executors.ort import open_graph, share_of_cores

RELEASED = "flow.decoder.estimator.fp32.onnx"
_INPUTS = ("x", "mask", "mu", "t", "spks", "cond")
_FRAMES = 40
_STEP = 4
"""The solver's step at whose time the two are compared."""


@torch.inference_mode()
def released_deviation(path: Path, flow: Flow) -> float:
    """Distance of the network's velocity, with full attention, from the published graph's, as a share of its spread."""
    graph = open_graph(path, share_of_cores(1))
    if sorted(graph.inputs) != sorted(_INPUTS):
        raise BundleError(f"{path} takes {', '.join(graph.inputs)}, not {', '.join(_INPUTS)}; fetch the model again.")
    generator = torch.Generator().manual_seed(0)
    mel, mu, condition = (torch.randn(2, flow.config.bins, _FRAMES, generator=generator) for _ in range(3))
    point = FlowPoint(mel, mu, torch.randn(2, flow.config.bins, generator=generator), condition)
    ours = flow.estimator(point, flow.time[_STEP], LayerCache(update=False), BlockCausalMask(_FRAMES))
    (theirs,) = graph.run(
        ("estimator_out",),
        {
            "x": point.mel.numpy(),
            "mask": np.ones((2, 1, _FRAMES), np.float32),
            "mu": point.mu.numpy(),
            "t": cosine_schedule(flow.config.steps).times[_STEP].expand(2).numpy(),
            "spks": point.speaker.numpy(),
            "cond": point.condition.numpy(),
        },
    )
    return deviation(ours, torch.from_numpy(theirs))
