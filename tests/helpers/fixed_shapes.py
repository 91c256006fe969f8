"""A stand-in for CUDA graphs on machines without a GPU."""


class Fixed:
    """Replays work as CUDA graphs do: warmed up first, and always with the shapes of its key."""

    def __init__(self):
        self.shapes = {}

    def __call__(self, key, work, given, idle=None):
        shapes = [tensor.shape for tensor in given]
        if key not in self.shapes:
            self.shapes[key] = shapes
            for _ in range(3):
                work(*(tensor.clone() for tensor in (given if idle is None else idle)))
        assert self.shapes[key] == shapes
        return work(*given)

    @property
    def recorded(self):
        return len(self.shapes)
