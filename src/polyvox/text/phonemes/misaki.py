"""The dictionaries of misaki 0.9.4 (Apache-2.0), which are data of this package.

Their phoneme symbols are those of Kokoro v1.0. `scripts/build_misaki.py` writes the files from misaki's wheel: text in
blocks, with the words in one and their sounds in another, which takes a quarter of the space of misaki's JSON and loads
no slower.
"""

import gzip
import json
from importlib import resources
from typing import Literal

Name = Literal["us", "gb", "ja"]


def blocks(name: Name) -> list[str]:
    """Each block's text: lines, or a JSON object."""
    return [block.decode() for block in _file(name)[1:]]


def sources(name: Name) -> dict[str, str]:
    """SHA-256 of misaki's own files that the data were made from, by file name."""
    hashes: dict[str, str] = json.loads(_file(name)[0])["sha256"]
    return hashes


def _file(name: Name) -> list[bytes]:
    data = resources.files(__package__).joinpath(f"misaki_{name}.txt.gz").read_bytes()
    return gzip.decompress(data).split(b"\n\n")
