"""What the server tells about GPUs, with stand-ins for the driver."""

import asyncio
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

from polyvox.runtime.gpu_usage import GpuMonitor, GpuUsage, gpu_reader

pytestmark = pytest.mark.anyio


class FakeNvmlError(Exception):
    pass


def fake_nvml(*cards, rates=True):
    """NVML with cards of (used, total, busy percent)."""
    module = ModuleType("pynvml")

    def utilization(handle):
        if not rates:
            raise FakeNvmlError("Not Supported")
        return SimpleNamespace(gpu=cards[handle][2])

    module.NVMLError = FakeNvmlError
    module.nvmlInit = lambda: None
    module.nvmlDeviceGetCount = lambda: len(cards)
    module.nvmlDeviceGetHandleByIndex = lambda index: index
    module.nvmlDeviceGetName = lambda handle: b"NVIDIA H200" if handle else "NVIDIA H100"
    module.nvmlDeviceGetMemoryInfo = lambda handle: SimpleNamespace(used=cards[handle][0], total=cards[handle][1])
    module.nvmlDeviceGetUtilizationRates = utilization
    return module


def test_nvml_tells_memory_and_utilisation(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml((10, 80, 25), (0, 141, 100)))
    assert gpu_reader()() == [
        GpuUsage(0, "NVIDIA H100", 10, 80, 0.25),
        GpuUsage(1, "NVIDIA H200", 0, 141, 1.0),
    ]


def test_a_share_of_a_gpu_has_no_utilisation(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml((10, 80, 25), rates=False))
    assert gpu_reader()() == [GpuUsage(0, "NVIDIA H100", 10, 80, None)]


@pytest.mark.parametrize("initialized", [True, False])
def test_without_nvml_torch_tells_memory_once_it_uses_the_gpu(monkeypatch, initialized):
    cuda = SimpleNamespace(
        is_initialized=lambda: initialized,
        current_device=lambda: 0,
        mem_get_info=lambda index: (30, 80),
        get_device_name=lambda index: "NVIDIA H200",
    )
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert gpu_reader()() == ([GpuUsage(0, "NVIDIA H200", 50, 80)] if initialized else [])


def test_nobody_imports_torch_to_ask(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml())
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert gpu_reader()() == []
    assert "torch" not in sys.modules


async def test_a_second_scrape_within_a_second_reads_nothing():
    now, reads = [100.0], []

    def read():
        reads.append(threading.current_thread())
        return [GpuUsage(0, "card", len(reads), 80)]

    monitor = GpuMonitor(lambda: read, clock=lambda: now[0])
    assert monitor.latest == ()
    assert (await monitor.sample())[0].used_bytes == 1
    now[0] += 0.9
    assert (await monitor.sample())[0].used_bytes == 1
    now[0] += 0.1
    assert (await monitor.sample())[0].used_bytes == 2
    assert threading.main_thread() not in reads


async def test_a_driver_that_hangs_is_asked_once_and_not_waited_for(monkeypatch):
    monkeypatch.setattr("polyvox.runtime.gpu_usage.PATIENCE", 0.01)
    asked, release = [], threading.Event()

    def read():
        asked.append(1)
        release.wait()
        return [GpuUsage(0, "card", 1, 80)]

    monitor = GpuMonitor(lambda: read)
    try:
        assert await monitor.sample() == ()
        assert await monitor.sample() == ()
        assert len(asked) == 1
    finally:
        release.set()
    monkeypatch.setattr("polyvox.runtime.gpu_usage.PATIENCE", 10.0)
    assert len(await monitor.sample()) == 1


async def test_a_driver_that_fails_leaves_no_old_figures():
    now, readings = [0.0], [[GpuUsage(0, "card", 1, 80)]]
    monitor = GpuMonitor(lambda: readings.pop, clock=lambda: now[0])
    assert len(await monitor.sample()) == 1
    now[0] += 2
    await monitor.sample()
    await asyncio.sleep(0)
    assert monitor.latest == ()
