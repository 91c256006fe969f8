"""The text of a message between its index marks: Speech Dispatcher sends SSML, also for plain texts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyvox.hostile_xml import XmlError, XmlHandlers, XmlLimits, XmlReader

_LIMITS: Final = XmlLimits(depth=64, elements=20_000)
_TAG: Final = re.compile(r"<[^<>]{0,1000}>")
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BREAKING: Final = frozenset({"break", "p", "s"})


@dataclass(frozen=True, slots=True)
class IndexMark:
    """A place in a message, reported when it is heard; a paused message goes on from the last one."""

    name: str


def read_message(text: str) -> list[str | IndexMark]:
    """The words and the index marks of a message, in their order; of SSML that is malformed, the words without tags."""
    text = _NOT_XML.sub(" ", text)
    if not text.lstrip().startswith("<speak"):
        return [text]
    reading = _Reading()
    try:
        XmlReader(XmlHandlers(reading.start, reading.end, reading.words.append), _LIMITS).read(text.encode())
    except XmlError:
        return [_TAG.sub(" ", text)]
    return reading.finished()


class _Reading:
    def __init__(self) -> None:
        self.words: list[str] = []
        self._parts: list[str | IndexMark] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "mark":
            self._flush()
            self._parts.append(IndexMark(" ".join(attributes.get("name", "").split())[:200]))

    def end(self, name: str) -> None:
        if name in _BREAKING:
            self.words.append("\n")

    def finished(self) -> list[str | IndexMark]:
        self._flush()
        return self._parts

    def _flush(self) -> None:
        if words := "".join(self.words).strip():
            self._parts.append(words)
        self.words.clear()
