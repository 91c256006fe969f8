"""Lines of text as espeak-ng is given them, and its answers as they are used."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

# A request and its answer fit into the pipes, so that neither side ever blocks on the other.
_MAX_REQUEST_BYTES: Final = 12_000
_UNSPEAKABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2600-\u27bf\ufe00-\ufe0f\U0001f000-\U0001faff]+")
_LANGUAGE_FLAG: Final = re.compile(r"\([a-z^-]+\)")


def cleaned(line: str) -> str:
    """A line without characters that espeak-ng cannot handle."""
    return _UNSPEAKABLE.sub("", line).replace("’", "'").strip()


def batches(lines: Sequence[str]) -> Iterator[list[str]]:
    """The lines in order, in groups of a size that may be sent at once."""
    waiting: list[str] = []
    size = 0
    for line in lines:
        added = len(encoded([line]))
        if waiting and size + added > _MAX_REQUEST_BYTES:
            yield waiting
            waiting, size = [], 0
        waiting.append(line)
        size += added
    if waiting:
        yield waiting


def encoded(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def answered(line: bytes) -> str:
    """A line of phonemes without the marks of words that were read in another language."""
    return _LANGUAGE_FLAG.sub("", line.decode("utf-8", "replace")).strip()
