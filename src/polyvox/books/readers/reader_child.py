"""A child process that reads one manuscript: the file on standard input, lines of JSON on standard output.

It cannot write files or start processes, and its memory and CPU time are limited.
"""

import base64
import json
import resource
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from polyvox.books.manuscript import Chapter, Cover, Manuscript, ManuscriptLimits
from polyvox.books.readers.reading import read_manuscript
from polyvox.errors import ManuscriptError

MEMORY_BYTES = 1536 * 1024 * 1024
"""Memory that the process may allocate beyond what it has at its start."""
_PART_PARAGRAPHS = 256


def main() -> None:
    """Answer the one request: a line with the name and the limits, then the file."""
    request = json.loads(sys.stdin.buffer.readline())
    limits = ManuscriptLimits(**request["limits"])
    _confine(limits)
    try:
        lines = to_lines(read_manuscript(sys.stdin.buffer.read(), request["name"], limits))
    except ManuscriptError as error:
        lines = iter([{"refused": error.message}])
    except (MemoryError, RecursionError):
        lines = iter([{"refused": "The manuscript takes too much memory to read; split it into parts."}])
    sys.stdout.writelines(f"{json.dumps(line)}\n" for line in lines)
    sys.stdout.flush()


def _confine(limits: ManuscriptLimits) -> None:
    seconds = int(limits.seconds) + 1
    most = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: seconds, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_NPROC: 0}
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most[resource.RLIMIT_AS] = pages * resource.getpagesize() + MEMORY_BYTES
    for what, value in most.items():
        resource.setrlimit(what, (value, value))


def to_lines(manuscript: Manuscript) -> Iterator[Any]:
    """A manuscript as plain values, each short: the book, then each chapter, behind it the parts of its text.

    The interpreter parses a value in one go, during which no other thread of a server has its turn.
    """
    cover = manuscript.cover
    picture = None if cover is None else [base64.b64encode(cover.data).decode("ascii"), cover.media_type]
    yield {
        "title": manuscript.title,
        "author": manuscript.author,
        "language": manuscript.language,
        "cover": picture,
        "chapters": len(manuscript.chapters),
    }
    for chapter in manuscript.chapters:
        yield {"title": chapter.title, "voice": chapter.voice}
        part: list[str] = []
        for paragraph in chapter.paragraphs:
            part.append(paragraph)
            if len(part) == _PART_PARAGRAPHS:
                yield part
                part = []
        yield part


def from_lines(lines: Iterable[Any]) -> Manuscript:
    """The inverse of `to_lines`; ValueError where a part is missing."""
    book, *rest = lines
    picture = book["cover"]
    cover = None if picture is None else Cover(base64.b64decode(picture[0]), picture[1])
    found: list[tuple[str, str | None, list[str]]] = []
    for line in rest:
        if isinstance(line, dict):
            found.append((line["title"], line["voice"], []))
        else:
            found[-1][2].extend(line)
    if len(found) != book["chapters"]:
        raise ValueError("the manuscript was not told to its end")
    chapters = tuple(Chapter(title, tuple(paragraphs), voice) for title, voice, paragraphs in found)
    return Manuscript(book["title"], book["author"], book["language"], cover, chapters)


if __name__ == "__main__":
    main()
