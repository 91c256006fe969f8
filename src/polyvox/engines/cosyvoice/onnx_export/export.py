"""Export of a model folder to ONNX graphs, each compared with the network that it was made from."""

from collections.abc import Callable
from pathlib import Path

import onnx
import torch

from polyvox import __version__
from polyvox.bundles.disk import sha256_of, write_whole
from polyvox.bundles.onnx_graphs.builder import shape_of
from polyvox.engines.cosyvoice.bundle import open_model
from polyvox.engines.cosyvoice.decoder.graph_networks import graph_flow, graph_vocoder
from polyvox.engines.cosyvoice.decoder.self_test import deviation, stream_mel, stream_samples
from polyvox.engines.cosyvoice.graph_files import (
    ESTIMATOR,
    INT8,
    MANIFEST,
    TOKEN_ENCODER,
    VOCODER,
    GraphEntry,
    GraphFiles,
    GraphManifest,
    source_hashes,
)
from polyvox.engines.cosyvoice.onnx_export.estimator import estimator_graph
from polyvox.engines.cosyvoice.onnx_export.token_encoder import token_encoder_graph
from polyvox.engines.cosyvoice.onnx_export.vocoder_filter import filter_graph
from polyvox.engines.kit.onnx_export import replaced_folder, write_int8
from polyvox.errors import BundleError, UnavailableError
from polyvox.models.cosyvoice.flow import Flow
from polyvox.models.hift.causal import CausalHift
from polyvox.models.hift.model import Hift
from polyvox.runtime.executors.ort import share_of_cores
from polyvox.runtime.executors.ort_tensors import OrtTensorGraph

TOLERANCE = 1e-3
"""The largest deviation of a graph from its network, as a share of the result's spread."""

_QUANTIZED = (ESTIMATOR, TOKEN_ENCODER)
"""Graphs of matrix products. The vocoder is all convolutions, which in 8 bits deviate too much to be of use."""


def export(folder: Path, to: Path, *, int8: bool) -> list[Path]:
    """Export the model in `folder` to the folder `to`, which may hold an earlier export; returns the files written."""
    bundle = open_model(folder)
    if bundle.version == 1:
        raise UnavailableError("CosyVoice 1 has no ONNX export; export version 2 or 3, or run it in PyTorch.")
    flow, vocoder = (bundle.build(part, bundle.weights(part)) for part in ("flow", "hift"))
    assert isinstance(flow, Flow)
    assert isinstance(vocoder, Hift | CausalHift)
    with replaced_folder(to, MANIFEST) as part:
        written = write_graphs(flow, vocoder, part, model=f"cosyvoice{bundle.version}", int8=int8)
        manifest = written.manifest.model_copy(update={"sources": source_hashes(bundle)})
        write_whole(part / MANIFEST, manifest.model_dump_json(indent=2).encode())
        verify(flow, vocoder, GraphFiles(part, manifest))
    return [to / MANIFEST, *(to / entry.file for entry in manifest.graphs.values())]


def write_graphs(flow: Flow, vocoder: Hift | CausalHift, folder: Path, *, model: str, int8: bool) -> GraphFiles:
    """Write all graphs of the networks into a folder; the manifest returned names no source yet."""
    # In this order: what the speed gains most from comes first.
    builders: dict[str, Callable[[], onnx.ModelProto]] = {
        ESTIMATOR: lambda: estimator_graph(flow),
        VOCODER: lambda: filter_graph(vocoder.filter),
        TOKEN_ENCODER: lambda: token_encoder_graph(flow),
    }
    entries: dict[str, GraphEntry] = {}
    opset = 0
    for name, build in builders.items():
        graph = build()
        opset = graph.opset_import[0].version
        path = folder / f"{name}.onnx"
        onnx.save(graph, path)
        inputs = {each.name: shape_of(each) for each in graph.graph.input}
        entries[name] = _entry(path, inputs)
        if int8 and name in _QUANTIZED:
            entries[name + INT8] = _entry(write_int8(path), inputs)
    return GraphFiles(folder, GraphManifest(model=model, polyvox=__version__, opset=opset, sources={}, graphs=entries))


def _entry(path: Path, inputs: dict[str, tuple[int | str, ...]]) -> GraphEntry:
    return GraphEntry(file=path.name, sha256=sha256_of(path), bytes=path.stat().st_size, inputs=inputs)


def verify(flow: Flow, vocoder: Hift | CausalHift, files: GraphFiles) -> None:
    """Compare a stream by the graphs with one by the networks; BundleError where they deviate."""
    threads = share_of_cores(1)

    def opened(name: str) -> OrtTensorGraph:
        return OrtTensorGraph(files.path(name), "cpu", threads)

    chunks = stream_mel(flow, flow.eager_runner)
    flow_by_graph = torch.cat(stream_mel(flow, graph_flow(flow, files, opened)), dim=2)
    samples = stream_samples(graph_vocoder(vocoder, files, opened), chunks)
    found = {
        "flow": deviation(flow_by_graph, torch.cat(chunks, dim=2)),
        "vocoder": deviation(samples, stream_samples(vocoder, chunks)),
    }
    for name, value in found.items():
        if value > TOLERANCE:
            raise BundleError(
                f"The exported {name} deviates from the network by {value:.2g} of the result's spread, more than "
                f"{TOLERANCE:g}; nothing was written."
            )
