"""Heteronyms: the sound of a word that has several, by its part of speech."""

from collections.abc import Mapping, Sequence
from typing import Final

from polyvox.text.phonemes.english.lexicon import Entry
from polyvox.text.phonemes.english.roles import Role, general, is_hinted
from polyvox.text.phonemes.english.senses import PARTICULAR

_KEYS: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.PLAIN: (),
    Role.NOUN: ("NOUN",),
    Role.VERB: ("VERB",),
    Role.PAST: ("VBD", "VBN", "VERB"),
    Role.ADJECTIVE: ("ADJ",),
    Role.ATTRIBUTE: ("ADJ", "NOUN"),
    Role.ADVERB: ("ADV",),
    Role.DETERMINER: ("DT",),
    Role.OTHER: ("OTHER",),
}


def chosen(entry: Entry, role: Role, *, before_break: bool) -> str | None:
    """The phonemes of an entry for a role; None for an acronym that is to be spelled."""
    if isinstance(entry, str):
        return entry
    if before_break and "None" in entry:
        return entry["None"]
    return next((entry[key] for key in _KEYS[role] if key in entry), entry["DEFAULT"])


def role_of(words: Sequence[str], index: int) -> Role:
    """The role of a heteronym. `words` are lower case; a mark of punctuation stands among them as itself."""
    word = words[index]
    if word in PARTICULAR:
        return PARTICULAR[word](words, index)
    return Role.OTHER if is_hinted(words, index) else general(words, index)
