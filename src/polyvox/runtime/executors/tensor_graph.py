"""An ONNX graph as a function of PyTorch tensors, whichever runtime executes it."""

from collections.abc import Mapping
from typing import Protocol

from torch import Tensor


class TensorGraph(Protocol):
    """Runs one graph. One thread may call it."""

    def __call__(self, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The outputs by name, on the device of the inputs; RuntimeError where the graph cannot run."""
