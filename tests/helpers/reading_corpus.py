"""Sentences as people write them, each with the readings that a person would give it.

A corpus is a file of three columns parted by tabs: the class, the written sentence, and its readings with ` | ` between
them where several are right. A reading is compared word by word. Marks and capitals count for nothing, save that
letters called by their names are capitals on both sides, joined or apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from polyvox.evaluate import readings
from polyvox.evaluate.readings.judges import words

FOLDER: Final = Path(readings.__path__[0]) / "lists"


@dataclass(frozen=True, slots=True)
class Reading:
    """A written sentence and how it may be said."""

    kind: str
    written: str
    said: tuple[str, ...]

    def accepts(self, heard: str) -> bool:
        return words(heard) in [words(said) for said in self.said]


def load(name: str) -> list[Reading]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line]
    return [Reading(kind, written, tuple(said.split(" | "))) for kind, written, said in rows]


def misread(readings: list[Reading], read: Callable[[str], str]) -> dict[str, list[tuple[str, str]]]:
    """By class, the sentences whose reading is none of those accepted, with what is heard instead."""
    found: dict[str, list[tuple[str, str]]] = {}
    for reading in readings:
        heard = read(reading.written)
        if not reading.accepts(heard):
            found.setdefault(reading.kind, []).append((reading.written, heard))
    return found
