"""What `polyvox serve --model_dir` finds in a folder."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.fork_server import forked_python
from polyvox.bundles.record import BundleRecord
from polyvox.cli.serve import model_folder
from polyvox.cli.serve.model_folder import fetched, is_repository, settings_for
from polyvox.engines.catalog import BUILT_IN, Catalog
from polyvox.errors import BundleError
from polyvox.installation import load_settings

KNOWN = Catalog(BUILT_IN)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_folder_of_cosyvoice(tmp_path, version):
    (tmp_path / ("cosyvoice.yaml" if version == 1 else f"cosyvoice{version}.yaml")).touch()
    model = f"cosyvoice{version}"
    expected = {"models": [model], "default_model": model, f"{model}_dir": tmp_path}
    assert settings_for(tmp_path, KNOWN) == expected
    both = settings_for(tmp_path, KNOWN, besides=["kokoro", model])
    assert (both["models"], both["default_model"]) == ([model, "kokoro"], model)


def test_version_3_goes_before_version_2(tmp_path):
    for version in (2, 3):
        (tmp_path / f"cosyvoice{version}.yaml").touch()
    assert settings_for(tmp_path, KNOWN)["default_model"] == "cosyvoice3"


def test_an_installed_model(tmp_path):
    folder = tmp_path / "kokoro"
    folder.mkdir()
    BundleRecord(name="kokoro", version="1.0.0", files={}).write(folder)
    expected = {"models": ["kokoro"], "default_model": "kokoro", "models_dir": tmp_path}
    assert settings_for(folder, KNOWN) == expected
    folder.rename(tmp_path / "renamed")
    with pytest.raises(BundleError, match="holds no known model"):
        settings_for(tmp_path / "renamed", KNOWN)


def test_a_codec_language_model(tmp_path):
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (tmp_path / name).touch()
    assert settings_for(tmp_path, KNOWN)["speechlm_dir"] == tmp_path


def test_a_published_folder_of_qwen3tts(tmp_path):
    from helpers.tiny_qwen3tts import TINY, install

    for model in TINY:
        folder = install(model, tmp_path)
        expected = {"models": [model], "default_model": model, "qwen3tts_dirs": {model: folder}}
        assert settings_for(folder, KNOWN) == expected
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"tts_model_size": "9b9"}))
        with pytest.raises(BundleError, match="size 9b9, which is not served"):
            settings_for(folder, KNOWN)


def test_a_folder_without_a_known_model_is_refused_with_the_reason(tmp_path):
    with pytest.raises(BundleError, match="holds no known model"):
        settings_for(tmp_path, KNOWN)
    with pytest.raises(BundleError, match="There is no folder"):
        settings_for(tmp_path / "iic" / "CosyVoice2-0.5B", KNOWN)


@pytest.mark.long
def test_the_command_says_so_in_one_line(tmp_path):
    command = [forked_python(), "-m", "polyvox", "serve", "--port", "0", "--model_dir", str(tmp_path / "none")]
    result = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.startswith("error: There is no folder")


@pytest.mark.long
@pytest.mark.parametrize(
    ("repository", "name", "config", "hub"),
    [
        ("iic/CosyVoice2-0.5B", "cosyvoice2", "cosyvoice2.yaml", "modelscope"),
        ("iic/CosyVoice-300M-SFT", "cosyvoice1-sft", "cosyvoice.yaml", "modelscope"),
        ("FunAudioLLM/Fun-CosyVoice3-0.5B-2512", "cosyvoice3", "cosyvoice3.yaml", "hub"),
    ],
)
def test_a_repository_is_fetched_from_the_hub_that_has_it(tmp_path, monkeypatch, repository, name, config, hub):
    model = name.partition("-")[0]
    pulled: dict[str, object] = {}
    folder = tmp_path / name
    folder.mkdir()
    (folder / config).touch()

    def pull(name, **options):
        pulled.update(options, name=name)
        return SimpleNamespace(folder=folder)

    monkeypatch.setattr(model_folder, "pull", pull)
    settings = load_settings(models_dir=tmp_path)
    found = fetched(repository, KNOWN, settings, ["kokoro"])
    assert found == {"models": [model, "kokoro"], "default_model": model, f"{model}_dir": folder}
    url = settings.modelscope_url if hub == "modelscope" else settings.hub_url
    assert (pulled["name"], pulled["hub"], pulled["hub_url"], pulled["models_dir"]) == (name, hub, url, tmp_path)


def test_a_repository_nobody_knows_is_refused_with_those_that_are_known(tmp_path):
    with pytest.raises(BundleError, match=r"iic/CosyVoice2-0\.5B"):
        fetched("someone/CosyVoice9", KNOWN, load_settings(models_dir=tmp_path))


def test_what_counts_as_a_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_repository(Path("iic/CosyVoice2-0.5B"))
    (tmp_path / "iic" / "CosyVoice2-0.5B").mkdir(parents=True)
    for named in ("iic/CosyVoice2-0.5B", "model", "/iic/CosyVoice2-0.5B", "../model", "a/b/c"):
        assert not is_repository(Path(named))
