"""The package of an EPUB: what it is called, which documents it has in which order, and their titles."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from polyvox.books.manuscript import ManuscriptLimits
from polyvox.books.readers.epub_archive import EpubArchive
from polyvox.books.readers.safe_xml import BrokenXmlError, XmlElement, xml_tree
from polyvox.errors import ManuscriptError

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_RIGHTS: Final = ("META-INF/rights.xml", "META-INF/sinf.xml", "META-INF/license.lcpl")
_FONT_OBFUSCATION: Final = frozenset(("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"))
_ABOUT_THE_BOOK: Final = frozenset(
    "cover title-page toc index copyright-page colophon bibliography loi lot notes".split()
)
_DOCUMENTS: Final = frozenset(
    ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
)


@dataclass(frozen=True, slots=True)
class Item:
    """A file of the book."""

    path: str
    media_type: str
    properties: frozenset[str]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the table of contents; `depth` counts from 0, `anchor` is empty for the whole document."""

    title: str
    path: str
    anchor: str
    depth: int


@dataclass(frozen=True, slots=True)
class Package:
    """The contents of the package document; `documents` are the paths to be read, in order."""

    title: str
    author: str
    language: str
    documents: tuple[str, ...]
    contents: tuple[Entry, ...]
    cover: str | None


def read_package(archive: EpubArchive, limits: ManuscriptLimits) -> Package:
    """The package of an archive; ManuscriptError where there is none, or where it is copy-protected."""
    _refuse_protection(archive, limits)
    path = _package_path(archive, limits)
    tree = xml_tree(archive.read(path), limits)
    items = dict(_items(tree, path))
    spine = next(tree.find_all("spine"), XmlElement("spine"))
    skipped = set(_guide(tree, path)) | {item.path for item in items.values() if "nav" in item.properties}
    wanted = [
        items[reference.attributes["idref"]]
        for reference in spine.find_all("itemref")
        if reference.attributes.get("idref") in items and reference.attributes.get("linear", "yes") != "no"
    ]
    documents = [item.path for item in wanted if item.media_type in _DOCUMENTS and item.path not in skipped]
    return Package(
        title=_first(tree, "title"),
        author=", ".join(_creators(tree)),
        language=_first(tree, "language"),
        documents=tuple(dict.fromkeys(documents)),
        contents=tuple(_contents(archive, items, spine, limits)),
        cover=_cover(tree, items),
    )


def _refuse_protection(archive: EpubArchive, limits: ManuscriptLimits) -> None:
    protected = any(path in archive for path in _RIGHTS)
    if _ENCRYPTION in archive:
        methods = xml_tree(archive.read(_ENCRYPTION), limits).find_all("encryptionmethod")
        protected = protected or any(m.attributes.get("algorithm") not in _FONT_OBFUSCATION for m in methods)
    if protected:
        raise ManuscriptError(
            "The EPUB is copy-protected (DRM), so its text cannot be read; use a copy without protection.", field="file"
        )


def _package_path(archive: EpubArchive, limits: ManuscriptLimits) -> str:
    if _CONTAINER not in archive:
        raise ManuscriptError("The file is no EPUB: it lacks META-INF/container.xml.", field="file")
    for root in xml_tree(archive.read(_CONTAINER), limits).find_all("rootfile"):
        path = resolved("", root.attributes.get("full-path", ""))[0]
        if path in archive:
            return path
    raise ManuscriptError("The EPUB names no package document that it holds; save the book anew.", field="file")


def resolved(base: str, reference: str) -> tuple[str, str]:
    """The path within the archive, and the anchor, of a reference in the document `base`; no path for another site."""
    try:
        parts = urlsplit(reference.strip())
    except ValueError:
        return "", ""
    if parts.scheme or parts.netloc:
        return "", ""
    path = unquote(parts.path)
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(base), path)) if path else base
    return ("" if joined.startswith(("..", "/")) else joined), unquote(parts.fragment)


def _items(tree: XmlElement, base: str) -> Iterator[tuple[str, Item]]:
    for item in tree.find_all("item"):
        path, _ = resolved(base, item.attributes.get("href", ""))
        if path and "id" in item.attributes:
            properties = frozenset(item.attributes.get("properties", "").split())
            yield item.attributes["id"], Item(path, item.attributes.get("media-type", ""), properties)


def _guide(tree: XmlElement, base: str) -> Iterator[str]:
    """Documents that the guide of an EPUB 2 says are about the book."""
    for guide in tree.find_all("guide"):
        for reference in guide.find_all("reference"):
            kind = reference.attributes.get("type", reference.attributes.get("epub:type", "")).lower()
            if kind in _ABOUT_THE_BOOK:
                yield resolved(base, reference.attributes.get("href", ""))[0]


def _first(tree: XmlElement, tag: str) -> str:
    """The first element of that name with text, within the package's metadata."""
    metadata = next(tree.find_all("metadata"), tree)
    return next((element.text[:500] for element in metadata.find_all(tag) if element.text), "")


def _creators(tree: XmlElement) -> list[str]:
    """The authors; where roles are given, those whose role is no other."""
    metadata = next(tree.find_all("metadata"), tree)
    roles = {
        meta.attributes.get("refines", "").lstrip("#"): meta.text
        for meta in metadata.find_all("meta")
        if meta.attributes.get("property") == "role"
    }
    creators = list(metadata.find_all("creator"))
    named = [
        creator.text[:200]
        for creator in creators
        if (creator.attributes.get("role") or roles.get(creator.attributes.get("id", ""), "aut")) == "aut"
    ]
    return [name for name in named or [creator.text[:200] for creator in creators] if name]


def _cover(tree: XmlElement, items: dict[str, Item]) -> str | None:
    for item in items.values():
        if "cover-image" in item.properties:
            return item.path
    for meta in tree.find_all("meta"):
        if meta.attributes.get("name") == "cover":
            named = items.get(meta.attributes.get("content", ""))
            return None if named is None else named.path
    return None


def _contents(
    archive: EpubArchive, items: dict[str, Item], spine: XmlElement, limits: ManuscriptLimits
) -> Iterator[Entry]:
    """The table of contents: that of EPUB 3, else that of EPUB 2. A broken one is done without."""
    nav = next((item.path for item in items.values() if "nav" in item.properties), None)
    ncx = items.get(spine.attributes.get("toc", "")) or next(
        (item for item in items.values() if item.media_type == "application/x-dtbncx+xml"), None
    )
    found: list[Entry] = []
    try:
        if nav is not None and nav in archive:
            found = list(_nav_entries(xml_tree(archive.read(nav), limits), nav))
        if not found and ncx is not None and ncx.path in archive:
            points = next(xml_tree(archive.read(ncx.path), limits).find_all("navmap"), XmlElement(""))
            found = list(_ncx_entries(points, ncx.path, 0))
    except BrokenXmlError:
        return
    yield from found


def _nav_entries(tree: XmlElement, base: str) -> Iterator[Entry]:
    navs = list(tree.find_all("nav"))
    toc = [nav for nav in navs if "toc" in nav.attributes.get("epub:type", "").split()] or navs
    for nav in toc[:1]:
        for child in nav.children:
            if child.tag == "ol":
                yield from _list_entries(child, base, 0)


def _list_entries(points: XmlElement, base: str, depth: int) -> Iterator[Entry]:
    for item in points.children:
        for part in item.children:
            if part.tag == "a":
                yield Entry(part.text[:300], *resolved(base, part.attributes.get("href", "")), depth)
            elif part.tag == "ol":
                yield from _list_entries(part, base, depth + 1)


def _ncx_entries(points: XmlElement, base: str, depth: int) -> Iterator[Entry]:
    for point in points.children:
        if point.tag != "navpoint":
            continue
        label = next(point.find_all("navlabel"), XmlElement("")).text[:300]
        target = next((part for part in point.children if part.tag == "content"), XmlElement(""))
        yield Entry(label, *resolved(base, target.attributes.get("src", "")), depth)
        yield from _ncx_entries(point, base, depth + 1)
