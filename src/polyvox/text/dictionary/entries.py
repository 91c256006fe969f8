"""Entries of a dictionary, checked before they are kept."""

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from polyvox.errors import InvalidRequestError
from polyvox.text.characters import INVISIBLE
from polyvox.text.placeholders import PLACEHOLDERS

MAX_MATCH_CHARS: Final = 100
MAX_SAY_CHARS: Final = 200
MAX_PHONEME_CHARS: Final = 200
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_CONTROL: Final = re.compile(f"[\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069{PLACEHOLDERS}]")
_UNSEEN: Final = re.compile(f"[{INVISIBLE}]")
_MARKUP: Final = re.compile(r"[\[\]<>]")
_NOT_PHONEMES: Final = re.compile(r"[/()\[\]<>]")


class EntryKind(StrEnum):
    """The match of an entry: a word, several words in a row, or whatever a regular expression finds."""

    WORD = "word"
    PHRASE = "phrase"
    REGEX = "regex"


class CaseRule(StrEnum):
    """The rule for capitals. `auto`: an entry in small letters matches any, another what it is and all capitals."""

    AUTO = "auto"
    EXACT = "exact"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class DictionaryEntry:
    """A piece of text and what is said for it: `say`, a respelling, or `phonemes` in IPA.

    With both, the respelling is for models that do not work with phonemes. `say` of a regular expression may hold its
    groups (`\\\\1`). `language` is a BCP 47 tag, empty for every language.
    """

    kind: EntryKind
    match: str
    say: str = ""
    phonemes: str = ""
    language: str = ""
    case: CaseRule = CaseRule.AUTO

    @property
    def ignores_case(self) -> bool:
        """True if it matches in any capitals."""
        return self.case is CaseRule.ANY or (self.case is CaseRule.AUTO and self.match == self.match.lower())

    def is_for(self, language: str) -> bool:
        """Return whether it is for texts in a language: of its own, or one of its region."""
        own, spoken = self.language.lower(), language.lower()
        return not own or spoken == own or spoken.startswith(f"{own}-")


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Entries under a name; one that is the `default` is used for all requests of its owner."""

    name: str
    entries: tuple[DictionaryEntry, ...] = ()
    default: bool = False

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that its entries name."""
        return tuple(sorted({entry.language for entry in self.entries if entry.language}))


def checked_entry(entry: DictionaryEntry, field: str) -> DictionaryEntry:
    """The entry in normal form; the typed error names `field` where it cannot be used. Patterns are not compiled."""
    match = (
        entry.match if entry.kind is EntryKind.REGEX else " ".join(unicodedata.normalize("NFC", entry.match).split())
    )
    entry = replace(entry, match=match, say=" ".join(entry.say.split()), phonemes=" ".join(entry.phonemes.split()))
    _check_lengths(entry, field)
    for name, value in (("match", entry.match), ("say", entry.say), ("phonemes", entry.phonemes)):
        if _CONTROL.search(value) or (name != "match" and _UNSEEN.search(value)):
            raise InvalidRequestError(f"{field}.{name} holds control characters; remove them.", field=f"{field}.{name}")
    if _MARKUP.search(entry.say):
        raise InvalidRequestError(f"{field}.say holds brackets; write plain words.", field=f"{field}.say")
    if _NOT_PHONEMES.search(entry.phonemes):
        raise InvalidRequestError(
            f"{field}.phonemes holds slashes or brackets; write IPA alone, such as dʒɪf.", field=f"{field}.phonemes"
        )
    if entry.kind is not EntryKind.REGEX and not any(char.isalnum() for char in entry.match):
        raise InvalidRequestError(f"{field}.match has no letter or figure to find.", field=f"{field}.match")
    if entry.language and not _LANGUAGE.fullmatch(entry.language):
        raise InvalidRequestError(
            f"{field}.language is no language tag; write en, en-gb or ms.", field=f"{field}.language"
        )
    return replace(entry, language=entry.language.lower())


def _check_lengths(entry: DictionaryEntry, field: str) -> None:
    limits = (("match", MAX_MATCH_CHARS), ("say", MAX_SAY_CHARS), ("phonemes", MAX_PHONEME_CHARS))
    for name, limit in limits:
        if len(getattr(entry, name)) > limit:
            raise InvalidRequestError(f"{field}.{name} is longer than {limit} characters.", field=f"{field}.{name}")
    if not entry.match:
        raise InvalidRequestError(f"{field}.match is empty; write what to find.", field=f"{field}.match")
    if not entry.say and not entry.phonemes:
        raise InvalidRequestError(f"{field} says nothing; give it 'say' or 'phonemes'.", field=f"{field}.say")
    if entry.kind is EntryKind.WORD and " " in entry.match:
        raise InvalidRequestError(f"{field}.match has several words; let its kind be 'phrase'.", field=f"{field}.match")
