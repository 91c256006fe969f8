"""XML from strangers: no entities, no document type of its own, no outside files, limits while it is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, NoReturn
from xml.parsers import expat

_MAX_ATTRIBUTE_CHARS: Final = 100_000


@dataclass(frozen=True, slots=True)
class XmlLimits:
    """The most elements of a document, inside each other and in all, and characters in the attributes of one."""

    depth: int
    elements: int
    attribute_chars: int = _MAX_ATTRIBUTE_CHARS


@dataclass(frozen=True, slots=True)
class XmlHandlers:
    """The functions that are called for the events of a document."""

    start: Callable[[str, Mapping[str, str]], None]
    end: Callable[[str], None]
    data: Callable[[str], None]


class XmlFault(Enum):
    """Reasons to refuse a document."""

    MALFORMED = auto()
    ENCODING = auto()
    DECLARATIONS = auto()
    DEPTH = auto()
    ELEMENTS = auto()
    ATTRIBUTES = auto()


class XmlError(Exception):
    """A refused document: the fault and where it is, lines from 1 and columns from 0, and what is malformed."""

    def __init__(self, fault: XmlFault, line: int, column: int, reason: str = "") -> None:
        super().__init__(reason or fault.name.lower())
        self.fault = fault
        self.line = line
        self.column = column
        self.reason = reason


class XmlReader:
    """Reads one document. `is_plain_doctype_allowed` takes a document type that only names one, as XHTML's does.

    With `namespaces` a name has that of its namespace before it, and a space between the two.
    """

    def __init__(
        self,
        handlers: XmlHandlers,
        limits: XmlLimits,
        *,
        encoding: str | None = None,
        namespaces: bool = False,
        joins_text: bool = True,
        is_plain_doctype_allowed: bool = False,
    ) -> None:
        self._handlers = handlers
        self._limits = limits
        self._is_plain_doctype_allowed = is_plain_doctype_allowed
        self._depth = self._elements = 0
        self.in_cdata = False
        parser = self._parser = expat.ParserCreate(encoding, " " if namespaces else None)
        parser.buffer_text = joins_text
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = handlers.data
        parser.StartCdataSectionHandler = lambda: self._cdata(True)
        parser.EndCdataSectionHandler = lambda: self._cdata(False)

    @property
    def line(self) -> int:
        """The line of the event that is being handled."""
        return self._parser.CurrentLineNumber

    @property
    def byte(self) -> int:
        """The byte at which the event that is being handled begins."""
        return self._parser.CurrentByteIndex

    def read(self, document: bytes) -> None:
        """Read a whole document; `XmlError` where it is refused."""
        try:
            self._parser.Parse(document, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise XmlError(XmlFault.MALFORMED, error.lineno, error.offset, reason) from error
        except (LookupError, ValueError) as error:  # an encoding that nobody knows
            raise XmlError(XmlFault.ENCODING, self.line, self._parser.CurrentColumnNumber) from error

    def _refuse(self, fault: XmlFault) -> NoReturn:
        raise XmlError(fault, self.line, self._parser.CurrentColumnNumber)

    def _doctype(self, _name: str, _system: str | None, _public: str | None, has_own_part: int) -> None:
        if has_own_part or not self._is_plain_doctype_allowed:
            self._refuse(XmlFault.DECLARATIONS)

    def _entity(self, *_declaration: object) -> None:
        self._refuse(XmlFault.DECLARATIONS)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > self._limits.depth:
            self._refuse(XmlFault.DEPTH)
        if self._elements > self._limits.elements:
            self._refuse(XmlFault.ELEMENTS)
        if sum(map(len, attributes.values())) > self._limits.attribute_chars:
            self._refuse(XmlFault.ATTRIBUTES)
        self._handlers.start(name, attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._handlers.end(name)

    def _cdata(self, inside: bool) -> None:
        self.in_cdata = inside
