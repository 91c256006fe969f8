"""Bodies of `/v1/jobs`: the fields of a new job, and the manuscript that they make."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from polyvox.api.requests.fields import Boolean, Integer, Number, RequestBody, Speed, Text
from polyvox.api.requests.forms import FormFile
from polyvox.api.requests.languages import language_tag
from polyvox.audio.encode import AudioFormat
from polyvox.books.manuscript import Chapter, Cover, Manuscript, ManuscriptLimits
from polyvox.books.narration.options import BookFormat, NarrationOptions
from polyvox.books.pictures import read_cover
from polyvox.books.readers.reader_process import read_manuscript_apart
from polyvox.books.readers.reading import read_manuscript
from polyvox.config import Settings
from polyvox.errors import InvalidRequestError, MarkupError, RequestTooLargeError
from polyvox.service.jobs.record import JobOutput
from polyvox.text.captions import CaptionFormat
from polyvox.text.markup.markup import place

_LONG_TEXT = 65_536
_MOST_NAMES = 16
_MOST_CHAPTERS = 2_000
_MOST_VOICES = 64
_LONGEST_CORRECTION = 20_000
_ENDINGS = {"text": ".txt", "markdown": ".md", "html": ".html"}
_FILE_ENDINGS = (".txt", ".md", ".markdown", ".html", ".htm", ".xhtml", ".epub")


def _listed(value: object) -> object:
    """A list that a form gives as text: JSON, or names with commas between them."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return [part.strip() for part in value.split(",") if part.strip()]


Name = Annotated[str, Field(max_length=200)]
VoiceName = Annotated[str, Field(max_length=1_000)]


class JobChapter(RequestBody):
    """A chapter of a job."""

    title: str = Field("", max_length=1_000, description="Its title, which is spoken first.")
    text: Text = Field(description="Its text, in the format of the job.")
    voice: VoiceName | None = Field(None, description="A voice of its own.")


class NewJobBody(RequestBody):
    """A text to be spoken in the background: `text`, `chapters`, or in a form a `file`."""

    text: Text | None = Field(None, description="The text; its headings begin chapters.")
    format: Literal["text", "markdown", "html"] = Field(
        "text", description="What `text` and `chapters` are written in."
    )
    chapters: list[JobChapter] | None = Field(
        None, max_length=_MOST_CHAPTERS, description="The chapters, instead of `text`."
    )
    title: str = Field("", max_length=1_000, description="Title of the book; else that of the file.")
    author: str = Field("", max_length=1_000, description="Its author; else that of the file.")
    voice: VoiceName = Field("", description="A voice of the model or a registered one; else the default.")
    model: Name | None = Field(None, description="The model; else the default.")
    speed: Speed = Field(1.0, description="Pace of the speech.")
    language: Name | None = Field(None, description="Language of the text; else that of the file or voice.")
    seed: Integer = Field(0, ge=0, lt=2**63, description="The same job and seed give the same speech.")
    titles: Boolean = Field(True, description="Whether the titles of chapters are spoken.")
    output: Annotated[list[BookFormat], BeforeValidator(_listed)] = Field(
        [BookFormat.M4B], max_length=_MOST_NAMES, description="Formats of the whole book in one file with chapters."
    )
    chapter_files: AudioFormat | None = Field(None, description="Format of one more file for each chapter.")
    captions: Annotated[list[CaptionFormat], BeforeValidator(_listed)] = Field(
        [], max_length=_MOST_NAMES, description="Formats of captions for the book, and for the files of chapters."
    )
    dictionaries: Annotated[list[Name], BeforeValidator(_listed)] = Field(
        [], max_length=_MOST_NAMES, description="Names of your dictionaries."
    )
    verify: Boolean | None = Field(
        None,
        description="Whether each sentence is heard by a recogniser, and spoken again where words are wrong; else as "
        "the server's setting `verify_jobs` says.",
    )
    webhook: str | None = Field(
        None, max_length=2_048, description="Address that is told of the job's end, at a host that the server allows."
    )
    expires_seconds: Number | None = Field(
        None, gt=0, description="How long the job is kept at its end, at most as long as the server's setting says."
    )

    @property
    def options(self) -> NarrationOptions:
        """Options of the narration."""
        return NarrationOptions(
            voice=self.voice.strip(),
            model=self.model,
            speed=self.speed,
            language=None if self.language is None else language_tag(self.language, "language"),
            seed=self.seed,
            dictionaries=tuple(self.dictionaries),
            titles=self.titles,
        )

    @property
    def job_output(self) -> JobOutput:
        """The files that are to be made."""
        if not self.output and self.chapter_files is None:
            raise InvalidRequestError("'output' is empty; name a format, or one for 'chapter_files'.", field="output")
        books, captions = (tuple(dict.fromkeys(map(str, names))) for names in (self.output, self.captions))
        return JobOutput(books, None if self.chapter_files is None else str(self.chapter_files), captions)

    @property
    def voices(self) -> list[str]:
        """The voices that the fields name, each once."""
        named = [self.voice, *(chapter.voice for chapter in self.chapters or () if chapter.voice)]
        voices = list(dict.fromkeys(named))
        if len(voices) > _MOST_VOICES:
            raise InvalidRequestError(f"The chapters have over {_MOST_VOICES} voices; use fewer.", field="chapters")
        return voices


class CorrectionBody(RequestBody):
    """Another text in place of one sentence of a job."""

    text: Annotated[Text, Field(max_length=_LONGEST_CORRECTION)] = Field(description="What is spoken instead.")
    sentence: Integer | None = Field(
        None, ge=1, description="The sentence, from 1, of those that are not spoken; else the first of them."
    )


def placed_in(error: MarkupError, body: NewJobBody) -> MarkupError:
    """The error with the line and column of its mark, where the fields hold it as it was written."""
    texts = {"text": body.text} if body.chapters is None else {}
    texts |= {f"chapters[{number}].text": chapter.text for number, chapter in enumerate(body.chapters or ())}
    for name, text in texts.items():
        if text is not None and error.mark is not None and (at := text.find(error.mark)) >= 0:
            return MarkupError(f"{error.message} It is at {place(text, at)} of '{name}'.", field=name)
    return error


async def manuscript_of(body: NewJobBody, files: Mapping[str, FormFile], settings: Settings) -> Manuscript:
    """The manuscript of a new job, from whichever of its fields holds it."""
    limits = ManuscriptLimits(file_bytes=settings.max_manuscript_bytes)
    given = {"text": body.text is not None, "chapters": body.chapters is not None, "file": "file" in files}
    if sum(given.values()) != 1:
        raise InvalidRequestError("Send one of 'text', 'chapters' and 'file'.", field="text")
    cover = _cover(files.get("cover"), limits)
    if given["file"]:
        found = await _from_file(files["file"], limits)
    elif body.text is not None:
        found = await _from_text(body.text, body.format, limits)
    else:
        found = await asyncio.to_thread(_from_chapters, body, limits)
    title = body.title or found.title or _stem(files)
    return replace(found, title=title, author=body.author or found.author, cover=cover or found.cover)


async def _from_file(file: FormFile, limits: ManuscriptLimits) -> Manuscript:
    """Of the caller's name nothing is used but its ending, and that only to choose the reader."""
    ending = PurePath(file.name).suffix.lower()
    if ending not in _FILE_ENDINGS:
        raise InvalidRequestError(
            f"'file' must have a name that ends with one of {', '.join(_FILE_ENDINGS)}.", field="file"
        )
    _check_size(len(file.data), limits, "file")
    return await read_manuscript_apart(file.data, f"manuscript{ending}", limits)


async def _from_text(text: str, kind: str, limits: ManuscriptLimits) -> Manuscript:
    """A short text is read here; a long one, or one with a markup of its own, in a process with limits."""
    data, name = text.encode(), f"manuscript{_ENDINGS[kind]}"
    _check_size(len(data), limits, "text")
    if kind == "html" or len(data) > _LONG_TEXT:
        return await read_manuscript_apart(data, name, limits)
    return await asyncio.to_thread(read_manuscript, data, name, limits)


def _from_chapters(body: NewJobBody, limits: ManuscriptLimits) -> Manuscript:
    chapters: list[Chapter] = []
    _check_size(sum(len(chapter.text.encode()) for chapter in body.chapters or ()), limits, "chapters")
    for chapter in body.chapters or ():
        found = read_manuscript(chapter.text.encode(), f"manuscript{_ENDINGS[body.format]}", limits)
        paragraphs = tuple(paragraph for part in found.chapters for paragraph in _with_heading(part))
        chapters.append(Chapter(chapter.title, paragraphs, chapter.voice))
    return Manuscript("", "", "", None, tuple(chapters))


def _with_heading(chapter: Chapter) -> tuple[str, ...]:
    """The paragraphs of a part within a chapter that has a title of its own; the part's heading is one of them."""
    return (chapter.title, *chapter.paragraphs) if chapter.title else chapter.paragraphs


def _cover(file: FormFile | None, limits: ManuscriptLimits) -> Cover | None:
    if file is None:
        return None
    if len(file.data) > limits.cover_bytes:
        raise RequestTooLargeError(
            f"'cover' is over {limits.cover_bytes:,} bytes; send a smaller picture.", field="cover"
        )
    return read_cover(file.data)


def _check_size(size: int, limits: ManuscriptLimits, field: str) -> None:
    if size > limits.file_bytes:
        raise RequestTooLargeError(
            f"The manuscript has {size:,} bytes; this server takes {limits.file_bytes:,}. Send it in parts.",
            field=field,
        )


def _stem(files: Mapping[str, FormFile]) -> str:
    """A title from the name of the file, where there is no better one. In forms `%22` stands for a quote."""
    name = files["file"].name.replace("%22", '"') if "file" in files else ""
    stem = PurePath(name.replace("\\", "/")).stem
    return " ".join("".join(char if char.isprintable() else " " for char in stem).split())[:200]
