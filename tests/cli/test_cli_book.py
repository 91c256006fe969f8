"""`polyvox book`: a manuscript in, a book with chapters out, interrupted or not."""

import io
import json
from dataclasses import replace
from pathlib import Path

import av
import pytest
from rich.console import Console
from typer.testing import CliRunner

from helpers.epubs import epub
from helpers.fakes import ToneEngine, tone_catalog
from helpers.listening import ScriptedRecogniser
from polyvox.books.narration.options import NarrationProgress
from polyvox.cli.book import narrating
from polyvox.cli.book.narrating import pace
from polyvox.cli.main import app
from polyvox.engines.catalog import Catalog
from polyvox.service.listening.recognisers import ChosenRecogniser, Recognisers

MARKDOWN = (
    "# The Tide\n\n## One\n\nIt came in. It went out.\n\n"
    "## Two\n\n[voice:high] Nobody saw it.\n\n## Three\n\nThe end.\n"
)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """The only model is an engine that hums; there is a manuscript."""
    humming = ToneEngine()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Catalog, "installed", lambda: tone_catalog(humming))
    monkeypatch.setenv("POLYVOX_MODELS", "tone")
    monkeypatch.setenv("POLYVOX_DEFAULT_MODEL", "tone")
    monkeypatch.setenv("POLYVOX_DEFAULT_VOICE", "low")
    Path("tide.md").write_text(MARKDOWN)
    Path("tide.epub").write_bytes(epub())
    return humming


def book(*arguments):
    return CliRunner().invoke(app, ["book", *arguments])


def chapters(path):
    with av.open(str(path)) as container:
        return [chapter["metadata"]["title"] for chapter in container.chapters()]


def heard(engine):
    return [(utterance.text, utterance.voice) for utterance in engine.heard]


@pytest.mark.long
def test_a_book_is_narrated_into_one_file_with_captions(engine):
    result = book("tide.md", "-o", "tide.m4b", "--captions", "vtt", "--captions", "word_vtt", "--author", "Ann")
    assert result.exit_code == 0, result.stderr
    assert chapters("tide.m4b") == ["One", "Two", "Three"]
    with av.open("tide.m4b") as container:
        assert (container.metadata["title"], container.metadata["artist"]) == ("The Tide", "Ann")
        assert container.metadata["composer"] == "low"
    assert Path("tide.vtt").read_text().startswith("WEBVTT")
    assert "Nobody saw it." in Path("tide.vtt").read_text()
    assert Path("tide.words.vtt").exists()
    assert sorted(heard(engine)) == sorted(
        [
            ("One", "low"),
            ("It came in.", "low"),
            ("It went out.", "low"),
            ("Two", "low"),
            ("Nobody saw it.", "high"),
            ("Three", "low"),
            ("The end.", "low"),
        ]
    )
    assert len({utterance.seed for utterance in engine.heard}) == 7
    assert sorted(path.name for path in Path().iterdir()) == [
        "tide.epub", "tide.m4b", "tide.md", "tide.vtt", "tide.words.vtt",
    ]  # fmt: skip


def test_chapters_go_to_a_folder_and_can_be_chosen(engine):
    result = book("tide.md", "-o", "tide", "--chapters", "2-", "--no-titles", "--voice", "high")
    assert result.exit_code == 0, result.stderr
    assert sorted(path.name for path in Path("tide").iterdir()) == ["chapter-001.mp3", "chapter-002.mp3"]
    assert sorted(heard(engine)) == [("Nobody saw it.", "high"), ("The end.", "high")]


def test_the_chapters_are_listed_without_speaking(engine):
    result = book("tide.epub", "--list")
    assert result.exit_code == 0
    assert "BAB 1. Ombak" in result.stdout
    assert not engine.heard


@pytest.mark.long
def test_an_interrupted_run_says_how_to_go_on_and_the_next_one_does(engine, monkeypatch):
    calls = 0
    speak = ToneEngine.speak

    async def interrupted(self, utterance):
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        async for chunk in speak(self, utterance):
            yield chunk

    monkeypatch.setattr(ToneEngine, "speak", interrupted)
    result = book("tide.md", "-o", "tide.mp3")
    assert result.exit_code == 130
    assert "give the same command again" in result.stderr
    assert Path("tide.mp3.parts", "plan.json").exists()
    assert not Path("tide.mp3").exists()
    assert book("tide.md", "-o", "tide.mp3", "--voice", "high").exit_code == 1
    before = len(engine.heard)
    result = book("tide.md", "-o", "tide.mp3")
    assert result.exit_code == 0, result.stderr
    assert "Goes on at" in result.stderr
    assert 1 <= len(engine.heard) - before < 7
    assert not Path("tide.mp3.parts").exists()
    assert chapters("tide.mp3") == ["One", "Two", "Three"]


@pytest.mark.long
def test_a_book_that_is_there_is_not_made_again_unasked(engine):
    Path("tide.m4b").write_bytes(b"dear")
    assert "--overwrite" in book("tide.md").stderr
    assert Path("tide.m4b").read_bytes() == b"dear"
    assert book("tide.md", "--overwrite").exit_code == 0
    assert chapters("tide.m4b") == ["One", "Two", "Three"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tide.md", "--voice", "hgih"), "did you mean 'high'?"),
        (("tide.md", "-o", "tide.wav"), ".m4b, .mp3 or .opus"),
        (("tide.md", "-o", "nowhere/tide.m4b"), "does not exist"),
        (("tide.md", "--chapters", "2-9"), "chapters 1 to 3"),
        (("tide.md", "--chapters", "x"), "chapters 1 to 3"),
        (("tide.md", "--captions", "txt"), "srt, vtt"),
        (("tide.md", "--speed", "9"), "speed"),
        (("tide.md", "--loudness", "3"), "LUFS"),
        (("tide.md", "--cover", "tide.md"), "JPEG"),
        (("tide.pdf",), "tide.pdf"),
        (("missing.epub",), "missing.epub"),
    ],
)
def test_what_cannot_work_is_one_line_before_anything_is_spoken(engine, arguments, said):
    Path("tide.pdf").write_bytes(b"%PDF")
    result = book(*arguments)
    assert result.exit_code in (1, 2)
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not engine.heard
    assert not list(Path().glob("*.parts"))


@pytest.mark.long
def test_the_bar_shows_the_chapter_and_the_pace(engine, monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    monkeypatch.setattr(narrating, "Console", lambda **options: console)
    assert book("tide.md").exit_code == 0
    assert "1 of 3 One" in screen.getvalue()
    assert "real time" in screen.getvalue()


def test_a_verified_book_needs_a_recogniser_and_is_refused_before_anything_is_spoken(engine, tmp_path):
    result = book("tide.md", "-o", "tide.mp3", "--verify", "--models-dir", str(tmp_path / "none"))
    assert result.exit_code == 1
    assert "polyvox pull" in result.stderr
    assert not engine.heard


def test_a_verified_book_says_what_was_respoken(engine, monkeypatch):
    def heard_as(recognisers, name, task):
        return ChosenRecogniser(recognisers.models[0], ())

    monkeypatch.setattr(Recognisers, "choose", heard_as)
    monkeypatch.setattr(Recognisers, "load", lambda recognisers, model: ScriptedRecogniser(("Two",)))
    result = book("tide.md", "-o", "tide.mp3", "--verify", "--chapters", "2")
    assert result.exit_code == 0, result.stderr
    assert "2 sentences checked, 0 respoken, 1 still not right." in result.stderr
    [wrong] = json.loads(Path("tide.check.json").read_text())["sentences"]
    assert (wrong["text"], wrong["heard"]) == ("Nobody saw it.", "Two")


def test_the_pace_counts_only_this_run():
    first = NarrationProgress(10, 100, 1, 2, 50.0, chars_done=1_000, chars=10_000)
    now = replace(first, seconds_spoken=650.0, chars_done=2_000)
    assert pace(first, now, 60.0) == "10.0x real time, 8 min left"
    assert pace(first, first, 60.0) == ""
    assert pace(first, replace(now, chars=100_000), 60.0).endswith("1 h 38 min left")
