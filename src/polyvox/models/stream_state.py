"""State of a codec's streams."""

from dataclasses import dataclass

from torch import Tensor

from polyvox.models.cache import CachedTensors


@dataclass(frozen=True, slots=True)
class StreamState:
    """Positions so far of each stream [batch], and each layer's keys or last inputs.

    All shapes are fixed, so that streams of any age share a batch. Never written to by a network.
    """

    positions: Tensor
    kept: CachedTensors
