"""Load Kokoro's network in PyTorch, from the installed graph or the released file, on a device that passes a test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import as_file, files

import numpy as np
import torch
from torch import Tensor

from polyvox.bundles.kokoro_weights import read_kokoro
from polyvox.bundles.validate import Bundle
from polyvox.bundles.wren_weights import read_distilled_bert, read_wren
from polyvox.engines.kit.recording import captured_or_eager
from polyvox.engines.kokoro.native.fused_kernels import fuse_blocks, fuse_kernels
from polyvox.engines.kokoro.native.network import CPU_BATCH, GPU_BATCH, GraphShapes, NativeKokoro, styled_tokens
from polyvox.engines.kokoro.native.wren import NativeWren
from polyvox.engines.kokoro.request import ModelInput
from polyvox.engines.kokoro.settings import KokoroSettings
from polyvox.engines.kokoro.vocabulary import IDS
from polyvox.errors import BundleError
from polyvox.models.kokoro.distilled_bert import DistilledBert, load_distilled_bert
from polyvox.models.kokoro.model import FRAME, Kokoro, KokoroConfig, load_kokoro
from polyvox.models.kokoro.wren import Wren, WrenConfig
from polyvox.models.loading import StateDict, WeightsError
from polyvox.runtime.executors.cuda_graphs import CudaGraphs, Replay
from polyvox.runtime.placement import PRECISIONS, DeviceRequest, GpuAttempt, Placement, place_models, try_on_gpu

FRAMES_PER_SECOND = 24_000 // FRAME
LANES, EXPRESS_LANES = 2, 1
_BYTES_FOR_LANES = 16 << 30
"""Free memory, below which a GPU has one lane for all chunks: graphs of a further one take up to four GiB."""
LEAST_SNR = 12.0
"""Least signal-to-noise ratio of a device's samples against the CPU's, in decibels. 16-bit floats reach 30 and more; a
device that computes something else stays around 0."""
_PROBE = "ɹˈɛdi."


def load_on_gpu(settings: KokoroSettings, bundle: Bundle) -> GpuAttempt[NativeKokoro]:
    """Load on the GPU, tested and captured, or give the reason why not."""
    return try_on_gpu(_device_request(settings), _loader(settings, bundle))


def load_anywhere(settings: KokoroSettings, bundle: Bundle) -> tuple[NativeKokoro, str]:
    """Load on the GPU if the settings allow it and it works, else on the CPU, with a warning if a GPU was expected."""
    cpu = Placement("cpu", PRECISIONS.get(settings.precision, torch.float32))
    network, _, warning = place_models("Kokoro", _device_request(settings), _loader(settings, bundle), cpu)
    return network, warning


def _device_request(settings: KokoroSettings) -> DeviceRequest:
    return DeviceRequest(settings.device, settings.precision, auto_dtype=torch.float16)


def _loader(settings: KokoroSettings, bundle: Bundle) -> Callable[[Placement], NativeKokoro]:
    state = read_kokoro(settings.weights or bundle.file("model.onnx"))
    styles = np.fromfile(bundle.file("voices/af_heart.bin"), dtype="<f4").reshape(510, 1, 256)
    item = ModelInput(tuple(IDS[symbol] for symbol in _PROBE), styles[len(_PROBE) - 1], 1.0)
    return partial(_load_wren if settings.decoder == "wren" else _load, settings, state, item)


def _network(state: StateDict) -> Kokoro:
    try:
        return load_kokoro(KokoroConfig(), state)
    except WeightsError as error:
        raise BundleError(f"{error} Fetch Kokoro's model again.") from error


def _load(settings: KokoroSettings, state: StateDict, item: ModelInput, place: Placement) -> NativeKokoro:
    network = _network(state)
    if place.device == "cpu":
        network.cast(torch.float64, place.dtype)
        return NativeKokoro(network, settings.batch or CPU_BATCH)
    expected = probe(network, item)
    network.cast(torch.float64, place.dtype)
    fuse_kernels(network.to(place.device))
    check_close(probe(network, item), expected)
    native = NativeKokoro(network, settings.batch or GPU_BATCH)
    frames = graph_frames(settings.graph_seconds)
    return captured(native, frames, item, CudaGraphs) if frames else native


def _load_wren(settings: KokoroSettings, state: StateDict, item: ModelInput, place: Placement) -> NativeKokoro:
    """The front in double precision; of Wren, the products of its blocks may have less than single precision."""
    network, (wren, bert) = _network(state), load_shipped_wren()
    network.use_distilled(bert)
    del network.decoder  # Wren stands in its place
    on_cpu = NativeWren(network, wren, settings.batch or CPU_BATCH)
    if place.device == "cpu":
        return on_cpu
    expected = _probe_native(on_cpu, item)
    fuse_kernels(network.to(place.device))
    fuse_blocks(wren.to(place.device), place.dtype)
    native = NativeWren(network, wren, settings.batch or GPU_BATCH)
    check_close(_probe_native(native, item), expected)
    frames = graph_frames(settings.graph_seconds)
    return captured(native, frames, item, CudaGraphs) if frames else native


def load_shipped_wren() -> tuple[Wren, DistilledBert]:
    """Wren and the BERT of its front, with the weights of the package's graphs."""
    with as_file(files("polyvox.engines.kokoro.wren") / "graphs") as folder:
        state, bert = read_wren(folder), load_distilled_bert(read_distilled_bert(folder / "bert.onnx"))
    wren = Wren(WrenConfig.of_weights(state)).requires_grad_(False).eval()
    wren.load_state_dict(state)
    return wren, bert


def graph_frames(seconds: Sequence[float]) -> tuple[int, ...]:
    """Lengths in frames, each once, the shortest first."""
    return tuple(sorted({max(1, round(each * FRAMES_PER_SECOND)) for each in seconds}))


def captured(
    eager: NativeKokoro, frames: tuple[int, ...], item: ModelInput, recorder: Callable[[], Replay]
) -> NativeKokoro:
    """The same network with all its shapes captured; `eager` itself where that fails or changes the samples."""

    def capture() -> NativeKokoro:
        lanes, express = (tuple(recorder() for _ in range(count)) for count in _lane_counts(eager.device))
        native = eager.with_shapes(GraphShapes(lanes, recorder(), recorder(), frames, express=express))
        native.capture()
        check_close(_probe_native(native, item), _probe_native(eager, item))
        return native

    return captured_or_eager("Kokoro", capture, lambda: eager)[0]


def _lane_counts(device: torch.device) -> tuple[int, int]:
    """Lanes for chunks of all lengths, and for express ones."""
    if device.type == "cuda" and torch.cuda.mem_get_info(device)[0] < _BYTES_FOR_LANES:
        return 1, 0
    return LANES, EXPRESS_LANES


def _probe_native(native: NativeKokoro, item: ModelInput) -> "Probe":
    (timed,) = native.predict_durations([item])
    (samples,) = native.decode([timed])
    return Probe(torch.from_numpy(timed.durations), torch.from_numpy(samples))


@dataclass(frozen=True, slots=True)
class Probe:
    """The output of a network for a short word, on the CPU."""

    durations: Tensor
    samples: Tensor


@torch.inference_mode()
def probe(network: Kokoro, item: ModelInput) -> Probe:
    """Run a network with the same noise on every device."""
    (prosody,) = network.predict_prosody([styled_tokens(item)])
    noise = torch.randn(prosody.noise_shape, generator=torch.Generator().manual_seed(0))
    (samples,) = network.decode([prosody], [noise])
    return Probe(prosody.durations.cpu(), samples.float().cpu())


def check_close(ours: Probe, expected: Probe) -> None:
    """Raise RuntimeError where a device computes something other than expected."""
    if not torch.equal(ours.durations, expected.durations):
        raise RuntimeError("it predicts other durations than it should")
    snr = 10 * torch.log10(expected.samples.square().sum() / (ours.samples - expected.samples).square().sum())
    # NaN compares as false.
    if not snr.item() >= LEAST_SNR:
        raise RuntimeError("its speech is not what it should be")
