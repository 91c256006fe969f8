"""`polyvox say --dialogue`: a script of voices and what they say."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.fakes import ToneEngine, tone_catalog, tone_service
from helpers.serving import served
from helpers.tables import each_row
from polyvox.audio.decode import decode
from polyvox.cli.main import app
from polyvox.cli.speech.turns import read_turns
from polyvox.engines.catalog import Catalog
from polyvox.errors import InvalidRequestError
from polyvox.service.kinds.dialogue_segments import DialogueTurn

SCRIPT = """
low: Is the tide out?

high: It is,
  and the boats lie on the sand.
low: Note: good.
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToneEngine:
    """The only model is an engine that hums."""
    humming = ToneEngine()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Catalog, "installed", lambda: tone_catalog(humming))
    monkeypatch.setenv("POLYVOX_MODELS", "tone")
    monkeypatch.setenv("POLYVOX_DEFAULT_MODEL", "tone")
    monkeypatch.setenv("POLYVOX_DATA_DIR", str(tmp_path / "data"))
    Path("talk.txt").write_text(SCRIPT, encoding="utf-8")
    return humming


def say(*arguments: str):
    return CliRunner().invoke(app, ["say", *arguments])


def seconds_of(file: str) -> float:
    pcm, rate = decode(Path(file).read_bytes(), max_seconds=60, max_samples=60 * 48_000)
    return len(pcm) / rate


def test_a_script_is_read_line_by_line() -> None:
    assert read_turns(SCRIPT) == (
        DialogueTurn("low", "Is the tide out?"),
        DialogueTurn("high", "It is, and the boats lie on the sand."),
        DialogueTurn("low", "Note: good."),
    )


@each_row("script", ["Hello there.", "low: Hi.\nWhat now", "  low", "low:\nhigh: Hi.", ": Hi."])
def test_a_line_without_a_voice_is_refused_with_its_number(script: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"Line \d"):
        read_turns(script)


def test_a_dialogue_is_spoken_into_a_file(engine: ToneEngine) -> None:
    result = say("--dialogue", "-f", "talk.txt", "--pause", "0.5", "-o", "talk.wav")
    assert result.exit_code == 0, result.stderr
    assert [heard.voice for heard in engine.heard] == ["low", "high", "low"]
    assert seconds_of("talk.wav") == pytest.approx(3 * 0.3 + 2 * 0.5, abs=0.01)


def test_a_server_speaks_it_as_well(engine: ToneEngine) -> None:
    theirs = ToneEngine()
    with served(tone_service(theirs)) as url:
        result = say("--dialogue", "-f", "talk.txt", "--pause", "0.5", "-o", "talk.wav", "--server", url)
    assert result.exit_code == 0, result.stderr
    assert [heard.voice for heard in theirs.heard] == ["low", "high", "low"]
    assert seconds_of("talk.wav") == pytest.approx(3 * 0.3 + 2 * 0.5, abs=0.01)


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--dialogue", "low: Hi.", "--voice", "low"), "leave --voice out"),
        (("Hi.", "--pause", "1"), "--pause is for dialogues"),
        (("--dialogue", "low: Hi.", "--pause", "61"), "pause must lie between"),
        (("--dialogue", "low: Hi.\nnobody: Hi."), "no voice 'nobody'"),
        (("--dialogue", "Hi."), "Line 1 names no voice"),
    ],
)
def test_what_does_not_fit_is_one_line(engine: ToneEngine, arguments: tuple[str, ...], complaint: str) -> None:
    result = say(*arguments, "-o", "a.wav")
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("a.wav").exists()
