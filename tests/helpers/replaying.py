"""A stand-in for CUDA graphs that shows whether captured work depends on anything but its inputs."""

import torch

from polyvox.runtime.executors.cuda_graphs import copy_inputs


class Poisoned:
    """Replays work as CUDA graphs do, and can fill with NaN whatever a graph must not rely on.

    The first work of a key is captured: every later call runs it, and not the one passed in, on the same input tensors,
    into which the new inputs are copied, and writes its result to the same output tensor. A call spoils the results of
    all other keys, since graphs share their memory. `poison` fills outputs and the static `buffers` with NaN.
    """

    def __init__(self):
        self.buffers = ()
        self.calls = []
        self._recorded = {}

    @property
    def recorded(self):
        return list(self._recorded)

    def __call__(self, key, work, given, idle=None, same=()):
        captured = key not in self._recorded
        if captured:
            held = [each.clone() for each in (given if idle is None else idle)]
            self._recorded[key] = work, held, work(*held)
        work, held, made = self._recorded[key]
        assert [each.shape for each in held] == [each.shape for each in given]
        copy_inputs(held, given, same)
        self.calls.append(key)
        result = made if captured and idle is None else work(*held)
        for other, (_, _, spoilt) in self._recorded.items():
            if other != key:
                _spoil(spoilt)
        made.copy_(result)
        return made

    @torch.inference_mode()
    def poison(self):
        """Fill outputs and buffers with NaN, as other work between two replays might."""
        for each in (*self.buffers, *(made for _, _, made in self._recorded.values())):
            _spoil(each)


def _spoil(tensor):
    tensor.fill_(float("nan") if tensor.is_floating_point() else torch.iinfo(tensor.dtype).max)
