"""`polyvox say`: texts from anywhere, speech to anywhere."""

import io
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.fakes import TONES, PlainToneEngine, ToneEngine, missing_bundle, tone, tone_catalog
from helpers.scripted_server import ScriptedServer
from polyvox.audio.decode import decode
from polyvox.cli.main import app
from polyvox.cli.say import read_text
from polyvox.engines.catalog import Catalog
from polyvox.errors import InvalidRequestError, TextError

RATE = 24_000


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlainToneEngine:
    """The only model is an engine that hums."""
    humming = ToneEngine()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Catalog, "installed", lambda: tone_catalog(humming))
    monkeypatch.setenv("POLYVOX_MODELS", "tone")
    monkeypatch.setenv("POLYVOX_DEFAULT_MODEL", "tone")
    monkeypatch.setenv("POLYVOX_DEFAULT_VOICE", "low")
    return humming


def seconds_of(file: Path) -> float:
    pcm, rate = decode(file.read_bytes(), max_seconds=60, max_samples=60 * 48_000)
    return len(pcm) / rate


def say(*arguments: str, stdin: str | bytes | None = None):
    return CliRunner().invoke(app, ["say", *arguments], input=stdin)


@pytest.mark.parametrize("name", ["speech.wav", "speech.mp3", "speech.flac", "speech.ogg"])
def test_speech_is_written_in_the_format_of_the_files_ending(engine: PlainToneEngine, name: str) -> None:
    result = say("Good morning.", "-o", name)
    assert result.exit_code == 0, result.stderr
    assert seconds_of(Path(name)) == pytest.approx(engine.chunks * engine.chunk_seconds, abs=0.1)


def test_the_options_reach_the_engine(engine: PlainToneEngine) -> None:
    options = ("--voice", "high", "--speed", "2", "--language", "en-GB", "--model", "tone")
    result = say("Good morning.", "-o", "a.wav", *options)
    assert result.exit_code == 0, result.stderr
    (utterance,) = engine.heard
    assert (utterance.text, utterance.voice, utterance.speed) == ("Good morning.", "high", 2.0)
    assert utterance.language == "en-gb"


def test_volume_scales_the_samples(engine: PlainToneEngine) -> None:
    assert say("Hello.", "-o", "a.wav", "--volume", "0.5").exit_code == 0
    pcm, _ = decode(Path("a.wav").read_bytes(), max_seconds=60, max_samples=60 * RATE)
    expected = 0.5 * tone(TONES["low"], 0, len(pcm), RATE)
    assert abs(pcm - expected).max() < 1e-3


@pytest.mark.parametrize("arguments", [("-",), ()], ids=["dash", "nothing"])
def test_the_text_may_come_from_standard_input(engine: PlainToneEngine, arguments: tuple[str, ...]) -> None:
    assert say(*arguments, "-o", "a.wav", stdin="Good evening.").exit_code == 0
    assert engine.heard[0].text == "Good evening."


def test_the_text_may_come_from_a_file(engine: PlainToneEngine) -> None:
    Path("text.txt").write_text("\ufeffGood night.\n", encoding="utf-8")
    assert say("-f", "text.txt", "-o", "a.wav").exit_code == 0
    assert engine.heard[0].text == "Good night.\n"


def test_standard_output_takes_the_audio_and_nothing_else(engine: PlainToneEngine) -> None:
    result = say("Hello.", "-o", "-", "--format", "pcm")
    assert len(result.stdout_bytes) == 2 * round(engine.chunks * engine.chunk_seconds * RATE)


def test_a_voice_that_does_not_exist_is_one_line_and_no_file(engine: PlainToneEngine) -> None:
    result = say("Hello.", "-o", "a.wav", "--voice", "nobody")
    assert result.exit_code == 2
    assert result.stderr == "error: There is no voice 'nobody'; use low or high.\n"
    assert not Path("a.wav").exists()


def test_an_engine_that_fails_halfway_leaves_no_file(engine: PlainToneEngine) -> None:
    engine.fail_at = 1
    result = say("Hello.", "-o", "a.wav")
    assert result.exit_code == 1
    assert "error: " in result.stderr
    assert list(Path().iterdir()) == []


def test_a_model_that_is_not_installed_says_how_to_get_it(engine: PlainToneEngine) -> None:
    engine.start_error = missing_bundle()
    result = say("Hello.", "-o", "a.wav")
    assert result.exit_code == 1
    assert "polyvox pull tone" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("player", [None, "#!/bin/sh\necho no device >&2\nexit 1\n"], ids=["no player", "no device"])
def test_a_machine_that_cannot_play_is_one_line(
    engine: PlainToneEngine, player: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    if player is not None:
        (programs / "aplay").write_text(player)
        (programs / "aplay").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    result = say("Hello.")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "`-o speech.wav`" in result.stderr


def test_text_and_file_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match="not both"):
        read_text("Hello", tmp_path / "text.txt", 100)


@pytest.mark.parametrize(
    ("content", "reason"), [(b" \n", "empty"), (b"\xff\xff", "UTF-8"), (b"x" * 101, "longer than 100")]
)
def test_a_file_that_cannot_be_said_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(content)
    with pytest.raises(TextError, match=reason):
        read_text(None, file, 100)


def test_a_terminal_without_a_text_is_told_what_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stdin", terminal)
    with pytest.raises(InvalidRequestError, match="polyvox say"):
        read_text(None, None, 100)


@pytest.mark.long
def test_an_interrupted_say_leaves_no_file_and_says_so(scripted_server: ScriptedServer, tmp_path: Path) -> None:
    scripted_server.pieces["Slowly."] = [(0.0, 1.0), (60.0, 1.0)]
    command = [sys.executable, "-m", "polyvox", "say", "Slowly.", "-o", "a.wav", "--server", scripted_server.url]
    # Whoever runs the tests in the background hands down an ignored SIGINT, which would be inherited.
    heeding = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=heeding)
    try:
        while not scripted_server.times:
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert said == "stopped: a.wav was not written.\n"
    assert list(tmp_path.iterdir()) == []


# --- Captions ---


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("a.srt", "1\n00:00:00,000 --> 00:00:0"),
        ("a.vtt", "WEBVTT\n"),
        ("a.word.vtt", "Good <00:00:00."),
        ("a.json", '"text": "Good morning, \\"all\\"!"'),
    ],
)
def test_captions_are_written_beside_the_speech(engine: PlainToneEngine, name: str, holds: str) -> None:
    result = say('Good morning, "all"!', "-o", "a.wav", "--captions", name)
    assert result.exit_code == 0, result.stderr
    assert holds in Path(name).read_text(encoding="utf-8")


def test_the_captions_of_a_dialogue_name_its_voices(engine: PlainToneEngine) -> None:
    result = say("--dialogue", "low: Is it?\nhigh: It is.", "-o", "a.wav", "--captions", "a.vtt")
    assert result.exit_code == 0, result.stderr
    assert "<v low>Is it?\n" in Path("a.vtt").read_text(encoding="utf-8")


def test_a_file_that_is_no_caption_format_is_refused_before_anything_is_spoken(engine: PlainToneEngine) -> None:
    result = say("Hello.", "-o", "a.wav", "--captions", "a.txt")
    assert result.exit_code == 2
    assert "let it end in .srt" in result.stderr
    assert engine.heard == []
