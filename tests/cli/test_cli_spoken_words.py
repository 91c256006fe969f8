"""Words that are shown while they are heard, and names for voices that were mistyped."""

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers.fakes import ToneEngine, tone_catalog
from helpers.tables import each_row
from polyvox.cli.main import app
from polyvox.cli.speech.spoken_words import PLAYER_SECONDS, SpokenWords
from polyvox.engines.catalog import Catalog
from polyvox.service.voices.early_check import nearest_voice
from polyvox.types import Span, Voice, WordTiming

TEXT = "Good morning, world!"
WORDS = (
    WordTiming("Good", 0.0, 0.05, Span(0, 4)),
    WordTiming("morning", 0.05, 0.1, Span(5, 12)),
    WordTiming("world", 0.1, 0.15, Span(14, 19)),
)


@pytest.mark.long
def test_words_appear_when_they_are_heard_and_the_text_is_whole_in_the_end():
    async def show():
        loop = asyncio.get_running_loop()
        written = []
        began = loop.time()
        async with SpokenWords(TEXT, lambda text: written.append((loop.time() - began, text))).shown() as words:
            words.add(WORDS[:2], 0.1)
            await asyncio.sleep(PLAYER_SECONDS + 0.4)  # the speech is late: the player has to wait
            late = loop.time() - began
            words.add(WORDS[2:], 0.1)
            await asyncio.sleep(PLAYER_SECONDS + 0.15)
        return written, late

    written, late = asyncio.run(show())
    assert "".join(text for _, text in written) == TEXT + "\n"
    times = {text: at for at, text in written}
    assert times["Good"] >= PLAYER_SECONDS
    assert times[" morning"] >= PLAYER_SECONDS + 0.05
    assert times[", world"] >= late + PLAYER_SECONDS


def test_what_is_not_timed_is_shown_at_the_end():
    async def show():
        written = []
        async with SpokenWords(TEXT, written.append).shown() as words:
            words.add((), 0.1)
        return written

    assert asyncio.run(show()) == [TEXT, "\n"]


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """An engine that hums, and a player that takes everything."""
    humming = ToneEngine()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Catalog, "installed", lambda: tone_catalog(humming))
    monkeypatch.setenv("POLYVOX_MODELS", "tone")
    monkeypatch.setenv("POLYVOX_DEFAULT_MODEL", "tone")
    monkeypatch.setenv("POLYVOX_DEFAULT_VOICE", "low")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "aplay").write_text("#!/bin/sh\nexec /bin/cat > played\n")
    (programs / "aplay").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    return humming


@pytest.mark.parametrize("terminal", [True, False])
def test_say_plays_and_shows_the_words_to_whoever_looks(engine, monkeypatch, terminal):
    seen = []
    monkeypatch.setattr("polyvox.cli.say._show", seen.append)
    if terminal:
        monkeypatch.setattr("polyvox.cli.say._is_watched", lambda: True)
    result = CliRunner().invoke(app, ["say", TEXT])
    assert result.exit_code == 0, result.stderr
    assert Path("played").stat().st_size > 0
    assert "".join(seen) == (TEXT + "\n" if terminal else "")


def test_a_mistyped_voice_is_offered_by_its_right_name(engine):
    result = CliRunner().invoke(app, ["say", "Hello.", "-o", "a.wav", "--voice", "hihg"])
    assert result.exit_code == 2
    assert result.stderr == "error: There is no voice 'hihg'; did you mean 'high'? `polyvox voices` lists them all.\n"


@each_row(
    ("wanted", "found"),
    [("af_hart", "af_heart"), ("AF_Heart", "af_heart"), ("hart", "af_heart"), ("Ema", "bf_emma"), ("zzz", None)],
)
def test_the_nearest_voice_is_found_by_id_or_name(wanted, found):
    voices = [Voice("af_heart", "Heart", "en-us"), Voice("bf_emma", "Emma", "en-gb")]
    assert nearest_voice(wanted, voices) == found
