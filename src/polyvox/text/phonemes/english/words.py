"""Phonemes of one English word: known, inflected, compound, acronym, or unknown."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from polyvox.text.phonemes.english.acronyms import EMPHATIC, camel_parts, is_pronounceable, is_unsayable, spelled
from polyvox.text.phonemes.english.digits import digit_words
from polyvox.text.phonemes.english.heteronyms import chosen
from polyvox.text.phonemes.english.inflection import inflected, with_ed, with_ing, with_s
from polyvox.text.phonemes.english.initialisms import SPELLED
from polyvox.text.phonemes.english.lexicon import Lexicon
from polyvox.text.phonemes.english.roles import Role
from polyvox.text.phonemes.english.stress import audible, compounded, emphasised, unstressed, weakened

_PARTS: Final = re.compile(r"[A-Za-z']+|\d+|(?<=\d)\.(?=\d)")
_THOUSANDS_COMMA: Final = re.compile(r"(?<=\d),(?=\d{3})")
_ACRONYM_FORM: Final = re.compile(r"(?P<stem>[A-Z]{2,}|[A-Z](?='))(?:'?(?P<s>s)|(?P<ed>'?e?d)|'?(?P<ing>ing))")
_POSSESSIVE: Final = re.compile(r"(?:'[sS])+$")
_INITIALS_WITH_LINK: Final = re.compile(r"[A-Z][aofitn][A-Z]|[a-z][A-Z]")  # DoD, AfD, IaC, iX
_INITIALS_AND_ONE: Final = re.compile(r"[A-Z]{2,}[a-z]")  # PCIe
_DRAWN_OUT: Final = re.compile(r"([A-Za-z])\1{2,}")
_VOWELS: Final = frozenset("aeiouy")
_WEAK_INSIDE: Final = {"the": "ðə", "to": "tə", "a": "ɐ"}  # in a chain such as man-of-the-match
_LEADING_PARTS: Final = frozenset({"Mc", "O", "D", "De", "Di", "Van", "Von"})
_SHORT_CAPITALS: Final = 3
_LONGEST_PREFIX: Final = 3
_PAIR: Final = 2
_SHORTEST_REST: Final = 3
_SHORTEST_LAST: Final = 4


@dataclass(frozen=True, slots=True)
class WordContext:
    """The context of a word that its pronunciation depends on."""

    role: Role = Role.PLAIN
    before_break: bool = False
    shouted: bool = False


_ALONE: Final = WordContext()


@dataclass(frozen=True, slots=True)
class WordPhonemizer:
    """Phonemizes words of one variant; `unknown` (G2P) takes lower-case words that the dictionary cannot derive."""

    lexicon: Lexicon
    unknown: Callable[[str], str]

    def read(self, run: str, setting: WordContext = _ALONE) -> str:
        """Phonemes of a run of ASCII letters, digits, hyphens and apostrophes; a space parts what is said apart."""
        if "." in run and not any(char.isdigit() for char in run):
            return spelled(run, self.lexicon)
        if (setting.shouted or not run.isupper()) and _DRAWN_OUT.search(run) and self.lexicon.find(run) is None:
            run = self._shortened(run)
        known = self._known(run, setting)
        if known is not None:
            return known
        parts = _PARTS.findall(_THOUSANDS_COMMA.sub("", run))
        if len(parts) == 1 and parts[0] == run and run.replace("'", "").isalpha():
            return self._strange(run, setting)
        return self._compound(parts, setting)

    def called(self, capitals: str) -> str:
        """Capitals by the names of their letters."""
        return spelled(capitals, self.lexicon)

    def stressed(self, capitals: str) -> str:
        """Capitals as the word that they look like."""
        return emphasised(self.read(capitals.lower()))

    def _known(self, word: str, setting: WordContext) -> str | None:
        """The sound of a word that the dictionary has, or from which it can be derived."""
        if not word[0].isalpha() and word[0] != "'":
            return None
        if word.isupper() and len(word) > 1:
            return self._capitals(word, setting)
        if _INITIALS_WITH_LINK.fullmatch(word) and word not in self.lexicon.gold:
            return spelled(word, self.lexicon)
        form = _ACRONYM_FORM.fullmatch(word) if word not in self.lexicon.gold else None
        if form:
            return self._acronym_form(form, setting)
        entry = self.lexicon.find(word)
        if entry is not None:
            return self._cased(word, chosen(entry, setting.role, before_break=setting.before_break))
        return self._inflected(word, setting)

    def _acronym_form(self, form: re.Match[str], setting: WordContext) -> str:
        """Capitals with an ending in small letters: `APIs`, `DM'd`, `OKing`."""
        called = form["stem"] in SPELLED or (len(form["stem"]) == _PAIR and form["s"] is not None)
        stem, variant = self.called(form["stem"]) if called else self.read(form["stem"], setting), self.lexicon.variant
        if form["s"]:
            return with_s(stem, variant)
        return with_ed(stem, variant) if form["ed"] else with_ing(stem, variant, form["stem"])

    def _capitals(self, word: str, setting: WordContext) -> str | None:
        """A word in capitals: an acronym, a shouted word, or initials."""
        entry = self.lexicon.gold.get(word)
        if entry is not None:
            stressed = setting.shouted or word in EMPHATIC
            role = Role.PLAIN if stressed else Role.NOUN
            return self._cased(word, chosen(entry, role, before_break=setting.before_break))
        lower = word.lower()
        entry = self.lexicon.find(lower)
        if entry is not None and (setting.shouted or len(word) > _SHORT_CAPITALS or lower in self.lexicon.gold):
            return self._cased(word, chosen(entry, setting.role, before_break=setting.before_break))
        if word.endswith("'S"):
            return self._possessive(word, setting)
        derived = self._inflected(lower, setting) if setting.shouted or len(word) > _SHORT_CAPITALS else None
        if derived is None or (not setting.shouted and self._is_initialism(lower[:-1])):
            return None
        return emphasised(derived)

    def _is_initialism(self, word: str) -> bool:
        """Return whether the dictionary spells a word: then `HTTPS` is not the plural of `HTTP`."""
        entry = self.lexicon.find(word)
        return isinstance(entry, str) and unstressed(entry) == unstressed(spelled(word, self.lexicon)).replace(" ", "")

    def _cased(self, word: str, sound: str | None) -> str:
        """The sound with the stress that capitals lend it; no sound means that the letters are called."""
        if sound is None:
            return spelled(word, self.lexicon)
        if word.isupper() and len(word) > 1:
            return emphasised(sound)
        return audible(sound) if word[0].isupper() else sound

    def _inflected(self, word: str, setting: WordContext) -> str | None:
        def plain(stem: str, verb: bool) -> str | None:
            entry = self.lexicon.find(stem) if len(stem) > 1 else None
            if entry is None:
                return None
            return chosen(entry, Role.VERB if verb else setting.role, before_break=False)

        sound = inflected(word, plain, self.lexicon.variant)
        return audible(sound) if sound and word[0].isupper() else sound

    def _strange(self, word: str, setting: WordContext) -> str:
        """A word that is in no dictionary: a name in mixed case, initials, or plain letters."""
        if word.endswith("'s"):
            return self._possessive(word, setting)
        letters = word.replace("'", "")
        if letters.islower() and letters.upper() in self.lexicon.gold:
            return self.read(letters.upper(), setting)
        parts = camel_parts(letters)
        if len(parts) > 1 and not _INITIALS_AND_ONE.fullmatch(letters):
            return "".join(self._camel(parts, setting))
        initials = len(parts) > 1 or (letters.isupper() and not is_pronounceable(letters))
        if initials or not _VOWELS & set(letters.lower()):
            return spelled(letters, self.lexicon)
        known = (self._prefixed(letters) or self._joined(letters)) if letters.islower() else None
        return known or self.unknown(letters.lower())

    def _joined(self, word: str) -> str | None:
        """Two known words written as one, as in the names of hosts and accounts: `askscience`."""
        for cut in range(len(word) - _SHORTEST_LAST, _SHORTEST_REST - 1, -1):
            parts = [self.lexicon.gold.get(part) for part in (word[:cut], word[cut:])]
            if all(parts):
                sounds = [chosen(part, Role.PLAIN, before_break=False) for part in parts if part is not None]
                return "".join(compounded([sound or "" for sound in sounds]))
        return None

    def _prefixed(self, word: str) -> str | None:
        """Initials before a known word, where the whole has no beginning that can be said: `jdoe`, `tsconfig`."""
        if not is_unsayable(word):
            return None
        for cut in range(1, min(_LONGEST_PREFIX, len(word) - _SHORTEST_REST) + 1):
            rest = self.lexicon.dictionary(word[cut:])
            if rest is not None:
                sound = chosen(rest, Role.PLAIN, before_break=False)
                return f"{weakened(spelled(word[:cut], self.lexicon))}{sound}" if sound else None
        return None

    def _possessive(self, word: str, setting: WordContext) -> str:
        return with_s(self.read(_POSSESSIVE.sub("", word), setting), self.lexicon.variant)

    def _camel(self, parts: list[str], setting: WordContext) -> list[str]:
        """The parts of a name in mixed case; the first has the beat, or the last after Mc and O', or as initials."""
        sounds = ["mək" if part == "Mc" else self.read(part, setting) for part in parts]
        beat = len(parts) - 1 if parts[-1].isupper() or parts[0] in _LEADING_PARTS else 0
        return [emphasised(sound) if index == beat else weakened(sound) for index, sound in enumerate(sounds)]

    def _shortened(self, word: str) -> str:
        """A drawn-out word as the dictionary has it: `sooo` is `so`, `hmmm` is `hmm`."""
        for kept in (r"\1\1", r"\1"):
            shorter = _DRAWN_OUT.sub(kept, word)
            if self.lexicon.dictionary(shorter) is not None:
                return shorter
        return _DRAWN_OUT.sub(r"\1\1", word)

    def _compound(self, parts: list[str], setting: WordContext) -> str:
        """Words joined by hyphens are one word; numbers and longer chains are said word by word."""
        sounds = [self._numeral_or_word(part, index, parts, setting) for index, part in enumerate(parts)]
        if len(parts) == 2 and all(part.isalpha() for part in parts):
            return "".join(compounded(sounds))
        return " ".join(sounds)

    def _numeral_or_word(self, part: str, index: int, parts: list[str], setting: WordContext) -> str:
        if part.isdigit():
            between = 0 < index < len(parts) - 1 and parts[index - 1].isalpha() and parts[index + 1].isalpha()
            words = ["to"] if part == "2" and between else digit_words(part)
            return " ".join(self.read(word) for word in words)
        following = parts[index + 1] if index + 1 < len(parts) else "a"
        if index and part in _WEAK_INSIDE and following[0].lower() not in _VOWELS:
            return _WEAK_INSIDE[part]
        return self.read("point" if part == "." else part, setting)
