"""Results leave a device through two buffers in turn, and none is overwritten before it was read."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from helpers.tables import each_row
from polyvox.runtime.pinned_output import PinnedOutput


class Device:
    """Makes events, and notes when one is recorded and when somebody waits for one."""

    def __init__(self):
        self.waits = []
        self.records = 0

    def event(self):
        device = self

        class Event:
            def record(self):
                device.records += 1

            def synchronize(self):
                device.waits.append(self)

        return Event()


def output(device):
    return PinnedOutput(torch.device("cpu"), make_event=device.event, allocate=torch.empty)


def test_on_the_cpu_a_result_is_a_plain_copy():
    samples = torch.arange(5, dtype=torch.float64)
    pending = PinnedOutput(torch.device("cpu")).start(samples)
    got = pending.result()
    samples.zero_()
    np.testing.assert_array_equal(got, np.arange(5, dtype=np.float32))
    assert got.dtype == np.float32
    assert pending.result() is got


def test_each_result_waits_for_its_own_event_only():
    device = Device()
    pinned = output(device)
    first, second = pinned.start(torch.full((1, 3), 1.0)), pinned.start(torch.full((1, 4), 2.0))
    assert (device.records, device.waits) == (2, [])
    np.testing.assert_array_equal(second.result(), np.full((1, 4), 2.0))
    assert len(device.waits) == 1
    np.testing.assert_array_equal(first.result(), np.full((1, 3), 1.0))
    assert device.waits[0] is not device.waits[1]
    first.result()
    assert len(device.waits) == 2


@each_row("sizes", [(3, 3, 3, 3, 3), (3, 40_000, 5, 20_000, 1)])
def test_a_buffer_is_not_reused_before_its_result_is_kept(sizes):
    device = Device()
    pinned = output(device)
    pending = [pinned.start(torch.full((size,), float(index))) for index, size in enumerate(sizes)]
    assert len(device.waits) == len(sizes) - 2
    for index, (each, size) in enumerate(zip(pending, sizes, strict=True)):
        np.testing.assert_array_equal(each.result(), np.full(size, float(index), np.float32))


def test_a_result_is_not_changed_by_later_ones():
    pinned = output(Device())
    got = pinned.start(torch.ones(4)).result()
    for value in range(4):
        pinned.start(torch.full((4,), float(value))).result()
    np.testing.assert_array_equal(got, np.ones(4))


def test_two_threads_that_ask_for_one_result_get_the_same():
    entered, go = threading.Barrier(2, timeout=30), threading.Event()

    class Slow:
        def record(self):
            pass

        def synchronize(self):
            assert go.wait(30)

    pending = PinnedOutput(torch.device("cpu"), make_event=Slow, allocate=torch.empty).start(torch.ones(3))

    def ask():
        entered.wait()
        return pending.result()

    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(ask) for _ in range(2)]
        go.set()
        first, second = (each.result(30) for each in asked)
    assert first is second
    np.testing.assert_array_equal(first, np.ones(3))
