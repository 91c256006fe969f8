"""Graphs on PyTorch tensors by ONNX Runtime; a GPU's session is replaced at its border."""

import numpy as np
import onnx
import pytest
import torch

from polyvox.bundles.onnx_graphs.builder import FLOAT, GraphBuilder
from polyvox.errors import BundleError
from polyvox.runtime.executors import ort_tensors
from polyvox.runtime.executors.ort_tensors import OrtTensorGraph


@pytest.fixture
def path(tmp_path):
    graph = GraphBuilder()
    doubled = graph.op("Add", "x", "x")
    shape = ("n", 2)
    model = graph.model({"x": (FLOAT, shape)}, {"twice": (doubled, shape)})
    onnx.save(model, tmp_path / "graph.onnx")
    return tmp_path / "graph.onnx"


def test_on_the_cpu_tensors_of_any_length_go_in_and_out(path):
    graph = OrtTensorGraph(path, "cpu", 1)
    for count in (3, 0, 5):
        given = torch.arange(2.0 * count).view(2, count).T
        torch.testing.assert_close(graph({"x": given})["twice"], 2 * given)


def test_what_the_graph_refuses_is_a_runtime_error(path):
    with pytest.raises(RuntimeError, match="ONNX Runtime failed"):
        OrtTensorGraph(path, "cpu", 1)({"x": torch.zeros(2, 3)})


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"no graph")
    with pytest.raises(BundleError, match=r"broken\.onnx cannot be opened as a graph .* export the model again"):
        OrtTensorGraph(tmp_path / "broken.onnx", "cpu", 1)


class Binding:
    """A session of a GPU and its binding, which computes where the tensors lie."""

    def __init__(self, path, options, providers):
        self.providers = providers
        self.bound, self.outputs = {}, {}

    def get_outputs(self):
        if not self.outputs:
            return [type("Output", (), {"name": "twice"})()]
        return [type("Value", (), {"_ortvalue": self})()]

    def io_binding(self):
        self.bound, self.outputs = {}, {}
        return self

    def bind_input(self, name, device, index, kind, shape, address):
        self.bound[name] = (device, index, kind, shape, address)

    def bind_output(self, name, device, index):
        self.outputs[name] = (device, index)

    def run_with_iobinding(self, binding):
        assert binding.outputs == {"twice": ("cuda", 0)}

    def to_dlpack(self):
        return torch.utils.dlpack.to_dlpack(torch.full((3, 2), 4.0))


@pytest.mark.parametrize("provider", ["cuda", "tensorrt"])
def test_on_a_gpu_inputs_are_bound_where_they_are_and_outputs_stay_there(path, monkeypatch, provider):
    waited = []
    monkeypatch.setattr(ort_tensors.onnxruntime, "InferenceSession", Binding)
    monkeypatch.setattr(ort_tensors, "available_providers", lambda: ("cpu", "cuda", "tensorrt"))
    stream = type("Stream", (), {"synchronize": lambda self: waited.append(1)})()
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    graph = OrtTensorGraph(path, provider, 1, {"use_tf32": "0"})
    given = torch.ones(3, 2)
    outputs = graph({"x": given})
    session = graph._session
    assert session.providers[0] == (
        {"cuda": "CUDAExecutionProvider", "tensorrt": "TensorrtExecutionProvider"}[provider],
        {"use_tf32": "0"},
    )
    assert session.providers[-1] == "CPUExecutionProvider"
    assert session.bound == {"x": ("cpu", 0, np.float32, (3, 2), given.data_ptr())}
    assert waited == [1]
    torch.testing.assert_close(outputs["twice"], torch.full((3, 2), 4.0))


def test_a_provider_that_is_not_installed_is_named_with_the_remedy(path):
    with pytest.raises(RuntimeError, match=r"has no CUDAExecutionProvider; install onnxruntime-gpu"):
        OrtTensorGraph(path, "cuda", 1)
