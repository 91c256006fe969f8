"""The items of a language from its table in `tests/text/invariance/items`: kind, written, heard, other spellings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from helpers.invariance.harness import Item

_FOLDER: Final = Path(__file__).parents[2] / "text" / "invariance" / "items"


def items(tag: str) -> Mapping[str, Sequence[Item]]:
    """The items by class."""
    _, *lines = (_FOLDER / f"{tag}.tsv").read_text(encoding="utf-8").splitlines()
    classes: dict[str, list[Item]] = {}
    for line in lines:
        kind, written, heard, also = line.split("\t")
        classes.setdefault(kind, []).append(Item(written, heard, tuple(also.split(" | ")) if also else ()))
    return classes
