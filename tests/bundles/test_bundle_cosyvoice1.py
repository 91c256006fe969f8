"""CosyVoice 1 from two repositories of a hub, or from a folder as it was published, to its check and conversion."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner, Result

from helpers.loopback_hub import LoopbackHub
from helpers.tiny_cosyvoice import tiny_model
from polyvox.bundles.manifest import manifest_named
from polyvox.cli.main import app
from polyvox.engines.cosyvoice.bundle import open_model
from polyvox.engines.cosyvoice.frontend.tags import Tags
from polyvox.engines.cosyvoice.frontend.whisper_tokenizer import WhisperTokenizer
from polyvox.engines.cosyvoice.settings import installed_folder
from polyvox.errors import BundleError

RELEASES = {"cosyvoice1": "CosyVoice-300M", "cosyvoice1-sft": "CosyVoice-300M-SFT"}
RELEASES |= {"cosyvoice1-instruct": "CosyVoice-300M-Instruct"}


def published(folder: Path) -> Path:
    """A tiny model in PyTorch's files, with the vocabulary in the form of a hub."""
    tiny_model(folder, 1)
    for part in ("llm", "flow", "hift"):
        torch.save(load_file(folder / f"{part}.safetensors"), folder / f"{part}.pt")
        (folder / f"{part}.safetensors").unlink()
    vocabulary = json.loads(WhisperTokenizer(folder)._words.to_str())["model"]["vocab"]
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n\n")
    (folder / "multilingual.tiktoken").unlink()
    return folder


def polyvox(*command: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in command])


@pytest.mark.long
@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.usefixtures("without_companions")
def test_pulled_checked_and_converted(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    models, origin = tmp_path / "models", published(tmp_path / "origin")
    hub.behaviour.files = {
        f"/openai/whisper-large-v3/resolve/main/{file}"
        if file in ("vocab.json", "merges.txt")
        else f"/FunAudioLLM/{RELEASES[name]}/resolve/main/{file}": (origin / file).read_bytes()
        for file in manifest_named(name).unpinned
    }
    monkeypatch.setenv("POLYVOX_HUB_URL", hub.url)
    pulled = polyvox("pull", name, "--models-dir", models)
    assert pulled.exit_code == 0, pulled.output
    assert installed_folder(models, 1) == models / name
    assert (models / name / "spk2info.pt").is_file() == (name != "cosyvoice1")
    if name == "cosyvoice1-sft":
        checked = polyvox("models", "check", models / name)
        assert checked.exit_code == 0, checked.output
        assert "vocab.json: text ids up to 1864" in checked.output
        assert "voices: english_m, 中文女" in checked.output
        assert polyvox("models", "convert", models / name).exit_code == 0
        assert (models / name / "llm.safetensors").is_file()


def test_the_vocabulary_is_missed_before_anything_is_loaded(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "model", 1)
    (folder / "multilingual.tiktoken").unlink()
    with pytest.raises(BundleError, match="has no text vocabulary: it is Whisper's"):
        open_model(folder)


def test_a_second_language_model_is_not_looked_for(tmp_path: Path) -> None:
    assert open_model(tiny_model(tmp_path / "model", 1), "llm.rl").lm_name == "llm"


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("sample_rate: 22050", "sample_rate: 24000", "at 24000 Hz; known are those at 22050 Hz"),
        (
            "input_frame_rate: 50",
            "input_frame_rate: 25",
            "25 speech tokens a second; known of version 1 are those with 50",
        ),
        ("num_blocks: 3", "num_blocks: many", "a whole number from 1 on at 'llm.llm.num_blocks'"),
        ("text_token_size: 1865", "text_token_size: 1864", "more ids than the language model"),
    ],
)
def test_a_description_with_a_fault_is_refused(tmp_path: Path, before: str, after: str, complaint: str) -> None:
    folder = tiny_model(tmp_path / "model", 1)
    yaml = (folder / "cosyvoice.yaml").read_text()
    assert before in yaml
    (folder / "cosyvoice.yaml").write_text(yaml.replace(before, after))
    with pytest.raises(BundleError, match=complaint):
        open_model(folder).tokenizer(Tags(1))


@pytest.mark.long
def test_weights_of_another_size_are_found_by_name(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path / "model", 1)
    yaml = (folder / "cosyvoice.yaml").read_text()
    (folder / "cosyvoice.yaml").write_text(yaml.replace("vocab_size: 300", "vocab_size: 301"))
    with pytest.raises(BundleError, match=r"flow in .* does not fit .*input_embedding\.weight \(\(300, 40\)"):
        list(open_model(folder).check_weights())
