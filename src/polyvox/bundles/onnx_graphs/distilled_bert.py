"""The small transformer in ALBERT's place as an ONNX graph: ids to the prosody predictor's input."""

import numpy as np
import numpy.typing as npt

from polyvox.bundles.checkpoint import Weights
from polyvox.bundles.onnx_graphs.builder import FLOAT, INT64, GraphBuilder, serialize

Array = npt.NDArray[np.float32]
INPUT, OUTPUT = "ids", "rows"
_HEAD_WIDTH = 64
_EPSILON = 1e-5


def distilled_bert_graph(weights: Weights) -> bytes:
    """The network of a state dict in 8 bits, from `INPUT` [1, time] to `OUTPUT` [1, time, outputs]."""
    graph = GraphBuilder()
    rows = _DistilledBert(graph, weights).output(INPUT)
    outputs = len(weights["output.bias"])
    return serialize(
        graph.model({INPUT: (INT64, (1, "time"))}, {OUTPUT: (rows, (1, "time", outputs))}, name="distilled_bert")
    )


class _DistilledBert:
    def __init__(self, graph: GraphBuilder, weights: Weights) -> None:
        self._graph, self._weights = graph, weights

    def output(self, ids: str) -> str:
        graph = self._graph
        positions = graph.op(
            "Slice", self._table("position.weight"), graph.integers(0), graph.size(ids, 1), graph.integers(0)
        )
        rows = graph.op("Add", graph.op("Gather", self._table("word.weight"), ids, axis=0), positions)
        for index in range(sum(name.endswith(".joint.weight") for name in self._weights)):
            rows = self._layer(rows, f"layers.{index}")
        return self._linear(self._normed(rows), "output")

    def _layer(self, rows: str, name: str) -> str:
        graph = self._graph
        width = len(self._weights[f"{name}.merge.weight"])
        joint = self._linear(self._normed(rows), f"{name}.joint")
        parts = graph.ops("Split", joint, graph.integers(width, width, width), count=3, axis=2)
        mixed = graph.ort_op("MultiHeadAttention", *parts, num_heads=width // _HEAD_WIDTH)
        rows = graph.op("Add", rows, self._linear(mixed, f"{name}.merge"))
        inner = graph.ort_op("FastGelu", self._linear(self._normed(rows), f"{name}.expand"))
        return graph.op("Add", rows, self._linear(inner, f"{name}.contract"))

    def _linear(self, x: str, name: str) -> str:
        """A product of 8-bit integers: inputs are scaled together, weights by the output."""
        graph, weight = self._graph, self._array(f"{name}.weight")
        scale = np.maximum(np.abs(weight).max(axis=1), 1e-12) / 127
        # Not signed: processors without instructions for it would saturate the sums of two products.
        rounded = (np.round(weight / scale[:, None]) + 128).astype(np.uint8)
        values, step, zero = graph.ops("DynamicQuantizeLinear", x, count=3)
        return graph.ort_op(
            "MatMulIntegerToFloat", values, graph.constant(np.ascontiguousarray(rounded.T)),
            step, graph.constant(scale.astype(np.float32)), zero,
            graph.constant(np.full(len(weight), 128, np.uint8)), graph.constant(self._array(f"{name}.bias")),
        )  # fmt: skip

    def _normed(self, rows: str) -> str:
        """Layer norm without weights, as an instance norm of rows, which takes a third of the time."""
        return self._graph.normed_rows(rows, _EPSILON)

    def _table(self, name: str) -> str:
        return self._graph.op("Cast", self._graph.constant(self._array(name).astype(np.float16)), to=FLOAT)

    def _array(self, name: str) -> Array:
        return self._weights[name].astype(np.float32)
