"""XML from strangers: no entities, no document type of its own, no outside files, bounded depth and attributes."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html.entities import html5
from typing import Final
from xml.parsers import expat

from polyvox.books.manuscript import ManuscriptLimits
from polyvox.errors import ManuscriptError

MAX_ATTRIBUTE_CHARS: Final = 100_000
MAX_ELEMENTS: Final = 200_000
_ENTITY: Final = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES: Final = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))


class BrokenXmlError(ManuscriptError):
    """XML that is not well-formed."""


class HostileXmlError(ManuscriptError):
    """XML made to do harm, or as no book has it."""


@dataclass(frozen=True, slots=True)
class XmlHandlers:
    """Handlers of the events of a document; names are in lower case and without a prefix, but for attributes
    of another namespace such as `epub:type`."""

    start: Callable[[str, Mapping[str, str]], None]
    end: Callable[[str], None]
    data: Callable[[str], None]


def parse_xml(document: bytes, handlers: XmlHandlers, limits: ManuscriptLimits) -> None:
    """Parse a document; ManuscriptError where it is broken or hostile. The names of HTML's characters are known."""
    depth = elements = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, elements
        depth, elements = depth + 1, elements + 1
        if depth > limits.depth or elements > MAX_ELEMENTS:
            raise HostileXmlError("The EPUB has a document of absurd nesting or length; it is refused.", field="file")
        if sum(len(value) for value in attributes.values()) > MAX_ATTRIBUTE_CHARS:
            raise HostileXmlError("The EPUB has an attribute of absurd length; it is refused.", field="file")
        handlers.start(_local(name), {_attribute(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        handlers.end(_local(name))

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartDoctypeDeclHandler = _refuse_own_document_type
    parser.EntityDeclHandler = _refuse_entity
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handlers.data
    try:
        parser.Parse(_ENTITY.sub(_character, document), True)
    except expat.ExpatError as error:
        raise BrokenXmlError(
            f"The EPUB has a broken document ({expat.ErrorString(error.code)}); save the book anew.", field="file"
        ) from error


@dataclass(slots=True)
class XmlElement:
    """An element as a tree: `content` holds its text and the elements within it, in order."""

    tag: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    content: list["XmlElement | str"] = field(default_factory=list)

    @property
    def children(self) -> list["XmlElement"]:
        return [part for part in self.content if isinstance(part, XmlElement)]

    def find_all(self, tag: str) -> Iterator["XmlElement"]:
        """All elements of that name within this one, in order."""
        for child in self.children:
            if child.tag == tag:
                yield child
            yield from child.find_all(tag)

    @property
    def text(self) -> str:
        """The text of the element and of those within it, its white space evened out."""
        return " ".join(self._raw_text().split())

    def _raw_text(self) -> str:
        return "".join(part if isinstance(part, str) else part._raw_text() for part in self.content)


def xml_tree(document: bytes, limits: ManuscriptLimits) -> XmlElement:
    """A document as a tree, under an element without a name."""
    root = XmlElement("")
    open_elements = [root]

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        element = XmlElement(tag, attributes)
        open_elements[-1].content.append(element)
        open_elements.append(element)

    def end(_tag: str) -> None:
        open_elements.pop()

    def data(text: str) -> None:
        open_elements[-1].content.append(text)

    parse_xml(document, XmlHandlers(start, end, data), limits)
    return root


def _refuse_own_document_type(_name: str, _system: str | None, _public: str | None, own: int) -> None:
    if own:
        raise HostileXmlError("The EPUB has a document that declares entities; such files are refused.", field="file")


def _refuse_entity(*_declaration: object) -> None:
    raise HostileXmlError("The EPUB has a document that declares entities; such files are refused.", field="file")


def _character(match: re.Match[bytes]) -> bytes:
    """A named character of HTML by its number; XML knows only five names."""
    if match[1] in _XML_ENTITIES:
        return match[0]
    known = html5.get(f"{match[1].decode()};")
    return match[0] if known is None else b"".join(b"&#%d;" % ord(char) for char in known)


def _local(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _attribute(name: str) -> str:
    """`type` of another namespace is `epub:type`, whatever its prefix."""
    prefix, _, local = name.lower().rpartition(":")
    return "epub:type" if prefix and local == "type" else name.lower() if prefix == "xml" else local
