"""Binding: the files of a finished narration, made in short steps so that other work can go on between them."""

import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyvox.audio.encode import AudioFormat
from polyvox.books.narration.audio_file import AudioFileWriter, ChapterMark, FileContents
from polyvox.books.narration.chapter_audio import ChapterAudio, IntegratedLoudness, gain_to, levelled
from polyvox.books.narration.chapter_captions import chapter_cues, moved
from polyvox.books.narration.check_report import REPORT_MEDIA_TYPE, REPORT_NAME, check_report
from polyvox.books.narration.durable import sync_folder, write_durably
from polyvox.books.narration.options import BookFormat, BookFormats, BoundFile, FileKind
from polyvox.books.narration.plan_file import NarrationPlan, read_cover
from polyvox.text.captions import CAPTION_MEDIA_TYPES, CAPTION_SUFFIXES, CaptionFormat, Cue, captions

FOLDER = "bound"


@dataclass(frozen=True, slots=True)
class BindStep:
    """The share of the work that is done; `files` with the last step."""

    share: float
    files: tuple[BoundFile, ...] | None = None


def bind_steps(folder: Path, plan: NarrationPlan, formats: BookFormats) -> Generator[BindStep, None, None]:
    """Bind a narration; each step takes about as long as it takes to encode a sentence."""
    return _Binder(folder, plan, formats).steps()


class _Binder:
    """One binding under way."""

    def __init__(self, folder: Path, plan: NarrationPlan, formats: BookFormats) -> None:
        self._plan = plan
        self._formats = formats
        self._target = folder / FOLDER
        self._cover = read_cover(folder, plan)
        pauses = plan.options.pauses
        self._chapters = [
            ChapterAudio(folder, number, chapter, pauses) for number, chapter in enumerate(plan.chapters, 1)
        ]
        self._gains: list[float] = []
        passes = 1 + len(formats.books) + (formats.chapters is not None)
        self._work = passes * max(1, sum(chapter.samples for chapter in self._chapters))
        self._done = 0

    def steps(self) -> Generator[BindStep, None, None]:
        self._target.mkdir(exist_ok=True)
        files: list[BoundFile] = []
        yield from self._measure()
        for book in self._formats.books:
            yield from self._bind_book(book, files)
        if self._formats.chapters is not None:
            for chapter in self._chapters:
                yield from self._bind_chapter(chapter, self._formats.chapters, files)
        yield from self._bind_captions(files)
        if self._plan.options.verify:
            yield self._bind_report(files)
        yield BindStep(1.0, tuple(files))

    def _measure(self) -> Iterator[BindStep]:
        """Find the gain of each chapter."""
        for chapter in self._chapters:
            meter = IntegratedLoudness(chapter.sample_rate, chapter.channels)
            for piece in chapter.pieces():
                meter.push(piece)
                yield self._step(len(piece))
            self._gains.append(gain_to(self._formats.loudness, meter.lufs))

    def _bind_book(self, book: BookFormat, files: list[BoundFile]) -> Iterator[BindStep]:
        contents = FileContents(self._tags(), self._marks(), self._cover, self._formats.provenance)
        name = f"book.{book}"
        yield from self._write(name, book, self._chapters, contents)
        files.append(self._bound(name, book.media_type, FileKind.BOOK, None, self._marks()[-1].end))

    def _bind_chapter(
        self, chapter: ChapterAudio, audio_format: AudioFormat, files: list[BoundFile]
    ) -> Iterator[BindStep]:
        name = f"chapter-{chapter.number:03}.{audio_format}"
        tags = {**self._tags(), "title": self._title(chapter), "track": f"{chapter.number}/{len(self._chapters)}"}
        contents = FileContents(tags, (), self._cover, self._formats.provenance)
        yield from self._write(name, audio_format, [chapter], contents)
        seconds = chapter.samples / chapter.sample_rate
        files.append(self._bound(name, audio_format.media_type, FileKind.CHAPTER, chapter.number, seconds))

    def _bind_captions(self, files: list[BoundFile]) -> Iterator[BindStep]:
        """Write the captions of each chapter that is a file, and of the book."""
        formats = self._formats
        if not formats.captions:
            return
        whole: list[Cue] = []
        start = 0.0
        for chapter in self._chapters:
            found = chapter_cues(chapter)
            yield self._step(0)
            if formats.chapters is not None:
                for caption_format in formats.captions:
                    self._write_captions(found, f"chapter-{chapter.number:03}", caption_format, chapter.number, files)
            whole += (moved(cue, start) for cue in found)
            start += chapter.samples / chapter.sample_rate
        for caption_format in formats.captions if formats.books or formats.chapters is None else ():
            self._write_captions(whole, "book", caption_format, None, files)

    def _bind_report(self, files: list[BoundFile]) -> BindStep:
        checks = ((chapter.number, *checked) for chapter in self._chapters for checked in chapter.checks())
        write_durably(self._target / REPORT_NAME, check_report(checks))
        files.append(self._bound(REPORT_NAME, REPORT_MEDIA_TYPE, FileKind.REPORT, None))
        return self._step(0)

    def _write_captions(
        self, cues: Sequence[Cue], stem: str, caption_format: CaptionFormat, chapter: int | None, files: list[BoundFile]
    ) -> None:
        # Karaoke and plain captions share an ending; the longer name keeps them apart.
        middle = ".words" if caption_format is CaptionFormat.WORD_VTT else ""
        name = f"{stem}{middle}.{CAPTION_SUFFIXES[caption_format]}"
        write_durably(self._target / name, captions(cues, caption_format).encode())
        files.append(self._bound(name, CAPTION_MEDIA_TYPES[caption_format], FileKind.CAPTIONS, chapter))

    def _write(
        self, name: str, file_format: str, chapters: Sequence[ChapterAudio], contents: FileContents
    ) -> Iterator[BindStep]:
        """Write a file, which appears when it is complete."""
        first, part = chapters[0], self._target / f".{name}.part"
        writer = AudioFileWriter(part, file_format, first.sample_rate, first.channels, contents)
        try:
            for chapter in chapters:
                gain = self._gains[chapter.number - 1]
                pieces = chapter.pieces()
                for piece in levelled(pieces, gain, self._formats.peak, chapter.sample_rate, chapter.channels):
                    writer.write(piece)
                    yield self._step(len(piece))
            writer.finish()
            _sync(part)
            part.replace(self._target / name)
            sync_folder(self._target)
        finally:
            writer.close()
            part.unlink(missing_ok=True)

    def _tags(self) -> dict[str, str]:
        """Tags by FFmpeg's names; players of audiobooks look for the narrator where music has its composer."""
        plan = self._plan
        return {
            "title": plan.title,
            "album": plan.title,
            "artist": plan.author,
            "album_artist": plan.author,
            "composer": self._formats.narrator,
            "genre": "Audiobook",
        }

    def _marks(self) -> list[ChapterMark]:
        marks: list[ChapterMark] = []
        start = 0.0
        for chapter in self._chapters:
            end = start + chapter.samples / chapter.sample_rate
            marks.append(ChapterMark(self._title(chapter), start, end))
            start = end
        return marks

    def _title(self, chapter: ChapterAudio) -> str:
        return chapter.title or (self._plan.title if len(self._chapters) == 1 else "") or str(chapter.number)

    def _bound(
        self, name: str, media_type: str, kind: FileKind, chapter: int | None, seconds: float | None = None
    ) -> BoundFile:
        path = self._target / name
        return BoundFile(name, path, media_type, kind, chapter, path.stat().st_size, seconds)

    def _step(self, samples: int) -> BindStep:
        self._done += samples
        return BindStep(min(0.999, self._done / self._work))


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
