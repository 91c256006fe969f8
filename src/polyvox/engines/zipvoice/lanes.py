"""Calls side by side on a CPU, each with a thread to itself."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import torch

from polyvox.models.zipvoice.calls import ONE_BY_ONE, Given, Made


class Lanes:
    """The threads of the CPU in `count` groups, each of which makes a call of its own.

    Threads that share the operations of a call wait for each other at the end of each, and waiting costs as much as
    working: a call with fewer threads costs less. So calls go side by side as long as there are enough of them to fill
    the lanes; those left over have all the threads, one call after another.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="zipvoice-lane")
        threads = torch.get_num_threads()
        everyone = threading.Barrier(count)

        def narrowed(_: int) -> None:
            everyone.wait()
            # A thread takes over the number set last, by whichever thread, when it first asks for one. So it asks now,
            # and then has a number of its own.
            torch.get_num_threads()
            torch.set_num_threads(max(1, threads // count))

        list(self._pool.map(narrowed, range(count)))
        # Threads that begin later shall find the number that was set before: a passing thread sets it again.
        restoring = threading.Thread(target=torch.set_num_threads, args=(threads,))
        restoring.start()
        restoring.join()

    def __call__(self, work: Callable[[Given], Made], items: Sequence[Given], /) -> list[Made]:
        """What `work` makes of each item. Returns, or raises, only when none of the calls is under way any more."""
        filled = len(items) - len(items) % self.count
        calls = [self._pool.submit(_inferred, work, item) for item in items[:filled]]
        wait(calls)
        return [call.result() for call in calls] + ONE_BY_ONE(work, items[filled:])

    def close(self) -> None:
        self._pool.shutdown(wait=True)


def _inferred(work: Callable[[Given], Made], item: Given) -> Made:
    # Whether gradients are kept is a matter of the thread as well.
    with torch.inference_mode():
        return work(item)
