"""Language identification by sentence: Malay, English, or neither."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final

from polyvox.text.normalize.english.abbreviations.words import TITLES
from polyvox.text.normalize.malay.lexicon import (
    ENGLISH_LOANS,
    ENGLISH_WORDS,
    MALAY_NAMES,
    MALAY_WORDS,
    is_english_shape,
    is_malay_shape,
)
from polyvox.text.normalize.malay.passthrough import FOREIGN
from polyvox.text.normalize.malay.short_forms.abbreviations import NEVER_END
from polyvox.text.normalize.malay.short_forms.chat import SHORT_FORMS
from polyvox.text.tracked import TrackedText


class Language(StrEnum):
    MALAY = "ms"
    ENGLISH = "en"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class LanguageRun:
    """Neighbouring sentences of one language."""

    language: Language
    text: TrackedText


_END: Final = re.compile(r"\n+|(?<![.!?…])(?:[!?…]|\.(?!\w))[.!?…]*+[\"'”’)\]]*+\s+")
_LAST_WORD: Final = re.compile(r"([A-Za-z]+)$")
_REACH: Final = 16
# A quotation of some length may be in another language than the sentence around it.
_QUOTATION: Final = re.compile(r"“[^“”\"\n]{12,400}”|\"[^\"“”\n]{12,400}\"")
_CLEARLY_ENGLISH: Final = 4
# Words that stand free: no pieces of addresses, codes, measures or abbreviations.
_WORD: Final = re.compile(r"(?<![\w@#/.'-])[A-Za-z]{1,30}+(?:'[A-Za-z]{1,3})?(?![\w@/$]|[.'-]\w)")
_STRONG: Final = 2
# Letters that belong to the words of another script around them: units, hours, names, acronyms.
_TOUCHING: Final = re.compile(
    rf"(?<={FOREIGN})[A-Za-z]{{1,30}}+|[A-Za-z]{{1,30}}+(?={FOREIGN})|(?<=\d)[A-Za-z/]{{1,8}}+(?![A-Za-z])"
    r"|\b[A-Z]{2,8}\b|(?<=\d )[apAP][mM]\b"
)


def language_runs(text: TrackedText) -> list[LanguageRun]:
    """The text cut where its language changes; the parts, put together, are the text again."""
    ends = list(_sentence_ends(text.text))
    bounds = list(zip([0, *ends], ends, strict=False))
    verdicts = _settled([_verdict(text.text[start:end]) for start, end in bounds])
    found: list[LanguageRun] = []
    for language, group in groupby(zip(verdicts, bounds, strict=True), key=lambda item: item[0]):
        spans = [bound for _, bound in group]
        found.append(LanguageRun(language, text[spans[0][0] : spans[-1][1]]))
    return found


def _sentence_ends(text: str) -> Iterator[int]:
    """Ends of sentences, and both ends of English quotations inside them."""
    start = 0
    for match in _END.finditer(text):
        if _only_abbreviates(match):
            continue
        yield from _cuts_at_quotations(text, start, match.end())
        yield match.end()
        start = match.end()
    if start < len(text):
        yield from _cuts_at_quotations(text, start, len(text))
        yield len(text)


def _only_abbreviates(match: re.Match[str]) -> bool:
    if match.group().rstrip() != "." or "\n" in match.group():
        return False
    word = _LAST_WORD.search(match.string[max(0, match.start() - _REACH) : match.start()])
    return word is not None and (word[1] in NEVER_END or word[1] in TITLES or len(word[1]) == 1)


def _cuts_at_quotations(text: str, start: int, end: int) -> Iterator[int]:
    for quotation in _QUOTATION.finditer(text, start, end):
        malay, english = _evidence(quotation.group())
        if malay or english < _CLEARLY_ENGLISH:
            continue
        yield from (at for at in quotation.span() if start < at < end)


def _verdict(sentence: str) -> Language | None:
    """The language of a sentence; None where there is no evidence."""
    if FOREIGN in sentence and _evidence(_TOUCHING.sub("", sentence)) == (0, 0):
        return Language.FOREIGN
    malay, english = _evidence(sentence)
    if malay == english or malay < english < _STRONG:
        return None
    return Language.ENGLISH if english > malay else Language.MALAY


def _evidence(sentence: str) -> tuple[int, int]:
    """The weights of evidence for Malay and for English."""
    malay = english = 0
    for match in _WORD.finditer(sentence):
        word = match.group().lower()
        malay += _malay_weight(word)
        english += _english_weight(word)
    return malay, english


def _malay_weight(word: str) -> int:
    if word in MALAY_WORDS or word in SHORT_FORMS:
        return _STRONG
    return int(word in MALAY_NAMES or is_malay_shape(word))


def _english_weight(word: str) -> int:
    if word in ENGLISH_WORDS:
        return _STRONG
    return int(word in ENGLISH_LOANS or is_english_shape(word))


def _settled(verdicts: list[Language | None]) -> list[Language]:
    """Sentences without evidence take the language before them, at the beginning that after them."""
    known = (verdict for verdict in verdicts if verdict in (Language.MALAY, Language.ENGLISH))
    current = next(known, None) or Language.MALAY
    settled = []
    for verdict in verdicts:
        if verdict in (Language.MALAY, Language.ENGLISH):
            current = verdict
        settled.append(verdict or current)
    return settled
