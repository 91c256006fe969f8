"""Abbreviations of the Romance languages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from polyvox.text.normalize.romance.language import RomanceLanguage
from polyvox.text.tracked import TrackedText

_FIGURE = r"(?= ?(?:\d|[IVXLC]+\b|[A-Z](?!\w)))"
_NAME = r"(?= ?(?:d[a-z]{0,4}[ '](?:l[ao]? ?'?)?)?[A-ZÀ-ÖØ-Ý])"


@dataclass(frozen=True, slots=True)
class AbbreviationRules:
    """The patterns of one language."""

    words: Mapping[str, str]
    may_end: frozenset[str]
    pattern: re.Pattern[str]
    contexts: tuple[tuple[re.Pattern[str], str], ...]

    @classmethod
    def of(cls, language: RomanceLanguage) -> "AbbreviationRules":
        table = language.abbreviations
        groups = (
            (with_capitals(table.anywhere), r"(?!\w)"),
            (with_capitals(table.leading), r"(?!\w)"),
            (with_capitals(table.before_figures), _FIGURE),
            (table.before_names, _NAME),
            (with_capitals(table.weekdays), r"(?=,? \d)"),
        )
        forms = "|".join(f"(?:{_any_of(words)}){behind}" for words, behind in groups if words)
        merged = {key: word for words, _ in groups for key, word in words.items()}
        return cls(merged, frozenset(groups[0][0]), re.compile(rf"(?<![\w./-])(?:{forms})"), table.in_context)

    def read(self, text: TrackedText) -> TrackedText:
        for pattern, words in self.contexts:
            text = text.sub(pattern, words)
        return text.sub(self.pattern, self._word)

    def _word(self, match: re.Match[str]) -> str:
        """The words; a full stop stays where the text, the line or a sentence ends with it."""
        rest = match.string[match.end() : match.end() + 4].lstrip(' »”")*')
        closes = not rest or rest[0] == "\n" or (rest[0].isupper() and match.group() in self.may_end)
        ends = match.group().endswith(".") and closes
        glued = match.string[match.end() : match.end() + 1].isalnum()
        return self.words[match.group()] + ("." if ends else " " if glued else "")


def with_capitals(words: Mapping[str, str]) -> dict[str, str]:
    """The forms, and the longer ones with a capital in front."""
    return {
        form: word for key, word in words.items() for form in (key, key[:1].upper() + key[1:] if len(key) > 1 else key)
    }


def _any_of(words: Mapping[str, str]) -> str:
    return "|".join(re.escape(key) for key in sorted(words, key=len, reverse=True))
