"""Marks in the files of books, read back by programs that did not write them."""

import json
import os
import shutil
import subprocess

import pytest
from mutagen.mp4 import MP4

from helpers.audio_signals import voice
from polyvox.books.manuscript import Chapter, Manuscript
from polyvox.books.narration.audio_file import AudioFileWriter, FileContents
from polyvox.books.narration.narration import Narration
from polyvox.books.narration.options import NarrationOptions
from polyvox.config import Settings
from polyvox.provenance.book_marks import book_tags
from polyvox.provenance.marks import Marks

MARKS = Marks.of_day("ab" * 16, "wren", 1_795_003_200.0)
FORMATS = ["m4b", "mp3", "opus", "webm", "aac", "flac", "wav"]
OF_WAV = {"ISRC": "DIGITALSOURCETYPE", "IARL": "CONTENT_ID", "IKEY": "MODEL", "encoder": "SOFTWARE"}


def written(path, kind):
    contents = FileContents({"title": "A book", "artist": "Somebody"}, provenance=MARKS.tags)
    writer = AudioFileWriter(path, kind, 24_000, 1, contents)
    writer.write(voice(24_000, 0.3))
    writer.finish()
    return path


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffprobe is not installed")
def test_ffprobe_reads_the_marks_of_every_format_of_a_book_beside_its_title(tmp_path):
    for kind in FORMATS:
        command = ["ffprobe", "-v", "error", "-show_entries", "format_tags:stream_tags", "-of", "json"]
        path = written(tmp_path / f"book.{kind}", kind)
        found = json.loads(subprocess.run([*command, str(path)], capture_output=True, check=True).stdout)
        tags = found["format"].get("tags", {}) | found["streams"][0].get("tags", {})
        if kind == "wav":
            tags = {OF_WAV.get(name, name): value for name, value in tags.items()}
        assert Marks.found_in(tags) == MARKS, kind
        assert {name.lower(): value for name, value in tags.items()}["title"] == "A book", kind


def test_mutagen_reads_the_marks_of_an_m4b(tmp_path):
    tags = MP4(written(tmp_path / "book.m4b", "m4b")).tags
    assert Marks.found_in({"comment": tags["\xa9cmt"][0], "date": tags["\xa9day"][0]}) == MARKS


def test_a_book_keeps_its_marks_however_late_it_is_finished(tmp_path):
    settings = Settings(models=["wren"], data_dir=tmp_path)
    book = Manuscript("A book", "Somebody", "en", None, (Chapter("One", ("Hello.",)),))
    narration = Narration.create(tmp_path / "book", book, NarrationOptions(seed=1))
    planned = 1_795_003_200
    os.utime(tmp_path / "book" / "plan.json", (planned, planned))
    tags = book_tags(narration, settings)
    assert tags == book_tags(Narration.open(tmp_path / "book"), settings)
    assert (tags["date"], tags["MODEL"]) == ("2026-11-18", "wren")
    assert book_tags(narration, settings.model_copy(update={"provenance": "off"})) == {}
