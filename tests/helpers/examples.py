"""The number of random examples that a test is judged by."""

from typing import Any

from hypothesis import settings

_USUAL = 50
"""Of the profile `steady`, for which tests give their numbers."""
_MOST = 1_000
_USUAL_RUNS, _NIGHTLY_RUNS = 200, 10_000


def examples(count: int, **options: Any) -> settings:
    """So many examples, in proportion fewer or more where the profile has fewer or more than usual."""
    return settings(max_examples=min(_MOST, count * settings.default.max_examples // _USUAL), **options)


def runs(**options: Any) -> settings:
    """The runs of a state machine: 200, fewer in `make unit`, and 10,000 where new ones are looked for."""
    most = settings.default.max_examples
    return settings(max_examples=_NIGHTLY_RUNS if most > _USUAL else most * _USUAL_RUNS // _USUAL, **options)
