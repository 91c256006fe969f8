"""The way down a slope that is only felt in samples: Adam, for one tensor.

PyTorch's own optimisers load its compiler when they are made, which takes seconds; a fit on a GPU has few of them.
"""

import torch
from torch import Tensor

_EPS = 1e-8


class Descent:
    """Steps from one place to the next, scaled by how large and how steady the slopes have been."""

    def __init__(self, place: Tensor, steadiness: float, memory: float) -> None:
        """`steadiness` and `memory` are the decays of the mean slope and of the mean of its square."""
        self._place, self._decays = place, (steadiness, memory)
        self._mean, self._square = torch.zeros_like(place), torch.zeros_like(place)
        self._steps = 0

    def step(self, slope: Tensor, rate: float) -> None:
        """Go one step, about as far as `rate` in each direction."""
        self._steps += 1
        steadiness, memory = self._decays
        self._mean.lerp_(slope, 1 - steadiness)
        self._square.lerp_(slope.square(), 1 - memory)
        spread = (self._square / (1 - memory**self._steps)).sqrt_().add_(_EPS)
        self._place.addcdiv_(self._mean, spread, value=-rate / (1 - steadiness**self._steps))
