"""Work in proportion to the length of what is worked on."""

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


def grows_linearly(
    seconds: Callable[[_T], float], short: _T, long: _T, *, at_most: float = 3, slack: float = 0.05
) -> bool:
    """Tell whether the quicker of two long runs takes at most so many times the slower of two short ones.

    A run is made only where those before it are not enough. What a first run has to load is counted against it.
    """
    slowest, quickest = 0.0, float("inf")
    for _ in range(2):
        quickest = min(quickest, seconds(long))
        if quickest <= at_most * slowest + slack:
            return True
        slowest = max(slowest, seconds(short))
        if quickest <= at_most * slowest + slack:
            return True
    return False
