"""Adjectives of Spanish and Portuguese that are cut short behind their noun: "cocina amueb.", "5 hab. ext.".

The form follows from the word; the noun may be the head of a phrase. French and Italian have `participles`.
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyvox.text.normalize.romance.agreement.short_words import short_words
from polyvox.text.tracked import TrackedText

_SHORT: Final = re.compile(r"[^\W\d_]{2,10}\.(?!\w)")
# The noun, or the one that it belongs to: "gastos de comunidad".
_NOUN: Final = re.compile(
    r"(?:(?<![\w.,])(?P<count>\d{1,4}) )?(?:(?P<noun>[^\W\d_]{2,}\.?) (?:d[aeo]s?|del|de la) )?"
    r"(?P<last>[^\W\d_]{2,}\.?) \Z"
)
_SENTENCE_ENDS: Final = re.compile(r"[»”\")]*(?:\s*$|\s*\n|\s+(?!(?:R|US|MX)\$)[A-ZÀ-Ý¿¡])")
_NUMBERED: Final = re.compile(r":? ?\d")
_NAMED: Final = re.compile(r" ?(?!(?:R|US|MX)\$)[A-ZÀ-Ý]")
_EXTREMES: Final = frozenset(("máx.", "mín.", "med.", "méd."))
# Of these the whole is spoken: "gastos de comunidad incl."; others belong to the noun beside them: "vaga de aux. adm.".
_OF_WHOLE: Final = frozenset("máx. mín. incl. excl. disp. oblig. obrig. opc. prev. estim. mens. tot. neg.".split())
# Words of code too, which end sentences.
_KEYWORDS: Final = frozenset(("int.", "def.", "mod."))
_REACH: Final = 48


@dataclass(frozen=True, slots=True)
class Agreement:
    """The adjectives of one language by their short forms, and what their nouns are short for."""

    adjectives: Mapping[str, str]
    nouns: Mapping[str, str]
    numbered: Container[str]  # forms that are short for a noun before a figure
    others: frozenset[str]  # words that are no noun
    is_feminine: Callable[[str], bool]
    plural: Callable[[str], str]

    def read(self, text: TrackedText) -> TrackedText:
        return text.sub(self, self._adjective)

    def finditer(self, string: str, /) -> Iterator[re.Match[str]]:
        """The short forms of adjectives with their full stops."""
        for start, word in short_words(string):
            match = _SHORT.match(string, start) if f"{word}.".lower() in self.adjectives else None
            if match is not None:
                yield match

    def _adjective(self, match: re.Match[str]) -> str | None:
        """None without a noun before it, and where both are short for something else or the form is another word."""
        word = self.adjectives.get(match.group().lower())
        if word is None:
            return None
        if self._is_noun(match):
            return None
        found = _NOUN.search(match.string, max(0, match.start() - _REACH), match.start())
        if found is None:
            return None
        if f"{found['last']} {match.group()}".lower() in self.nouns:
            return None
        whole = found["noun"] if match.group().lower() in _OF_WHOLE and not found["last"].endswith(".") else None
        written = whole or found["last"]
        if match.group()[0].isupper() and written[0].islower() and match.group().lower() in self.nouns:
            return None  # a name: "eligieron Hist. y Mat."
        noun = self._noun(written)
        if not noun:
            return None
        many = noun.endswith("s") or (written.endswith(".") and found["count"] not in (None, "1"))
        ends = "." if _SENTENCE_ENDS.match(match.string, match.end()) else ""
        return self._form(word, feminine=self.is_feminine(noun), many=many) + ends

    def _is_noun(self, match: re.Match[str]) -> bool:
        """Return whether a figure or a name shows that the form is another word there."""
        form, end = match.group(), match.end()
        if form in _EXTREMES:
            return False
        if form in _KEYWORDS and _SENTENCE_ENDS.match(match.string, end):
            return True
        return (form in self.numbered and _NUMBERED.match(match.string, end) is not None) or (
            form.lower() in self.nouns and _NAMED.match(match.string, end) is not None
        )

    def _noun(self, written: str) -> str:
        """The noun, or nothing for another word or for a short form that nobody knows."""
        plain = written.lower()
        if not plain.endswith("."):
            return "" if plain in self.others or len(plain) == 2 else plain
        return self.nouns.get(plain, "").split(" ")[0]

    def _form(self, word: str, *, feminine: bool, many: bool) -> str:
        if feminine and word.endswith("o"):
            word = word[:-1] + "a"
        return self.plural(word) if many else word


def nouns(forms: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """The nouns that short forms stand for, in small letters; `others` override."""
    return {form.lower(): words for form, words in forms.items() if form.endswith(".")} | dict(others)
