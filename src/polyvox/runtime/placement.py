"""Device placement: models on a GPU that passes a trial, else on the CPU with a warning."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

import structlog
import torch

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Models = TypeVar("Models")
Device = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]

PRECISIONS = MappingProxyType({"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16})


@dataclass(frozen=True, slots=True)
class Placement:
    """The device of a family's networks, and the dtype of those that tolerate less than float32."""

    device: str
    dtype: torch.dtype


CPU = Placement("cpu", torch.float32)


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """The device and precision that settings ask for; `auto_dtype` is what the precision `auto` means on a GPU."""

    device: Device
    precision: Precision = "auto"
    auto_dtype: torch.dtype = torch.bfloat16

    @property
    def gpu(self) -> Placement:
        """The GPU that is asked for; on Apple's, single precision unless another is asked for."""
        if self.device == "mps":
            return Placement("mps", PRECISIONS.get(self.precision, torch.float32))
        return Placement("cuda", PRECISIONS.get(self.precision, self.auto_dtype))

    @property
    def cpu(self) -> Placement:
        """The CPU in the precision asked for, where the networks can run in less than float32 there."""
        return Placement("cpu", PRECISIONS.get(self.precision, torch.float32))


@dataclass(frozen=True, slots=True)
class GpuAttempt(Generic[Models]):
    """Models that run on the GPU, or None and the reason; the reason is empty where no GPU was asked for."""

    models: Models | None
    fault: str = ""

    def warn(self, fallback: str) -> str:
        """Log and return the operator's warning, "" without a fault; `fallback` completes "..., so", as a clause."""
        if not self.fault:
            return ""
        warning = f"{self.fault}, so {fallback}; check driver and PyTorch build."
        log.warning(warning)
        return warning


def try_on_gpu(request: DeviceRequest, load: Callable[[Placement], Models]) -> GpuAttempt[Models]:
    """Load on the GPU, if the request allows one and the machine has one.

    `load` also runs what it has loaded, and raises `RuntimeError` where the result is wrong. Errors that are not the
    device's, such as `BundleError`, pass through. AMD's GPUs answer as `cuda` in PyTorch's build for ROCm. Apple's is
    never chosen by `auto`: a model runs there where it is asked for and passes its trial.
    """
    if request.device == "cpu":
        return GpuAttempt(None)
    if request.device == "mps" and not torch.backends.mps.is_available():
        return GpuAttempt(None, "PyTorch finds no GPU of Apple's (mps)")
    if request.device != "mps" and not torch.cuda.is_available():
        return GpuAttempt(None, "PyTorch finds no GPU" if request.device == "cuda" else "")
    # For a dtype that mps does not have PyTorch raises a TypeError; elsewhere that is a mistake of ours.
    faults = (RuntimeError, AssertionError, *((TypeError,) if request.device == "mps" else ()))
    try:
        return GpuAttempt(load(request.gpu))
    except faults as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return GpuAttempt(None, f"The GPU failed its test ({reason})")


def place_models(
    name: str, request: DeviceRequest, load: Callable[[Placement], Models], cpu: Placement = CPU
) -> tuple[Models, Placement, str]:
    """Load on the GPU as `try_on_gpu` does, else on the CPU: the models, their placement and a warning or ""."""
    attempt = try_on_gpu(request, load)
    if attempt.models is not None:
        return attempt.models, request.gpu, ""
    warning = attempt.warn(f"{name} runs on the CPU, far slower")
    return load(cpu), cpu, warning
