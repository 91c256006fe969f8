"""`polyvox voices` on registered voices."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from helpers import kokoro_recordings
from helpers.kokoro_recordings import spoken
from polyvox.api.middleware.auth import owner_of
from polyvox.audio.encode import AudioFormat, encode
from polyvox.cli.main import app
from polyvox.service.voices.preset_prompts import PresetPrompts
from polyvox.types import VoicePrompt
from polyvox.voices.cache import PreparedVoiceFiles
from polyvox.voices.records import Registration, Transcription, VoiceQuery
from polyvox.voices.storage.recordings import prompt_digest
from polyvox.voices.storage.store import FileVoiceStore
from polyvox.voices.torch_file import torch_file

RATE = 24_000


def invoke(*arguments: object):
    return CliRunner().invoke(app, ["voices", *map(str, arguments)])


def succeeded(*arguments: object) -> str:
    result = invoke(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def tone(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.1, 0.1, 2 * RATE).astype(np.float32)


def registration(name: str, seed: int = 1, **fields) -> Registration:
    values = {"owner": "", "transcript": "The tide is out.", "transcription": Transcription.GIVEN, **fields}
    return Registration(name=name, pcm=tone(seed), sample_rate=RATE, **values)


@pytest.fixture
def data_dir(tmp_path) -> Path:
    """A folder with two shared voices and one of a key."""
    store = FileVoiceStore(tmp_path / "data" / "voices")
    store.add(registration("Anna", 1, tags=("calm",), language="en-gb"))
    store.add(registration("Berta", 2, language="fr"))
    store.add(registration("Anna", 3, owner=owner_of("sesame")))
    store.close()
    return tmp_path / "data"


def stored(data_dir: Path) -> list[tuple[str, str]]:
    store = FileVoiceStore(data_dir / "voices")
    voices = store.page(VoiceQuery(newest_first=False, limit=100)).voices
    store.close()
    return [(voice.name, voice.owner) for voice in voices]


def test_the_list_shows_the_voices_of_all_owners(data_dir):
    listed = json.loads(succeeded("list", "--data-dir", data_dir, "--json"))
    assert [(voice["name"], voice["owner"]) for voice in listed] == [
        ("Anna", "everyone"),
        ("Berta", "everyone"),
        ("Anna", owner_of("sesame")),
    ]
    shown = succeeded("list", "--data-dir", data_dir)
    assert "Berta" in shown
    assert "2.0 s" in shown


@pytest.mark.parametrize(("option", "value"), [("--tag", "calm"), ("--language", "en"), ("--search", "nn")])
def test_the_list_can_be_narrowed(data_dir, option, value):
    listed = json.loads(succeeded("list", option, value, "--data-dir", data_dir, "--json"))
    assert {voice["name"] for voice in listed} == {"Anna"}


def test_a_folder_without_voices(tmp_path):
    assert json.loads(succeeded("list", "--data-dir", tmp_path, "--json")) == []
    result = invoke("show", "Anna", "--data-dir", tmp_path)
    assert result.exit_code == 1
    assert "polyvox voices add" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_show(data_dir):
    voice = json.loads(succeeded("show", "berta", "--data-dir", data_dir, "--json"))
    assert (voice["name"], voice["transcript"], voice["language"]) == ("Berta", "The tide is out.", "fr")
    assert "The tide is out." in succeeded("show", voice["id"], "--data-dir", data_dir)


def test_an_ambiguous_name_asks_for_an_id(data_dir):
    result = invoke("show", "anna", "--data-dir", data_dir)
    assert result.exit_code == 2
    assert "voice_" in result.stderr
    assert "There is no voice 'nobody'" in invoke("show", "nobody", "--data-dir", data_dir).stderr


def test_rename(data_dir):
    assert "is renamed to Clara" in succeeded("rename", "Berta", " Clara ", "--data-dir", data_dir)
    assert [name for name, _ in stored(data_dir)] == ["Anna", "Clara", "Anna"]
    taken = invoke("rename", "Clara", "ANNA", "--data-dir", data_dir)
    assert (taken.exit_code, "already" in taken.stderr) == (1, True)
    hostile = invoke("rename", "Clara", "../up", "--data-dir", data_dir)
    assert (hostile.exit_code, "slash" in hostile.stderr) == (2, True)


def test_remove_reports_what_was_deleted(data_dir):
    store = FileVoiceStore(data_dir / "voices")
    berta = store.find("", "Berta")
    store.close()
    files = PreparedVoiceFiles(data_dir / "prepared", max_bytes=10_000, max_age=60, observer=lambda kind, event: None)
    from polyvox.types import PreparedVoice

    files.write(PreparedVoice("tone", prompt_digest(berta.audio_digest, "x"), {"a": np.zeros(3)}))
    shown = succeeded("remove", "Berta", "--data-dir", data_dir)
    assert "Berta is removed, with its recording; prepared voices removed: 1." in shown
    assert [name for name, _ in stored(data_dir)] == ["Anna", "Anna"]
    assert len(list(data_dir.rglob("*.wav"))) == 2
    assert list(data_dir.rglob("*.npz")) == []


def test_an_export_is_imported_elsewhere(data_dir, tmp_path):
    archive = tmp_path / "out.zip"
    assert "holds 1 voice." in succeeded("export", "Berta", "-o", archive, "--data-dir", data_dir)
    elsewhere = tmp_path / "elsewhere"
    assert "Registered Berta." in succeeded("import", archive, "--data-dir", elsewhere, "--models-dir", tmp_path)
    assert stored(elsewhere) == [("Berta", "")]
    again = invoke("import", archive, "--data-dir", elsewhere, "--models-dir", tmp_path)
    assert (again.exit_code, "--replace" in again.stderr) == (1, True)
    succeeded("import", archive, "--replace", "--data-dir", elsewhere, "--models-dir", tmp_path)
    succeeded("import", archive, "--key", "sesame", "--data-dir", elsewhere, "--models-dir", tmp_path)
    assert stored(elsewhere) == [("Berta", ""), ("Berta", owner_of("sesame"))]


def test_everything_can_be_exported_at_once(data_dir, tmp_path):
    assert "holds 3 voices." in succeeded("export", "-o", tmp_path / "all.zip", "--data-dir", data_dir)


def test_an_import_of_several_is_all_or_nothing(data_dir, tmp_path):
    archive, elsewhere = tmp_path / "out.zip", tmp_path / "elsewhere"
    succeeded("export", "Berta", "-o", archive, "--data-dir", data_dir)
    with zipfile.ZipFile(archive) as source:
        members = {name: source.read(name) for name in source.namelist()}
    description = json.loads(members["voices.json"])
    description["voices"].append(description["voices"][0] | {"name": "../up"})
    with zipfile.ZipFile(archive, "w") as target:
        for name, content in (members | {"voices.json": json.dumps(description).encode()}).items():
            target.writestr(name, content)
    result = invoke("import", archive, "--data-dir", elsewhere, "--models-dir", tmp_path)
    assert (result.exit_code, "slash" in result.stderr) == (2, True)
    assert stored(elsewhere) == []


def test_a_file_that_is_not_an_export_is_refused(tmp_path):
    other = tmp_path / "other.zip"
    other.write_bytes(b"PK, but not really")
    result = invoke("import", other, "--data-dir", tmp_path / "data")
    assert (result.exit_code, "not an export" in result.stderr) == (2, True)


def test_a_hostile_name_or_a_missing_file_registers_nothing(tmp_path):
    recording = tmp_path / "a.wav"
    recording.write_bytes(encode(tone(1), AudioFormat.WAV, RATE))
    assert invoke("add", "../up", recording, "--data-dir", tmp_path / "data").exit_code == 2
    missing = invoke("add", "Anna", tmp_path / "none.wav", "--data-dir", tmp_path / "data")
    assert (missing.exit_code, "No such file" in missing.stderr) == (1, True)
    assert not (tmp_path / "data").exists()


def test_a_tone_is_refused_without_any_model_installed(tmp_path):
    recording = tmp_path / "a.wav"
    recording.write_bytes(encode(tone(1), AudioFormat.WAV, RATE))
    result = invoke("add", "Anna", recording, "--data-dir", tmp_path / "data", "--models-dir", tmp_path)
    assert (result.exit_code, "No speech" in result.stderr) == (2, True), result.stderr


@pytest.mark.slow
def test_add_and_compare_with_the_real_models(tmp_path, installed, models_dir):
    installed("campplus")
    recordings = {"a": ("canoe", "af_heart"), "b": ("hours", "af_heart"), "c": ("glue", "am_adam")}
    for file, recording in recordings.items():
        (tmp_path / f"{file}.wav").write_bytes(encode(spoken(*recording), AudioFormat.WAV, kokoro_recordings.RATE))
    folders = ("--data-dir", tmp_path / "data", "--models-dir", models_dir)
    first = json.loads(succeeded("add", "Heart", tmp_path / "a.wav", "--language", "en", "--json", *folders))
    assert "canoe slid on the smooth planks" in first["transcript"]
    assert (first["transcription"], first["quality"]["score"] > 0.5, first["warnings"]) == ("heard", True, [])
    again = json.loads(succeeded("add", "Again", tmp_path / "b.wav", "-t", "Four hours.", "--json", *folders))
    assert "'Heart'" in again["warnings"][0]
    alike = json.loads(succeeded("compare", "Heart", tmp_path / "b.wav", "--json", *folders))
    unlike = json.loads(succeeded("compare", "Heart", tmp_path / "c.wav", "--json", *folders))
    assert (alike["same_speaker"], unlike["same_speaker"]) == (True, False)
    assert alike["similarity"] > unlike["similarity"] + 0.3


def test_repair_shows_what_it_would_do_and_then_does_it(data_dir):
    before = stored(data_dir)
    (data_dir / "voices" / "voices.sqlite3").unlink()
    shown = succeeded("repair", "--dry-run", "--data-dir", data_dir)
    assert "The database is missing; it would be made anew." in shown
    assert shown.count("restore") == 3
    assert not (data_dir / "voices" / "voices.sqlite3").exists()
    rows = json.loads(succeeded("repair", "--data-dir", data_dir, "--json"))["recordings"]
    assert sorted((row["name"], row["owner"]) for row in rows) == sorted(
        (name, owner or "everyone") for name, owner in before
    )
    assert stored(data_dir) == before
    assert "Every recording belongs to a voice." in succeeded("repair", "--data-dir", data_dir)


def test_the_list_says_when_recordings_have_lost_their_voices(data_dir):
    assert "warning" not in invoke("list", "--data-dir", data_dir).stderr
    (data_dir / "voices" / "voices.sqlite3").unlink()
    listed = invoke("list", "--data-dir", data_dir)
    assert "the database does not know 3 of the recordings; run: polyvox voices repair --dry-run" in listed.stderr
    assert len(list(data_dir.rglob("*.wav"))) == 3


@pytest.mark.parametrize(
    ("options", "owner"), [((), None), (("--shared",), "everyone"), (("--key", "sesame"), owner_of("sesame"))]
)
def test_a_recording_of_which_nothing_is_known_needs_an_owner(data_dir, options, owner):
    for path in [*data_dir.rglob("*.json"), *data_dir.rglob("voices.sqlite3*")]:
        path.unlink()
    shown = json.loads(succeeded("repair", *options, "--data-dir", data_dir, "--json"))["recordings"]
    if owner is None:
        assert {(row["action"], row["owner"]) for row in shown} == {("leave", "")}
        assert "--key KEY or --shared" in shown[0]["note"]
    else:
        assert {(row["action"], row["owner"]) for row in shown} == {("restore", owner)}
    assert len(list(data_dir.rglob("*.wav"))) == 3


def test_repair_refuses_what_makes_no_sense(data_dir, tmp_path):
    both = invoke("repair", "--shared", "--key", "sesame", "--data-dir", data_dir)
    assert (both.exit_code, "not both" in both.stderr) == (2, True)
    nothing = invoke("repair", "--data-dir", tmp_path / "nowhere")
    assert (nothing.exit_code, "nothing to repair" in nothing.stderr) == (1, True)


def test_the_voice_packs_of_a_folder_are_kept_and_those_that_are_none_named(tmp_path, monkeypatch):
    async def prompt(self, preset, digest, style=None):
        return VoicePrompt(spoken("fox"), RATE, kokoro_recordings.SENTENCES["fox"], "")

    monkeypatch.setattr(PresetPrompts, "prompt", prompt)  # no network speaks the sentence
    packs, models, data_dir = tmp_path / "packs", tmp_path / "models", tmp_path / "data"
    (models / "kokoro").mkdir(parents=True)
    packs.mkdir()
    for name in ("bf_new", "af_bella"):
        (packs / f"{name}.pt").write_bytes(torch_file(np.zeros((510, 1, 256), np.float32)))
    (packs / "broken.pt").write_bytes(b"no pack")
    places = ("--data-dir", data_dir, "--models-dir", models)
    result = invoke("import-packs", packs, *places)
    assert (result.exit_code, result.stdout) == (1, "bf_new: imported\n")
    assert [line.partition(":")[0] for line in result.stderr.splitlines() if ": " in line] == ["af_bella", "broken"]
    assert stored(data_dir) == [("bf_new", "")]
    (file,) = (data_dir / "packs").iterdir()
    assert json.loads(succeeded("list", "--data-dir", data_dir, "--json"))[0]["language"] == "en-gb"
    succeeded("remove", "bf_new", "--data-dir", data_dir)
    assert not file.exists()
    assert invoke("import-packs", models, *places).exit_code != 0
