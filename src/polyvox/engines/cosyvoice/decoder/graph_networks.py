"""The flow and the vocoder's filter as exported graphs, in the places of the PyTorch networks."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from polyvox.engines.cosyvoice.graph_files import ESTIMATOR, TOKEN_ENCODER, VOCODER, CacheInput, GraphFiles
from polyvox.models.cache import CachedTensors, LayerCache, PackedCache
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowRunner, FlowSpan
from polyvox.models.cosyvoice.ode_solver import FlowPoint, solve
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.filter import FilterConfig, HiftFilter
from polyvox.models.hift.model import Hift, HiftParts
from polyvox.runtime.executors.tensor_graph import TensorGraph


class GraphCaches:
    """The numbered cache inputs of a graph, and the outputs that follow them."""

    def __init__(self, inputs: Sequence[CacheInput]) -> None:
        self._inputs = inputs

    def given(self, past: CachedTensors, batch: int, like: Tensor) -> dict[str, Tensor]:
        """The inputs: cached tensors, or at the start of a stream zeros."""
        if past:
            return {each.name: tensor for each, tensor in zip(self._inputs, past, strict=True)}
        return {
            each.name: torch.zeros(each.start(batch), dtype=torch.float32, device=like.device) for each in self._inputs
        }

    def after(self, outputs: Mapping[str, Tensor]) -> CachedTensors:
        return tuple(outputs[f"next_{index}"] for index in range(len(self._inputs)))


class GraphEncoder:
    """An `Encoder` by a graph."""

    def __init__(self, graph: TensorGraph, caches: GraphCaches) -> None:
        self._graph, self._caches = graph, caches

    def __call__(
        self, tokens: Tensor, context: Tensor, span: FlowSpan, past: CachedTensors
    ) -> tuple[Tensor, CachedTensors]:
        outputs = self._graph({"tokens": tokens, "context": context, **self._caches.given(past, 1, tokens)})
        return outputs["mu"], self._caches.after(outputs) if span.update else ()


class GraphSolver:
    """A `Solver` by a graph of the estimator; the solver's arithmetic between two steps stays in PyTorch."""

    def __init__(self, flow: Flow, graph: TensorGraph, contexts: CacheInput, kv: CacheInput) -> None:
        self._graph = graph
        self._deltas, self._guidance = flow.deltas, flow.config.guidance
        self._block = FRAMES_PER_TOKEN * flow.config.block
        self._contexts, self._kv = contexts.start(1), kv.start(1)

    def __call__(self, point: FlowPoint, span: FlowSpan, past: PackedCache | None) -> tuple[Tensor, PackedCache | None]:
        if span.block != self._block or point.mel.shape[0] != 1:
            raise ValueError(f"The graph takes one stream and blocks of {self._block} frames, not {span.block}.")
        device, layers = point.mel.device, self._kv[0]
        end = torch.tensor([span.last], device=device)
        before = past or PackedCache(torch.zeros(len(self._deltas) * self._contexts[0], device=device), ())
        every = before.contexts.view(len(self._deltas), -1)
        contexts, new = [], []

        def velocity(step: int, at: FlowPoint) -> Tensor:
            kv = [piece[step * layers : (step + 1) * layers] for piece in before.kv]
            outputs = self._graph(
                {
                    "mel": at.mel,
                    "mu": at.mu,
                    "speaker": at.speaker,
                    "condition": at.condition,
                    "step": torch.tensor([step], device=device),
                    "end": end,
                    "contexts": every[step],
                    "kv": torch.cat(kv, dim=-2) if kv else torch.zeros(self._kv, device=device),
                }
            )
            contexts.append(outputs["next_contexts"])
            new.append(outputs["new_kv"])
            return outputs["velocity"]

        mel = solve(_in_single_precision(point), self._deltas, self._guidance, velocity)
        if not span.update:
            return mel, None
        return mel, PackedCache(torch.cat(contexts), (*before.kv, torch.cat(new))).truncated(span.window)


def _in_single_precision(point: FlowPoint) -> FlowPoint:
    return FlowPoint(point.mel.float(), point.mu.float(), point.speaker.float(), point.condition.float())


class GraphFilter(HiftFilter):
    """The vocoder's filter by a graph."""

    def __init__(self, config: FilterConfig, graph: TensorGraph, caches: GraphCaches) -> None:
        nn.Module.__init__(self)  # without the weights
        self.config = config
        self._graph, self._caches = graph, caches

    def forward(self, mel: Tensor, source: Tensor, cache: LayerCache, *, first: bool) -> tuple[Tensor, Tensor]:
        """As the network's; the graph tells a `first` call by the number of its spectra."""
        past = self._caches.given(cache.take(), mel.shape[0], mel)
        outputs = self._graph({"mel": mel.float(), "source": source.float(), **past})
        cache.keep(self._caches.after(outputs))
        return outputs["magnitude"], outputs["phase"]


OpenGraph = Callable[[str], TensorGraph]
"""Opens a graph by its name in the manifest."""


def graph_flow(flow: Flow, files: GraphFiles, opened: OpenGraph) -> FlowRunner:
    """The flow by its two graphs."""
    encoder = GraphEncoder(opened(TOKEN_ENCODER), GraphCaches(files.caches(TOKEN_ENCODER)))
    contexts, kv = (files.cache(ESTIMATOR, name) for name in ("contexts", "kv"))
    return FlowRunner(encoder, GraphSolver(flow, opened(ESTIMATOR), contexts, kv))


def graph_vocoder(vocoder: Hift | CausalHift, files: GraphFiles, opened: OpenGraph) -> Hift | CausalHift:
    """The vocoder with its filter by a graph; F0 and source stay in PyTorch, in double precision."""
    graph_filter = GraphFilter(vocoder.config.filter, opened(VOCODER), GraphCaches(files.caches(VOCODER)))
    return type(vocoder)(vocoder.config, HiftParts(vocoder.pitch, vocoder.source, graph_filter))
