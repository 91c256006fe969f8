"""`polyvox book`: narrate a whole book."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from polyvox.cli.say import INTERRUPTED, UNLIMITED_SECONDS, Dictionaries, Language, Model, ModelsDir, Speed

Manuscript = Annotated[Path, typer.Argument(help="The book: an .epub, .md, .html or .txt file.")]
OutputPath = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File to write: .m4b, .mp3 or .opus; a folder gets a file for each chapter."),
]
Voice = Annotated[str, typer.Option("--voice", "-v", help="The narrator's voice; a mix works, too.")]
Seed = Annotated[int, typer.Option(help="Another seed gives another reading, with models that vary.")]
Chapters = Annotated[str | None, typer.Option(help="Only these chapters, such as 1-3,7.")]
Captions = Annotated[list[str] | None, typer.Option(help="Captions beside the book: srt, vtt, word_vtt or json.")]
Format = Annotated[str | None, typer.Option("--format", help="Audio format, if not by the file's ending.")]
Title = Annotated[str | None, typer.Option(help="The book's title, if the file does not say it.")]
Author = Annotated[str | None, typer.Option(help="Its author, if the file does not say it.")]
CoverPath = Annotated[Path | None, typer.Option("--cover", help="Its cover: a JPEG or PNG file.")]
Loudness = Annotated[float, typer.Option(help="Loudness of every chapter in LUFS.")]
Titles = Annotated[bool, typer.Option("--titles/--no-titles", help="Whether the titles of chapters are spoken.")]
List = Annotated[bool, typer.Option("--list", help="Show the chapters, and stop.")]
Verify = Annotated[bool, typer.Option("--verify", help="Hear each sentence, and speak it again where words are wrong.")]
Restart = Annotated[bool, typer.Option("--restart", help="Forget what an interrupted run has spoken.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a book that is there already.")]


def book(
    context: typer.Context,
    manuscript: Manuscript,
    output: OutputPath = None,
    voice: Voice = "",
    model: Model = None,
    speed: Speed = 1.0,
    language: Language = None,
    seed: Seed = 0,
    chapters: Chapters = None,
    captions: Captions = None,
    audio_format: Format = None,
    title: Title = None,
    author: Author = None,
    cover: CoverPath = None,
    loudness: Loudness = -19.0,
    titles: Titles = True,
    dictionary: Dictionaries = None,
    verify: Verify = False,
    list_chapters: List = False,
    restart: Restart = False,
    overwrite: Overwrite = False,
    models_dir: ModelsDir = None,
) -> None:
    """Narrate a book into one file with chapters, or a file for each chapter.

    A run that was interrupted goes on where it was when the same command is given again.
    """
    from polyvox.api.requests.languages import language_tag
    from polyvox.books.narration.options import NarrationOptions
    from polyvox.cli.book.files import book_output, read_book, selected
    from polyvox.cli.book.narrating import BookJob, narrate_book
    from polyvox.installation import load_settings
    from polyvox.service.telemetry.logs import configure_logging

    settings = load_settings(
        models_dir=models_dir,
        models=[model] if model else None,
        default_model=model,
        deadline_seconds=UNLIMITED_SECONDS,
        stall_seconds=UNLIMITED_SECONDS,
        log_level="debug" if context.find_root().params["debug"] else "error",
        log_format="console",
    )
    configure_logging(settings)
    found = selected(asyncio.run(read_book(manuscript, title, author, cover)), chapters)
    if list_chapters:
        for number, chapter in enumerate(found.chapters, 1):
            words = sum(len(paragraph.split()) for paragraph in chapter.paragraphs)
            print(f"{number:4}  {words:7,} words  {chapter.title or '(no title)'}")
        return
    tag = None if language is None else language_tag(language, "language")
    names = tuple(dictionary or ())
    options = NarrationOptions(voice, model, speed, tag, seed, dictionaries=names, titles=titles, verify=verify)
    target = book_output(
        output or Path(f"{manuscript.stem}.m4b"), audio_format, captions or (), loudness, overwrite=overwrite
    )
    job = BookJob(found, options, target, restart=restart)
    try:
        asyncio.run(narrate_book(job, settings))
    except KeyboardInterrupt:
        print("stopped: what is spoken is kept; give the same command again to go on.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
