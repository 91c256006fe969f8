"""Memory and utilisation of the machine's GPUs, as NVML tells it, or their memory alone, as PyTorch does."""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import structlog

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

CACHE_SECONDS = 1.0
PATIENCE = 0.5
"""Seconds that a probe waits for the driver."""


@dataclass(frozen=True, slots=True)
class GpuUsage:
    """One GPU: its memory in use, by any process, and the share of time it was busy, None where it is not known."""

    index: int
    name: str
    used_bytes: int
    total_bytes: int
    utilization: float | None = None

    def public(self) -> dict[str, int | float | None]:
        """The part that a probe without a key may see: no names."""
        return {
            "index": self.index,
            "memory_used": self.used_bytes,
            "memory_total": self.total_bytes,
            "utilization": self.utilization,
        }


Reader = Callable[[], Sequence[GpuUsage]]


def gpu_reader() -> Reader:
    """NVML where it is installed and finds a GPU, else PyTorch where it is in use, else nothing."""
    return _nvml_reader() or _read_torch


def _nvml_reader() -> Reader | None:
    try:
        nvml = import_module("pynvml")
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
        if nvml.nvmlDeviceGetCount() == 0:
            return None
    except nvml.NVMLError as error:
        log.debug("NVML finds no GPU", reason=str(error))
        return None
    return lambda: _read_nvml(nvml)


def _read_nvml(nvml: ModuleType) -> list[GpuUsage]:
    return [_nvml_usage(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]


def _nvml_usage(nvml: ModuleType, index: int) -> GpuUsage:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory, name = nvml.nvmlDeviceGetMemoryInfo(handle), nvml.nvmlDeviceGetName(handle)
    try:
        busy: float | None = nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100
    except nvml.NVMLError:  # a share of a GPU (MIG) has no rates of its own
        busy = None
    return GpuUsage(index, name if isinstance(name, str) else name.decode(), memory.used, memory.total, busy)


def _read_torch() -> list[GpuUsage]:
    """The GPU of a process that has loaded PyTorch and begun to use one; others would be taken into use by asking."""
    torch: ModuleType | None = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return []
    index = cuda.current_device()
    free, total = cuda.mem_get_info(index)
    return [GpuUsage(index, cuda.get_device_name(index), total - free, total)]


class GpuMonitor:
    """The usage as it was a second ago at most, read when somebody asks for it."""

    def __init__(
        self, make_reader: Callable[[], Reader] = gpu_reader, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._make_reader = make_reader
        self._reader: Reader | None = None
        self._clock = clock
        self._read_at = -CACHE_SECONDS
        self._reading: asyncio.Future[None] | None = None
        self.latest: tuple[GpuUsage, ...] = ()

    async def sample(self) -> tuple[GpuUsage, ...]:
        """Each GPU's usage; none where the machine has no GPU or no driver that reports it.

        A driver may keep its caller waiting: it is asked on a thread, once at a time, and after `PATIENCE` the last
        answer has to do.
        """
        if self._reading is None and self._clock() - self._read_at >= CACHE_SECONDS:
            self._reading = asyncio.ensure_future(asyncio.to_thread(self._read))
            self._reading.add_done_callback(self._finished)
        if self._reading is not None:
            await asyncio.wait([self._reading], timeout=PATIENCE)
        return self.latest

    def _read(self) -> None:
        if self._reader is None:
            self._reader = self._make_reader()
        self.latest = tuple(self._reader())

    def _finished(self, reading: "asyncio.Future[None]") -> None:
        self._reading, self._read_at = None, self._clock()
        if not reading.cancelled() and (error := reading.exception()) is not None:
            self.latest = ()
            log.warning("the GPU cannot be read", reason=str(error))
