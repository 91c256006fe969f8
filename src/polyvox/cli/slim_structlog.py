"""Import structlog without rich, which it imports to print tracebacks in colours."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_COLOURS = "rich"


@contextmanager
def slim_structlog() -> Iterator[None]:
    """Import within this block; tracebacks in the log are then plain ones.

    An entry of None is Python's way to say that a module is not to be found; it is there again after the block.
    """
    if _COLOURS in sys.modules:
        yield
        return
    sys.modules[_COLOURS] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[_COLOURS]
