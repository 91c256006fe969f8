"""Sums of 8-bit products: exact on every processor, by the graphs' weights or by ONNX Runtime's unsigned kernels."""

import platform
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import GraphProto, numpy_helper

from polyvox import onnx_session
from polyvox.bundles.validate import Bundle
from polyvox.onnx_session import probe_sums, session_options, signed_sums_saturate

WREN = Path(str(files("polyvox.engines.kokoro.wren") / "graphs"))
G2P = Path(str(files("polyvox.text.phonemes.english")))
LARGEST = 32767 // 2 // 255
"""Two products of such a weight with any activation add up to a number of 16 bits."""
WIDENED = {"Cast", "DequantizeLinear", "Gather"}
"""Operators that take 8-bit weights and multiply none of them."""


def clipped_sums(activations: npt.NDArray[np.uint8], weights: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """A product of matrices as x86 processors without 8-bit dot products compute it: pairs are added in 16 bits."""
    products = activations.astype(np.int64)[:, :, None] * weights.astype(np.int64)
    pairs = products[:, ::2] + products[:, 1::2]
    return np.clip(pairs, -32768, 32767).sum(axis=1)


@pytest.fixture
def fresh_answer() -> Iterator[None]:
    signed_sums_saturate.cache_clear()
    yield
    signed_sums_saturate.cache_clear()


def test_sums_of_8_bit_products_are_exact_on_this_processor() -> None:
    sums, truth = probe_sums(exact=signed_sums_saturate())
    np.testing.assert_array_equal(sums, truth)


def test_the_probe_is_wrong_where_pairs_are_added_in_16_bits() -> None:
    clipped = clipped_sums(np.full((2, 32), 255, np.uint8), np.full((32, 16), 127, np.int8))
    _, truth = probe_sums(exact=True)
    assert clipped.shape == truth.shape
    assert np.all(clipped < truth)


@pytest.mark.parametrize(
    ("machine", "short_by", "entry"),
    [("x86_64", 1, "1"), ("AMD64", 1, "1"), ("x86_64", 0, "0"), ("aarch64", 1, "0")],
)
def test_sessions_take_unsigned_kernels_only_where_the_signed_ones_are_wrong(
    machine: str, short_by: int, entry: str, monkeypatch: pytest.MonkeyPatch, fresh_answer: None
) -> None:
    truth = np.full((2, 16), 9, np.int32)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(onnx_session, "probe_sums", lambda *, exact: (truth - short_by, truth))
    assert session_options(1).get_session_config_entry("session.x64quantprecision") == entry


def test_weights_of_7_bits_cannot_saturate_and_larger_ones_can() -> None:
    activations = np.full((1, 2), 255, np.uint8)
    for weight in (LARGEST, -LARGEST, LARGEST + 1):
        weights = np.full((2, 1), weight, np.int8)
        exact = activations.astype(np.int64) @ weights.astype(np.int64)
        assert np.array_equal(clipped_sums(activations, weights), exact) is (abs(weight) <= LARGEST)


def graphs_in(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs_in(attribute.g)


def signed_weights(path: Path) -> dict[str, npt.NDArray[np.int8]]:
    """The signed 8-bit weights that a graph multiplies as such, by name."""
    graphs = list(graphs_in(onnx.load(path).graph))
    signed = {
        tensor.name: tensor for graph in graphs for tensor in graph.initializer if tensor.data_type == tensor.INT8
    }
    used = {
        name for graph in graphs for node in graph.node if node.op_type not in WIDENED for name in node.input if name
    }
    return {name: numpy_helper.to_array(tensor) for name, tensor in signed.items() if name in used}


def check_safe(path: Path) -> None:
    for name, weights in signed_weights(path).items():
        assert np.abs(weights.astype(int)).max(initial=0) <= LARGEST, (path.name, name)


def test_no_graph_of_the_package_can_saturate() -> None:
    paths = [*WREN.glob("*.onnx"), *G2P.rglob("*.onnx")]
    assert len(paths) == 6
    for path in paths:
        check_safe(path)


@pytest.mark.slow
def test_no_graph_of_kokoro_or_moonshine_can_saturate(installed: Callable[[str], Bundle]) -> None:
    kokoro = installed("kokoro").file("model.onnx")
    assert len(signed_weights(kokoro)) > 100
    for path in (kokoro, *installed("moonshine-base").folder.glob("*.onnx")):
        check_safe(path)


def test_a_graph_that_can_saturate_is_found(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(np.array([[LARGEST], [LARGEST + 1]], np.int8), "weights")
    node = onnx.helper.make_node("MatMulInteger", ["x", "weights"], ["y"])
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], [], [weights])), tmp_path / "g.onnx")
    with pytest.raises(AssertionError, match="weights"):
        check_safe(tmp_path / "g.onnx")
