"""Single small letters that stand for a word in chat: "t espero", "n sei", "x cierto"."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyvox.text.tracked import TrackedText

_FORMULA: Final = re.compile(r"[=≈<>^²³√π]")
_WORD_BEFORE: Final = re.compile(r"([^\W_]+)[ ,]*\Z")
_REACH: Final = 20


@dataclass(frozen=True, slots=True)
class ChatLetters:
    """The letters of one language, and the words beside which they are the name of something."""

    meanings: Mapping[str, str]
    letters: frozenset[str]  # in either case
    pattern: re.Pattern[str]
    names: frozenset[str]  # nouns and articles before a letter that is one
    after_figures: str  # letters that count nothing there

    @classmethod
    def of(cls, meanings: Mapping[str, str], names: str, verbs: str, after_figures: str = "") -> "ChatLetters":
        """The rule of a language; `verbs` follow a letter that is the name of something."""
        letters = "".join(meanings) + "".join(meanings).upper()
        return cls(
            meanings,
            frozenset(letters),
            re.compile(
                rf"[{letters}](?<![\w.,/'’+*#&-].)(?= (?!(?:{'|'.join(verbs.split())})(?!\w))"
                rf"(?:[a-zà-ÿ]{{2,}}|[{letters}] |\d))"
            ),
            frozenset(names.split()),
            after_figures,
        )

    def read(self, text: TrackedText) -> TrackedText:
        return text if _FORMULA.search(text.text) else text.sub(self.pattern, self._word)

    def _word(self, match: re.Match[str]) -> str | None:
        """None for a letter that is a name, counts something or stands in capitals inside a sentence."""
        start, letter = match.start(), match.group()
        before = _WORD_BEFORE.search(match.string, max(0, start - _REACH), start)
        if letter.isupper():
            return self.meanings[letter.lower()].capitalize() if match.string[:start].strip(' ¿¡"“«') == "" else None
        if before is not None and match.string[start - 2] != ",":
            counted = before[1][-1].isdecimal() and letter not in self.after_figures
            if (
                counted
                or before[1].lower() in self.names
                or (len(before[1]) == 1 and before[1].lower() not in {*self.meanings, "q"} and before[1].isalpha())
            ):
                return None
        return self.meanings[letter]
