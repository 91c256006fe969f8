"""Calls side by side: every result in its place, and nobody else's threads touched."""

import threading
from collections.abc import Iterator

import pytest
import torch

from polyvox.engines.zipvoice.lanes import Lanes


@pytest.fixture
def four_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def lanes(four_threads: None) -> Iterator[Lanes]:
    lanes = Lanes(2)
    yield lanes
    lanes.close()


def threads_of_a_new_thread() -> int:
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return seen[0]


@pytest.mark.parametrize("count", range(6))
def test_results_come_in_the_order_of_the_items(lanes: Lanes, count: int) -> None:
    assert lanes(lambda item: item * item, range(count)) == [item * item for item in range(count)]


def test_each_lane_has_its_share_of_the_threads_and_everyone_else_what_they_had(lanes: Lanes) -> None:
    assert lanes(lambda _: torch.get_num_threads(), range(4)) == [2, 2, 2, 2]
    assert torch.get_num_threads() == 4
    assert threads_of_a_new_thread() == 4


def test_two_calls_are_under_way_at_once(lanes: Lanes) -> None:
    both = threading.Barrier(2, timeout=30)
    assert sorted(lanes(lambda _: both.wait(), range(2))) == [0, 1]


def test_what_does_not_fill_the_lanes_has_all_the_threads(lanes: Lanes) -> None:
    assert lanes(lambda _: torch.get_num_threads(), range(3)) == [2, 2, 4]
    assert lanes(lambda _: threading.get_ident(), range(1)) == [threading.get_ident()]


def test_no_lane_keeps_gradients(lanes: Lanes) -> None:
    weight = torch.ones(2, requires_grad=True)
    assert not any(made.requires_grad for made in lanes(lambda item: weight * item, range(2)))


def test_a_call_that_fails_is_told_once_the_others_have_ended(lanes: Lanes) -> None:
    failed, ended = threading.Event(), threading.Event()

    def work(item: int) -> None:
        if item == 0:
            failed.set()
            raise ValueError("no good")
        assert failed.wait(30)
        ended.set()

    with pytest.raises(ValueError, match="no good"):
        lanes(work, range(2))
    assert ended.is_set()
