"""Worker threads of one device, so that the event loop stays free."""

import asyncio
import contextvars
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ClassVar, TypeVar

from polyvox.errors import UnavailableError
from polyvox.runtime.cancellation import CancelToken, running_under

T = TypeVar("T")

HANDOVER_SECONDS = 1e-4
"""Interpreter switch interval of a server process, for `sys.setswitchinterval`. A thread that returns from a library
call needs the interpreter lock: with Python's default of 5 ms, each call would wait that long for a busy thread."""

_NICEST = 19


class DeviceExecutor:
    """A fixed number of threads, handed out first come, first served.

    A call goes to the pool only when a thread is free for it. A caller that chooses what to run, as a `Stage` does,
    reserves the thread first and chooses then, with everything that has arrived by that time.

    Threads that compute on the cores of the server itself should have a `niceness`, `LOW` or `LOWEST`: what the event
    loop has to do is short, and somebody waits for it.
    """

    LOW: ClassVar = 5
    LOWEST: ClassVar = 15

    def __init__(self, name: str, threads: int, *, niceness: int = 0) -> None:
        self.name = name
        self.threads = threads
        self._free = asyncio.Semaphore(threads)
        self._pool = ThreadPoolExecutor(
            threads, thread_name_prefix=name, initializer=partial(_lower_priority, niceness) if niceness else None
        )
        self._closed = False

    async def run(self, fn: Callable[[], T]) -> T:
        """Run `fn` on a thread. A cancelled caller returns at once; its call is told to stop, the result dropped."""
        await self.reserve()
        return await self.run_reserved(fn)

    async def reserve(self) -> None:
        """Wait for a free thread; it is given back by `run_reserved`, or unused by `release`."""
        await self._free.acquire()

    def release(self) -> None:
        """Give a reserved thread back unused."""
        self._free.release()

    async def run_reserved(self, fn: Callable[[], T], token: CancelToken | None = None) -> T:
        """Run `fn` on the reserved thread. Its token, which `current_token` finds, is cancelled with the caller."""
        token = token or CancelToken()
        work = self.start_reserved(fn, token)
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            token.cancel()
            raise
        return work.result()

    def start_reserved(self, fn: Callable[[], T], token: CancelToken, *, release: bool = True) -> "asyncio.Future[T]":
        """Begin `fn` on the reserved thread, which is free again when `fn` has ended; its maker cancels the token.

        Without `release` the caller gives the thread back. Whoever waits does so by `asyncio.wait`: to cancel the
        future would only hide that `fn` still runs.
        """
        loop = asyncio.get_running_loop()
        if self._closed:
            if release:
                self._free.release()
            work: asyncio.Future[T] = loop.create_future()
            work.set_exception(UnavailableError(f"The executor {self.name!r} is closed; start the engine again."))
        else:
            work = loop.run_in_executor(self._pool, contextvars.copy_context().run, _run_in_future, fn, token)
            if release:
                work.add_done_callback(lambda _: self._free.release())
        work.add_done_callback(_retrieved)
        return work

    def close(self) -> None:
        """End the threads. Waits for calls under way: on an event loop, await those first or call this off the loop."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)


def _retrieved(work: "asyncio.Future[T]") -> None:
    if not work.cancelled():
        work.exception()  # of a call that was abandoned, asyncio would report it as never retrieved


def _lower_priority(niceness: int) -> None:
    """For this thread alone, where the system has a priority for each."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, min(_NICEST, os.getpriority(os.PRIO_PROCESS, thread) + niceness))


def _run_in_future(fn: Callable[[], T], token: CancelToken) -> T:
    # An asyncio future cannot carry these two as failures: the first leaves it unresolved, the second cancels it.
    try:
        with running_under(token):
            return fn()
    except (StopIteration, asyncio.CancelledError) as error:
        raise RuntimeError(f"The call ended with {type(error).__name__}.") from error
