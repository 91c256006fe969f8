"""A stand-in for CUDA graphs on machines without a GPU."""


class Fixed:
    """Replays work as CUDA graphs do: warmed up first, and always with the shapes of its key.

    The next call spoils a result, for graphs share their memory.
    """

    def __init__(self):
        self.shapes = {}
        self._result = None

    def __call__(self, key, work, given, idle=None):
        shapes = [tensor.shape for tensor in given]
        if key not in self.shapes:
            self.shapes[key] = shapes
            work(*(tensor.clone() for tensor in (given if idle is None else idle)))
        assert self.shapes[key] == shapes
        held = [tensor.clone() for tensor in given]
        if self._result is not None:
            self._result.fill_(float("nan") if self._result.is_floating_point() else 2**40)
        self._result = work(*held)
        return self._result

    @property
    def recorded(self):
        return len(self.shapes)
