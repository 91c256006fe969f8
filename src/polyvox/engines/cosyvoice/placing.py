"""Where a model runs: on a GPU that proves itself, else on the CPU, with a warning."""

from collections.abc import Callable
from typing import TypeVar

import structlog
import torch

from polyvox.config import Settings
from polyvox.engines.cosyvoice.sound import Placement

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

Models = TypeVar("Models")

_PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
CPU = Placement("cpu", torch.float32)


def placed(settings: Settings, load: Callable[[Placement], Models]) -> tuple[Models, Placement, str]:
    """What `load` makes, which includes trying it out, where it was made, and a warning or nothing."""
    warning = ""
    if settings.cosyvoice_device != "cpu":
        if torch.cuda.is_available():
            precision = settings.cosyvoice_precision
            gpu = Placement("cuda", _PRECISIONS["bfloat16" if precision == "auto" else precision])
            try:
                return load(gpu), gpu, ""
            except (RuntimeError, AssertionError) as error:
                reason = (str(error).splitlines() or [type(error).__name__])[0]
                warning = f"The GPU failed its test ({reason}), so CosyVoice runs on the CPU, far slower."
        elif settings.cosyvoice_device == "cuda":
            warning = "PyTorch finds no GPU, so CosyVoice runs on the CPU, far slower; check driver and PyTorch build."
    if warning:
        log.warning(warning)
    return load(CPU), CPU, warning
