"""Memory that a device copies from by itself is not written while a copy may still read it."""

import pytest
import torch

from polyvox.runtime.executors.cuda_graphs import copy_inputs
from polyvox.runtime.executors.staging import StagingRing

CPU = torch.device("cpu")


class Copy:
    """An event of a stream: pending until somebody waits for it."""

    def __init__(self) -> None:
        self.pending = True

    def synchronize(self) -> None:
        self.pending = False


@pytest.mark.parametrize("sizes", [(8,) * 7, (8, 8, 8, 80, 80, 8, 300)])
def test_what_a_pending_copy_reads_is_not_written(sizes: tuple[int, ...]) -> None:
    copies, reading = list[Copy](), dict[int, Copy]()

    def mark() -> Copy:
        copies.append(Copy())
        return copies[-1]

    ring = StagingRing(CPU, mark)
    for value, size in enumerate(sizes):
        places = list[int]()

        def write(memory, value=value, size=size, places=places) -> None:
            place = memory.ctypes.data
            assert len(memory) == size
            assert place not in reading or not reading[place].pending
            places.append(place)
            memory.fill(value)

        sent = ring.sent(size, write)
        reading[places[0]] = copies[-1]
        assert sent.tolist() == [value] * size
        assert sum(copy.pending for copy in copies) <= 3
    assert sum(copy.pending for copy in copies) == 3, "nothing is waited for that could be left under way"


def test_what_was_sent_stays_when_the_memory_is_used_again() -> None:
    ring = StagingRing(CPU, lambda: None)
    sent = [ring.sent(4, lambda memory, value=value: memory.fill(value)) for value in range(9)]
    assert [each.tolist() for each in sent] == [[value] * 4 for value in range(9)]


def test_a_write_that_fails_leaves_a_ring_that_works() -> None:
    def fail(memory: object) -> None:
        raise ValueError

    ring = StagingRing(CPU, Copy)
    with pytest.raises(ValueError):
        ring.sent(4, fail)
    assert ring.sent(4, lambda memory: memory.fill(7)).tolist() == [7] * 4


def test_inputs_that_are_the_same_are_not_copied_and_others_are_as_they_come() -> None:
    static = [torch.zeros(3), torch.zeros(2, 2), torch.zeros(3, dtype=torch.int64)]
    given = [torch.ones(3), torch.arange(4.0).view(2, 2).T, torch.tensor([4, 5, 6])]
    copy_inputs(static, given, same={0})
    assert static[0].tolist() == [0, 0, 0]
    assert static[1].tolist() == [[0, 2], [1, 3]]
    assert static[2].tolist() == [4, 5, 6]
    copy_inputs(static, given, same={0, 1, 2})
    copy_inputs([], [])
    with pytest.raises(AssertionError):
        copy_inputs(static, given[:2])
