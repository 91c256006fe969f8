"""Dictionaries by owner: kept as files, cached as lexicons, and found for each request."""

import asyncio
import hashlib
import json
import os
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog

from polyvox.bundles.disk import sync_folder
from polyvox.config import Settings
from polyvox.errors import ForbiddenError, InvalidRequestError, NotFoundError, PolyvoxError, UnavailableError
from polyvox.private_files import make_private_folder, open_private
from polyvox.service.keys.access import Access
from polyvox.service.keys.operations import Operation
from polyvox.service.pronunciation.pattern_worker import PatternMatches, PatternWorker
from polyvox.text.detect import detect_language
from polyvox.text.dictionary import (
    CaseRule,
    Dictionary,
    DictionaryEntry,
    EntryKind,
    Lexicon,
    LexiconMatch,
    LexiconRules,
    Rewritten,
    checked_entry,
)
from polyvox.text.dictionary.lexicon import composed
from polyvox.text.tracked import TrackedText
from polyvox.types import Span
from polyvox.voices.cache_files import file_states, unlinked
from polyvox.voices.records import SHARED_OWNER

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

FOLDER: Final = "dictionaries"
MAX_NAMED: Final = 16
"""Dictionaries that one request may name."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_FRESH_SECONDS: Final = 1.0
"""Time for which the files are trusted to be as they were read: other processes may write them."""
_SETTLED_NANOSECONDS: Final = 2_000_000_000
_ABANDONED_SECONDS: Final = 3_600.0
"""Age at which a draft is one that a killed process left."""
_MAX_OWNERS: Final = 64
_MAX_LEXICONS: Final = 32
_LONG_TEXT: Final = 5_000

T = TypeVar("T")


@dataclass(slots=True)
class _Shelf:
    """The dictionaries of one owner as they were read, the folder's state then, and when that was last checked."""

    checked: float
    state: tuple[int, ...] | None = None
    dictionaries: dict[str, Dictionary] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trial:
    """A text as it is said, the matches in it, and the patterns that were left out."""

    spoken: str
    matches: list[tuple[Span, LexiconMatch]] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)


class Dictionaries:
    """The dictionaries of all owners. Everyone sees the shared ones besides their own, and changes their own alone."""

    def __init__(self, settings: Settings, access: Access, on_slow: Callable[[int], None] = lambda count: None) -> None:
        self._settings = settings
        self._access = access
        self._on_slow = on_slow
        self._folder = settings.data_dir / FOLDER
        self._shelves: OrderedDict[str, _Shelf] = OrderedDict()
        self._lexicons: OrderedDict[tuple[int, ...], tuple[Sequence[Dictionary], Lexicon]] = OrderedDict()
        self._writing = asyncio.Lock()
        self._worker = PatternWorker(settings.dictionary_seconds)

    async def close(self) -> None:
        await self._worker.close()

    async def listed(self, owner: str) -> list[Dictionary]:
        """An owner's own dictionaries by name."""
        return sorted((await self._of(owner)).values(), key=lambda dictionary: dictionary.name)

    async def visible(self, owner: str) -> tuple[list[Dictionary], list[Dictionary]]:
        """An owner's own dictionaries, and the shared ones, which are the same where there are no keys."""
        self._access.require(Operation.READ_DICTIONARIES, owner)
        own = await self.listed(owner)
        return own, [] if owner == SHARED_OWNER else await self.listed(SHARED_OWNER)

    async def get(self, name: str, owner: str) -> Dictionary:
        """A dictionary that an owner may see: their own before a shared one."""
        self._access.require(Operation.READ_DICTIONARIES, owner)
        found = (await self._of(owner)).get(_checked_name(name)) or (await self._of(SHARED_OWNER)).get(name)
        if found is None:
            raise NotFoundError(f"There is no dictionary {name!r}; GET /v1/dictionaries lists yours.", field="name")
        return found

    async def put(self, dictionary: Dictionary, owner: str) -> Dictionary:
        """Keep a dictionary, in place of one of the same name."""
        self._access.require(Operation.CHANGE_DICTIONARIES, owner)
        _checked_name(dictionary.name)
        checked = await asyncio.to_thread(_checked, dictionary)
        patterns = [(index, entry) for index, entry in enumerate(checked.entries) if entry.kind is EntryKind.REGEX]
        async with self._writing:
            others = [other for other in await self.listed(owner) if other.name != checked.name]
            self._check_limits([*others, checked])
            await self._worker.check(patterns)
            await asyncio.to_thread(_write, self._path(owner, checked.name), checked)
            self._shelves.pop(owner, None)
        return checked

    async def remove(self, name: str, owner: str) -> None:
        """Delete a dictionary."""
        self._access.require(Operation.CHANGE_DICTIONARIES, owner)
        async with self._writing:
            if _checked_name(name) not in await self._of(owner):
                raise NotFoundError(f"You have no dictionary {name!r}; GET /v1/dictionaries lists yours.", field="name")
            await asyncio.to_thread(self._path(owner, name).unlink, missing_ok=True)
            self._shelves.pop(owner, None)

    async def lexicon(self, names: Sequence[str], owner: str, more: Sequence[Dictionary] = ()) -> Lexicon | None:
        """The lexicon of a request's dictionaries: those it brings and names, then default ones; None without entries.

        An owner's own come before shared ones.
        """
        if len(names) > MAX_NAMED:
            raise InvalidRequestError(f"A request may name {MAX_NAMED} dictionaries.", field="dictionaries")
        own = await self._of(owner)
        shared = own if owner == SHARED_OWNER else await self._of(SHARED_OWNER)
        chosen = [*more, *(self._named(name, own, shared) for name in names)]
        chosen += [each for shelf in (own, shared) for each in shelf.values() if each.default]
        unique = list({id(each): each for each in chosen}.values())
        if not unique:
            return None
        return await self._made(unique)

    async def rewrite(
        self, lexicon: Lexicon, text: TrackedText, rules: LexiconRules, owner: str
    ) -> tuple[Rewritten, list[str]]:
        """Rewrite a text, off the event loop where it is long; also the patterns that were left out."""
        found = PatternMatches()
        if lexicon.patterns:
            text = composed(text)
            found = await self._worker.find(lexicon.patterns, text.text, owner)
            self._on_slow(len(found.slow))
        work = partial(lexicon.rewrite, text, rules, found.found)
        return (work() if len(text) < _LONG_TEXT else await asyncio.to_thread(work)), found.slow

    async def tried(self, name: str, text: str, language: str, owner: str) -> Trial:
        """Try one dictionary on a text, for a model that works with phonemes."""
        self._access.require(Operation.CHANGE_DICTIONARIES, owner)
        lexicon = await self._made([await self.get(name, owner)])
        if lexicon is None:
            return Trial(text)
        rules = LexiconRules(language or detect_language(text), phonemes=True, max_chars=self._settings.max_input_chars)
        tracked = composed(TrackedText.of(text))
        rewritten, slow = await self.rewrite(lexicon, tracked, rules, owner)
        matches = [(tracked.span(match.start, match.end), match) for match in rewritten.matches]
        return Trial(rewritten.text.text, matches, slow)

    def _named(self, name: str, own: Mapping[str, Dictionary], shared: Mapping[str, Dictionary]) -> Dictionary:
        found = own.get(name) or shared.get(name)
        if found is None:
            raise InvalidRequestError(
                f"There is no dictionary {name[:80]!r}; GET /v1/dictionaries lists yours.", field="dictionaries"
            )
        return found

    async def _made(self, dictionaries: Sequence[Dictionary]) -> Lexicon | None:
        key = tuple(id(each) for each in dictionaries)
        if key not in self._lexicons:
            # The dictionaries are kept beside it, so that no other can have one of their ids.
            self._lexicons[key] = dictionaries, await asyncio.to_thread(Lexicon, dictionaries)
            while len(self._lexicons) > _MAX_LEXICONS:
                self._lexicons.popitem(last=False)
        self._lexicons.move_to_end(key)
        return self._lexicons[key][1] or None

    async def _of(self, owner: str) -> dict[str, Dictionary]:
        """The dictionaries of an owner, read again where their files have changed."""
        shelf, now, folder = self._shelves.get(owner), time.monotonic(), self._owned(owner)
        if shelf is not None and now - shelf.checked <= _FRESH_SECONDS:
            return shelf.dictionaries
        state = _state(folder)
        if state is None:
            shelf = _Shelf(now)
        elif shelf is not None and shelf.state == state:
            shelf.checked = now
        else:
            shelf = await asyncio.to_thread(_read, folder, _Shelf(now, state))
        self._shelves[owner] = shelf
        while len(self._shelves) > _MAX_OWNERS:
            self._shelves.popitem(last=False)
        return shelf.dictionaries

    def _owned(self, owner: str) -> Path:
        return self._folder / (hashlib.sha256(owner.encode()).hexdigest()[:32] if owner else "shared")

    def _path(self, owner: str, name: str) -> Path:
        return self._owned(owner) / f"{name}.json"

    def _check_limits(self, dictionaries: Sequence[Dictionary]) -> None:
        settings = self._settings
        entries = [entry for dictionary in dictionaries for entry in dictionary.entries]
        patterns = sum(entry.kind is EntryKind.REGEX for entry in entries)
        limits = (
            (len(dictionaries), settings.max_dictionaries, "dictionaries", "max_dictionaries"),
            (len(entries), settings.max_dictionary_entries, "entries", "max_dictionary_entries"),
            (patterns, settings.max_dictionary_patterns, "regular expressions", "max_dictionary_patterns"),
        )
        for count, limit, what, setting in limits:
            if count > limit:
                raise ForbiddenError(
                    f"Your dictionaries would have {count:,} {what} in all, of at most {limit:,}; delete some, or raise"
                    f" the server's setting {setting}."
                )


def _checked(dictionary: Dictionary) -> Dictionary:
    entries = tuple(checked_entry(entry, f"entries[{index}]") for index, entry in enumerate(dictionary.entries))
    return Dictionary(dictionary.name, entries, dictionary.default)


def _checked_name(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise InvalidRequestError(
            "A dictionary's name has 1 to 64 letters a to z, figures, dots, dashes and underscores, and begins with a "
            "letter or figure.",
            field="name",
        )
    return name


def _state(folder: Path) -> tuple[int, ...] | None:
    """A value that changes when a file of a folder is written or deleted; None where there is no folder. Quick."""
    try:
        found = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        log.error("dictionaries cannot be read", folder=str(folder), reason=str(error))
        raise UnavailableError("The dictionaries cannot be read; the server's log has the cause.") from error
    # A change right after the last one may bear the same time.
    recent = 0 if time.time_ns() - found.st_mtime_ns > _SETTLED_NANOSECONDS else time.monotonic_ns()
    return (found.st_mtime_ns, found.st_ino, recent)


def _read(folder: Path, shelf: _Shelf) -> _Shelf:
    """The dictionaries in a folder."""
    found = (_parsed(path) for path in sorted(folder.glob("*.json")))
    shelf.dictionaries = {each.name: each for each in found if each is not None}
    return shelf


def _parsed(path: Path) -> Dictionary | None:
    """The dictionary in a file; None where it is damaged, which the log says."""
    try:
        return dictionary_of(path.stem, json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, PolyvoxError) as error:
        log.error("dictionary cannot be read", file=str(path), reason=str(error))
        return None


def dictionary_of(name: str, fields: Mapping[str, Any]) -> Dictionary:
    """The dictionary that an object describes."""
    entries = tuple(entry_of(entry, f"entries[{index}]") for index, entry in enumerate(fields["entries"]))
    return Dictionary(name, entries, bool(fields.get("default", False)))


def entry_of(fields: Mapping[str, Any], where: str) -> DictionaryEntry:
    """The entry that an object describes."""
    entry = DictionaryEntry(
        EntryKind(fields["kind"]),
        fields["match"],
        fields.get("say", ""),
        fields.get("phonemes", ""),
        fields.get("language", ""),
        CaseRule(fields.get("case", CaseRule.AUTO)),
    )
    return checked_entry(entry, where)


def entry_fields(entry: DictionaryEntry) -> dict[str, str]:
    """An entry as an object; what is empty is left out."""
    fields = {"kind": str(entry.kind), "match": entry.match, "say": entry.say, "phonemes": entry.phonemes}
    fields |= {"language": entry.language, "case": "" if entry.case is CaseRule.AUTO else str(entry.case)}
    return {name: value for name, value in fields.items() if value}


def _write(path: Path, dictionary: Dictionary) -> None:
    """Replace a file as a whole: a reader sees the old one or the new one."""
    make_private_folder(path.parent)
    entries = [entry_fields(entry) for entry in dictionary.entries]
    draft = path.with_name(f".{path.stem}.{secrets.token_hex(8)}")
    try:
        with open_private(draft) as file:
            values = {"default": dictionary.default, "entries": entries}
            file.write(json.dumps(values, ensure_ascii=False).encode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)
    for written, _, abandoned in file_states(path.parent.glob(".*")):
        if time.time() - written > _ABANDONED_SECONDS:
            unlinked(abandoned)
