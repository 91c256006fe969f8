"""CosyVoice's exported graphs stream as the networks do, are told from stale ones, and give way to PyTorch."""

import json
import re
import shutil
from contextlib import aclosing
from copy import copy as copy_module
from dataclasses import replace

import numpy as np
import onnx
import pytest
import torch
from structlog.testing import capture_logs
from typer.testing import CliRunner

from helpers.tiny_cosyvoice import tiny_model
from polyvox.bundles.onnx_graphs.builder import shape_of
from polyvox.cli.main import app
from polyvox.engines.cosyvoice.bundle import open_model
from polyvox.engines.cosyvoice.decoder import executors
from polyvox.engines.cosyvoice.decoder.executors import GraphOpener, Token2WavExecutors
from polyvox.engines.cosyvoice.decoder.graph_networks import GraphFilter, GraphSolver, graph_flow, graph_vocoder
from polyvox.engines.cosyvoice.decoder.hops import hop_lengths
from polyvox.engines.cosyvoice.decoder.released_estimator import RELEASED, released_deviation
from polyvox.engines.cosyvoice.decoder.self_test import deviation, stream_mel
from polyvox.engines.cosyvoice.engine import CosyVoiceEngine
from polyvox.engines.cosyvoice.folder_check import check_folder
from polyvox.engines.cosyvoice.graph_files import ESTIMATOR, MANIFEST, TOKEN_ENCODER, VOCODER, open_graphs
from polyvox.engines.cosyvoice.loading import load_model
from polyvox.engines.cosyvoice.onnx_export import export as exporting
from polyvox.engines.cosyvoice.onnx_export.estimator import estimator_graph
from polyvox.engines.cosyvoice.onnx_export.export import export
from polyvox.engines.cosyvoice.settings import CosyVoiceSettings
from polyvox.errors import BundleError, InvalidRequestError, UnavailableError
from polyvox.installation import load_settings
from polyvox.models.cosyvoice.flow import FlowPrompt
from polyvox.models.cosyvoice.noise import flow_noise
from polyvox.models.cosyvoice.ode_solver import cosine_schedule
from polyvox.types import ChunkPolicy, Utterance

pytestmark = [pytest.mark.anyio, pytest.mark.long]
VERSIONS = pytest.mark.parametrize("version", [2, 3])
HOPS = hop_lengths(ChunkPolicy(25, 2.0, 100), 25)
BY_GRAPHS = {"flow_executor": "onnxruntime", "vocoder_executor": "onnxruntime"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A small model of each version with its graphs, by version."""
    root = tmp_path_factory.mktemp("models")
    made = {version: tiny_model(root / f"cosyvoice{version}", version) for version in (2, 3)}
    for folder in made.values():
        export(folder, folder / "onnx", int8=True)
    return made


@pytest.fixture(scope="module")
def models(folders):
    """The models in memory, by version."""
    return {version: load_model(folder, version, CosyVoiceSettings()) for version, folder in folders.items()}


@pytest.fixture(scope="module")
def runners(models):
    """The flow and the vocoder of each version by its graphs, on ONNX Runtime."""
    return {version: by_graphs(model) for version, model in models.items()}


def by_graphs(model, **settings):
    token2wav = model.networks.token2wav
    files = open_graphs(model.bundle.folder / "onnx", model.bundle)
    opener = GraphOpener(files, CosyVoiceSettings(**settings), torch.device("cpu"), "onnxruntime")
    return graph_flow(token2wav.flow, files, opener), graph_vocoder(token2wav.vocoder, files, opener)


@pytest.fixture
def copy(folders, tmp_path):
    """Version 3's folder, to be spoiled."""
    return shutil.copytree(folders[3], tmp_path / "copy", symlinks=True)


@pytest.fixture
def token2wav(models, version):
    """The audio decoder, which is PyTorch's alone again after the test."""
    found = models[version].networks.token2wav
    yield found
    found.use(flow_runner=found.flow.eager_runner, vocoder_runner=found.vocoder)


def prepared(model, **settings):
    """Give a model the executors that the settings name; returns the warning."""
    chosen = CosyVoiceSettings(**settings)
    return Token2WavExecutors(model.networks.token2wav, model.bundle, chosen).prepare(HOPS, 1, gpu=False)


@torch.inference_mode()
def mels(flow, runner, prompt=0, sizes=(28, 50, 6), window=None):
    """The mel of a stream's first, middle and last chunk, in a voice with a prompt of so many tokens."""
    generator = torch.Generator().manual_seed(1)
    voice = FlowPrompt(
        torch.randint(250, (1, prompt), generator=generator),
        torch.randn(1, 80, 2 * prompt, generator=generator),
        torch.randn(1, 192, generator=generator),
    )
    state, found = flow.start(voice, flow_noise(), window=window), []
    for index, size in enumerate(sizes):
        tokens = torch.randint(250, (1, size), generator=generator)
        mel, state = flow.step(tokens, state, final=index == len(sizes) - 1, runner=runner)
        found.append(mel)
    return found


def close(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        assert other.numel() > 0
        torch.testing.assert_close(mine, other, atol=1e-3, rtol=0)


@VERSIONS
@pytest.mark.parametrize(("prompt", "window"), [(30, None), (0, 30)])
def test_the_flow_by_graphs_makes_the_networks_mel_in_every_chunk(models, runners, version, prompt, window):
    flow = models[version].networks.token2wav.flow
    close(*(mels(flow, runner, prompt, window=window) for runner in (runners[version][0], None)))


@VERSIONS
def test_a_single_token_without_a_prompt_is_spoken(models, runners, version):
    flow = models[version].networks.token2wav.flow
    (mel,) = mels(flow, None, sizes=(1,))
    assert mel.shape == (1, 80, 2)
    close(mels(flow, runners[version][0], sizes=(1,)), [mel])


@VERSIONS
@torch.inference_mode()
def test_the_vocoder_by_graphs_makes_the_networks_samples_in_every_chunk(models, runners, version):
    flow, vocoder = models[version].networks.token2wav.flow, models[version].networks.token2wav.vocoder
    chunks = mels(flow, None)
    states = [vocoder.start(torch.ones(1, 480 * 400, 9)) if version == 3 else None] * 2
    for index, mel in enumerate(chunks):
        results = []
        for which, each in enumerate((runners[version][1], vocoder)):
            before, final = states[which], index == len(chunks) - 1
            if version == 3:
                samples, states[which] = each.step(mel, before, final=final)
            else:
                frames = mel.shape[2] + (0 if before is None else before.mel.shape[2])
                samples, states[which] = each.step(mel, torch.ones(1, 480 * frames, 9), before, final=final)
            results.append(samples)
        close(results[:1], results[1:])


@VERSIONS
def test_a_start_by_graphs_passes_its_self_test_and_streams_the_same_sound(models, token2wav, version):
    voice = models[version].voices["spk_a"]

    def pcm():
        first = token2wav.step(range(60), token2wav.start(voice), final=False)
        return np.concatenate((first.pcm, token2wav.step(range(9), first.state, final=True).pcm))

    eager = pcm()
    assert prepared(models[version], **BY_GRAPHS) == ""
    assert isinstance(token2wav.flow_stage.runner.solver, GraphSolver)
    assert isinstance(token2wav.vocoder_stage.vocoder.filter, GraphFilter)
    ours = pcm()
    # Vocoders amplify rounding, for their phases are long sums.
    assert 10 * np.log10(np.square(eager).mean() / np.square(ours - eager).mean()) > 30
    assert prepared(models[version], flow_executor="eager", vocoder_executor="eager") == ""
    assert token2wav.vocoder_stage.vocoder is token2wav.vocoder
    np.testing.assert_array_equal(pcm(), eager)


@VERSIONS
def test_int8_graphs_multiply_in_8_bits_and_stay_close(folders, models, version):
    flow = models[version].networks.token2wav.flow
    runner, _ = by_graphs(models[version], onnx_precision="int8")
    ours, theirs = (torch.cat(stream_mel(flow, each), dim=2) for each in (runner, flow.eager_runner))
    assert 1e-4 < deviation(ours, theirs) < 0.05
    for name in (ESTIMATOR, TOKEN_ENCODER) if version == 2 else (ESTIMATOR,):
        graph = onnx.load(folders[version] / "onnx" / f"{name}_int8.onnx").graph
        weights = {weight.name for weight in graph.initializer}
        kinds = {node.op_type for node in graph.node if weights.intersection(node.input)}
        assert "MatMulInteger" in kinds
        assert "MatMul" not in kinds


@VERSIONS
def test_graphs_are_valid_and_the_manifest_describes_them(folders, version):
    bundle = open_model(folders[version])
    files = open_graphs(folders[version] / "onnx", bundle)
    assert set(files.manifest.graphs) >= {ESTIMATOR, VOCODER, TOKEN_ENCODER, "estimator_int8", "token_encoder_int8"}
    assert (files.manifest.model, files.manifest.opset) == (f"cosyvoice{version}", 17)
    for name in (ESTIMATOR, VOCODER, TOKEN_ENCODER):
        onnx.checker.check_model(onnx.load(files.path(name)), full_check=True)
    estimator = files.entry(ESTIMATOR).inputs
    assert list(estimator) == ["mel", "mu", "speaker", "condition", "step", "end", "contexts", "kv"]
    assert estimator["mel"] == (2, 80, "frames")
    assert estimator["kv"][3] == "past"


def test_the_command_exports_by_name_and_replaces_an_earlier_export(tmp_path):
    folder = tiny_model(tmp_path / "cosyvoice3", 3)
    by_name = ["models", "export", "cosyvoice3", "--models-dir", str(tmp_path), "--no-int8"]
    for command in (by_name, ["models", "export", str(folder), "--output", str(folder / "onnx"), "--no-int8"]):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
        assert f"Wrote {folder / 'onnx' / 'estimator.onnx'}." in result.output
        assert {path.name for path in (folder / "onnx").iterdir()} == {
            MANIFEST,
            "estimator.onnx",
            "vocoder.onnx",
            "token_encoder.onnx",
        }
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_an_export_never_replaces_what_is_none(folders, tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(InvalidRequestError, match="holds no earlier export"):
        export(folders[3], tmp_path / "mine", int8=False)


def test_a_graph_that_deviates_is_not_written(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "stream_samples", lambda vocoder, given: torch.randn(1, 100))
    with pytest.raises(BundleError, match=r"vocoder deviates .* nothing was written"):
        export(folders[3], tmp_path / "graphs", int8=False)
    assert list(tmp_path.iterdir()) == []


def released_graph(flow, path):
    """A graph with the published interface: no caches, no block mask, and the time as a number."""
    blocks = replace(flow.config, block=10**6)
    given = copy_module(flow)
    given.config = blocks
    model = estimator_graph(given)
    graph, sizes = model.graph, {each.name: shape_of(each) for each in model.graph.input}
    names = {"mel": "x", "mu": "mu", "speaker": "spks", "condition": "cond"}
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    times = cosine_schedule(flow.config.steps).times.numpy()
    kv = [0 if side == "past" else side for side in sizes["kv"]]
    constants = {
        "contexts": np.zeros(sizes["contexts"], np.float32),
        "kv": np.zeros(kv, np.float32),
        "end": np.array([1000]),
        "times": times,
        "axis": np.array([0]),
    }
    graph.initializer.extend(onnx.numpy_helper.from_array(each, name) for name, each in constants.items())
    nearest = [
        onnx.helper.make_node("ReduceMin", ["t"], ["moment"], axes=[0]),
        onnx.helper.make_node("Sub", ["times", "moment"], ["differences"]),
        onnx.helper.make_node("Abs", ["differences"], ["distances"]),
        onnx.helper.make_node("ArgMin", ["distances"], ["step"], axis=0),
    ]
    nodes = [*nearest, *graph.node]
    for node in nodes:
        node.output[:] = ["estimator_out" if name == "velocity" else name for name in node.output]
    rows, speaker = ("B", 80, "T"), ("B", 80)
    inputs = {"x": rows, "mask": ("B", 1, "T"), "mu": rows, "t": ("B",), "spks": speaker, "cond": rows}
    float32 = onnx.TensorProto.FLOAT
    del graph.node[:], graph.input[:], graph.output[:]
    graph.node.extend(nodes)
    graph.input.extend(onnx.helper.make_tensor_value_info(name, float32, shape) for name, shape in inputs.items())
    graph.output.append(onnx.helper.make_tensor_value_info("estimator_out", float32, rows))
    onnx.save(model, path)


@VERSIONS
@pytest.mark.usefixtures("all_steps")
def test_the_check_compares_the_estimator_with_the_published_graph(folders, tmp_path, version):
    folder = shutil.copytree(folders[version], tmp_path / "copy", symlinks=True)
    flow = load_model(folder, version, CosyVoiceSettings()).networks.token2wav.flow
    released_graph(flow, folder / RELEASED)
    assert released_deviation(folder / RELEASED, flow) < 1e-5
    (line,) = (line for line in check_folder(folder, "llm") if line.startswith(RELEASED))
    assert re.search(r"deviates from it by \de-0[67] of the spread", line)
    other = copy_module(flow)
    other.time = flow.time.roll(1, 0)
    assert released_deviation(folder / RELEASED, other) > 1e-3
    shutil.copyfile(folder / "onnx" / "vocoder.onnx", folder / RELEASED)
    with pytest.raises(BundleError, match="takes mel, source"):
        released_deviation(folder / RELEASED, flow)


def test_version_1_is_not_exported(tmp_path):
    with pytest.raises(UnavailableError, match="CosyVoice 1 has no ONNX export"):
        export(tiny_model(tmp_path / "model", 1), tmp_path / "graphs", int8=False)


def other_weights(folder):
    path = folder / "flow.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.unlink()
    path.write_bytes(content)


def other_model(folder):
    manifest = json.loads((folder / "onnx" / MANIFEST).read_text())
    (folder / "onnx" / MANIFEST).write_text(json.dumps(manifest | {"model": "cosyvoice2"}))


def later_format(folder):
    manifest = json.loads((folder / "onnx" / MANIFEST).read_text())
    (folder / "onnx" / MANIFEST).write_text(json.dumps(manifest | {"format": 2}))


def damaged_graph(folder):
    path = folder / "onnx" / "estimator.onnx"
    path.write_bytes(path.read_bytes()[:-1] + b"x")


def path_outside(folder):
    manifest = json.loads((folder / "onnx" / MANIFEST).read_text())
    manifest["graphs"]["estimator"]["file"] = "../../estimator.onnx"
    (folder / "onnx" / MANIFEST).write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (other_weights, "were made from other weights"),
        (other_model, "were made from other weights"),
        (later_format, "cannot be read by this release"),
        (damaged_graph, "is missing or damaged"),
        (path_outside, "cannot be read by this release"),
        (lambda folder: shutil.rmtree(folder / "onnx"), "There are no ONNX graphs"),
    ],
)
def test_graphs_that_are_not_the_models_own_are_refused_with_the_remedy(copy, spoil, reason):
    spoil(copy)
    with pytest.raises(BundleError, match=reason) as refused:
        open_graphs(copy / "onnx", open_model(copy)).path(ESTIMATOR)
    assert f"run `polyvox models export {copy} --output {copy / 'onnx'}`" in refused.value.message


@pytest.mark.parametrize("version", [3])
def test_a_stage_without_graphs_stays_in_pytorch_and_says_so(models, token2wav, tmp_path, version):
    with capture_logs() as logs:
        warning = prepared(models[3], **BY_GRAPHS, onnx_dir=tmp_path)
    assert f"flow does not run by ONNX Runtime (There are no ONNX graphs in {tmp_path / 'cosyvoice3'}; run" in warning
    assert " ".join(entry["event"] for entry in logs) == warning
    assert token2wav.flow_stage.runner == token2wav.flow.eager_runner
    assert token2wav.vocoder_stage.vocoder is token2wav.vocoder


@pytest.mark.parametrize("version", [3])
def test_a_stage_that_fails_its_self_test_stays_in_pytorch(models, token2wav, monkeypatch, version):
    monkeypatch.setattr(executors, "deviation", lambda ours, theirs: 0.01)
    warning = prepared(models[3], **BY_GRAPHS)
    for stage in ("flow", "vocoder"):
        assert (
            f"CosyVoice's {stage} does not run by ONNX Runtime (it deviates from PyTorch by 0.01 of the result's "
            "spread, more than 0.001), so PyTorch runs it."
        ) in warning
    assert token2wav.flow_stage.runner == token2wav.flow.eager_runner
    assert token2wav.vocoder_stage.vocoder is token2wav.vocoder


@pytest.mark.parametrize("version", [3])
@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"flow_executor": "cuda_graphs"}, "flow does not run by CUDA graphs (CosyVoice does not run on a GPU)"),
        ({"flow_executor": "tensorrt"}, "TensorRT is not installed; install it with: pip install -e '.[tensorrt]'"),
        ({"vocoder_executor": "onnxruntime", "onnx_provider": "cuda"}, "has no CUDAExecutionProvider"),
    ],
)
def test_an_executor_that_is_not_there_is_named(models, token2wav, version, settings, reason):
    assert reason in prepared(models[3], **settings)


def test_non_finite_results_count_as_deviation():
    ours = torch.full((4,), float("nan"))
    assert deviation(ours, torch.ones(4)) == float("inf")
    with pytest.raises(RuntimeError, match="deviates"):
        executors._check(float("nan"), 1.0)


async def test_the_engine_speaks_by_graphs_and_warns_where_it_does_not(folders, tmp_path):
    settings = {f"cosyvoice_{name}": value for name, value in BY_GRAPHS.items()}
    engine = CosyVoiceEngine(load_settings(cosyvoice3_dir=folders[3], **settings), 3)
    await engine.start()
    assert engine.warning == ""
    async with aclosing(engine.speak(Utterance("er.", "spk_a", seed=1))) as found:
        assert np.concatenate([chunk.pcm async for chunk in found]).any()
    await engine.close()
    engine = CosyVoiceEngine(load_settings(cosyvoice3_dir=folders[3], cosyvoice_onnx_dir=tmp_path, **settings), 3)
    await engine.start()
    assert "CosyVoice's vocoder does not run by ONNX Runtime (There are no ONNX graphs in" in engine.warning
    await engine.close()
