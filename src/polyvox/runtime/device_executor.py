"""The threads on which a device's work runs, so that the event loop stays free."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from polyvox.errors import UnavailableError

T = TypeVar("T")

HANDOVER_SECONDS = 1e-4
"""After how long a busy thread lets another have the interpreter in a process that serves. Who calls a library asks
for it after every call: Python's own 5 ms would be added to each, while some text is being read."""


class DeviceExecutor:
    """A fixed number of threads, handed out first come, first served.

    A call goes to the pool only when a thread is free for it. Whoever has to choose what to run, as a `Stage` does,
    reserves the thread first and chooses then, so that the choice is made with everything that has arrived by now.
    """

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        self.threads = threads
        self._free = asyncio.Semaphore(threads)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._closed = False

    async def run(self, fn: Callable[[], T]) -> T:
        """Run `fn` on a thread. A caller who is cancelled leaves at once; a call under way ends by itself, unheard."""
        await self.reserve()
        return await self.run_reserved(fn)

    async def reserve(self) -> None:
        """Wait for a free thread; it is given back by `run_reserved`, or unused by `release`."""
        await self._free.acquire()

    def release(self) -> None:
        """Give a reserved thread back unused."""
        self._free.release()

    async def run_reserved(self, fn: Callable[[], T]) -> T:
        """Run `fn` on the thread reserved before; the thread is free again when `fn` has ended, whoever still waits."""
        if self._closed:
            self._free.release()
            raise UnavailableError(f"The executor {self.name!r} is closed; start the engine again.")
        context = contextvars.copy_context()
        work = asyncio.get_running_loop().run_in_executor(self._pool, context.run, _carried, fn)
        work.add_done_callback(lambda _: self._free.release())
        return await asyncio.shield(work)

    def close(self) -> None:
        """End the threads. Waits for calls under way: on an event loop, await those first or call this off the loop."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)


def _carried(fn: Callable[[], T]) -> T:
    # An asyncio future cannot carry these two as failures: the first leaves it unresolved, the second cancels it.
    try:
        return fn()
    except (StopIteration, asyncio.CancelledError) as error:
        raise RuntimeError(f"The call ended with {type(error).__name__}.") from error
