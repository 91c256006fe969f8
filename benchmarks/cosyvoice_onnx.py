"""CosyVoice's flow and vocoder by ONNX Runtime on the CPU beside PyTorch: `python -m benchmarks.cosyvoice_onnx`.

The same short stream by the networks, by their graphs, and by the graphs in 8-bit precision, in turns in one run: the
figures are ratios of CPU time, and how far the results deviate. The weights are seeded. `--tiny` takes small networks.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import onnx
import torch
from rich.console import Console
from torch import Tensor

from benchmarks.cosyvoice_gpu import random_token2wav, released
from polyvox.bench.engine import Check, as_table
from polyvox.bundles.onnx_graphs.builder import FLOAT, GraphBuilder
from polyvox.engines.cosyvoice.decoder.graph_networks import graph_flow, graph_vocoder
from polyvox.engines.cosyvoice.decoder.self_test import deviation, stream_mel, stream_samples
from polyvox.engines.cosyvoice.graph_files import INT8, VOCODER
from polyvox.engines.cosyvoice.model_config import SAMPLE_RATE, CosyVoiceConfig
from polyvox.engines.cosyvoice.onnx_export.export import write_graphs
from polyvox.engines.kit.onnx_export import build_linear, write_int8
from polyvox.models.cache import LayerCache
from polyvox.models.cosyvoice.conformer import ConformerConfig
from polyvox.models.cosyvoice.dit import DiTConfig
from polyvox.models.cosyvoice.flow import Flow, FlowRunner
from polyvox.models.cosyvoice.flow_v2 import Flow2Config
from polyvox.models.cosyvoice.flow_v3 import Flow3Config
from polyvox.models.cosyvoice.unet import UNetConfig
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.filter import FilterConfig
from polyvox.models.hift.model import Hift, HiftConfig
from polyvox.models.hift.source import SourceConfig
from polyvox.runtime.executors.ort_tensors import OrtTensorGraph
from polyvox.runtime.placement import Placement

CPU = Placement("cpu", torch.float32)
_LM_LAYER = ((896, 1152), (896, 896), (896, 9728), (4864, 896))
"""The matrices of one layer of the language model, inputs and outputs."""


def tiny(version: int) -> CosyVoiceConfig:
    """Networks of the published make, but small."""
    unet = UNetConfig(channels=64, heads=4, head_width=16, transformers=1, mid_blocks=2)
    conformer = ConformerConfig(width=64, heads=4, feed_forward=128, blocks=2, up_blocks=1)
    dit = DiTConfig(width=64, depth=3, heads=4, head_width=16, feed_forward=128)
    full = released(version)
    return replace(
        full,
        flow=Flow2Config(full.flow.flow, conformer, unet) if version == 2 else Flow3Config(full.flow.flow, 64, dit),
        hift=HiftConfig(SourceConfig(channels=32), FilterConfig(channels=64)),
    )


@dataclass(frozen=True, slots=True)
class Timed:
    """A result and the CPU seconds that it took."""

    result: Tensor
    seconds: float


def timed(work: Callable[[], Tensor]) -> Timed:
    began = time.process_time()
    result = work()
    return Timed(result, time.process_time() - began)


class OnnxBench:
    """One version of CosyVoice, its graphs, and its graphs in 8-bit precision."""

    def __init__(self, version: int, recipe: CosyVoiceConfig, folder: Path, threads: int) -> None:
        token2wav = random_token2wav(recipe, CPU)
        self._name, self._threads = f"version {version}", threads
        self._flow: Flow = token2wav.flow
        self._vocoder: Hift | CausalHift = token2wav.vocoder
        self._files = write_graphs(self._flow, self._vocoder, folder, model=f"cosyvoice{version}", int8=True)
        self._int8_vocoder = write_int8(self._files.path(VOCODER), ("Conv",))

    def checks(self, rounds: int, progress: Callable[[str], None]) -> list[Check]:
        flows: dict[str, FlowRunner] = {
            "PyTorch": self._flow.eager_runner,
            "graphs": graph_flow(self._flow, self._files, partial(self._opened, "")),
            "int8 graphs": graph_flow(self._flow, self._files, partial(self._opened, INT8)),
        }
        vocoders: dict[str, Hift | CausalHift] = {
            "PyTorch": self._vocoder,
            "graph": graph_vocoder(self._vocoder, self._files, partial(self._opened, "")),
            "int8 graph": graph_vocoder(self._vocoder, self._files, self._opened_int8_vocoder),
        }
        chunks = stream_mel(self._flow, self._flow.eager_runner)
        mels: dict[str, list[Timed]] = {name: [] for name in flows}
        samples: dict[str, list[Timed]] = {name: [] for name in vocoders}
        for turn in range(rounds):
            for name, runner in flows.items():
                progress(f"{self._name}: flow by {name}, round {turn + 1} of {rounds}")
                mels[name].append(timed(partial(self._mel, runner)))
            for name, vocoder in vocoders.items():
                progress(f"{self._name}: vocoder by {name}, round {turn + 1} of {rounds}")
                samples[name].append(timed(partial(stream_samples, vocoder, chunks)))
        return [*self._compared("flow", mels), *self._compared("vocoder", samples), *self._heard(mels, samples)]

    def _mel(self, runner: FlowRunner) -> Tensor:
        return torch.cat(stream_mel(self._flow, runner), dim=2)

    def _compared(self, stage: str, runs: dict[str, list[Timed]]) -> list[Check]:
        theirs = runs["PyTorch"]
        checks = []
        for name, ours in runs.items():
            if name == "PyTorch":
                continue
            costs = [mine.seconds / other.seconds for mine, other in zip(ours, theirs, strict=True)]
            checks += [
                Check.of(f"{self._name}, {stage}: {name} / PyTorch, CPU", "", costs),
                self._deviation(f", {stage}: deviation of {name}", ours[0].result, theirs[0].result),
            ]
        return checks

    def _heard(self, mels: dict[str, list[Timed]], samples: dict[str, list[Timed]]) -> list[Check]:
        """What an int8 flow does to the waveform, and the share of F0 and source in the vocoder's time."""
        found = stream_samples(self._vocoder, [mels["int8 graphs"][0].result])
        whole = stream_samples(self._vocoder, [mels["PyTorch"][0].result])
        audio = whole.shape[1] / SAMPLE_RATE
        source = [timed(partial(self._pitch, mels["PyTorch"][0].result)).seconds for _ in samples["PyTorch"]]
        return [
            self._deviation(": deviation of the waveform, int8 flow", found, whole),
            Check.of(
                f"{self._name}: F0 in the vocoder's time",
                "%",
                [100 * mine / run.seconds for mine, run in zip(source, samples["PyTorch"], strict=True)],
            ),
            Check.of(f"{self._name}: PyTorch's flow, CPU", "s/s", [run.seconds / audio for run in mels["PyTorch"]]),
            Check.of(
                f"{self._name}: PyTorch's vocoder, CPU", "s/s", [run.seconds / audio for run in samples["PyTorch"]]
            ),
        ]

    def _deviation(self, name: str, ours: Tensor, theirs: Tensor) -> Check:
        """In thousandths of the spread."""
        return Check.of(self._name + name, "‰", [1000 * deviation(ours, theirs)])

    @torch.inference_mode()
    def _pitch(self, mel: Tensor) -> Tensor:
        pitch: Tensor = self._vocoder.pitch(mel, LayerCache(update=False))
        return pitch

    def _opened(self, suffix: str, name: str) -> OrtTensorGraph:
        found = name + suffix if name + suffix in self._files.manifest.graphs else name
        return OrtTensorGraph(self._files.path(found), "cpu", self._threads)

    def _opened_int8_vocoder(self, name: str) -> OrtTensorGraph:
        assert name == VOCODER
        return OrtTensorGraph(self._int8_vocoder, "cpu", self._threads)


def lm_checks(folder: Path, rounds: int, threads: int, steps: int = 200) -> list[Check]:
    """The matrix products of one layer of the language model, one token at a time: PyTorch's and those of graphs."""
    layers = [torch.nn.Linear(*sizes) for sizes in _LM_LAYER]
    rows = [torch.ones(1, sizes[0]) for sizes in _LM_LAYER]
    graph = GraphBuilder()
    outputs = [build_linear(graph, layer, f"x{index}") for index, layer in enumerate(layers)]
    path = folder / "layer.onnx"
    onnx.save(
        graph.model(
            {f"x{index}": (FLOAT, (1, sizes[0])) for index, sizes in enumerate(_LM_LAYER)},
            {f"y{index}": (name, (1, _LM_LAYER[index][1])) for index, name in enumerate(outputs)},
        ),
        path,
    )
    given = {f"x{index}": row for index, row in enumerate(rows)}
    runs: dict[str, Callable[[], object]] = {
        "PyTorch": lambda: [layer(row) for layer, row in zip(layers, rows, strict=True)],
        "graph": partial(OrtTensorGraph(path, "cpu", threads), given),
        "int8 graph": partial(OrtTensorGraph(write_int8(path), "cpu", threads), given),
    }
    costs: dict[str, list[float]] = {name: [] for name in runs}
    with torch.inference_mode():
        for _ in range(rounds):
            for name, run in runs.items():
                run()
                began = time.process_time()
                for _ in range(steps):
                    run()
                costs[name].append(time.process_time() - began)
    return [
        Check.of(
            f"language model, a layer's products: {name} / PyTorch, CPU",
            "",
            [mine / other for mine, other in zip(costs[name], costs["PyTorch"], strict=True)],
        )
        for name in ("graph", "int8 graph")
    ]


def measure(
    versions: list[int], *, small: bool, rounds: int, threads: int, progress: Callable[[str], None]
) -> list[Check]:
    checks = []
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            progress(f"version {version}: writing graphs")
            bench = OnnxBench(version, tiny(version) if small else released(version), Path(folder), threads)
            checks += bench.checks(rounds, progress)
    with tempfile.TemporaryDirectory() as folder:
        progress("language model")
        return checks + lm_checks(Path(folder), rounds, threads)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", type=int, nargs="*", default=[2, 3], choices=(2, 3))
    parser.add_argument("--tiny", action="store_true", help="Small networks in place of those of the published sizes.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    with Console(stderr=True).status("") as status:
        checks = measure(
            given.version, small=given.tiny, rounds=given.rounds, threads=given.threads, progress=status.update
        )
    Console(width=120).print(as_table(checks))


if __name__ == "__main__":
    main()
