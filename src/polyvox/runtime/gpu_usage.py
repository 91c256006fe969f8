"""Memory and utilisation of the machine's GPUs, as NVML tells it, or their memory alone, as PyTorch does."""

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import structlog

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

CACHE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class GpuUsage:
    """One GPU: its memory in use, by whomever, and the share of time it was busy, None where nobody tells."""

    index: int
    name: str
    used_bytes: int
    total_bytes: int
    utilization: float | None = None


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
    try:
        return [_nvml_usage(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]
    except nvml.NVMLError as error:
        log.warning("NVML cannot be read", reason=str(error))
        return []


def _nvml_usage(nvml: ModuleType, index: int) -> GpuUsage:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory, name = nvml.nvmlDeviceGetMemoryInfo(handle), nvml.nvmlDeviceGetName(handle)
    try:
        busy: float | None = nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100
    except nvml.NVMLError:  # a share of a GPU (MIG) has no rates of its own
        busy = None
    return GpuUsage(index, name if isinstance(name, str) else name.decode(), memory.used, memory.total, busy)


def _read_torch() -> list[GpuUsage]:
    """The GPUs of a process that has loaded PyTorch and begun to use one; to ask is not to begin."""
    torch: ModuleType | None = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return []
    found = []
    for index in range(cuda.device_count()):
        free, total = cuda.mem_get_info(index)
        found.append(GpuUsage(index, cuda.get_device_name(index), total - free, total))
    return found


class GpuMonitor:
    """The usage as it was a second ago at most. A read may wait for the driver: call `read` off the event loop."""

    def __init__(
        self, make_reader: Callable[[], Reader] = gpu_reader, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._make_reader = make_reader
        self._reader: Reader | None = None
        self._clock = clock
        self._lock = threading.Lock()
        self._read_at = -CACHE_SECONDS
        self._latest: tuple[GpuUsage, ...] = ()

    @property
    def latest(self) -> tuple[GpuUsage, ...]:
        """What was read last, without waiting."""
        return self._latest

    def read(self) -> tuple[GpuUsage, ...]:
        """Each GPU's usage; none where the machine has no GPU or nobody to tell."""
        with self._lock:
            if self._reader is None:
                self._reader = self._make_reader()
            if self._clock() - self._read_at >= CACHE_SECONDS:
                self._latest = tuple(self._reader())
                self._read_at = self._clock()
            return self._latest
