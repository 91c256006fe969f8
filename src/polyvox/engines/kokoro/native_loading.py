"""Kokoro's network in PyTorch, from the installed graph or the released file, on a device that proves itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import structlog
import torch
from torch import Tensor

from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.bundles.validate import Bundle
from polyvox.config import Settings
from polyvox.engines.kokoro.call import ModelInput
from polyvox.engines.kokoro.native import CPU_BATCH, GPU_BATCH, NativeKokoro, Shapes, line_of
from polyvox.engines.kokoro.norms import fuse_norms
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.errors import BundleError
from polyvox.models.kokoro.model import FRAME, Kokoro, KokoroConfig, load_kokoro
from polyvox.models.loading import StateDict, WeightsError
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.runtime.placement import PRECISIONS, DeviceRequest, GpuAttempt, Placement, place_models, try_on_gpu

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

FRAMES_PER_SECOND = 24_000 // FRAME
LEAST_SNR = 12.0
"""Decibels by which a device's speech must stand above its difference from the CPU's. 16 bits leave 30 and more; what
computes anything else leaves none."""
_PROBE = "ɹˈɛdi."


def load_on_gpu(settings: Settings, bundle: Bundle) -> GpuAttempt[NativeKokoro]:
    """On the GPU, tried out and recorded, or the reason why not."""
    return try_on_gpu(_device_request(settings), _loader(settings, bundle))


def load_anywhere(settings: Settings, bundle: Bundle) -> tuple[NativeKokoro, str]:
    """On the GPU if the settings allow it and it works, else on the CPU; a warning where that was not the wish."""
    cpu = Placement("cpu", PRECISIONS.get(settings.section(KokoroSettings).precision, torch.float32))
    network, _, warning = place_models("Kokoro", _device_request(settings), _loader(settings, bundle), cpu)
    return network, warning


def _device_request(settings: Settings) -> DeviceRequest:
    return DeviceRequest(
        settings.section(KokoroSettings).device, settings.section(KokoroSettings).precision, auto_dtype=torch.float16
    )


def _loader(settings: Settings, bundle: Bundle) -> Callable[[Placement], NativeKokoro]:
    state = read_kokoro(settings.section(KokoroSettings).weights or bundle.file("model.onnx"))
    styles = np.fromfile(bundle.file("voices/af_heart.bin"), dtype="<f4").reshape(510, 1, 256)
    probe = ModelInput(tuple(IDS[symbol] for symbol in _PROBE), styles[len(_PROBE) - 1], 1.0)
    return partial(_loaded, settings, state, probe)


def _loaded(settings: Settings, state: StateDict, probe: ModelInput, place: Placement) -> NativeKokoro:
    try:
        network = load_kokoro(KokoroConfig(), state)
    except WeightsError as error:
        raise BundleError(f"{error} Fetch Kokoro's model again.") from error
    if place.device == "cpu":
        network.cast(torch.float64, place.dtype)
        return NativeKokoro(network, settings.section(KokoroSettings).batch or CPU_BATCH)
    expected = probed(network, probe)
    network.cast(torch.float64, place.dtype)
    fuse_norms(network.to(place.device))
    check_alike(probed(network, probe), expected)
    native = NativeKokoro(network, settings.section(KokoroSettings).batch or GPU_BATCH)
    lengths = lengths_of(settings.section(KokoroSettings).graph_seconds)
    return recorded(native, lengths, probe, CudaGraphs) if lengths else native


def lengths_of(seconds: Sequence[float]) -> tuple[int, ...]:
    """Lengths in frames, each once, the shortest first."""
    return tuple(sorted({max(1, round(each * FRAMES_PER_SECOND)) for each in seconds}))


def recorded(
    plain: NativeKokoro, lengths: tuple[int, ...], item: ModelInput, recorder: Callable[[], Replay]
) -> NativeKokoro:
    """The same network with all its shapes recorded; as it was where that fails, or changes what it says."""
    native = NativeKokoro(plain.network, plain.batch, Shapes(recorder(), lengths))
    try:
        native.warm()
        check_alike(_heard(native, item), _heard(plain, item))
    except RuntimeError as error:
        log.warning("Kokoro's work could not be recorded, so it speaks more slowly.", reason=str(error)[:500])
        return plain
    return native


def _heard(native: NativeKokoro, item: ModelInput) -> "Probe":
    (planned,) = native.plan([item])
    (samples,) = native.sound([planned])
    return Probe(torch.from_numpy(planned.durations), torch.from_numpy(samples))


@dataclass(frozen=True, slots=True)
class Probe:
    """What a network made of a short word, on the CPU."""

    durations: Tensor
    samples: Tensor


@torch.inference_mode()
def probed(network: Kokoro, item: ModelInput) -> Probe:
    """Let a network say something with the same noise on every device."""
    (plan,) = network.plan([line_of(item)])
    noise = torch.randn(plan.noise_shape, generator=torch.Generator().manual_seed(0))
    (samples,) = network.sound([plan], [noise])
    return Probe(plan.durations.cpu(), samples.float().cpu())


def check_alike(ours: Probe, expected: Probe) -> None:
    """RuntimeError where a device computes something else than was expected."""
    if not torch.equal(ours.durations, expected.durations):
        raise RuntimeError("it counts other durations than it should")
    snr = 10 * torch.log10(expected.samples.square().sum() / (ours.samples - expected.samples).square().sum())
    # What are no numbers compares as false.
    if not snr.item() >= LEAST_SNR:
        raise RuntimeError("its speech is not what it should be")
