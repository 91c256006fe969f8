"""Blocks of a paged cache are handed out once, and come back when nobody holds them."""

import threading

from polyvox.runtime.block_allocator import BlockAllocator


def indices(leases):
    return [lease.index for lease in leases]


def test_blocks_are_handed_out_once_and_come_back_when_their_leases_are_dropped():
    allocator = BlockAllocator(2, 6)
    first, second = allocator.take(1), allocator.take(3)
    assert sorted(indices(first + second)) == [2, 3, 4, 5]
    assert (allocator.used, allocator.free) == (4, 0)
    (returned,) = indices(first)
    del first
    assert (allocator.used, allocator.free) == (3, 1)
    assert indices(allocator.take(1)) == [returned]


def test_a_lease_that_two_hold_comes_back_after_both():
    allocator = BlockAllocator(0, 2)
    state = allocator.take(2)
    continued = state[:1]
    del state
    assert allocator.used == 1
    del continued
    assert allocator.used == 0


def test_where_too_few_are_free_none_is_taken():
    allocator = BlockAllocator(0, 3)
    held = allocator.take(2)
    assert allocator.take(2) is None
    assert allocator.free == 1
    assert allocator.take(0) == ()
    del held
    assert len(allocator.take(3)) == 3


def test_leases_are_dropped_on_any_thread_while_one_takes():
    allocator = BlockAllocator(0, 64)
    handed = [[allocator.take(8)] for _ in range(8)]
    threads = [threading.Thread(target=each.clear) for each in handed]
    for thread in threads:
        thread.start()
    taken = [allocator.take(1) or () for _ in range(20)]
    for thread in threads:
        thread.join()
    held = [index for leases in taken for index in indices(leases)]
    assert len(held) == len(set(held)) == allocator.used
    taken.clear()
    assert sorted(indices(allocator.take(64))) == list(range(64))
