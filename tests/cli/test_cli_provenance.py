"""`polyvox provenance`: the signing key, and checks of files."""

import json

import pytest
from typer.testing import CliRunner

from helpers.audio_signals import voice
from polyvox.audio.encode import AudioFormat, encode
from polyvox.cli.main import app
from polyvox.installation import load_settings
from polyvox.provenance.manifest import AudioLayout
from polyvox.provenance.notary import Notary

RATE = 24_000
PCM = voice(RATE, 1.5)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLYVOX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("POLYVOX_MODELS_DIR", str(tmp_path / "models"))


def provenance(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["provenance", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def verdicts(*arguments: str, code: int = 0) -> dict[str, str]:
    found = json.loads(provenance("check", *arguments, "--json", code=code))
    return {each["evidence"]: each["verdict"] for each in found["findings"]}


@pytest.mark.long
def test_a_key_is_made_once_and_files_are_checked_by_it(tmp_path):
    assert "Made the key" in provenance("init")
    assert "exists" in provenance("init", code=1)
    notary = Notary.of(load_settings(provenance="signed"))
    marks = notary.marks("ab" * 16, "wren", None)
    draft = notary.draft(marks, "af_heart", AudioLayout("flac", RATE, 1))
    data = encode(PCM, AudioFormat.FLAC, RATE, marks.tags)
    draft.add(PCM, data)
    notary.file(draft, complete=True)
    (tmp_path / "speech.flac").write_bytes(data)
    assert verdicts("speech.flac") == {"tags": "found", "signature": "found", "watermark": "not_checked"}
    assert "model: wren" in provenance("check", "speech.flac")
    (tmp_path / "silent.wav").write_bytes(encode(0 * PCM, AudioFormat.WAV, RATE))
    assert verdicts("silent.wav", code=1)["tags"] == "not_found"
    public = str(tmp_path / "data" / "provenance" / "public-key.pem")
    assert verdicts("speech.flac", "--key", public)["signature"] == "found"
    manifest = tmp_path / "data" / "provenance" / "manifests" / "ab" / f"{'ab' * 16}.json"
    (tmp_path / "forged.json").write_text(manifest.read_text().replace("af_heart", "af_bella"))
    assert verdicts("speech.flac", "--manifest", "forged.json")["signature"] == "invalid"
