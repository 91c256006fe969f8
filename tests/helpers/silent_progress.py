"""Progress of pulls and checks that nobody looks at."""

from collections.abc import Iterator
from contextlib import contextmanager

from polyvox.bundles.progress import Advance


class SilentProgress:
    """Shows nothing."""

    @contextmanager
    def task(self, label: str, total: int) -> Iterator[Advance]:
        yield lambda count: None
