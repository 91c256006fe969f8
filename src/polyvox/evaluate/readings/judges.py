"""The judges of readings by language, and the sentences of a list that are misread."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from polyvox.evaluate.readings import english, japanese
from polyvox.evaluate.readings.reading_list import Reading
from polyvox.text.normalize import normalizer_for
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

_HAN: Final = "\u3400-\u9fff"
_TOKEN: Final = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+(?:['’-][^\W_{_HAN}]+)*")
_LETTERS: Final = re.compile(r"(?<![A-Za-z])[A-Z](?: [A-Z](?![A-Za-z]))+")
_BRACE: Final = re.compile(r"[{|}]|[^\s{|}]+")
_PLAIN_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Judge:
    """Tells what is said for a text, and whether a reading accepts it."""

    said: Callable[[str], str]
    accepts: Callable[[Reading], bool]


@dataclass(frozen=True, slots=True)
class Misreading:
    """A case that is read otherwise than a person would read it, and the words that are said instead."""

    reading: Reading
    said: str


def misread(readings: Iterable[Reading], judge: Judge) -> Iterator[Misreading]:
    """The cases that are misread, in their order."""
    return (Misreading(reading, judge.said(reading.written)) for reading in readings if not judge.accepts(reading))


def normalized(language: str, written: str) -> str:
    """The words of a text, as the normaliser of its language gives them."""
    return normalizer_for(language)(TrackedText.of(written), NormalizationOptions()).text


def words(text: str) -> list[str]:
    """The words of a reading, in small letters unless they are spelled; marks count for nothing."""
    joined = _LETTERS.sub(lambda match: match.group().replace(" ", ""), text)
    return [token if token.isupper() else token.lower() for token in _TOKEN.findall(joined)]


def pattern(heard: str) -> str:
    """A reading with `{one|two}` for alternatives, as a regular expression of plain words."""
    signs = {"{": "(?:", "|": "|", "}": ")"}
    return "".join(signs.get(token) or f"(?:{re.escape(plain_words(token))})" for token in _BRACE.findall(heard))


def plain_words(text: str) -> str:
    """Words in small letters with a space behind each; hyphens part them."""
    return " ".join(_PLAIN_WORD.findall(text.replace("-", " ").lower())) + " "


def _by_words(language: str) -> Judge:
    """Word by word; ` | ` stands between readings that are all right."""

    def accepts(reading: Reading) -> bool:
        found = words(said(reading.written))
        return any(found == words(right) for right in reading.heard.split(" | "))

    said = partial(normalized, language)
    return Judge(said, accepts)


def _by_pattern(language: str) -> Judge:
    """Word by word; `{one|two}` accepts either, `{and|}` may be left out."""

    def accepts(reading: Reading) -> bool:
        return re.fullmatch(pattern(reading.heard), plain_words(said(reading.written))) is not None

    said = partial(normalized, language)
    return Judge(said, accepts)


_JUDGES: Final[Mapping[str, Judge]] = {
    "en": Judge(english.said, english.is_read),
    "ja": Judge(japanese.said, japanese.is_read),
    **{language: _by_pattern(language) for language in ("es", "fr", "it", "pt")},
    **{language: _by_words(language) for language in ("hi", "ms", "zh")},
}
LANGUAGES: Final = tuple(sorted(_JUDGES))
"""Languages whose readings can be judged."""


def judge_for(language: str) -> Judge:
    """The judge of one of `LANGUAGES`."""
    return _JUDGES[language]
