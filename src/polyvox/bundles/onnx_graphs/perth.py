"""Perth, a watermark in the spectrum of speech: a network that marks, and one that finds the mark.

Both are plain stacks of convolutions over the levels of the lowest bins. The second has three of them: for speech as it
is, and for speech that was played slower or faster.
"""

from polyvox.bundles.checkpoint import Weights
from polyvox.bundles.onnx_graphs.builder import FLOAT, serialize
from polyvox.bundles.onnx_graphs.checkpoint_graph import CheckpointGraphBuilder

BINS = 128
PACES = ("slow", "normal", "fast")

_LAYERS = 7
_WIDE = range(1, 6)
"""Layers whose kernel has 7 frames; the first and the last see one."""
_REACH = 3


def perth_marker_graph(weights: Weights) -> bytes:
    """`levels` [batch, 128, frames] to `change` [batch, 128, frames], which is added to them."""
    net = _PerthBuilder(weights)
    change = net.stack("levels", "model.encoder.layers")
    shape = ("batch", BINS, "frames")
    return serialize(net.model({"levels": (FLOAT, shape)}, {"change": (change, shape)}))


def perth_finder_graph(weights: Weights) -> bytes:
    """Levels [batch, 128, frames] at three paces to `PACE_evidence` [batch, 2, frames]: weight and score of frames."""
    net = _PerthBuilder(weights)
    found = {pace: net.stack(pace, f"model.decoder.{pace}_layers") for pace in PACES}
    inputs = {pace: (FLOAT, ("batch", BINS, f"{pace}_frames")) for pace in PACES}
    outputs = {f"{pace}_evidence": (evidence, ("batch", 2, f"{pace}_frames")) for pace, evidence in found.items()}
    return serialize(net.model(inputs, outputs))


class _PerthBuilder(CheckpointGraphBuilder):
    def stack(self, x: str, name: str) -> str:
        """The convolutions of one network, each but the last with its activation."""
        for layer in range(_LAYERS):
            reach = _REACH if layer in _WIDE else 0
            x = self.convolution(x, f"{name}.{layer}.conv", pads=[reach, reach])
            if layer < _LAYERS - 1:
                x = self.op("LeakyRelu", x, alpha=0.01)
        return x
