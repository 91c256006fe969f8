"""CosyVoice's graphs by TensorRT, whose module is replaced at its border: no GPU runs these tests."""

import stat

import pytest
import torch
from structlog.testing import capture_logs

from helpers import fake_tensorrt
from helpers.tiny_cosyvoice import tiny_model
from polyvox.engines.cosyvoice.decoder import executors
from polyvox.engines.cosyvoice.decoder.executors import GraphOpener, Token2WavExecutors
from polyvox.engines.cosyvoice.decoder.hops import hop_lengths
from polyvox.engines.cosyvoice.graph_files import TOKEN_ENCODER, open_graphs
from polyvox.engines.cosyvoice.loading import load_model
from polyvox.engines.cosyvoice.onnx_export.export import export
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.runtime.executors.tensorrt import TensorRtGraph, read_plan, write_plan
from polyvox.types import ChunkPolicy

pytestmark = pytest.mark.long

CPU = torch.device("cpu")


def made(folder, version):
    """A small model with its graphs."""
    export(tiny_model(folder, version), folder / "onnx", int8=False)
    return load_model(folder, version, CosyVoiceSettings())


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return made(tmp_path_factory.mktemp("model") / "model", 3)


@pytest.fixture(autouse=True)
def tensorrt(monkeypatch):
    monkeypatch.setattr(executors, "import_tensorrt", lambda: fake_tensorrt)
    monkeypatch.setattr(fake_tensorrt.Builder, "made", [])
    return fake_tensorrt


def opened(model, folder, **settings):
    """The smallest graph by TensorRT."""
    files = open_graphs(model.bundle.folder / "onnx", model.bundle)
    opener = GraphOpener(files, CosyVoiceSettings(tensorrt_dir=folder, **settings), CPU, "tensorrt")
    return opener(TOKEN_ENCODER)


@pytest.mark.parametrize("version", [2, 3])
def test_a_start_builds_engines_that_pass_the_self_test(model, tmp_path, tensorrt, version):
    model = model if version == 3 else made(tmp_path / "model", version)
    engines = tmp_path / "engines"
    settings = CosyVoiceSettings(
        flow_executor="tensorrt", vocoder_executor="tensorrt", tensorrt_dir=engines, tensorrt_workspace_bytes=1 << 28
    )
    stages = Token2WavExecutors(model.networks.token2wav, model.bundle, settings)
    hops = hop_lengths(ChunkPolicy(25, 2.0, 100), 25)
    assert stages.prepare(hops, 1, gpu=False) == ""
    assert isinstance(model.networks.token2wav.flow_stage.runner.solver._graph, TensorRtGraph)
    assert isinstance(model.networks.token2wav.vocoder_stage.vocoder.filter._graph, TensorRtGraph)
    assert [builder.config.limits for builder in tensorrt.Builder.made] == [
        {tensorrt.MemoryPoolType.WORKSPACE: 1 << 28}
    ] * 3
    assert len(list(engines.iterdir())) == 3


def test_engines_are_kept_apart_by_precision_release_and_graph(model, tmp_path, tensorrt, monkeypatch):
    for _ in range(2):
        opened(model, tmp_path)
        assert len(tensorrt.Builder.made) == 1
    opened(model, tmp_path, tensorrt_fp16=True)
    assert tensorrt.Builder.made[1].config.flags == {tensorrt.BuilderFlag.FP16}
    monkeypatch.setattr(tensorrt, "__version__", "11.0/../x")
    opened(model, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == len(tensorrt.Builder.made) == 3
    graph = open_graphs(model.bundle.folder / "onnx", model.bundle).entry(TOKEN_ENCODER).sha256
    assert all(name.startswith(graph[:32]) and name.endswith(".plan") and "/" not in name for name in names)


def test_an_engine_that_is_damaged_or_that_others_may_write_is_built_again(model, tmp_path, tensorrt):
    opened(model, tmp_path)
    (path,) = tmp_path.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:40] + b"?" + whole[41:], b""):
        path.write_bytes(damaged)
        with capture_logs() as logs:
            opened(model, tmp_path)
        assert "is damaged, or others may write it" in logs[0]["event"]
        assert path.read_bytes() == whole
    path.chmod(0o622)
    opened(model, tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(tensorrt.Builder.made) == 5


def test_an_engine_that_cannot_be_read_is_an_error_with_a_reason(model, tmp_path, tensorrt, monkeypatch):
    monkeypatch.setattr(tensorrt.Runtime, "refuses", True)
    with pytest.raises(RuntimeError, match="cannot read the engine that it built"):
        opened(model, tmp_path)
    monkeypatch.setattr(tensorrt.OnnxParser, "parse", lambda self, content: False)
    with pytest.raises(RuntimeError, match=r"cannot read token_encoder\.onnx: no graph"):
        opened(model, tmp_path / "other")
    monkeypatch.setattr(tensorrt.OnnxParser, "parse", lambda self, content: True)
    monkeypatch.setattr(tensorrt.Builder, "build_serialized_network", lambda self, network, config: None)
    with pytest.raises(RuntimeError, match="could not build an engine"):
        opened(model, tmp_path / "other")


def test_inputs_longer_than_the_profile_are_refused(model, tmp_path):
    graph = opened(model, tmp_path)
    with pytest.raises(RuntimeError, match="built for other shapes of tokens"):
        graph({"tokens": torch.zeros(1, 5000, dtype=torch.long)})


def test_a_plan_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "engine.plan"
    write_plan(path, b"engine")
    assert read_plan(path) == b"engine"

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_plan(path, b"another")
    assert read_plan(path) == b"engine"
    assert [each.name for each in path.parent.iterdir()] == ["engine.plan"]
