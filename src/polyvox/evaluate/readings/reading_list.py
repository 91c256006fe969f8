"""Reading lists: files of three columns parted by tabs, for the class, the written sentence and its reading.

Each language has its notation, which its judge explains. `\\n` stands for a line end, and a first line
`kind written heard` names the columns.
"""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from polyvox.errors import InvalidRequestError

MAX_FILE_BYTES: Final = 4_194_304
_COLUMNS: Final = ["kind", "written", "heard"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A case: its class, the text, and what a person would say."""

    kind: str
    written: str
    heard: str


def built_in(name: str) -> list[Reading]:
    """The list of a language that comes with the package."""
    file = resources.files(__package__).joinpath("lists", f"{name}.tsv")
    return _parsed(file.read_text(encoding="utf-8"))


def from_file(file: Path) -> list[Reading]:
    """A list of the caller's; `InvalidRequestError` where it is none."""
    if not file.is_file() or file.stat().st_size > MAX_FILE_BYTES:
        raise InvalidRequestError(f"{file} is no file of at most {MAX_FILE_BYTES:,} bytes.", field="texts")
    try:
        return _parsed(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidRequestError(f"{file} is not UTF-8.", field="texts") from error


def _parsed(text: str) -> list[Reading]:
    rows = [(number, line.split("\t")) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    for number, row in rows:
        if len(row) != len(_COLUMNS):
            raise InvalidRequestError(
                f"Line {number} has {len(row)} columns; write the class, the text and its reading with tabs between.",
                field="texts",
            )
    return [Reading(row[0], row[1].replace("\\n", "\n"), row[2]) for _, row in rows if row != _COLUMNS]
