"""The graph builder, and the graphs of small random weights against the same arithmetic in PyTorch."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest

from helpers.random_networks import BLOCKS, TRUNK, Weights, campplus_weights, distillmos_weights
from helpers.tables import each_row
from polyvox.bundles.onnx_graphs.builder import FLOAT, INT64, GraphBuilder, serialize
from polyvox.bundles.onnx_graphs.campplus import campplus_graph
from polyvox.bundles.onnx_graphs.distillmos import distillmos_graph


def run(graph: bytes, **inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    (result,) = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"]).run(None, inputs)
    return result


def test_a_graph_has_typed_inputs_several_outputs_and_metadata():
    net = GraphBuilder()
    low, high = net.ops("Split", "x", net.integers(2, 2), count=2, axis=1)
    rows = net.op("Cast", net.size("x", 0), to=FLOAT)
    scaled = net.op("Mul", net.op("Add", high, net.scalar(0.5)), net.op("Cast", "times", to=FLOAT))
    model = net.model(
        {"x": (FLOAT, ("n", 4)), "times": (INT64, ())},
        {"low": (net.slice(low, 0, 1, 1), ("n", 1)), "scaled": (scaled, ("n", 2)), "rows": (rows, (1,))},
        name="sample",
        metadata={"version": "1"},
    )
    assert (model.graph.name, {note.key: note.value for note in model.metadata_props}) == ("sample", {"version": "1"})
    assert [list(tensor.dims) for tensor in model.graph.initializer].count([]) == 1
    session = onnxruntime.InferenceSession(serialize(model), providers=["CPUExecutionProvider"])
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    low, scaled, rows = session.run(None, {"x": x, "times": np.array(3)})
    np.testing.assert_array_equal(low, x[:, :1])
    np.testing.assert_array_equal(scaled, (x[:, 2:] + 0.5) * 3)
    np.testing.assert_array_equal(rows, [2.0])


def test_equal_integer_vectors_share_an_initializer():
    net = GraphBuilder()
    assert net.integers(1, 2) == net.integers(1, 2) != net.integers(2, 1)


def features(frames: int, seed: int = 0, batch: int = 1) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((batch, frames, 80)).astype(np.float32)


def spectrum(seed: int = 0, batch: int = 1) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((batch, 2, 161, 768)).astype(np.float32)


@each_row(("build", "weights"), [(campplus_graph, campplus_weights()), (distillmos_graph, distillmos_weights())])
def test_the_same_weights_give_the_same_bytes(build: Callable[[Mapping], bytes], weights: Weights):
    assert build(weights) == build({name: value.copy() for name, value in reversed(weights.items())})


@pytest.mark.long
def test_an_embedding_does_not_depend_on_its_batch_mates():
    graph = campplus_graph(campplus_weights())
    batch = features(230, batch=3)
    together = run(graph, features=batch)
    assert together.shape == (3, 192)
    for item, embedding in zip(batch, together, strict=True):
        np.testing.assert_allclose(run(graph, features=item[np.newaxis])[0], embedding, rtol=1e-4, atol=1e-4)


def test_a_quality_lies_between_1_and_5():
    (mos,) = run(distillmos_graph(distillmos_weights()), spectrum=spectrum())
    assert 1.0 < mos < 5.0


@pytest.mark.slow
@each_row("frames", [3, 40, 200, 201, 430])
def test_campplus_is_the_network_it_claims_to_be(frames):
    weights, given = campplus_weights(), features(frames)
    np.testing.assert_allclose(
        run(campplus_graph(weights), features=given), torch_campplus(weights, given), rtol=1e-3, atol=1e-4
    )


@pytest.mark.slow
def test_distillmos_is_the_network_it_claims_to_be():
    weights, given = distillmos_weights(), spectrum()
    np.testing.assert_allclose(
        run(distillmos_graph(weights), spectrum=given), torch_distillmos(weights, given), atol=1e-4
    )


def torch_campplus(weights: Weights, given: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    w = {name: torch.from_numpy(value) for name, value in weights.items()}

    def norm(x, name):
        learned = w.get(f"{name}.weight"), w.get(f"{name}.bias")
        return functional.batch_norm(x, w[f"{name}.running_mean"], w[f"{name}.running_var"], *learned)

    def masked(y, name, dilation):
        local = functional.conv1d(y, w[f"{name}.linear_local.weight"], padding=dilation, dilation=dilation)
        pooled = functional.avg_pool1d(y, 100, 100, ceil_mode=True).repeat_interleave(100, dim=-1)
        context = y.mean(-1, keepdim=True) + pooled[..., : y.shape[-1]]
        for linear, activation in (("linear1", torch.relu), ("linear2", torch.sigmoid)):
            context = activation(functional.conv1d(context, w[f"{name}.{linear}.weight"], w[f"{name}.{linear}.bias"]))
        return local * context

    def residual(x, name, stride):
        y = torch.relu(
            norm(functional.conv2d(x, w[f"{name}.conv1.weight"], stride=(stride, 1), padding=1), f"{name}.bn1")
        )
        y = norm(functional.conv2d(y, w[f"{name}.conv2.weight"], padding=1), f"{name}.bn2")
        if f"{name}.shortcut.0.weight" in w:
            x = norm(functional.conv2d(x, w[f"{name}.shortcut.0.weight"], stride=(stride, 1)), f"{name}.shortcut.1")
        return torch.relu(x + y)

    x = torch.from_numpy(given).transpose(1, 2).unsqueeze(1)
    x = torch.relu(norm(functional.conv2d(x, w["head.conv1.weight"], padding=1), "head.bn1"))
    for layer in ("head.layer1", "head.layer2"):
        x = residual(residual(x, f"{layer}.0", 2), f"{layer}.1", 1)
    x = torch.relu(norm(functional.conv2d(x, w["head.conv2.weight"], stride=(2, 1), padding=1), "head.bn2")).flatten(
        1, 2
    )
    x = functional.conv1d(x, w["xvector.tdnn.linear.weight"], stride=2, padding=2)
    x = torch.relu(norm(x, "xvector.tdnn.nonlinear.batchnorm"))
    for number, (layers, dilation) in enumerate(BLOCKS, start=1):
        for layer in range(1, layers + 1):
            name = f"xvector.block{number}.tdnnd{layer}"
            y = functional.conv1d(torch.relu(norm(x, f"{name}.nonlinear1.batchnorm")), w[f"{name}.linear1.weight"])
            y = masked(torch.relu(norm(y, f"{name}.nonlinear2.batchnorm")), f"{name}.cam_layer", dilation)
            x = torch.cat((x, y), dim=1)
        name = f"xvector.transit{number}"
        x = functional.conv1d(torch.relu(norm(x, f"{name}.nonlinear.batchnorm")), w[f"{name}.linear.weight"])
    x = torch.relu(norm(x, "xvector.out_nonlinear.batchnorm"))
    statistics = torch.cat((x.mean(-1), x.std(-1)), dim=1).unsqueeze(-1)
    dense = functional.conv1d(statistics, w["xvector.dense.linear.weight"])
    return norm(dense, "xvector.dense.nonlinear.batchnorm").squeeze(-1).numpy()


def torch_distillmos(weights: Weights, given: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    w = {name: torch.from_numpy(value) for name, value in weights.items()}

    def norm(x, name):
        parts = (w[f"{TRUNK}.{name}.{part}"] for part in ("running_mean", "running_var", "weight", "bias"))
        return functional.batch_norm(x.transpose(1, 2), *parts).transpose(1, 2)

    def linear(x, name):
        return functional.linear(x, w[f"{TRUNK}.{name}.weight"], w[f"{TRUNK}.{name}.bias"])

    x = torch.from_numpy(given)
    for index, stride in enumerate(((1, 1), (2, 1), (2, 1), (2, 1), (2, 1), (2, 2))):
        name = f"model.cnn.cnn.{2 * index}"
        x = functional.conv2d(x, w[f"{name}.weight"], w[f"{name}.bias"], stride=stride, padding=(0, 1))
        x = functional.leaky_relu(x, 0.1)
    x = norm(norm(x.flatten(1, 2).transpose(1, 2), "norm_input"), "transformer.norm")
    x = linear(x, "transformer.linear_proj") + w[f"{TRUNK}.transformer.position_encoding.pe"]
    layer = torch.nn.TransformerEncoderLayer(200, 8, dim_feedforward=16, dropout=0.0, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 7).eval()
    prefix = f"{TRUNK}.transformer.transformer_encoder."
    encoder.load_state_dict({key.removeprefix(prefix): w[key] for key in w if key.startswith(prefix)})
    with torch.no_grad():
        x = norm(encoder(x), "norm_trans")
        shares = torch.softmax(linear(torch.relu(linear(x, "pool.linear1")), "pool.linear2"), dim=1)
        return (1 + 4 * torch.sigmoid(linear((shares * x).sum(dim=1), "pool.linear3"))).squeeze(-1).numpy()
