"""A CosyVoice folder is judged before anything of it is loaded, and what is wrong is said so that it can be mended."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner

from helpers.tiny_cosyvoice import GOLDEN, tiny_model
from polyvox.cli.main import app
from polyvox.engines.cosyvoice.bundle import convert, open_model
from polyvox.engines.cosyvoice.graph_files import MANIFEST, GraphManifest, open_graphs, source_hashes
from polyvox.engines.cosyvoice.prompt_features import PromptFeatureExtractor
from polyvox.engines.cosyvoice.voice_file import voices_in
from polyvox.errors import BundleError

VERSIONS = pytest.mark.parametrize("version", [2, 3])
FOLDED_NAMES = [("parametrizations.weight.original0", "weight_g"), ("parametrizations.weight.original1", "weight_v")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_model(tmp_path / "model", 3)


def replace(path: Path, content: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(content)


def publish(folder: Path, version: int, part: str, **changes: torch.Tensor) -> None:
    """Put the part there as PyTorch's file, as it is published."""
    (folder / f"{part}.safetensors").unlink(missing_ok=True)
    state = load_file(GOLDEN / f"cosyvoice{version}" / f"weights_{part}.safetensors")
    torch.save({**state, **changes}, folder / f"{part}.pt")


@pytest.mark.long
@VERSIONS
def test_a_model_whose_weights_fit_its_description(tmp_path, version):
    bundle = open_model(tiny_model(tmp_path, version))
    assert bundle.version == version
    assert bundle.config.speech_ids == 300
    assert bundle.config.mel_fmax == (8000 if version == 2 else None)
    checked = [line.partition(":")[0] for line in bundle.check_weights()]
    assert checked == ["llm.safetensors", "flow.safetensors", "hift.safetensors"]


def test_tags_are_data_and_run_nothing(folder, tmp_path):
    canary = tmp_path / "canary"
    yaml = (folder / "cosyvoice3.yaml").read_text()
    hostile = f"x: !!python/object/apply:os.system ['touch {canary}']\ny: !apply:os.mkdir ['{canary}']\n"
    replace(folder / "cosyvoice3.yaml", f"y: !apply:os.mkdir ['{canary}']\n" + yaml)
    assert open_model(folder).version == 3
    replace(folder / "cosyvoice3.yaml", hostile + yaml)
    with pytest.raises(BundleError, match="not YAML"):
        open_model(folder)
    assert not canary.exists()


def test_every_missing_file_is_named(folder):
    for name in ("campplus.onnx", "flow.safetensors"):
        (folder / name).unlink()
    with pytest.raises(BundleError, match=r"lacks campplus\.onnx, flow\.pt; copy these files"):
        open_model(folder)
    with pytest.raises(BundleError, match=r"lacks .*llm\.rl\.pt"):
        open_model(folder, "llm.rl")


@pytest.mark.parametrize("version", [2, 3])
def test_the_improved_language_model_is_preferred_where_version_3_has_it(tmp_path, version):
    folder = tiny_model(tmp_path, version)
    assert open_model(folder).lm_name == "llm"
    (folder / "llm.rl.pt").touch()
    assert open_model(folder).lm_name == open_model(folder, "auto").lm_name == ("llm.rl" if version == 3 else "llm")
    assert open_model(folder, "llm").lm_name == "llm"
    assert open_model(folder, "llm.rl").lm_name == "llm.rl"
    (folder / "llm.safetensors").unlink()
    if version == 3:
        assert open_model(folder).lm_name == "llm.rl"
    else:
        with pytest.raises(BundleError, match=r"lacks llm\.pt"):
            open_model(folder)


def test_folders_of_something_else_are_told_apart(tmp_path):
    with pytest.raises(BundleError, match=r"holds no CosyVoice model: none of .*cosyvoice\.yaml is there"):
        open_model(tmp_path)
    (tmp_path / "cosyvoice.yaml").write_text("sample_rate: 22050\n")
    with pytest.raises(
        BundleError, match=r"CosyVoice 1 model .*lacks campplus\.onnx, speech_tokenizer_v1\.onnx, llm\.pt"
    ):
        open_model(tmp_path)
    with pytest.raises(BundleError, match="no folder"):
        open_model(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("depth: 3", "depth: many", r"a whole number from 1 on at 'flow.decoder.estimator.depth'"),
        ("sample_rate: 24000", "sample_rate: 22050", "22050 Hz"),
        ("hift: !new:", "other: !new:", "no section 'hift'"),
        ("upsample_rates: [8, 5, 3]", "upsample_rates: 8", "a list of whole numbers"),
    ],
)
def test_a_description_with_a_fault_is_refused_by_its_place(folder, before, after, complaint):
    yaml = (folder / "cosyvoice3.yaml").read_text()
    assert before in yaml
    replace(folder / "cosyvoice3.yaml", yaml.replace(before, after))
    with pytest.raises(BundleError, match=complaint):
        open_model(folder)


@pytest.mark.long
def test_a_wrong_shape_is_found_before_loading(folder):
    publish(folder, 3, "flow", **{"input_embedding.weight": torch.zeros(301, 80)})
    with pytest.raises(BundleError, match=r"flow in .* does not fit .*input_embedding\.weight \(\(301, 80\)"):
        list(open_model(folder).check_weights())


def test_the_second_language_model_is_checked_and_converted_where_there_is_one(folder):
    publish(folder, 3, "llm")
    (folder / "llm.pt").rename(folder / "llm.rl.pt")
    with pytest.raises(BundleError, match=r"lacks llm\.pt"):
        open_model(folder, "llm")
    bundle = open_model(folder, "llm.rl")
    assert next(bundle.check_weights()).startswith("llm.rl.pt: ")
    assert convert(bundle) == [folder / "llm.rl.safetensors"]
    torch.save({"speech_embedding.weight": torch.zeros(2, 2)}, folder / "llm.rl.pt")
    with pytest.raises(BundleError, match=r"llm in .* does not fit"):
        convert(bundle)


@pytest.mark.long
@pytest.mark.parametrize("name", ["campplus.onnx", "speech_tokenizer_v3.onnx"])
def test_a_graph_cut_short_or_taken_from_elsewhere_is_found(folder, name):
    whole = (folder / name).read_bytes()
    other = "speech_tokenizer_v3.onnx" if name == "campplus.onnx" else "campplus.onnx"
    for content, complaint in ((whole[:3000], f"{name} cannot be opened as a graph"), (None, "not those of CosyVoice")):
        (folder / name).unlink()
        (folder / name).write_bytes((folder / other).read_bytes() if content is None else content)
        with pytest.raises(BundleError, match=complaint):
            PromptFeatureExtractor(open_model(folder), 1)
        found = CliRunner().invoke(app, ["models", "check", str(folder)])
        assert found.exit_code == 1
        assert complaint in found.output


def test_a_file_that_would_run_code_is_refused(folder):
    (folder / "hift.safetensors").unlink()
    torch.save({"conv_pre.bias": print}, folder / "hift.pt")
    with pytest.raises(BundleError, match="cannot be read as plain tensors"):
        list(open_model(folder).check_weights())


@pytest.mark.long
@VERSIONS
def test_published_files_become_safetensors_with_the_same_weights(tmp_path, version):
    folder = tiny_model(tmp_path, version)
    for part in ("llm", "flow", "hift"):
        publish(folder, version, part)
    hift = torch.load(folder / "hift.pt")
    old = {f"generator.{name.replace(*FOLDED_NAMES[0]).replace(*FOLDED_NAMES[1])}": each for name, each in hift.items()}
    torch.save(old, folder / "hift.pt")
    bundle = open_model(folder)
    before = {part: bundle.build(part, bundle.weights(part)).state_dict() for part in ("llm", "flow", "hift")}
    assert [path.name for path in convert(bundle)] == ["llm.safetensors", "flow.safetensors", "hift.safetensors"]
    assert not list(folder.glob("*.part"))
    for part, state in before.items():
        after = bundle.build(part, bundle.weights(part)).state_dict()
        assert state.keys() == after.keys()
        assert all(torch.equal(state[name], after[name]) for name in state)
    assert "llm.model.lm_head.weight" not in load_file(folder / "llm.safetensors")


@pytest.mark.long
def test_an_export_still_belongs_to_the_weights_once_they_are_converted(tmp_path):
    folder = tiny_model(tmp_path, 3)
    for part in ("llm", "flow", "hift"):
        publish(folder, 3, part)
    made_from = source_hashes(open_model(folder))
    manifest = GraphManifest(model="cosyvoice3", polyvox="1", opset=17, sources=made_from, graphs={})
    (folder / "onnx").mkdir()
    (folder / "onnx" / MANIFEST).write_text(manifest.model_dump_json())
    convert(open_model(folder))
    assert source_hashes(open_model(folder)) != made_from
    assert open_graphs(folder / "onnx", open_model(folder)).manifest == manifest
    torch.save({name: each + 1 for name, each in torch.load(folder / "flow.pt").items()}, folder / "flow.pt")
    convert(open_model(folder))
    with pytest.raises(BundleError, match="were made from other weights"):
        open_graphs(folder / "onnx", open_model(folder))


def test_voices_of_the_model_are_read_without_running_anything(folder):
    assert open_model(folder).voices("cosyvoice3")["spk_a"].arrays["embedding"].shape == (192,)
    prepared = {
        "prompt_text": torch.ones(1, 4, dtype=torch.int32),
        "flow_prompt_speech_token": torch.ones(1, 43, dtype=torch.int32),
        "prompt_speech_feat": torch.ones(1, 86, 80),
        "flow_embedding": torch.ones(1, 192),
    }
    (folder / "spk2info.pt").unlink()
    torch.save({"mine": prepared}, folder / "spk2info.pt")
    voice = open_model(folder).voices("cosyvoice3")["mine"]
    assert [listed.id for listed in voices_in(folder)] == ["mine"]
    assert {name: array.shape for name, array in voice.arrays.items()} == {
        "embedding": (192,),
        "text": (4,),
        "tokens": (43,),
        "mel": (80, 86),
    }
    torch.save({"mine": {**prepared, "prompt_speech_feat": torch.ones(1, 85, 80)}}, folder / "spk2info.pt")
    with pytest.raises(BundleError, match="85 frames for 43 tokens"):
        open_model(folder).voices("cosyvoice3")
    torch.save({"mine": {}}, folder / "spk2info.pt")
    with pytest.raises(BundleError, match="no speaker embedding"):
        open_model(folder).voices("cosyvoice3")
    (folder / "spk2info.pt").write_bytes(b"no archive")
    assert voices_in(folder) == []


def test_the_command_line_gives_a_verdict(folder):
    good = CliRunner().invoke(app, ["models", "check", str(folder)])
    assert good.exit_code == 0, good.output
    assert "CosyVoice 3" in good.output
    assert "campplus.onnx and speech_tokenizer_v3.onnx: can be opened" in good.output
    assert "voices: spk_a" in good.output
    assert "can be used" in good.output
    publish(folder, 3, "llm")
    written = CliRunner().invoke(app, ["models", "convert", str(folder)])
    assert written.exit_code == 0, written.output
    assert "llm.safetensors" in written.output
