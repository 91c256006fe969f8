"""Adam for one tensor.

PyTorch's own optimisers import its compiler when they are constructed, which takes seconds; a whole fit on a GPU takes
few of them.
"""

import torch
from torch import Tensor

_EPS = 1e-8


class Adam:
    """Adam with bias correction and a learning rate given at each step; updates `parameter` in place."""

    def __init__(self, parameter: Tensor, beta1: float, beta2: float) -> None:
        self._parameter, self._beta1, self._beta2 = parameter, beta1, beta2
        self._mean, self._square = torch.zeros_like(parameter), torch.zeros_like(parameter)
        self._steps = 0

    def step(self, gradient: Tensor, learning_rate: float) -> None:
        self._steps += 1
        self._mean.lerp_(gradient, 1 - self._beta1)
        self._square.lerp_(gradient.square(), 1 - self._beta2)
        denominator = (self._square / (1 - self._beta2**self._steps)).sqrt_().add_(_EPS)
        self._parameter.addcdiv_(self._mean, denominator, value=-learning_rate / (1 - self._beta1**self._steps))
