"""Choose and load Kokoro's network: the ONNX graph on ONNX Runtime, or the same network in PyTorch."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyvox.bundles.validate import Bundle
from polyvox.engines.kokoro.model import KokoroModel
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.synthesis import KokoroSynthesis, SerialSynthesis
from polyvox.errors import UnavailableError
from polyvox.extras import TORCH, install_hint
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.stage import Observer

if TYPE_CHECKING:
    from polyvox.engines.kokoro.native.network import NativeKokoro

_DRIVERS = ("libcuda.so.1", "nvcuda.dll")


@dataclass(frozen=True, slots=True)
class LoadedNetwork:
    """A network in memory, its executor and device in words, and a warning where the settings ask for another."""

    synthesis: Callable[[Observer | None], KokoroSynthesis]
    runs_on: str
    warning: str = ""
    device: str = "cpu"


def load_network(settings: KokoroSettings, bundle: Bundle, *, alone: bool = False) -> LoadedNetwork:
    """Load what the settings ask for and the machine supports; blocks for seconds.

    With `alone`, one stream is spoken at a time: two cores work on each piece of Wren's, where nothing else was set.
    """
    executor, is_wren = settings.executor, settings.decoder == "wren"
    if alone and is_wren and not settings.model_fields_set & {"workers", "threads"}:
        settings = settings.model_copy(update={"threads": min(2, share_of_cores(1))})
    on_cpu = _wren_on_onnx_runtime if is_wren else _on_onnx_runtime
    if executor == "onnx" or (executor == "auto" and not _gpu_expected(settings)):
        return on_cpu(settings, bundle)
    if not TORCH.installed:
        raise UnavailableError(f"Kokoro needs PyTorch to run natively; install it with: {install_hint('torch')}")
    from polyvox.engines.kokoro.native.loading import load_anywhere, load_on_gpu

    if executor == "native":
        return _native(*load_anywhere(settings, bundle))
    attempt = load_on_gpu(settings, bundle)
    if attempt.models is not None:
        return _native(attempt.models)
    return on_cpu(settings, bundle, attempt.warn("Kokoro runs on ONNX Runtime on the CPU"))


def _gpu_expected(settings: KokoroSettings) -> bool:
    """Return whether a GPU is likely enough to import PyTorch, which takes seconds, and ask for one."""
    if settings.device == "cpu" or not TORCH.installed:
        return False
    return settings.device == "cuda" or any(map(_can_load, _DRIVERS))


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _on_onnx_runtime(settings: KokoroSettings, bundle: Bundle, warning: str = "") -> LoadedNetwork:
    workers = settings.workers
    model = KokoroModel(bundle.file("model.onnx"), settings.threads or share_of_cores(workers))
    return LoadedNetwork(
        lambda observer: SerialSynthesis(model.run, workers, observer), "ONNX Runtime on the CPU", warning
    )


def _wren_on_onnx_runtime(settings: KokoroSettings, bundle: Bundle, warning: str = "") -> LoadedNetwork:
    from polyvox.engines.kokoro.wren.loading import load_wren
    from polyvox.engines.kokoro.wren.synthesis import WrenSynthesis

    workers, threads = _wren_workers(settings)
    model = load_wren(bundle.file("model.onnx"), threads)
    return LoadedNetwork(
        lambda observer: WrenSynthesis(model.render, workers, observer), "Wren on ONNX Runtime on the CPU", warning
    )


def _wren_workers(settings: KokoroSettings) -> tuple[int, int]:
    """Workers and threads of each: unless set, one worker on each core. A piece is too small for several threads."""
    if "workers" in settings.model_fields_set:
        return settings.workers, settings.threads or share_of_cores(settings.workers)
    threads = settings.threads or 1
    return share_of_cores(threads), threads


def _native(network: "NativeKokoro", warning: str = "") -> LoadedNetwork:
    from polyvox.engines.kokoro.native.batched_synthesis import BatchedSynthesis

    return LoadedNetwork(
        lambda observer: BatchedSynthesis(network, observer), network.runs_on, warning, str(network.device)
    )
