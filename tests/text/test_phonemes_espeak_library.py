"""The library espeak-ng of a Python package: the program's phonemes, from processes that may crash."""

import json
import os
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpers.tables import each_row
from polyvox import extras
from polyvox.errors import EngineError, UnavailableError
from polyvox.text.phonemes import availability
from polyvox.text.phonemes.availability import missing_extra, unspoken
from polyvox.text.phonemes.espeak import choice as espeak_choice
from polyvox.text.phonemes.espeak import library as espeak_library
from polyvox.text.phonemes.espeak.choice import VOICES, open_espeak
from polyvox.text.phonemes.espeak.library import EspeakLibrary, find_library
from polyvox.text.phonemes.espeak.phonemizer import EspeakPhonemizer
from polyvox.text.phonemes.espeak.program import EspeakProgram
from polyvox.text.tracked import TrackedText

# Of each language twenty sentences: the text, the phonemes of the program of Debian 12 (1.51), and those of the library
# (1.52) where they differ.
SENTENCES = json.loads((Path(__file__).parents[1] / "golden/espeak_phonemes.json").read_text(encoding="utf-8"))
LIBRARY = find_library()
installed = pytest.mark.skipif(LIBRARY is None, reason="the extra espeak is not installed")


def library(language: str) -> EspeakLibrary:
    assert LIBRARY is not None
    return EspeakLibrary(LIBRARY, VOICES.get(language, language), language, tie="^")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A worker in place of the real one: it says `ok` but crashes, hangs or floods on these words."""
    worker = tmp_path / "worker.py"
    worker.write_text(
        "import os, sys, time\n"
        "for line in sys.stdin:\n"
        "    if 'crash' in line: os.abort()\n"
        "    if 'hang' in line: time.sleep(60)\n"
        "    if 'flood' in line: sys.stdout.write('x' * 5000)\n"
        "    print('(en)ok', os.getpid(), flush=True)\n"
    )
    monkeypatch.setattr(espeak_library, "_WORKER", worker)
    monkeypatch.setattr(espeak_library, "_TIMEOUT_SECONDS", 2.0)
    monkeypatch.setattr(espeak_library, "_MAX_LINE_BYTES", 1000)
    return tmp_path / "libespeak-ng.so"


@installed
@each_row("language", SENTENCES)
def test_the_library_says_what_the_program_says(language: str) -> None:
    rows = SENTENCES[language]
    assert len(rows) == 20
    assert library(language).phonemize([row[0] for row in rows]) == [row[-1] for row in rows]
    assert sum(len(row) == 3 for row in rows) <= 1


@installed
def test_a_text_that_crashes_the_library_fails_alone() -> None:
    espeak = library("it")
    good = [row[0] for row in SENTENCES["it"]]
    before = espeak.phonemize(good)
    with pytest.raises(EngineError, match="espeak-ng failed"):
        espeak.phonemize(["A.B.C.D.E.F." * 35])
    assert espeak.phonemize(good) == before


@installed
def test_hostile_lines_do_not_change_how_the_next_caller_is_read() -> None:
    espeak = library("fr")
    good = [row[0] for row in SENTENCES["fr"]]
    before = espeak.phonemize(good)
    hostile = [
        "[[",
        "<speak><voice name='x'>",
        "\\",
        "%n%s",
        "9" * 300,
        "e\u0301" * 200,
        "\u202e\u200d",
        "\ud800",
        "",
        "'" * 90,
    ]
    assert len(espeak.phonemize(hostile)) == len(hostile)
    assert espeak.phonemize(good) == before
    assert len(espeak._idle) == 1, "no worker crashed"


@installed
def test_a_deep_folder_is_no_obstacle(tmp_path: Path) -> None:
    """espeak-ng keeps 160 bytes for the path of its data."""
    assert LIBRARY is not None
    folder = tmp_path / ("deep" * 30) / ("deeper" * 20)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(LIBRARY.parent)
    assert EspeakLibrary(folder / LIBRARY.name, "es", "es").phonemize(["hola"]) == ["ˈola"]


@pytest.mark.long
@pytest.mark.parametrize("word", ["crash", "hang", "flood"])
def test_a_worker_that_fails_is_replaced(word: str, stand_in: Path) -> None:
    espeak = EspeakLibrary(stand_in, "es", "es")
    first = espeak.phonemize(["a", "b"])
    assert first[0] == first[1]
    assert espeak.phonemize(["c"]) == first[:1], "a worker is used again"
    with pytest.raises(EngineError, match="failed on a text, or took too long"):
        espeak.phonemize(["a", word])
    assert espeak.phonemize(["a"])[0].startswith("ok ")


def test_a_worker_that_was_killed_while_idle_is_not_noticed(stand_in: Path) -> None:
    espeak = EspeakLibrary(stand_in, "es", "es")
    espeak.phonemize(["a"])
    os.kill(espeak._idle[0].pid, signal.SIGKILL)
    espeak._idle[0].wait()
    assert espeak.phonemize(["a"])[0].startswith("ok ")


@pytest.mark.long
def test_a_hanging_text_does_not_hold_up_others_and_few_workers_stay(stand_in: Path) -> None:
    espeak = EspeakLibrary(stand_in, "es", "es")
    with ThreadPoolExecutor(5) as pool:
        hanging = pool.submit(espeak.phonemize, ["hang"])
        answers = list(pool.map(espeak.phonemize, [["a"]] * 4))
        assert not hanging.done()
        assert isinstance(hanging.exception(), EngineError)
    assert all(answer[0].startswith("ok ") for answer in answers)
    assert len(espeak._idle) <= 2


def test_workers_end_with_their_owner(stand_in: Path) -> None:
    espeak = EspeakLibrary(stand_in, "es", "es")
    espeak.phonemize(["a"])
    worker = espeak._idle[0]
    del espeak
    assert worker.returncode is not None


def test_a_worker_that_cannot_start_is_unavailable(stand_in: Path) -> None:
    espeak = EspeakLibrary(stand_in.parent / "gone" / "libespeak-ng.so", "es", "es")
    with pytest.raises(UnavailableError, match=r"\.\[espeak\]"):
        espeak.phonemize(["a"])


def test_the_library_goes_first_and_a_program_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = shutil.which("true") or sys.executable
    monkeypatch.setattr(espeak_choice, "find_library", lambda: tmp_path / "libespeak-ng.so")
    assert isinstance(open_espeak("espeak-ng", "es", "es"), EspeakLibrary)
    assert isinstance(open_espeak(program, "es", "es"), EspeakProgram)
    (tmp_path / "espeak-ng").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isinstance(open_espeak("espeak-ng", "en-us", "en-us", program_first=True), EspeakProgram)
    (tmp_path / "espeak-ng").unlink()
    assert isinstance(open_espeak("espeak-ng", "en-us", "en-us", program_first=True), EspeakLibrary)
    monkeypatch.setattr(espeak_choice, "find_library", lambda: None)
    with pytest.raises(UnavailableError, match=r"pip install -e '\.\[espeak\]'"):
        open_espeak("espeak-ng", "es", "es")


@installed
@pytest.mark.parametrize("language", sorted(VOICES))
def test_without_the_program_the_library_speaks(language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_extra(language, "espeak-ng") == ""
    assert EspeakPhonemizer(language, "espeak-ng")(TrackedText.of(SENTENCES[language][0][0]), ())


def test_what_is_missing_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "find_library", lambda: None)
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [missing_extra(name, "espeak-ng") for name in ("en-us", "zh", "fr", "ja")] == ["", "", "espeak", "ja"]
    sentence = unspoken({"en-us", "zh", "fr", "ja"}, "espeak-ng")
    assert "fr, ja" in sentence
    assert "pip install -e '.[espeak,ja]'" in sentence
    assert unspoken({"en-us", "zh"}, "espeak-ng") == ""
