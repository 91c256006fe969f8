"""Export to ONNX: the network's results, the published interface, and 8-bit precision within bounds."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor
from typer.testing import CliRunner

from helpers.silent_progress import SilentProgress
from helpers.zipvoice_bundle import write_model, write_vocoder
from polyvox.bundles.pull import pull
from polyvox.cli.main import app
from polyvox.engines.catalog import Catalog
from polyvox.engines.kit import onnx_export
from polyvox.engines.zipvoice.bundle import load_single_speaker
from polyvox.engines.zipvoice.networks import AcousticModel
from polyvox.engines.zipvoice.onnx_export.export import export
from polyvox.engines.zipvoice.onnx_networks import OnnxZipVoice
from polyvox.errors import BundleError, InvalidRequestError
from polyvox.installation import load_settings
from polyvox.models.zipvoice.flow import SolverOptions, ZipVoiceInput
from polyvox.runtime.executors.ort import OrtGraph
from polyvox.types import Utterance, VoicePrompt

pytestmark = pytest.mark.long

BASE, DISTILLED, STEREO = "zipvoice", "zipvoice_distill", "zipvoice_dialog_stereo"
MODELS = pytest.mark.parametrize("model", [BASE, DISTILLED])
GRAPHS = ("text_encoder", "fm_decoder")
FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small models, and their graphs in folders of the same name with `-onnx` behind it."""
    root = tmp_path_factory.mktemp("models")
    write_model(root / DISTILLED, DISTILLED)
    write_model(root / BASE, DISTILLED)
    state = torch.load(root / BASE / "model.pt", weights_only=True)["model"]
    del state["fm_decoder.guidance_scale_embed.weight"]
    torch.save({"model": state}, root / BASE / "model.pt")
    for model in (BASE, DISTILLED):
        export(root / model, root / f"{model}-onnx", int8=True)
    return root


def graphs(folders: Path, model: str, *, int8: bool = False) -> OnnxZipVoice:
    return OnnxZipVoice(folders / f"{model}-onnx", int8=int8, threads=1)


def speech(model: AcousticModel) -> list[Tensor]:
    """Rows of mixed lengths, speeds, steps, shifts and guidance in one batch; each leaves when it is done."""
    generator = torch.Generator().manual_seed(4)
    plans = (
        (9, 23, 4, 1.0, 1.0, 0.5),
        (4, 31, 7, 1.3, 2.0, 1.0),
        (31, 18, 2, 0.8, 0.0, 0.5),
        (50, 12, 3, 2.0, 3.0, 0.3),
    )
    lines = [
        ZipVoiceInput(range(1, tokens + 1), range(3, 12), torch.randn(frames, 100, generator=generator) * 0.1, speed)
        for tokens, frames, _, speed, _, _ in plans
    ]
    noise = [torch.randn(line.frames, 100, generator=generator) for line in lines]
    solvers = [SolverOptions(steps, guidance, shift) for _, _, steps, _, guidance, shift in plans]
    flows = model.start(lines, noise, solvers)
    while waiting := [index for index, flow in enumerate(flows) if not flow.done]:
        for index, flow in zip(waiting, model.step([flows[index] for index in waiting]), strict=True):
            flows[index] = flow
    return [flow.generated for flow in flows]


def signal_to_noise(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> float:
    """Decibels."""
    ours, theirs = torch.cat(list(ours)), torch.cat(list(theirs))
    return 10 * math.log10(theirs.square().sum() / (ours - theirs).square().sum())


@MODELS
def test_graphs_equal_the_network(folders: Path, model: str) -> None:
    with torch.inference_mode():
        network = speech(load_single_speaker(folders / model))
    for ours, theirs in zip(speech(graphs(folders, model)), network, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=0)


@MODELS
def test_8_bit_graphs_are_close_to_the_network(folders: Path, model: str) -> None:
    with torch.inference_mode():
        network = speech(load_single_speaker(folders / model))
    # 33 and 40 dB. Where sums saturate, the base model has less than 12.
    assert 25 < signal_to_noise(speech(graphs(folders, model, int8=True)), network) < 80


@MODELS
@pytest.mark.parametrize("name", GRAPHS)
def test_8_bit_graphs_multiply_weights_as_8_bit_numbers_only(folders: Path, model: str, name: str) -> None:
    plain, small = (onnx.load(folders / f"{model}-onnx" / f"{name}{suffix}.onnx") for suffix in ("", "_int8"))
    onnx.checker.check_model(plain, full_check=True)
    weights = {weight.name for weight in small.graph.initializer}
    kinds = {node.op_type for node in small.graph.node if weights.intersection(node.input)}
    assert "MatMulInteger" in kinds
    assert "MatMul" not in kinds


@MODELS
def test_the_interface_is_the_published_one(folders: Path, model: str) -> None:
    def described(values: Sequence[onnx.ValueInfoProto]) -> dict[str, tuple[int, list[str | int]]]:
        return {
            value.name: (
                value.type.tensor_type.elem_type,
                [side.dim_param or side.dim_value for side in value.type.tensor_type.shape.dim],
            )
            for value in values
        }

    text, decoder = (onnx.load(folders / f"{model}-onnx" / f"{name}.onnx") for name in GRAPHS)
    assert described(text.graph.input) == {
        "tokens": (INT64, ["N", "T"]),
        "prompt_tokens": (INT64, ["N", "U"]),
        "prompt_features_len": (INT64, []),
        "speed": (FLOAT, []),
    }
    assert described(text.graph.output) == {"text_condition": (FLOAT, ["N", "F", 100])}
    rows = (FLOAT, ["N", "T", 100])
    assert described(decoder.graph.input) == {
        "t": (FLOAT, []),
        "x": rows,
        "text_condition": rows,
        "speech_condition": rows,
        "guidance_scale": (FLOAT, []),
    }
    assert described(decoder.graph.output) == {"v": rows}
    notes = {note.key: note.value for note in decoder.metadata_props}
    assert (notes["sample_rate"], notes["n_fft"], notes["hop_length"], notes["feat_dim"]) == (
        "24000",
        "1024",
        "256",
        "100",
    )


@pytest.mark.parametrize("speed", [0.6, 1.0, 1.3, 9.0])
def test_the_text_graph_has_the_published_rule_of_lengths(folders: Path, speed: float) -> None:
    graph = OrtGraph(folders / f"{DISTILLED}-onnx" / "text_encoder.onnx", 1)
    asked = {
        "tokens": np.arange(1, 8, dtype=np.int64)[None],
        "prompt_tokens": np.arange(1, 5, dtype=np.int64)[None],
        "prompt_features_len": np.array(21, np.int64),
        "speed": np.array(speed, np.float32),
    }
    (condition,) = graph.run(("text_condition",), asked)
    frames = math.ceil(np.float32(21 / 4 * 11) / np.float32(speed))
    assert condition.shape == (1, frames, 100)


@MODELS
def test_rows_of_one_length_may_share_a_call(folders: Path, model: str) -> None:
    graph = OrtGraph(folders / f"{model}-onnx" / "fm_decoder.onnx", 1)
    draws = np.random.default_rng(1)
    rows = {
        name: draws.standard_normal((3, 22, 100), np.float32) for name in ("x", "text_condition", "speech_condition")
    }
    scalars = {"t": np.array(0.7, np.float32), "guidance_scale": np.array(2.0, np.float32)}
    (together,) = graph.run(("v",), rows | scalars)
    for index, ours in enumerate(together):
        (alone,) = graph.run(("v",), {name: values[index : index + 1] for name, values in rows.items()} | scalars)
        np.testing.assert_allclose(ours, alone[0], atol=1e-4)


@pytest.mark.anyio
@pytest.mark.parametrize("executor", ["onnx", "onnx-int8"])
async def test_an_exported_model_is_installed_and_speaks(
    folders: Path, tmp_path: Path, executor: str, loose_manifests: None
) -> None:
    vocoder = write_vocoder(tmp_path / "vocoder")
    options = {"models_dir": tmp_path / "models", "hub_url": "http://127.0.0.1:9", "progress": SilentProgress()}
    pull("vocos", folder=vocoder, **options)
    pull(DISTILLED, folder=folders / DISTILLED, **options)
    pull(f"{DISTILLED}-onnx", folder=folders / f"{DISTILLED}-onnx", **options)
    prompt = VoicePrompt(np.sin(np.arange(48_000) * 0.05).astype(np.float32) * 0.1, 24_000, "你好。", "digest")

    async def spoken(name: str) -> np.ndarray:
        engine = Catalog.installed().factories[DISTILLED](
            load_settings(models_dir=tmp_path / "models", zipvoice_device="cpu", zipvoice_executor=name)
        )
        await engine.start()
        wish = Utterance("你好世界。", "mine", prepared=await engine.prepare(prompt), seed=1, tuning={"num_steps": 2.0})
        pcm = np.concatenate([chunk.pcm async for chunk in engine.speak(wish)])
        await engine.close()
        return pcm

    by_graphs, by_network = await spoken(executor), await spoken("torch")
    if executor == "onnx":
        np.testing.assert_allclose(by_graphs, by_network, atol=1e-3)
    else:
        assert len(by_graphs) > 12_000


def test_the_command_names_what_it_wrote(folders: Path, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "graphs"
    result = CliRunner().invoke(app, ["models", "export", str(folders / BASE), "--to", str(target), "--no-int8"])
    assert result.exit_code == 0, result.stderr
    names = ["fm_decoder.onnx", "model.json", "text_encoder.onnx", "tokens.txt"]
    assert sorted(path.name for path in target.iterdir()) == names
    assert all(str(target / name) in result.stdout for name in names)


def test_a_folder_that_is_there_is_left_alone(folders: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="exists already"):
        export(folders / BASE, tmp_path, int8=False)
    assert not list(tmp_path.iterdir())


def test_dialogue_models_cannot_be_exported(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="for dialogues"):
        export(write_model(tmp_path / STEREO, STEREO), tmp_path / "graphs", int8=False)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"has no model\.json"):
        export(tmp_path, tmp_path / "graphs", int8=False)


def test_an_export_that_fails_leaves_nothing(folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(onnx_export, "quantize_dynamic", full)
    with pytest.raises(BundleError, match="No space left"):
        export(folders / BASE, tmp_path / "graphs", int8=True)
    assert not list(tmp_path.iterdir())
