"""Peak memory and utilisation of the GPU while a benchmark runs."""

import shutil
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

from polyvox.runtime.gpu_usage import GpuUsage, gpu_reader

PERIOD = 0.1
_QUERY = ("--query-gpu=memory.used,utilization.gpu", "--format=csv,noheader,nounits")


@dataclass(slots=True)
class GpuLog:
    """Readings of the busiest GPU, in the order they came."""

    used_bytes: list[int] = field(default_factory=list)
    utilization: list[float] = field(default_factory=list)

    def add(self, used_bytes: int, utilization: float | None) -> None:
        self.used_bytes.append(used_bytes)
        if utilization is not None:
            self.utilization.append(utilization)

    @property
    def peak_gib(self) -> float | None:
        return max(self.used_bytes) / 2**30 if self.used_bytes else None

    @property
    def mean_utilization(self) -> float | None:
        """None where nobody told, or the run was too short for a reading."""
        return statistics.fmean(self.utilization) if self.utilization else None


@contextmanager
def watched_gpu() -> Iterator[GpuLog]:
    """Read NVML, else what `nvidia-smi` prints, else PyTorch's own count, until the block ends."""
    log, read = GpuLog(), gpu_reader()
    if shutil.which("nvidia-smi") and all(usage.utilization is None for usage in read()):
        with _nvidia_smi(log):
            yield log
        return
    stopped = threading.Event()

    def poll() -> None:
        while not stopped.wait(PERIOD):
            _note(log, read())

    thread = threading.Thread(target=poll, name="gpu watch", daemon=True)
    thread.start()
    try:
        yield log
    finally:
        stopped.set()
        thread.join()
        _note(log, read())


def _note(log: GpuLog, usages: Sequence[GpuUsage]) -> None:
    if usages:
        fullest = max(usages, key=lambda usage: usage.used_bytes)
        log.add(fullest.used_bytes, fullest.utilization)


@contextmanager
def _nvidia_smi(log: GpuLog) -> Iterator[None]:
    command = ["nvidia-smi", *_QUERY, f"--loop-ms={int(1000 * PERIOD)}"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
    assert process.stdout is not None
    thread = threading.Thread(target=_follow, args=(process.stdout, log), name="nvidia-smi", daemon=True)
    thread.start()
    try:
        yield
        time.sleep(PERIOD)
    finally:
        process.terminate()
        process.wait()
        thread.join()


def _follow(lines: IO[str], log: GpuLog) -> None:
    for line in lines:
        used, _, busy = line.partition(",")
        if used.strip().isdigit():
            log.add(int(used) << 20, float(busy) / 100 if busy.strip().isdigit() else None)
