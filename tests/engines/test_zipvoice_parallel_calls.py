"""Parallel calls: results in order, and the thread counts of other threads unchanged."""

import threading
from collections.abc import Iterator

import pytest
import torch

from polyvox.engines.zipvoice.parallel_calls import ParallelCalls


@pytest.fixture
def four_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def calls(four_threads: None) -> Iterator[ParallelCalls]:
    calls = ParallelCalls(2)
    yield calls
    calls.close()


def threads_of_a_new_thread() -> int:
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return seen[0]


@pytest.mark.parametrize("count", range(6))
def test_results_come_in_the_order_of_the_items(calls: ParallelCalls, count: int) -> None:
    assert calls(lambda item: item * item, range(count)) == [item * item for item in range(count)]


def test_each_call_has_its_share_of_the_threads_and_other_threads_keep_theirs(calls: ParallelCalls) -> None:
    assert calls(lambda _: torch.get_num_threads(), range(4)) == [2, 2, 2, 2]
    assert torch.get_num_threads() == 4
    assert threads_of_a_new_thread() == 4


def test_two_calls_run_at_once(calls: ParallelCalls) -> None:
    both = threading.Barrier(2, timeout=30)
    assert sorted(calls(lambda _: both.wait(), range(2))) == [0, 1]


def test_calls_left_over_have_all_the_threads(calls: ParallelCalls) -> None:
    assert calls(lambda _: torch.get_num_threads(), range(3)) == [2, 2, 4]
    assert calls(lambda _: threading.get_ident(), range(1)) == [threading.get_ident()]


def test_no_call_keeps_gradients(calls: ParallelCalls) -> None:
    weight = torch.ones(2, requires_grad=True)
    assert not any(made.requires_grad for made in calls(lambda item: weight * item, range(2)))


def test_a_failure_is_raised_once_the_other_calls_have_ended(calls: ParallelCalls) -> None:
    failed, ended = threading.Event(), threading.Event()

    def work(item: int) -> None:
        if item == 0:
            failed.set()
            raise ValueError("no good")
        assert failed.wait(30)
        ended.set()

    with pytest.raises(ValueError, match="no good"):
        calls(work, range(2))
    assert ended.is_set()
