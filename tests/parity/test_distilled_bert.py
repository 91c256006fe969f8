"""The small transformer in ALBERT's place: its graph against PyTorch, padding, and the weights that ship."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from polyvox.bundles.onnx_graphs.distilled_bert import INPUT, distilled_bert_graph  # noqa: E402
from polyvox.bundles.wren_weights import read_distilled_bert  # noqa: E402
from polyvox.errors import BundleError  # noqa: E402
from polyvox.models.kokoro.distilled_bert import DistilledBert, DistilledBertConfig, load_distilled_bert  # noqa: E402
from polyvox.models.kokoro.ragged import Ragged  # noqa: E402
from polyvox.onnx_session import open_session  # noqa: E402

TINY = DistilledBertConfig(tokens=11, width=128, layers=2, feed_forward=192, positions=40, outputs=24)
SHIPPED = Path(str(files("polyvox.engines.kokoro.wren") / "graphs" / "bert.onnx"))


@pytest.fixture
def tiny() -> DistilledBert:
    generator = torch.Generator().manual_seed(5)
    network = DistilledBert(TINY).eval().requires_grad_(False)
    for parameter in network.parameters():
        parameter.copy_(torch.randn(parameter.shape, generator=generator) / parameter.shape[-1] ** 0.5)
    return network


def outputs(network: DistilledBert, *rows: list[int]) -> list[torch.Tensor]:
    """Each row's own outputs of one batch."""
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for row, given in zip(ids, rows, strict=True):
        row[: len(given)] = torch.tensor(given)
    batch = network(ids, Ragged([len(row) for row in rows], torch.device("cpu")))
    return [found[: len(row)] for found, row in zip(batch, rows, strict=True)]


def by_graph(graph: bytes, row: list[int]) -> torch.Tensor:
    return torch.from_numpy(open_session(graph).run(None, {INPUT: np.array([row], np.int64)})[0][0])


def test_a_row_is_the_same_alone_and_beside_a_longer_one(tiny: DistilledBert) -> None:
    short, long = [0, 3, 5, 2, 0], [0, *range(1, 11), *range(1, 11), 0]
    (alone,) = outputs(tiny, short)
    beside = outputs(tiny, short, long)[0]
    torch.testing.assert_close(beside, alone, atol=1e-5, rtol=0)
    assert not torch.allclose(alone, outputs(tiny, [0, 3, 5, 4, 0])[0])


def test_the_graph_is_the_network_within_8_bits_and_gives_its_weights_back(tiny: DistilledBert, tmp_path: Path) -> None:
    graph = distilled_bert_graph({name: tensor.numpy() for name, tensor in tiny.state_dict().items()})
    (tmp_path / "bert.onnx").write_bytes(graph)
    state = read_distilled_bert(tmp_path / "bert.onnx")
    assert DistilledBertConfig.of_weights(state) == TINY
    for name, tensor in tiny.state_dict().items():
        assert (state[name] - tensor).abs().max() <= tensor.abs().max() / 254 + 2e-3, name
    row = [0, 7, 1, 4, 10, 2, 2, 0]
    (wanted,) = outputs(load_distilled_bert(state), row)
    found = by_graph(graph, row)
    assert (found - wanted).square().mean() < 1e-3 * wanted.square().mean()


def test_the_shipped_graph_is_the_network_that_pytorch_reads_from_it() -> None:
    network = load_distilled_bert(read_distilled_bert(SHIPPED))
    assert network.config == DistilledBertConfig()
    row = [0, 50, 83, 54, 156, 57, 135, 16, 65, 156, 87, 158, 54, 46, 5, 0]
    (wanted,) = outputs(network, row)
    assert (by_graph(SHIPPED.read_bytes(), row) - wanted).square().mean() < 0.02 * wanted.square().mean()


def test_another_graph_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bert.onnx").write_bytes(SHIPPED.with_name("plan.onnx").read_bytes())
    with pytest.raises(BundleError, match="install it again"):
        read_distilled_bert(tmp_path / "bert.onnx")
