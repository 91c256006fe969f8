"""Which of its networks Kokoro speaks with: the graph on ONNX Runtime, or its twin in PyTorch."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import structlog

from polyvox.bundles.validate import Bundle
from polyvox.config import Settings
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.synthesis import OneByOne, Synthesis
from polyvox.errors import UnavailableError
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.stage import Observer

if TYPE_CHECKING:
    from polyvox.engines.kokoro.native import NativeKokoro

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_DRIVERS = ("libcuda.so.1", "nvcuda.dll")


@dataclass(frozen=True, slots=True)
class Network:
    """A network in memory: how calls get to it, where it runs in words, and what is not as the settings wish."""

    synthesis: Callable[[Observer | None], Synthesis]
    runs_on: str
    warning: str = ""


def load_network(settings: Settings, bundle: Bundle) -> Network:
    """Load what the settings and the machine call for; this takes a while."""
    executor = settings.section(KokoroSettings).executor
    if executor == "onnx" or (executor == "auto" and not _gpu_expected(settings)):
        return _on_onnx_runtime(settings, bundle)
    if find_spec("torch") is None:
        raise UnavailableError("Kokoro needs PyTorch to run natively; install it with `pip install 'polyvox[torch]'`.")
    from polyvox.engines.kokoro.native_loading import load_anywhere, load_on_gpu

    if executor == "native":
        return _native(*load_anywhere(settings, bundle))
    trial = load_on_gpu(settings, bundle)
    if trial.models is not None:
        return _native(trial.models)
    warning = ""
    if trial.fault:
        warning = f"{trial.fault}, so Kokoro runs on ONNX Runtime on the CPU; check driver and PyTorch build."
        log.warning(warning)
    return _on_onnx_runtime(settings, bundle, warning)


def _gpu_expected(settings: Settings) -> bool:
    """Whether it is worth while to import PyTorch, which takes seconds, and ask it for a GPU."""
    if settings.section(KokoroSettings).device == "cpu" or find_spec("torch") is None:
        return False
    return settings.section(KokoroSettings).device == "cuda" or any(map(_loads, _DRIVERS))


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _on_onnx_runtime(settings: Settings, bundle: Bundle, warning: str = "") -> Network:
    workers = settings.section(KokoroSettings).workers
    model = KokoroModel(bundle.file("model.onnx"), settings.section(KokoroSettings).threads or share_of_cores(workers))
    return Network(lambda observer: OneByOne(model.run, workers, observer), "ONNX Runtime on the CPU", warning)


def _native(network: "NativeKokoro", warning: str = "") -> Network:
    from polyvox.engines.kokoro.batches import Batches

    return Network(lambda observer: Batches(network, observer), network.runs_on, warning)
