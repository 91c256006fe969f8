"""XML in books: with the names of HTML's characters, as events or as a tree."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.entities import html5
from typing import Final

from polyvox.books.manuscript import ManuscriptLimits
from polyvox.errors import ManuscriptError
from polyvox.hostile_xml import XmlError, XmlFault, XmlHandlers, XmlLimits, XmlReader

MAX_ELEMENTS: Final = 200_000
_ENTITY: Final = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES: Final = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))


class BrokenXmlError(ManuscriptError):
    """XML that is not well-formed."""


class HostileXmlError(ManuscriptError):
    """XML made to do harm, or as no book has it."""


def parse_xml(document: bytes, handlers: XmlHandlers, limits: ManuscriptLimits) -> None:
    """Parse a document; ManuscriptError where it is broken or hostile. The names of HTML's characters are known.

    Names are given in lower case and without a prefix, but for attributes of another namespace such as `epub:type`.
    """
    plain = XmlHandlers(
        lambda name, attributes: handlers.start(
            _local(name), {_attribute(key): value for key, value in attributes.items()}
        ),
        lambda name: handlers.end(_local(name)),
        handlers.data,
    )
    reader = XmlReader(plain, XmlLimits(limits.depth, MAX_ELEMENTS), is_plain_doctype_allowed=True)
    try:
        reader.read(_ENTITY.sub(_character, document))
    except XmlError as error:
        raise _refusal(error) from error


def _refusal(error: XmlError) -> ManuscriptError:
    match error.fault:
        case XmlFault.MALFORMED | XmlFault.ENCODING:
            reason = error.reason or "its encoding is not known"
            return BrokenXmlError(f"The EPUB has a broken document ({reason}); save the book anew.", field="file")
        case XmlFault.DECLARATIONS:
            told = "The EPUB has a document that declares entities; such files are refused."
        case XmlFault.ATTRIBUTES:
            told = "The EPUB has an attribute of absurd length; it is refused."
        case XmlFault.DEPTH | XmlFault.ELEMENTS:
            told = "The EPUB has a document of absurd nesting or length; it is refused."
    return HostileXmlError(told, field="file")


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
