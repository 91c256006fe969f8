"""Dictionaries at work: finds their entries in a text, and rewrites it so that its spans stay those of the caller."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyvox.errors import TextError
from polyvox.text.dictionary.entries import CaseRule, Dictionary, DictionaryEntry, EntryKind
from polyvox.text.dictionary.word_edges import MALAY, begins_word, word_end
from polyvox.text.placeholders import MAX_PLACEHOLDERS
from polyvox.text.tracked import TrackedText
from polyvox.types import Span

_LOOSE_ACCENT: Final = re.compile("[^\\W\\d_][\u0300-\u036f]{1,4}")
_PROTECTED: Final = re.compile(
    r"\[[^\[\]\n]{1,400}\]\(/[^/()\[\]]{0,400}/\)"  # a word with its phonemes
    r"|\[\s*(?:pause|voice|rate|baserate)\b[^\[\]\n]{0,200}\]"
    r"|(?<=\])\([^()\[\]\s]{1,1000}\)"  # where a link leads
    r"|<[^<>\n]{1,1000}>"
    r"|(?:https?://|www\.)[^\s<>\[\]]{1,2000}"
    r"|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+",
    re.IGNORECASE,
)
_GROUP: Final = re.compile(r"\\(\d{1,2})|\$(\d{1,2})")
_PATTERN_WORDS: Final = 4
"""Words that a regular expression may find in text that is still arriving."""
_MAX_PHONEMES: Final = MAX_PLACEHOLDERS // 2
_VOICELESS: Final = frozenset("ptkfθ")
_SIBILANT: Final = frozenset("szʃʒ")


@dataclass(frozen=True, slots=True)
class LexiconRules:
    """Rules of a rewriting: the language, whether the model takes `[word](/phonemes/)`, and the model's own tags."""

    language: str = ""
    phonemes: bool = False
    tags: frozenset[str] = frozenset()
    max_chars: int = 1_000_000
    """Length that the text may grow to."""

    @property
    def malay(self) -> bool:
        return self.language.lower().partition("-")[0] in MALAY


@dataclass(frozen=True, slots=True)
class LexiconMatch:
    """A place that an entry was found at, and what is said there; `start` to `end` count in the searched text."""

    start: int
    end: int
    entry: DictionaryEntry
    say: str
    phonemes: str = ""


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A match of a regular expression: its place, and its groups, of which the first is the whole."""

    start: int
    end: int
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text as it is to be spoken, what was found in it, and words whose phonemes the model cannot take."""

    text: TrackedText
    matches: tuple[LexiconMatch, ...] = ()
    unpronounced: tuple[str, ...] = ()


class Lexicon:
    """The entries of some dictionaries, the first of which count most; immutable, so that sessions may share it.

    Not the word list of a language's phonemizer (`text/phonemes`), which reads what no caller's entry has changed. Of
    matches that begin at one place the longest is taken. Text is never rewritten twice, nor is markup.
    """

    def __init__(self, dictionaries: Sequence[Dictionary]) -> None:
        entries = [entry for dictionary in dictionaries for entry in dictionary.entries]
        self.patterns = tuple(entry for entry in entries if entry.kind is EntryKind.REGEX)
        """Entries that are regular expressions; somebody else runs them, under a time limit."""
        self._literals: dict[str, list[DictionaryEntry]] = {}
        lengths: dict[str, set[int]] = {}
        for entry in entries:
            if entry.kind is not EntryKind.REGEX:
                key = _small(entry.match)
                self._literals.setdefault(key, []).append(entry)
                lengths.setdefault(key[0], set()).add(len(key))
        self.digest = hashlib.sha256(repr(entries).encode("utf-8", "surrogatepass")).hexdigest()
        """The same for the same entries in the same order, for keys of caches."""
        words = (len(key.split()) for key in self._literals)
        self.max_words = max((*words, _PATTERN_WORDS if self.patterns else 1))
        """Most words that an entry may have."""
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}

    def __bool__(self) -> bool:
        return bool(self.patterns or self._literals)

    def rewrite(
        self, text: TrackedText, rules: LexiconRules, found: Sequence[Sequence[PatternMatch]] = ()
    ) -> Rewritten:
        """Rewrite a text; `found` are the matches of `patterns` in `composed(text)`, in their order."""
        text = composed(text)
        matches = _with_few_phonemes(_apart(self._candidates(text, rules, found)))
        if not matches:
            return Rewritten(text)
        parts: list[TrackedText] = []
        done, length = 0, len(text)
        for match in matches:
            parts += (text[done : match.start], _said(text, match))
            done = match.end
            length += len(parts[-1]) - (match.end - match.start)
            if length > rules.max_chars:
                raise TextError(
                    f"With what the dictionaries say the text has more than {rules.max_chars:,} characters; send less "
                    "text, or shorter entries.",
                    field="input",
                )
        parts.append(text[done:])
        silent = tuple(match.entry.match for match in matches if not (match.entry.say or rules.phonemes))
        return Rewritten(_joined(parts), tuple(matches), silent)

    def _candidates(
        self, text: TrackedText, rules: LexiconRules, found: Sequence[Sequence[PatternMatch]]
    ) -> list[LexiconMatch]:
        closed = _closed_to_entries(text, rules.tags)
        open_ones = [match for match in self._found(text.text, rules) if not any(closed[match.start : match.end])]
        for entry, places in zip(self.patterns, found, strict=False):
            for place in places if entry.is_for(rules.language) else ():
                if place.end > place.start and not any(closed[place.start : place.end]):
                    open_ones.append(_match(entry, place.start, place.end, place.groups, rules))
        return sorted(open_ones, key=lambda match: (match.start, match.start - match.end))

    def _found(self, text: str, rules: LexiconRules) -> Iterator[LexiconMatch]:
        """The longest word or phrase at each place."""
        if not self._literals:
            return
        flat = _Flat.of(text)
        lengths, literals, small, malay = self._lengths, self._literals, flat.text, rules.malay
        for at, char in enumerate(small):
            if char not in lengths or not begins_word(text, flat.places[at], malay=malay):
                continue
            for length in lengths[char]:
                entries = literals.get(small[at : at + length]) if at + length <= len(small) else None
                match = None if entries is None else self._whole(text, flat, at, length, entries, rules)
                if match is not None:
                    yield match
                    break

    def _whole(
        self,
        text: str,
        flat: "_Flat",
        at: int,
        length: int,
        entries: Sequence[DictionaryEntry],
        rules: LexiconRules,
    ) -> LexiconMatch | None:
        """The match of the first of some entries that stands there as a whole word."""
        start, end = flat.places[at], flat.places[at + length - 1] + 1
        return next(filter(None, (_literal(text, start, end, entry, rules) for entry in entries)), None)


@dataclass(frozen=True, slots=True)
class _Flat:
    """A text in small letters with one space for each run of white space, and where its characters stand."""

    text: str
    places: Sequence[int]

    @classmethod
    def of(cls, text: str) -> "_Flat":
        kept = [at for at, char in enumerate(text) if not (char.isspace() and text[at - 1 : at].isspace())]
        return cls(_small("".join(" " if text[at].isspace() else text[at] for at in kept)), kept)


def composed(text: TrackedText) -> TrackedText:
    """The text with loose accents joined to their letters, as entries are written."""
    return text.sub(_LOOSE_ACCENT, lambda match: unicodedata.normalize("NFC", match.group()))


def _literal(text: str, start: int, end: int, entry: DictionaryEntry, rules: LexiconRules) -> LexiconMatch | None:
    """The match of a word or a phrase that stands there, with the ending behind it, if it is a whole one."""
    written = " ".join(text[start:end].split())
    if not entry.is_for(rules.language) or not _fits_case(entry, written):
        return None
    named = entry.match != entry.match.lower()
    behind = word_end(text, end, malay=rules.malay, named=named)
    return None if behind is None else _match(entry, start, behind, (written,), rules, text[end:behind])


def _fits_case(entry: DictionaryEntry, written: str) -> bool:
    if entry.ignores_case or written == entry.match:
        return True
    return entry.case is CaseRule.AUTO and written == entry.match.upper() != entry.match


def _match(
    entry: DictionaryEntry, start: int, end: int, groups: tuple[str, ...], rules: LexiconRules, ending: str = ""
) -> LexiconMatch:
    if entry.phonemes and rules.phonemes:
        phonemes = entry.phonemes + (_ending_phonemes(entry.phonemes, ending) if ending else "")
        return LexiconMatch(start, end, entry, groups[0] + ending, phonemes)
    if not entry.say:
        return LexiconMatch(start, end, entry, groups[0] + ending)
    said = _expanded(entry.say, groups) if entry.kind is EntryKind.REGEX else entry.say
    return LexiconMatch(start, end, entry, said + ending)


def _expanded(say: str, groups: Sequence[str]) -> str:
    """A respelling with the groups that a regular expression found."""

    def group(found: re.Match[str]) -> str:
        index = int(found[1] or found[2])
        return groups[index] if index < len(groups) else ""

    return _GROUP.sub(group, say)


def _ending_phonemes(phonemes: str, ending: str) -> str:
    """The phonemes of an ending behind others: a plural or possessive, or one of Malay."""
    bare = ending.strip("'’").lower()
    if bare in ("s", "es"):
        last = phonemes.rstrip("ːˑ.")[-1:]
        return "ɪz" if last in _SIBILANT else "s" if last in _VOICELESS else "z"
    return bare.replace("nya", "ɲa").replace("y", "j")


def markup_spans(text: str) -> Iterator[Span]:
    """Markup and addresses, in which no entry is looked for."""
    return (Span(*found.span()) for found in _PROTECTED.finditer(text))


def _closed_to_entries(text: TrackedText, tags: frozenset[str]) -> bytearray:
    """Marks characters that are no words of the caller: markup, addresses, and what markup says in their place."""
    closed = bytearray(len(text))
    for span in markup_spans(text.text):
        closed[span.start : span.end] = b"\1" * len(span)
    for tag in tags if "[" in text.text or "<" in text.text else ():
        at = text.text.find(tag)
        while at >= 0:
            closed[at : at + len(tag)] = b"\1" * len(tag)
            at = text.text.find(tag, at + len(tag))
    for index in range(1, len(text)):
        if text.starts[index] == text.starts[index - 1] and text.ends[index] == text.ends[index - 1]:
            closed[index - 1] = closed[index] = 1
    return closed


def _apart(candidates: Iterable[LexiconMatch]) -> list[LexiconMatch]:
    """Those that do not overlap, the first and longest ones."""
    kept: list[LexiconMatch] = []
    for match in candidates:
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept


def _with_few_phonemes(matches: list[LexiconMatch]) -> list[LexiconMatch]:
    """The matches, of which no more have phonemes than a text may hold; the others are respelled or left alone."""
    if len(matches) <= _MAX_PHONEMES:
        return matches
    kept = matches[:_MAX_PHONEMES]
    rest = (match for match in matches[_MAX_PHONEMES:] if not match.phonemes or match.entry.say)
    return [*kept, *(replace(match, say=match.entry.say, phonemes="") if match.phonemes else match for match in rest)]


def _said(text: TrackedText, match: LexiconMatch) -> TrackedText:
    """The words for a match, all of which stand for it; where that is what was written, the text itself."""
    written = text[match.start : match.end]
    if not match.phonemes and match.say == written.text:
        return written
    word = " ".join(match.say.split()).replace("[", "").replace("]", "")
    said = f"[{word}](/{match.phonemes}/)" if match.phonemes else match.say
    return TrackedText.of("").appended(said, text.span(match.start, match.end))


def _joined(parts: Sequence[TrackedText]) -> TrackedText:
    return TrackedText(
        "".join(part.text for part in parts),
        tuple(start for part in parts for start in part.starts),
        tuple(end for part in parts for end in part.ends),
    )


def _small(text: str) -> str:
    """The text in small letters, with as many characters."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
