"""W3C Pronunciation Lexicon Specification 1.0: dictionaries as XML, from and to other programs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn
from xml.sax.saxutils import escape, quoteattr

from polyvox.errors import InvalidRequestError
from polyvox.hostile_xml import XmlError, XmlFault, XmlHandlers, XmlLimits, XmlReader
from polyvox.text.dictionary.entries import CaseRule, Dictionary, DictionaryEntry, EntryKind, checked_entry

NAMESPACE: Final = "http://www.w3.org/2005/01/pronunciation-lexicon"
MEDIA_TYPE: Final = "application/pls+xml"
_MAX_DEPTH: Final = 8
_MAX_ELEMENTS: Final = 1_000_000
_MAX_TEXT: Final = 2_000
_ALPHABETS: Final = ("", "ipa", "x-ipa")


@dataclass(slots=True)
class _Lexeme:
    """A lexeme while it is read; of several phonemes or aliases the preferred one counts, else the first."""

    graphemes: list[str] = field(default_factory=list)
    phonemes: str = ""
    alias: str = ""
    prefers: bool = False


def read_pls(data: bytes, max_entries: int) -> tuple[DictionaryEntry, ...]:
    """The entries of a PLS file; `InvalidRequestError` names what is wrong and where."""
    reader = _Reader(max_entries)
    reader.read(data)
    return tuple(reader.entries)


def _refusal(reason: str, line: int) -> InvalidRequestError:
    return InvalidRequestError(f"The lexicon {reason}, at line {line}.", field="entries")


def _reason(error: XmlError) -> str:
    match error.fault:
        case XmlFault.MALFORMED:
            return f"is not well formed ({error.reason})"
        case XmlFault.ENCODING:
            return "is in an encoding that cannot be read; write it in UTF-8"
        case XmlFault.DECLARATIONS:
            return "has a document type or declares entities; remove them"
        case XmlFault.DEPTH:
            return f"has more than {_MAX_DEPTH} elements inside each other"
        case XmlFault.ELEMENTS:
            return f"has more than {_MAX_ELEMENTS:,} elements"
        case XmlFault.ATTRIBUTES:
            return "has an attribute of absurd length"


class _Reader:
    """One file while it is read."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self.entries: list[DictionaryEntry] = []
        handlers = XmlHandlers(self._start, self._end, self._characters)
        self._reader = XmlReader(handlers, XmlLimits(_MAX_DEPTH, _MAX_ELEMENTS), namespaces=True)
        self._depth = 0
        self._language = self._alphabet = self._own_alphabet = ""
        self._preferred = False
        self._lexeme: _Lexeme | None = None
        self._text: list[str] | None = None
        self._length = 0

    def read(self, data: bytes) -> None:
        try:
            self._reader.read(data)
        except XmlError as error:
            raise _refusal(_reason(error), error.line) from error

    def _fail(self, reason: str) -> NoReturn:
        raise _refusal(reason, self._reader.line)

    def _start(self, qualified: str, attributes: Mapping[str, str]) -> None:
        name = qualified.rpartition(" ")[2]
        self._depth += 1
        if self._depth == 1:
            self._open(name, attributes)
        elif name == "lexeme":
            self._lexeme = _Lexeme()
        elif self._lexeme is not None and name in ("grapheme", "phoneme", "alias"):
            self._text, self._length = [], 0
            self._own_alphabet = attributes.get("alphabet", self._alphabet).lower()
            self._preferred = attributes.get("prefer", "") == "true"

    def _open(self, name: str, attributes: Mapping[str, str]) -> None:
        if name != "lexicon":
            self._fail("does not begin with <lexicon>; send a file in W3C's PLS 1.0")
        self._alphabet = attributes.get("alphabet", "").lower()
        self._language = attributes.get("http://www.w3.org/XML/1998/namespace lang", "").strip()

    def _characters(self, data: str) -> None:
        if self._text is not None:
            self._length += len(data)
            if self._length > _MAX_TEXT:
                self._fail(f"has a text of more than {_MAX_TEXT:,} characters")
            self._text.append(data)

    def _end(self, qualified: str) -> None:
        name = qualified.rpartition(" ")[2]
        self._depth -= 1
        if self._text is not None and name in ("grapheme", "phoneme", "alias"):
            self._note(name, " ".join("".join(self._text).split()))
            self._text = None
        elif name == "lexeme" and self._lexeme is not None:
            self._add(self._lexeme)
            self._lexeme = None

    def _note(self, name: str, text: str) -> None:
        lexeme = self._lexeme
        assert lexeme is not None
        if name == "grapheme":
            lexeme.graphemes.append(text)
        elif name == "phoneme":
            if self._own_alphabet not in _ALPHABETS:
                self._fail(f"has phonemes in the alphabet {self._own_alphabet[:40]!r}; write them in ipa")
            if not lexeme.phonemes or (self._preferred and not lexeme.prefers):
                lexeme.phonemes, lexeme.prefers = text.strip("/"), self._preferred
        elif not lexeme.alias or self._preferred:
            lexeme.alias = text

    def _add(self, lexeme: _Lexeme) -> None:
        for grapheme in lexeme.graphemes:
            if len(self.entries) >= self._max_entries:
                self._fail(f"has more than {self._max_entries:,} entries")
            kind = EntryKind.PHRASE if " " in grapheme else EntryKind.WORD
            entry = DictionaryEntry(kind, grapheme, lexeme.alias, lexeme.phonemes, self._language, CaseRule.AUTO)
            self.entries.append(checked_entry(entry, f"entries[{len(self.entries)}]"))


def write_pls(dictionary: Dictionary, language: str) -> str:
    """The words and phrases of one language, and of none, as a PLS file; regular expressions have no place in it."""
    lexemes = "".join(
        _lexeme(entry)
        for entry in dictionary.entries
        if entry.kind is not EntryKind.REGEX and entry.language in ("", language)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<lexicon version="1.0" xmlns="{NAMESPACE}" alphabet="ipa" xml:lang={quoteattr(language or "und")}>\n'
        f"{lexemes}</lexicon>\n"
    )


def _lexeme(entry: DictionaryEntry) -> str:
    fields = (("grapheme", entry.match), ("phoneme", entry.phonemes), ("alias", entry.say))
    inner = "".join(f"    <{name}>{escape(value)}</{name}>\n" for name, value in fields if value)
    return f"  <lexeme>\n{inner}  </lexeme>\n"
