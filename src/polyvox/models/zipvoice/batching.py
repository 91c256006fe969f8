"""Batching of rows that differ in length: which rows share a call of a network, and how the calls are run."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class CallRunner(Protocol):
    """Runs independent calls, as `list(map(work, items))` does, `parallelism` of them at a time."""

    @property
    def parallelism(self) -> int: ...

    def __call__(self, work: Callable[[ItemT], ResultT], items: Sequence[ItemT], /) -> list[ResultT]: ...


class SequentialCalls:
    """One call after another, on the caller's thread."""

    parallelism = 1

    def __call__(self, work: Callable[[ItemT], ResultT], items: Sequence[ItemT], /) -> list[ResultT]:
        return [work(item) for item in items]


SEQUENTIAL = SequentialCalls()


def group_by_length(lengths: Sequence[int], budget: int | None, parallelism: int = 1) -> list[list[int]]:
    """Group row indices into calls: rows of similar length, as many as fit `budget` frames, padding included.

    Where calls run in parallel and there are at least `parallelism` rows, the frames are spread evenly over the calls,
    and the number of calls is a multiple of `parallelism`, as far as lengths allow.
    """
    if len(lengths) >= parallelism > 1:
        frames = sum(lengths)
        rounds = 1 if budget is None else -(-frames // (budget * parallelism))
        budget = -(-frames // (rounds * parallelism))
    calls: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        longest = lengths[calls[-1][0]] if calls else 0
        if calls and (budget is None or longest * (len(calls[-1]) + 1) <= budget):
            calls[-1].append(index)
        else:
            calls.append([index])
    return calls


def run_batched(
    work: Callable[[list[ItemT]], Sequence[ResultT]],
    rows: Sequence[ItemT],
    lengths: Sequence[int],
    budget: int | None,
    runner: CallRunner = SEQUENTIAL,
) -> list[ResultT]:
    """Run `work` on batches of at most `budget` frames; one result for each row, in the rows' order."""
    calls = group_by_length(lengths, budget, runner.parallelism)
    results: dict[int, ResultT] = {}
    batches = [[rows[index] for index in call] for call in calls]
    for call, outputs in zip(calls, runner(work, batches), strict=True):
        results |= zip(call, outputs, strict=True)
    return [results[index] for index in range(len(rows))]
