"""A child process that reads one manuscript: file on standard input, the manuscript as JSON on standard output.

It cannot write files or start processes, and its memory and CPU time are limited.
"""

import base64
import json
import resource
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from polyvox.books.manuscript import Chapter, Cover, Manuscript, ManuscriptLimits
from polyvox.books.readers.reading import read_manuscript
from polyvox.errors import ManuscriptError

MEMORY_BYTES = 1536 * 1024 * 1024
"""Memory that the process may allocate beyond what it has at its start."""


def main() -> None:
    """Answer the one request: a line with the name and the limits, then the file."""
    request = json.loads(sys.stdin.buffer.readline())
    limits = ManuscriptLimits(**request["limits"])
    _confine(limits)
    try:
        answer = to_json(read_manuscript(sys.stdin.buffer.read(), request["name"], limits))
    except ManuscriptError as error:
        answer = {"refused": error.message}
    except (MemoryError, RecursionError):
        answer = {"refused": "The manuscript takes too much memory to read; split it into parts."}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()


def _confine(limits: ManuscriptLimits) -> None:
    seconds = int(limits.seconds) + 1
    most = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: seconds, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_NPROC: 0}
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most[resource.RLIMIT_AS] = pages * resource.getpagesize() + MEMORY_BYTES
    for what, value in most.items():
        resource.setrlimit(what, (value, value))


def to_json(manuscript: Manuscript) -> dict[str, Any]:
    """A manuscript as plain values."""
    cover = manuscript.cover
    picture = None if cover is None else [base64.b64encode(cover.data).decode("ascii"), cover.media_type]
    return {
        "title": manuscript.title,
        "author": manuscript.author,
        "language": manuscript.language,
        "cover": picture,
        "chapters": [asdict(chapter) for chapter in manuscript.chapters],
    }


def from_json(fields: dict[str, Any]) -> Manuscript:
    """The inverse of `to_json`."""
    picture = fields["cover"]
    cover = None if picture is None else Cover(base64.b64decode(picture[0]), picture[1])
    chapters = tuple(
        Chapter(chapter["title"], tuple(chapter["paragraphs"]), chapter["voice"]) for chapter in fields["chapters"]
    )
    return Manuscript(fields["title"], fields["author"], fields["language"], cover, chapters)


if __name__ == "__main__":
    main()
