"""The number of random examples that a test is judged by."""

from typing import Any

from hypothesis import settings

_USUAL = 50
"""Of the profile `steady`, for which tests give their numbers."""
_MOST = 1_000


def examples(count: int, **options: Any) -> settings:
    """So many examples, in proportion fewer or more where the profile has fewer or more than usual."""
    return settings(max_examples=min(_MOST, count * settings.default.max_examples // _USUAL), **options)
