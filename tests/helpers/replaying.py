"""What stands in for a GPU's graphs where it is to be shown that recorded work depends on nothing but its inputs."""

import torch


class Poisoned:
    """Runs work as graphs do, and spoils everything that a graph would not find as it left it.

    The work that comes first under a key is run once and recorded: every later call runs it, and not the one that
    comes along, on the same inputs, into which the new ones are written, and leaves its result in the same place.
    `poison` fills all results that were given out, and the `buffers` that a recorder keeps, with what is no number.
    """

    def __init__(self):
        self.buffers = ()
        self.calls = []
        self._recorded = {}

    @property
    def recorded(self):
        return list(self._recorded)

    def __call__(self, key, work, given, idle=None):
        if key not in self._recorded:
            held = [each.clone() for each in (given if idle is None else idle)]
            self._recorded[key] = work, held, work(*held)
        work, held, made = self._recorded[key]
        for old, new in zip(held, given, strict=True):
            assert old.shape == new.shape
            old.copy_(new)
        self.calls.append(key)
        made.copy_(work(*held))
        return made

    @torch.inference_mode()
    def poison(self):
        """To be called where a graph would not find things as it left them: before anybody's next use."""
        for each in (*self.buffers, *(made for _, _, made in self._recorded.values())):
            each.fill_(float("nan"))
