"""The threads of a device."""

import os
import sys
import threading

import pytest

from polyvox.runtime.device_executor import DeviceExecutor

pytestmark = pytest.mark.anyio


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")
async def test_threads_of_low_priority_have_a_lower_priority_than_the_event_loop() -> None:
    plain, polite = DeviceExecutor("plain", 1), DeviceExecutor("polite", 1, niceness=DeviceExecutor.LOW)
    try:
        assert await plain.run(niceness) == niceness()
        assert await polite.run(niceness) > niceness()
    finally:
        plain.close()
        polite.close()
