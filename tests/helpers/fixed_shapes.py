"""What stands in for a GPU's graphs on other machines."""


class Fixed:
    """Runs work of fixed shape as graphs do: tried out first, and held to its shapes."""

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
