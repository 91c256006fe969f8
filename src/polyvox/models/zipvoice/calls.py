"""Rows of many lengths cut into calls of a network, one after another or side by side."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


class Each(Protocol):
    """How calls are made: as `list(map(work, items))`, `count` of them at a time."""

    @property
    def count(self) -> int: ...

    def __call__(self, work: Callable[[Given], Made], items: Sequence[Given], /) -> list[Made]: ...


class OneByOne:
    """One call after another, on the caller's thread."""

    count = 1

    def __call__(self, work: Callable[[Given], Made], items: Sequence[Given], /) -> list[Made]:
        return [work(item) for item in items]


ONE_BY_ONE = OneByOne()


def calls_of(lengths: Sequence[int], budget: int | None, at_a_time: int = 1) -> list[list[int]]:
    """Which rows share a call: neighbours in length, as many as fill `budget` frames, padding counted.

    Where several calls are made at a time and there are rows enough for them, all calls get about the same share of the
    frames, and there are enough of them that each time is full.
    """
    if len(lengths) >= at_a_time > 1:
        frames = sum(lengths)
        times = 1 if budget is None else -(-frames // (budget * at_a_time))
        budget = -(-frames // (times * at_a_time))
    calls: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        longest = lengths[calls[-1][0]] if calls else 0
        if calls and (budget is None or longest * (len(calls[-1]) + 1) <= budget):
            calls[-1].append(index)
        else:
            calls.append([index])
    return calls


def in_calls(
    work: Callable[[list[Given]], Sequence[Made]],
    rows: Sequence[Given],
    lengths: Sequence[int],
    budget: int | None,
    each: Each = ONE_BY_ONE,
) -> list[Made]:
    """What `work` makes of each row, in the rows' order, where a call holds at most `budget` frames."""
    calls = calls_of(lengths, budget, each.count)
    made: dict[int, Made] = {}
    for call, results in zip(calls, each(work, [[rows[index] for index in call] for call in calls]), strict=True):
        made |= zip(call, results, strict=True)
    return [made[index] for index in range(len(rows))]
