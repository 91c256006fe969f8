"""Where a network runs: on a GPU that proves itself, else on the CPU, with a warning."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

import structlog
import torch

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Models = TypeVar("Models")
Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]

PRECISIONS = MappingProxyType({"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16})


@dataclass(frozen=True, slots=True)
class Placement:
    """Where networks run, and the precision of those that need not be exact."""

    device: str
    dtype: torch.dtype


CPU = Placement("cpu", torch.float32)


@dataclass(frozen=True, slots=True)
class Wish:
    """What settings ask for; `auto` is the precision that `auto` stands for on a GPU."""

    device: Device
    precision: Precision
    auto: torch.dtype = torch.bfloat16

    @property
    def gpu(self) -> Placement:
        return Placement("cuda", PRECISIONS.get(self.precision, self.auto))


@dataclass(frozen=True, slots=True)
class Trial(Generic[Models]):
    """What was made of a GPU, or None and the reason; no reason where nobody asked for a GPU."""

    models: Models | None
    fault: str = ""


def tried_on_gpu(wish: Wish, load: Callable[[Placement], Models]) -> Trial[Models]:
    """What `load` makes, which includes trying it out, where the wish and the machine allow a GPU."""
    if wish.device == "cpu":
        return Trial(None)
    if not torch.cuda.is_available():
        return Trial(None, "PyTorch finds no GPU" if wish.device == "cuda" else "")
    try:
        return Trial(load(wish.gpu))
    except (RuntimeError, AssertionError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return Trial(None, f"The GPU failed its test ({reason})")


def placed(
    name: str, wish: Wish, load: Callable[[Placement], Models], cpu: Placement = CPU
) -> tuple[Models, Placement, str]:
    """What `load` makes, which includes trying it out, where it was made, and a warning or nothing."""
    trial = tried_on_gpu(wish, load)
    if trial.models is not None:
        return trial.models, wish.gpu, ""
    warning = ""
    if trial.fault:
        warning = f"{trial.fault}, so {name} runs on the CPU, far slower; check driver and PyTorch build."
        log.warning(warning)
    return load(cpu), cpu, warning
