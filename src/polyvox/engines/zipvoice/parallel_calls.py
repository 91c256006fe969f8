"""Network calls in parallel on a CPU, each with threads of its own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import torch

from polyvox.models.zipvoice.batching import SEQUENTIAL, ItemT, ResultT


class ParallelCalls:
    """Splits PyTorch's CPU threads into `parallelism` groups, each of which runs a call of its own.

    Threads that share the operations of a call wait for each other at the end of each, and waiting costs as much as
    working: a call with fewer threads costs less. So calls run in parallel as long as there are enough of them to
    occupy every group; those left over get all the threads, one call after another.
    """

    def __init__(self, parallelism: int) -> None:
        self.parallelism = parallelism
        self._pool = ThreadPoolExecutor(parallelism, thread_name_prefix="zipvoice-call")
        threads = torch.get_num_threads()
        all_started = threading.Barrier(parallelism)

        def limit_threads(_: int) -> None:
            all_started.wait()
            # A thread adopts the number set last, by whichever thread, when it first asks for one. So it asks now, and
            # then sets a number of its own.
            torch.get_num_threads()
            torch.set_num_threads(max(1, threads // parallelism))

        list(self._pool.map(limit_threads, range(parallelism)))
        # Threads that start later must find the number that was set before: a temporary thread sets it again.
        restoring = threading.Thread(target=torch.set_num_threads, args=(threads,))
        restoring.start()
        restoring.join()

    def __call__(self, work: Callable[[ItemT], ResultT], items: Sequence[ItemT], /) -> list[ResultT]:
        """The result of `work` for each item. Returns, or raises, only when no call is running any more."""
        in_parallel = len(items) - len(items) % self.parallelism
        calls = [self._pool.submit(_run_inference, work, item) for item in items[:in_parallel]]
        wait(calls)
        return [call.result() for call in calls] + SEQUENTIAL(work, items[in_parallel:])

    def close(self) -> None:
        self._pool.shutdown(wait=True)


def _run_inference(work: Callable[[ItemT], ResultT], item: ItemT) -> ResultT:
    # Inference mode is a property of the thread as well.
    with torch.inference_mode():
        return work(item)
