"""Import httpx as a library: without the command line that it brings along."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_COMMAND = "httpx._main"


@contextmanager
def slim_httpx() -> Iterator[None]:
    """Import within this block; httpx's own command and its highlighter take longer to load than all the rest of it.

    An entry of None is Python's way to say that a module is not to be found; httpx does without.
    """
    if _COMMAND in sys.modules:
        yield
        return
    sys.modules[_COMMAND] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[_COMMAND]
