"""Executors of flow and vocoder as the settings choose, tried out at the start, with PyTorch to fall back on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import structlog
import torch

from polyvox.engines.cosyvoice.bundle import CosyVoiceBundle
from polyvox.engines.cosyvoice.decoder.batching import (
    PROMPT_SHARE,
    STREAM_BLOCKS,
    Capture,
    batch_flow,
    batch_vocoder,
    bytes_for,
    captures,
    triton_kernels,
)
from polyvox.engines.cosyvoice.decoder.flow_streams import FlowStreams
from polyvox.engines.cosyvoice.decoder.fused_vocoder import fuse_activation, fuse_filter, join_kernel, snake_kernel
from polyvox.engines.cosyvoice.decoder.graph_networks import graph_flow, graph_vocoder
from polyvox.engines.cosyvoice.decoder.hops import HopLengths
from polyvox.engines.cosyvoice.decoder.self_test import deviation, stage_mel, stream_mel, stream_samples
from polyvox.engines.cosyvoice.decoder.token2wav import Token2Wav
from polyvox.engines.cosyvoice.decoder.vocoder_streams import VocoderStreams
from polyvox.engines.cosyvoice.graph_files import INT8, GraphFiles, context_span, open_graphs
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings, Executor
from polyvox.engines.kit.recording import captured_or_eager, first_line
from polyvox.errors import BundleError
from polyvox.runtime.executors.cuda_graphs import Replay
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.executors.ort_tensors import OrtTensorGraph, Provider
from polyvox.runtime.executors.tensor_graph import TensorGraph
from polyvox.runtime.executors.tensorrt import TensorRtGraph, TensorRtOptions, TensorRtSource, import_tensorrt

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

EXACT, HALF, QUANTIZED = 1e-3, 5e-2, 0.3
"""The largest deviations from PyTorch that a start accepts, as shares of the result's spread: of graphs in single
precision, where either side computes in half precision, and of int8 graphs."""

_BATCHED = ("auto", "cuda_graphs")
_GRAPH_BYTES = 12 << 30
"""Memory that is left for graphs at least."""
"""Executors that decode many streams together, on a GPU."""

LENGTHS = MappingProxyType(
    {
        "batch": (1, 1, 1),
        "tokens": (1, 50, 768),
        "context": (0, 3, 3),
        "frames": (1, 100, 1536),
        "past": (0, 512, 4608),
        "past_1": (0, 256, 2304),
        "past_2": (0, 512, 4608),
        "spectra": (1, 12_001, 184_321),
    }
)
"""The lengths that TensorRT's engines are built for: prompts of half a minute, and segments of a minute behind them."""

_TITLES = MappingProxyType({"onnxruntime": "ONNX Runtime", "tensorrt": "TensorRT", "cuda_graphs": "CUDA graphs"})


class GraphOpener:
    """Opens a model's exported graphs for one executor."""

    def __init__(
        self, files: GraphFiles, settings: CosyVoiceSettings, device: torch.device, executor: Executor
    ) -> None:
        self.files, self._settings, self._device = files, settings, device
        self._executor = executor
        self._tensorrt = import_tensorrt() if executor == "tensorrt" else None

    def __call__(self, name: str) -> TensorGraph:
        if self._executor == "tensorrt":
            entry = self.files.entry(name)
            source = TensorRtSource(self.files.path(name), entry.sha256, entry.inputs, _lengths(entry.inputs))
            return TensorRtGraph(source, self._tensorrt_options, self._tensorrt, self._device)
        if self.int8 and name + INT8 in self.files.manifest.graphs:
            name += INT8
        provider = self._provider
        return OrtTensorGraph(self.files.path(name), provider, share_of_cores(1), self._provider_options(provider))

    @property
    def int8(self) -> bool:
        return self._executor == "onnxruntime" and self._settings.onnx_precision == "int8"

    @property
    def halved(self) -> bool:
        """True if graphs compute in half precision."""
        by_tensorrt = self._executor == "tensorrt" or self._provider == "tensorrt"
        return by_tensorrt and self._settings.tensorrt_fp16

    @property
    def _provider(self) -> Provider:
        asked = self._settings.onnx_provider
        if asked == "auto":
            return "cuda" if self._device.type == "cuda" else "cpu"
        return asked

    @property
    def _tensorrt_options(self) -> TensorRtOptions:
        folder = self._settings.tensorrt_dir or self.files.folder / "tensorrt"
        return TensorRtOptions(folder, self._settings.tensorrt_fp16, self._settings.tensorrt_workspace_bytes)

    def _provider_options(self, provider: Provider) -> dict[str, str]:
        if provider == "cpu":
            return {}
        if provider == "cuda":
            # As exact as PyTorch, which multiplies in full single precision.
            return {"use_tf32": "0"}
        options = self._tensorrt_options
        options.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        return {
            "trt_engine_cache_enable": "1",
            "trt_engine_cache_path": str(options.cache),
            "trt_fp16_enable": str(int(options.fp16)),
            "trt_max_workspace_size": str(options.workspace_bytes),
        }


def _lengths(inputs: Mapping[str, Sequence[int | str]]) -> dict[str, tuple[int, int, int]]:
    """The lengths that a graph's inputs name; those of a context that is shorter at the start say so themselves."""
    found = dict(LENGTHS)
    for side in (side for shape in inputs.values() for side in shape if isinstance(side, str)):
        if span := context_span(side):
            found[side] = (span[0], span[1], span[1])
    return found


class Token2WavExecutors:
    """Gives the flow and the vocoder of one model the executors that the settings name."""

    def __init__(
        self,
        token2wav: Token2Wav,
        bundle: CosyVoiceBundle | None,
        settings: CosyVoiceSettings,
        title: str = "CosyVoice",
    ) -> None:
        """Without a bundle there are no exported graphs; `title` is that of the family in warnings."""
        self._token2wav, self._bundle, self._settings = token2wav, bundle, settings
        self.title = title
        self._flows: FlowStreams | None = None
        self._vocoders: VocoderStreams | None = None
        self._files: GraphFiles | None = None

    def prepare(self, hops: HopLengths, streams: int, *, gpu: bool) -> str:
        """Prepare both stages; returns what the operator should know of those that run otherwise than asked.

        On a GPU, streams are decoded together, and `captures` are left to do.
        """
        flow, vocoder = self._settings.flow_executor, self._settings.vocoder_executor
        warnings = []
        with self._token2wav.stream():
            if gpu and flow in _BATCHED and self._token2wav.flow_cache == "full":
                warnings.append(self._batched("flow", partial(self._batch_flow, streams)))
            if gpu and vocoder in _BATCHED:
                self._fuse_vocoder()
                warnings.append(self._batched("vocoder", lambda: self._batch_vocoder(streams, hops)))
            warnings.append(self._prepare("flow", flow, self._use_flow, captured=gpu))
            warnings.append(self._prepare("vocoder", vocoder, self._use_vocoder, captured=gpu))
        return " ".join(filter(None, warnings))

    def room_for(self, streams: int) -> int:
        """Number of streams, of so many, that the flow's caches have room for; more would have to be computed anew."""
        return streams if self._flows is None else max(1, min(streams, self._flows.blocks // STREAM_BLOCKS))

    @property
    def batched(self) -> bool:
        """True if a stage decodes many streams together."""
        return self._flows is not None or self._vocoders is not None

    def captures(self, replay: Replay) -> Iterator[Capture]:
        """Shapes to capture while the server already speaks."""
        return captures(self._flows, self._vocoders, replay)

    @torch.inference_mode()
    def capture(self, capture: Capture) -> None:
        """Capture one shape."""
        with self._token2wav.stream():
            capture.run()

    def _batched(self, stage: str, batch: Callable[[], None]) -> str:
        """Decode the streams of a stage together, or one after the other with a warning."""
        _, warning = captured_or_eager(f"{self.title}'s {stage} of many streams", batch, lambda: None)
        return warning

    @torch.inference_mode()
    def _batch_flow(self, streams: int) -> None:
        one_by_one, flow = self._token2wav.flow_stage, self._token2wav.flow
        nbytes = self._settings.flow_bytes or cache_bytes(bytes_for(flow, streams))
        flows = batch_flow(flow, self._token2wav.flow_noise, nbytes, triton_kernels())
        ours, theirs = (stage_mel(each, flow) for each in (flows, one_by_one))
        _check(deviation(ours, theirs), EXACT if flow.speaker.weight.dtype == torch.float32 else HALF)
        self._flows = flows
        self._token2wav.use(flow_stage=flows)

    @torch.inference_mode()
    def _fuse_vocoder(self) -> None:
        """Give the vocoder its fused filter or at least its activation, where they compute what they should."""
        flow, vocoder = self._token2wav.flow, self._token2wav.vocoder
        join, snake = join_kernel(self._device), snake_kernel(self._device)
        if join is None or snake is None:
            return
        samples = partial(stream_samples, vocoder, stream_mel(flow, flow.eager_runner))
        if not fuse_filter(vocoder, join, samples):
            fuse_activation(vocoder, snake, samples)

    @torch.inference_mode()
    def _batch_vocoder(self, streams: int, hops: HopLengths) -> None:
        self._vocoders = batch_vocoder(self._token2wav, streams, hops)
        self._token2wav.use(vocoder_stage=self._vocoders)

    @property
    def prompt_bytes(self) -> int:
        """Bytes of the flow's caches that are kept for the prompts of recent voices."""
        every = self._token2wav.cache_bytes if self._flows is None else self._flows.nbytes
        return self._settings.prompt_bytes or every // PROMPT_SHARE

    def _prepare(
        self, stage: str, executor: Executor, use: Callable[[GraphOpener | None], None], *, captured: bool
    ) -> str:
        if executor == "auto" or (executor == "cuda_graphs" and captured):
            return ""
        use(None)
        if executor == "eager":
            return ""
        if executor == "cuda_graphs":
            return _fallen_back(stage, executor, "CosyVoice does not run on a GPU")
        try:
            use(self._opener(executor))
        except (RuntimeError, BundleError, OSError) as error:
            reason = first_line(error)
        else:
            return ""
        # Outside the handler: the error's traceback would keep the memory of what failed.
        return _fallen_back(stage, executor, reason)

    def _opener(self, executor: Executor) -> GraphOpener:
        if self._files is None:
            if self._bundle is None:
                raise BundleError(f"{self.title} has no exported graphs")
            folder = self._settings.graphs_folder(self._bundle.folder, self._bundle.version)
            self._files = open_graphs(folder, self._bundle)
        return GraphOpener(self._files, self._settings, self._device, executor)

    @property
    def _device(self) -> torch.device:
        return self._token2wav.flow.speaker.weight.device

    @torch.inference_mode()
    def _use_flow(self, opener: GraphOpener | None) -> None:
        """Run the flow by graphs, once they were tried out, or eagerly."""
        flow = self._token2wav.flow
        if opener is None:
            self._token2wav.use(flow_runner=flow.eager_runner)
            return
        runner = graph_flow(flow, opener.files, opener)
        ours, theirs = (torch.cat(stream_mel(flow, each), dim=2) for each in (runner, flow.eager_runner))
        halved = opener.halved or flow.speaker.weight.dtype != torch.float32
        _check(deviation(ours, theirs), QUANTIZED if opener.int8 else HALF if halved else EXACT)
        self._token2wav.use(flow_runner=runner)

    @torch.inference_mode()
    def _use_vocoder(self, opener: GraphOpener | None) -> None:
        """Likewise the vocoder."""
        flow, vocoder = self._token2wav.flow, self._token2wav.vocoder
        if opener is None:
            self._token2wav.use(vocoder_runner=vocoder)
            return
        runner = graph_vocoder(vocoder, opener.files, opener)
        chunks = stream_mel(flow, flow.eager_runner)
        ours, theirs = (stream_samples(each, chunks) for each in (runner, vocoder))
        _check(deviation(ours, theirs), HALF if opener.halved else EXACT)
        self._token2wav.use(vocoder_runner=runner)


def cache_bytes(wanted: int = 0) -> int:
    """Memory for the flow's caches: most of what is free on the GPU, and more where streams need it."""
    free: int = torch.cuda.mem_get_info()[0]
    return max(free * 6 // 10, min(wanted, free - _GRAPH_BYTES))


def _check(found: float, limit: float) -> None:
    """RuntimeError where a stage deviates from PyTorch."""
    if not found <= limit:
        raise RuntimeError(f"it deviates from PyTorch by {found:.2g} of the result's spread, more than {limit:g}")


def _fallen_back(stage: str, executor: str, reason: str) -> str:
    warning = f"CosyVoice's {stage} does not run by {_TITLES[executor]} ({reason}), so PyTorch runs it."
    log.warning(warning)
    return warning
