"""The espeak-ng that phonemizes: the library of a Python package, or a program."""

import shutil
from collections.abc import Sequence
from typing import Final, Protocol

from polyvox.text.phonemes.espeak.library import EspeakLibrary, find_library
from polyvox.text.phonemes.espeak.program import EspeakProgram

ANY_ESPEAK: Final = "espeak-ng"
"""The setting that lets the library be used; any other names a program."""
VOICES: Final = {"es": "es", "fr": "fr", "hi": "hi", "it": "it", "pt-br": "pt-br"}
"""The languages that it phonemizes, and its voice for each."""


class Espeak(Protocol):
    """Phonemizes lines of one language."""

    def phonemize(self, lines: Sequence[str]) -> list[str]: ...


def open_espeak(program: str, voice: str, language: str, *, tie: str = "", program_first: bool = False) -> Espeak:
    """The library where it is installed, as it is the same release on every machine; else the program.

    `program_first` turns this around. `NotServedError` says how to get one of them.
    """
    library = find_library() if program == ANY_ESPEAK else None
    if library is None or (program_first and shutil.which(program)):
        return EspeakProgram(program, voice, language, tie=tie)
    return EspeakLibrary(library, voice, language, tie=tie)
