"""`polyvox dictionary`: dictionaries without a server."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.fakes import PlainToneEngine, ToneEngine, tone_catalog
from polyvox.cli.main import app
from polyvox.engines.catalog import Catalog

PLS = (
    '<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en">'
    "<lexeme><grapheme>GIF</grapheme><phoneme>dʒɪf</phoneme></lexeme></lexicon>"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLYVOX_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> PlainToneEngine:
    humming = ToneEngine()
    monkeypatch.setattr(Catalog, "installed", lambda: tone_catalog(humming))
    for name, value in (("MODELS", "tone"), ("DEFAULT_MODEL", "tone"), ("DEFAULT_VOICE", "low")):
        monkeypatch.setenv(f"POLYVOX_{name}", value)
    return humming


def dictionary(*arguments: str):
    return CliRunner().invoke(app, ["dictionary", *arguments])


def done(*arguments: str) -> str:
    result = dictionary(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.long
def test_entries_are_added_replaced_shown_and_removed() -> None:
    assert done("add", "names", "Nguyen", "nwin") == "names has 1 entries.\n"
    done("add", "names", "Nguyen", "win")
    done("add", "names", "New York", "Noo Yawk", "--default", "--language", "en")
    done("add", "names", r"\d+k", "x", "--regex", "--case", "any")
    assert json.loads(done("show", "names")) == {
        "default": True,
        "entries": [
            {"kind": "word", "match": "Nguyen", "say": "win"},
            {"kind": "phrase", "match": "New York", "say": "Noo Yawk", "language": "en"},
            {"kind": "regex", "match": r"\d+k", "say": "x", "case": "any"},
        ],
    }
    assert json.loads(done("list", "--json")) == [{"name": "names", "entries": 3, "default": True}]
    assert done("list") == "names\t3 entries (default)\n"
    assert done("list", "--key", "anna") == ""
    done("remove", "names")
    assert done("list") == ""


def test_lexicons_and_dictionaries_are_imported() -> None:
    Path("a.pls").write_text(PLS, encoding="utf-8")
    done("import", "gifs", "a.pls", "--default")
    assert "<phoneme>dʒɪf</phoneme>" in done("show", "gifs", "--pls", "--language", "en")
    Path("b.json").write_text(done("show", "gifs"), encoding="utf-8")
    done("import", "again", "b.json")
    assert done("show", "again") == done("show", "gifs")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("add", "a", "(", "x", "--regex"), "no regular expression"),
        (("add", "a", "b"), "says nothing"),
        (("add", "a", "b", "c", "--case", "loud"), "use one of auto, exact, any"),
        (("add", "../a", "b", "c"), "letters a to z"),
        (("remove", "nothing"), "You have no dictionary"),
        (("import", "a", "broken.json"), "neither PLS nor a dictionary"),
    ],
)
def test_mistakes_are_one_line(arguments: tuple[str, ...], reason: str) -> None:
    Path("broken.json").write_text("{}", encoding="utf-8")
    result = dictionary(*arguments)
    assert result.exit_code in (1, 2)
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1


def test_say_uses_the_default_dictionary(engine: PlainToneEngine) -> None:
    done("add", "names", "Nguyen", "win", "--default")
    result = CliRunner().invoke(app, ["say", "Hello Nguyen.", "-o", "a.wav", "--captions", "a.vtt"])
    assert result.exit_code == 0, result.output
    assert [utterance.text for utterance in engine.heard] == ["Hello win."]
    assert "Hello Nguyen." in Path("a.vtt").read_text(encoding="utf-8")
