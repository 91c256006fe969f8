"""`polyvox check` with a tone, with a tiny model of seeded weights, and with real weights."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers import tiny_chatterbox, tiny_pockettts
from helpers.fakes import ToneEngine, tone_catalog
from helpers.small_networks import on_one_thread, without_onednn
from polyvox.bundles.validate import Bundle
from polyvox.cli.main import app
from polyvox.engines.catalog import Catalog

RECORDING = Path(__file__).parents[1] / "recordings" / "librivox_a.flac"
TEXTS = "The lake is cold.\nLeave the window open, the kitchen is warm.\n"


def check(*arguments: str | Path):
    return CliRunner().invoke(app, ["check", *map(str, arguments)])


@pytest.fixture(autouse=True)
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLYVOX_DATA_DIR", str(tmp_path / "data"))
    Path("texts.txt").write_text(TEXTS)
    return Path("texts.txt")


def criteria_of(stdout: str) -> dict[str, bool | None]:
    return {each["name"]: each["met"] for each in json.loads(stdout)["criteria"]}


def test_without_the_models_that_listen_a_model_is_not_judged_and_the_rows_say_what_to_pull(
    tmp_path: Path, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = tone_catalog(ToneEngine(chunk_seconds=0.5))
    monkeypatch.setattr(Catalog, "installed", lambda: catalog)
    (tmp_path / "models" / "tone").mkdir(parents=True)
    options = ("tone", "--voice", "low", "--texts", texts, "--models-dir", "models", "--no-speed")
    table = check(*options)
    assert table.exit_code == 2, table.stderr
    said = " ".join(table.stdout.split())
    assert "run: polyvox pull campplus" in said
    assert "To transcribe speech in English this server needs another model; run: polyvox pull" in said
    assert "tone could not be judged: words wrong, low; low, like itself." in said
    document = json.loads(check(*options, "--json").stdout)
    assert (document["model"], document["language"], document["sound"]) == ("tone", "en", None)
    assert [each["text"] for each in document["sentences"]] == TEXTS.splitlines()


def test_what_cannot_be_checked_is_one_line_and_not_a_verdict(tmp_path: Path) -> None:
    cases = {
        ("nosuch",): "There is no model 'nosuch'",
        ("pockettts-de",): "polyvox pull pockettts-de",
        ("kokoro", "--voice", "none.wav"): "polyvox pull kokoro",
        ("kokoro", "--language", "?"): "polyvox pull kokoro",
    }
    for arguments, sentence in cases.items():
        refused = check(*arguments, "--models-dir", tmp_path / "empty")
        assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1), refused.stderr
        assert sentence in refused.stderr


@pytest.mark.long
def test_noise_is_not_words(
    installed: Callable[[str], Bundle], tmp_path: Path, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for family in ("POCKETTTS", "CHATTERBOX"):
        monkeypatch.setenv(f"POLYVOX_{family}_DEVICE", "cpu")
    tiny_pockettts.install(tiny_pockettts.MODEL, tmp_path / "models")
    tiny_chatterbox.install(tiny_chatterbox.ENGLISH, tmp_path / "models")
    tiny_chatterbox.expect_tiny_weights(monkeypatch)
    for name in ("moonshine-base", "campplus"):
        (tmp_path / "models" / name).symlink_to(installed(name).folder)
    options = ("--voice", RECORDING, "--texts", texts, "--models-dir", "models", "--no-speed", "--json")
    for model, own in ((tiny_pockettts.MODEL, tiny_pockettts.VOICE), (tiny_chatterbox.ENGLISH, "default")):
        with on_one_thread(), without_onednn():
            judged = check(model, *options)
        assert judged.exit_code == 1, judged.stderr
        met = criteria_of(judged.stdout)
        assert met["sentences spoken"], judged.stdout
        for voice in (own, "recording"):
            assert met[f"words wrong, {voice}"] is False
        assert met["recording, like its recording"] is False
        assert met["stream and whole"]
        assert met["alone and 2 at once"]


@pytest.mark.long
def test_a_model_of_which_a_file_is_missing_is_not_judged_and_the_file_is_named(
    tmp_path: Path, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pocket = tiny_pockettts.install(tiny_pockettts.MODEL, tmp_path / "models")
    turbo = tiny_chatterbox.install(tiny_chatterbox.TURBO, tmp_path / "models")
    for missing in (pocket / "model.safetensors", turbo / "ve.safetensors"):
        missing.unlink()
        refused = check(missing.parent.name, "--texts", texts, "--models-dir", "models", "--no-speed")
        assert (refused.exit_code, refused.stdout) == (2, ""), refused.stderr
        assert missing.stem in refused.stderr
        assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_real_weights_are_sound(models_dir: Path, installed: Callable[[str], Bundle], texts: Path) -> None:
    assert installed("campplus").folder.parent == models_dir
    judged = check("wren", "--texts", texts, "--models-dir", models_dir, "--no-speed", "--json")
    assert judged.exit_code == 0, judged.stdout + judged.stderr
    assert all(criteria_of(judged.stdout).values())
    heard = [each["transcript"] for each in json.loads(judged.stdout)["sentences"]]
    assert heard[0].lower().startswith("the lake is cold")
