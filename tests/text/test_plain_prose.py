"""Words of plain prose are said as they are written: no rule takes them for short forms, units or numerals."""

import re
from pathlib import Path

from helpers.tables import each_row
from polyvox.text.normalize import normalizer_for
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

FOLDER = Path(__file__).parent / "plain_prose"
# Letters with the signs of Devanagari; writing without spaces by its characters.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|(?:[^\W\d_]|[\u0900-\u0963])+(?:'[^\W\d_]+)?")


def words(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("’", "'"))


@each_row("language", ("en", "es", "fr", "it", "pt", "ms", "hi", "zh", "ja"))
def test_plain_words_are_left_as_they_are(language: str) -> None:
    normalize = normalizer_for(language)
    lines = (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 100
    said = {line: normalize(TrackedText.of(line), NormalizationOptions()).text for line in lines}
    assert {line: text for line, text in said.items() if words(text) != words(line)} == {}
