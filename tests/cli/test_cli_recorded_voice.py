"""`polyvox say --voice my.wav`: a recording is the voice."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.fakes import ToneEngine, tone_spec
from helpers.scripted_server import ScriptedServer
from helpers.tiny_pockettts import MODEL, install
from polyvox.cli.main import app
from polyvox.cli.speech.recorded_voice import model_for_recording
from polyvox.cli.speech.recording_file import read_recording
from polyvox.config import Settings
from polyvox.engines.catalog import Catalog
from polyvox.engines.spec import EngineSpec
from polyvox.errors import InvalidRequestError, NotServedError, PolyvoxError, RequestTooLargeError
from polyvox.installation import load_settings

RECORDING = Path(__file__).parents[1] / "recordings" / "librivox_a.flac"


def say(*arguments: str | Path):
    return CliRunner().invoke(app, ["say", *map(str, arguments)])


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models with a tiny one that clones; the default model is not in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLYVOX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("POLYVOX_POCKETTTS_DEVICE", "cpu")
    install(MODEL, tmp_path / "models")
    return tmp_path / "models"


@pytest.mark.long
def test_the_model_that_is_installed_speaks_like_a_recording_and_like_a_registered_voice(models: Path) -> None:
    said = say("One two.", "--voice", RECORDING, "-o", "a.wav", "--models-dir", models)
    assert said.exit_code == 0, said.stderr
    assert Path("a.wav").stat().st_size > 10_000
    added = CliRunner().invoke(app, ["voices", "add", "Anna", str(RECORDING), "--models-dir", str(models)])
    assert added.exit_code == 0, added.stderr
    said = say("One two.", "--voice", "Anna", "-o", "b.wav", "--models-dir", models)
    assert said.exit_code == 0, said.stderr
    assert Path("b.wav").stat().st_size > 10_000


@pytest.mark.long
def test_consent_is_asked_for_as_it_is_of_every_recording_and_entered(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYVOX_CONSENT", "required")
    options = ("One two.", "--voice", RECORDING, "-o", "a.wav", "--models-dir", models)
    refused = say(*options)
    assert (refused.exit_code, "--consent" in refused.stderr) == (2, True)
    assert not Path("a.wav").exists()
    assert say(*options, "--consent", "By letter.").exit_code == 0
    assert "By letter." in CliRunner().invoke(app, ["voices", "consents"]).stdout


def test_a_recording_that_no_voice_can_be_made_of_is_refused_before_the_model_is_loaded(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaded(*_: object) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("polyvox.engines.pockettts.engine.PocketTtsEngine.start", loaded)
    Path("page.wav").write_bytes(b"<html>")
    refused = say("One two.", "--voice", "page.wav", "-o", "a.wav", "--models-dir", models)
    assert refused.exit_code == 2, refused.stderr
    assert refused.stderr.startswith("error: ")
    assert "AssertionError" not in refused.stderr


def test_a_server_is_sent_the_recording_and_the_statement(scripted_server: ScriptedServer, tmp_path: Path) -> None:
    scripted_server.pieces["Hello."] = [(0.0, 0.5)]
    options = ("--consent", "By letter.", "--server", scripted_server.url, "-o", tmp_path / "a.wav")
    said = say("Hello.", "--voice", RECORDING, *options)
    assert said.exit_code == 0, said.stderr
    assert scripted_server.bodies[0]["voice"] == f"base64+{base64.b64encode(RECORDING.read_bytes()).decode()}"
    assert scripted_server.headers[0]["x-voice-consent"] == "By letter."


def test_only_a_path_is_read_and_no_further_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("my.wav", "my.MP3", "Anna"):
        Path(name).write_bytes(b"sound")
    names = {"my.wav": b"sound", "./Anna": b"sound", "my.MP3": b"sound", "Anna": None, "a(2)+b(1)": None, "": None}
    assert {name: read_recording(name, 5) for name in names} == names
    with pytest.raises(InvalidRequestError, match=r"no file 'other\.wav'"):
        read_recording("other.wav", 5)
    with pytest.raises(RequestTooLargeError, match="over 4 bytes"):
        read_recording("my.wav", 4)


def family(name: str, *, wordless: bool, languages: set[str], **more: object) -> EngineSpec:
    spec = replace(tone_spec(lambda _: ToneEngine(name), name), family=name, cloning=True, wordless=wordless, **more)
    return replace(spec, languages={name: frozenset(languages)})


def test_the_model_for_a_recording_is_chosen_by_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = Catalog(
        (
            tone_spec(),
            family("worded", wordless=False, languages={"en", "zh"}, first_to_clone="worded"),
            family("english", wordless=True, languages={"en-us"}),
            family("german", wordless=True, languages={"de"}),
        )
    )
    monkeypatch.setattr(Catalog, "installed", lambda: catalog)
    cases = (
        (("english", "german"), None, "english"),
        (("english", "german"), "de-DE", "german"),
        (("worded", "english"), "en", "english"),
        (("worded", "moonshine-base"), "en", "worded"),
        (("worded", "english", "moonshine-base"), "zh", "worded"),
        (("worded",), "en", "run: polyvox pull moonshine-base (Moonshine"),
        ((), "en", "No model that clones voices is installed; run: polyvox pull worded."),
    )
    for number, (installed, language, expected) in enumerate(cases):
        folder = tmp_path / str(number)
        for model in installed:
            (folder / model).mkdir(parents=True)
        assert expected in chosen(language, load_settings(models_dir=folder)), (installed, language)
    with pytest.raises(InvalidRequestError, match="'tone' cannot clone voices; leave --model out"):
        model_for_recording("tone", None, load_settings(models_dir=tmp_path))


def chosen(language: str | None, settings: Settings) -> str:
    try:
        return model_for_recording(None, language, settings)
    except NotServedError as error:
        return error.message


def test_what_gets_a_model_is_said_with_its_licence_and_size(tmp_path: Path) -> None:
    with pytest.raises(PolyvoxError, match=r"run: polyvox pull \S+ \(.*weights \S+; .*[GM]B\)"):
        model_for_recording(None, None, load_settings(models_dir=tmp_path))
