"""Chinese and Japanese as the multilingual model reads them: codes of characters, and hiragana."""

import json
import re
import unicodedata
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

from polyvox.errors import BundleError, NotServedError
from polyvox.extras import install_hint
from polyvox.text.characters import HAN
from polyvox.text.phonemes.chinese_words import word_cutter
from polyvox.text.phonemes.japanese.kana import hiragana

_MAX_TABLE_BYTES: Final = 16 << 20
_LETTERS: Final = "Lo"
_HAN: Final = re.compile(f"[{HAN}]")
_PARTICLES: Final = ("は", "へ")
"""Kana that are read otherwise where they stand alone: a word that begins with one is set apart."""


class CangjieTable:
    """The codes of Chinese characters, by which the model spells them."""

    def __init__(self, path: Path) -> None:
        """The file is a JSON list of characters and their codes, `character<TAB>code`; its order numbers those that
        share a code."""
        codes: dict[str, str] = {}
        shared: dict[str, int] = {}
        for character, code in _entries(path):
            number = shared.get(code, 0)
            shared[code] = number + 1
            codes[character] = code + (str(number) if number else "")
        self._spelled = {
            character: "".join(f"[cj_{sign}]" for sign in (*code, ".")) for character, code in codes.items()
        }

    def spelled(self, text: str) -> str:
        """The text with each character that has a code spelled by it."""
        return "".join(
            self._spelled.get(char, char) if unicodedata.category(char) == _LETTERS else char for char in text
        )


def _entries(path: Path) -> list[tuple[str, str]]:
    try:
        content = path.read_bytes() if path.stat().st_size <= _MAX_TABLE_BYTES else b""
        parts = [str(line).split("\t") for line in json.loads(content)]
        return [(character, code) for character, code in parts]
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise BundleError(f"{path} is not a table of Cangjie codes; fetch it again.") from error


def chinese_words(text: str) -> str:
    """The words of a Chinese text with blanks between them."""
    return " ".join(word for word in word_cutter().cut(text) if not word.isspace())


class HiraganaReader:
    """Reads Japanese words that are written with Chinese characters. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()  # a tagger works on one text at a time

    def __call__(self, text: str) -> str:
        """The text with such words in hiragana; without the dictionary, NotServedError where there are any."""
        if not _HAN.search(text):
            return text
        with self._lock:
            words = [(word.white_space, word.surface, word.feature.kana) for word in _tagger()(text)]
        return "".join(blank + _read(surface, kana or surface) for blank, surface, kana in words)


def _read(surface: str, kana: str) -> str:
    if not _HAN.search(surface):
        return surface
    reading = hiragana(kana)
    return f" {reading}" if reading.startswith(_PARTICLES) else reading


@cache
def _tagger() -> Any:  # noqa: ANN401
    try:
        import fugashi
        import unidic_lite
    except ImportError as error:
        raise NotServedError(
            f"Japanese needs a dictionary that is not installed; get it with {install_hint('ja')}.", field="language"
        ) from error
    return fugashi.Tagger(f'-d "{unidic_lite.DICDIR}"')
