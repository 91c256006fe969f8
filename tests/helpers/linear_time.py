"""Work in proportion to the length of what is worked on."""

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")


def grows_linearly(
    seconds: Callable[[_T], float], short: _T, long: _T, *, at_most: float = 3, slack: float = 0.05
) -> bool:
    """Tell whether the quicker of two long runs takes at most so many times the slower of two short ones.

    The second pair is run only where the first one is not enough.
    """
    slowest, quickest = 0.0, float("inf")
    for _ in range(2):
        slowest, quickest = max(slowest, seconds(short)), min(quickest, seconds(long))
        if quickest <= at_most * slowest + slack:
            return True
    return False
