"""Kokoro's front cut out of a graph, and the graphs of Wren that come with the package."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from polyvox.bundles.onnx_graphs.builder import FLOAT, GraphBuilder, serialize
from polyvox.bundles.onnx_graphs.kokoro_front import OUTPUTS, front_graph
from polyvox.engines.kokoro.wren.decoder import WrenDecoder
from polyvox.engines.kokoro.wren.plan import UtterancePlan
from polyvox.errors import BundleError
from polyvox.onnx_session import open_session

GRAPHS = Path(str(files("polyvox.engines.kokoro.wren") / "graphs"))


def write_whole(path: Path, tensors: dict[str, str]) -> None:
    """A graph that doubles its input under each of these tensors' names, and a decoder behind one of them."""
    graph = GraphBuilder()
    weights = [graph.constant(np.full(3, 2 + index), np.float32) for index in range(len(tensors))]
    made = [graph.op("Mul", "style", weight) for weight in weights]
    waveform = graph.op("Mul", made[0], graph.constant(np.full(3, 100), np.float32))
    model = graph.model({"style": (FLOAT, ("n", 3)), "speed": (FLOAT, (1,))}, {"waveform": (waveform, ("n", 3))})
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [dict(zip(made, tensors.values(), strict=True)).get(name, name) for name in names]
    path.write_bytes(serialize(model))


def test_the_front_gives_what_the_decoder_took_and_leaves_the_decoder_out(tmp_path: Path) -> None:
    write_whole(tmp_path / "model.onnx", dict(OUTPUTS))
    front = front_graph(tmp_path / "model.onnx")
    session = open_session(front)
    assert [given.name for given in session.get_inputs()] == ["style"]
    given = np.array([[1, 2, 3]], np.float32)
    results = session.run(list(OUTPUTS), {"style": given})
    for index, result in enumerate(results):
        np.testing.assert_array_equal(result, given * (2 + index))
    assert np.full(3, 100, np.float32).tobytes() not in front


def test_a_graph_without_those_tensors_is_refused(tmp_path: Path) -> None:
    write_whole(tmp_path / "model.onnx", {**OUTPUTS, "energy": "elsewhere"})
    with pytest.raises(BundleError, match=r"lacks /encoder/Reshape_1_output_0"):
        front_graph(tmp_path / "model.onnx")


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(BundleError, match="fetch it again"):
        front_graph(tmp_path / "model.onnx")


def test_the_graphs_of_the_package_are_small_and_speak() -> None:
    assert sum(file.stat().st_size for file in GRAPHS.glob("*.onnx")) < 21_000_000
    frames = 24
    plan = UtterancePlan(
        np.zeros((512, frames), np.float32),
        np.full(2 * frames, 120, np.float32),
        np.zeros(2 * frames, np.float32),
        np.zeros(128, np.float32),
        np.full(3, 8),
    )
    decoder = WrenDecoder(GRAPHS, 1)
    samples = decoder.decode(plan)
    assert samples.shape == (frames * 600,)
    assert 0 < np.abs(samples).max() < 1
    np.testing.assert_array_equal(samples, decoder.decode(plan))
    pieces = np.concatenate(list(decoder.start(plan).pieces(4)))
    assert np.square(pieces - samples).sum() < 1e-4 * np.square(samples).sum()
