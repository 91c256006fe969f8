"""Packages that a language needs and that are not installed here, found without loading it."""

import shutil
from collections.abc import Iterable

from polyvox.extras import JAPANESE, install_hint
from polyvox.text.phonemes.espeak.choice import ANY_ESPEAK, VOICES
from polyvox.text.phonemes.espeak.library import find_library


def missing_extra(language: str, espeak: str) -> str:
    """The extra that would let a language be spoken; empty where nothing is missing."""
    if language in VOICES:
        installed = shutil.which(espeak) or (espeak == ANY_ESPEAK and find_library())
        return "" if installed else "espeak"
    if language == "ja" and not JAPANESE.installed:
        return "ja"
    return ""


def unspoken(languages: Iterable[str], espeak: str) -> str:
    """A sentence that names the languages which cannot be spoken here, and the pip commands; empty where all can."""
    lacking = {language: extra for language in sorted(languages) if (extra := missing_extra(language, espeak))}
    if not lacking:
        return ""
    extras = ",".join(sorted(set(lacking.values())))
    return f"Not spoken for want of packages: {', '.join(lacking)}. Get them with {install_hint(extras)}."
