"""Spoken forms of English texts, so that "9:42" in a transcript matches "nine forty-two" in the reference."""

from polyvox.text import markup
from polyvox.text.detect import detect_language
from polyvox.text.normalize import normalizer_for
from polyvox.types import NormalizationOptions


def spoken_form(text: str) -> str:
    """An English text as it is said, without markup: figures, signs and abbreviations as words."""
    marked = markup.parse(text)
    said = normalizer_for("en")(marked.text, NormalizationOptions()).text
    return "".join(_insert_text(char, marked.inserts) for char in said)


def is_english(text: str, language: str | None) -> bool:
    """Whether a text is English, by the language it is read in or, without one, by detection."""
    return (language or detect_language(text)).lower().replace("_", "-").partition("-")[0] == "en"


def _insert_text(char: str, inserts: tuple[markup.Insert, ...]) -> str:
    insert = markup.insert_at(char, inserts)
    if insert is None:
        return char
    return insert.text if isinstance(insert, markup.InlinePhonemes) else " "
