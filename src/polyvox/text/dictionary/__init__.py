"""Pronunciation dictionaries: how words, phrases and patterns of a text are said."""

from polyvox.text.dictionary.entries import (
    MAX_MATCH_CHARS,
    MAX_SAY_CHARS,
    CaseRule,
    Dictionary,
    DictionaryEntry,
    EntryKind,
    checked_entry,
)
from polyvox.text.dictionary.lexicon import Lexicon, LexiconMatch, LexiconRules, PatternMatch, Rewritten
from polyvox.text.dictionary.pls import read_pls, write_pls

__all__ = [
    "MAX_MATCH_CHARS",
    "MAX_SAY_CHARS",
    "CaseRule",
    "Dictionary",
    "DictionaryEntry",
    "EntryKind",
    "Lexicon",
    "LexiconMatch",
    "LexiconRules",
    "PatternMatch",
    "Rewritten",
    "checked_entry",
    "read_pls",
    "write_pls",
]
