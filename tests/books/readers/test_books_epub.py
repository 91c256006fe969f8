"""EPUBs of several generators, and hostile ones."""

import struct
import zipfile
from pathlib import Path

import pytest

from helpers.tables import each_row
from polyvox.books.manuscript import ManuscriptLimits
from polyvox.books.readers.reading import read_manuscript
from polyvox.errors import ManuscriptError
from tests.helpers.epubs import JPEG, OPF, PAGE, epub

GOLDEN = Path(__file__).parents[2] / "golden" / "books"
FIRST = "text/part 0000_split_000.html"
LIMITS = ManuscriptLimits()


def read(data, limits=LIMITS):
    return read_manuscript(data, "book.epub", limits)


def contents(book):
    return {chapter.title: chapter.paragraphs for chapter in book.chapters}


def test_a_book_that_ebooklib_wrote():
    book = read(GOLDEN / "ebooklib.epub")
    assert (book.title, book.author, book.language) == ("The Tide", "Ann Author", "en")
    assert contents(book) == {
        "Chapter 1": ("Waves came in & out.", "shell", "stone"),
        "Chapter 2": ("The second one.", "* * *", "It ended."),
    }
    assert book.cover is not None
    assert book.cover.media_type == "image/png"


@each_row("version", [2, 3])
def test_a_book_that_pandoc_wrote(version):
    book = read(GOLDEN / f"pandoc{version}.epub")
    assert (book.title, book.author, book.language) == ("The Tide", "Ann Author", "en-GB")
    assert list(contents(book)) == ["Part One. Chapter 1", "Chapter 2", "Part Two. Chapter 3"]
    first, second, third = (chapter.paragraphs for chapter in book.chapters)
    assert first[:3] == ("Waves came in & out, a little at a time.", "shell", "stone")
    assert "A note." not in " ".join(first)
    assert second == ("The second one.", "name, size", "crab, 2")
    assert third == ("It ended.",)


def test_a_book_in_calibres_layout():
    book = read(epub())
    assert (book.title, book.author, book.language) == ("The Tide", "Ann Author", "ms")
    assert contents(book) == {
        "BAB 1. Ombak": ("Ombak datang dan pergi—lagi.", "A section", "More.", "The chapter goes on here."),
        "Bab 2": ("Two", "The second. The end."),
    }
    assert book.cover is not None
    assert (book.cover.data, book.cover.media_type) == (JPEG, "image/jpeg")


def test_without_a_table_of_contents_headings_begin_chapters():
    book = read(epub({"toc.ncx": None, "text/part 0000_split_001.html": PAGE.format("<h2>Bab 2</h2><p>Tamat.</p>")}))
    assert [chapter.title for chapter in book.chapters] == ["BAB 1", "Bab 2"]


def test_a_document_that_is_not_well_formed_is_read_as_a_browser_does():
    book = read(epub({FIRST: "<html><body><h2>Bab 1</h2><p>One <b>two</p><p>Three & four<p>five</body>"}))
    assert book.chapters[0].paragraphs[:3] == ("One two", "Three & four", "five")


def test_a_cover_that_is_no_picture_is_left_out():
    assert read(epub({"cover.jpeg": b"GIF89a"})).cover is None
    assert read(epub(), ManuscriptLimits(cover_bytes=10)).cover is None


def link():
    info = zipfile.ZipInfo("text/link.html")
    info.external_attr = 0o120777 << 16
    return info


def encrypted(data):
    """The book with the flag of a password at its first file, in both places."""
    changed = bytearray(data)
    changed[6] |= 1
    changed[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)


def page(inner, head=""):
    return {FIRST: PAGE.format(inner).replace("<html", head + "<html", 1)}


ENTITIES = '<!DOCTYPE html [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData '
    'xmlns="http://www.w3.org/2001/04/xmlenc#"><EncryptionMethod Algorithm="{}"/></EncryptedData></encryption>'
)


def declared(doctype, inner):
    return {FIRST: f"<?xml version='1.0'?>{doctype}<html><body><p>{inner}</p></body></html>"}


@pytest.mark.long
@each_row(
    ("data", "said"),
    [
        (lambda: b"no archive at all", "no EPUB"),
        (lambda: epub()[:-30], "no EPUB|damaged"),
        (lambda: epub({"META-INF/container.xml": None}), "no EPUB"),
        (lambda: epub({"content.opf": None}), "package"),
        (lambda: epub({"content.opf": "<package"}), "broken"),
        (lambda: epub({FIRST: None}), "lacks"),
        (lambda: epub(entries=[("../evil.html", "x")]), "outside"),
        (lambda: epub(entries=[("/etc/evil.html", "x")]), "outside"),
        (lambda: epub(entries=[("a\\..\\evil.html", "x")]), "outside"),
        (lambda: epub(entries=[(link(), "/etc/passwd")]), "link"),
        (lambda: encrypted(epub()), "password"),
        (lambda: epub(entries=[("bomb.html", bytes(3_000_000))]), "bomb"),
        (lambda: epub(entries=[(f"{number}.html", "") for number in range(10_000)]), "5,000 files"),
        (lambda: epub(declared(ENTITIES, "&b;")), "entities"),
        (lambda: epub(declared(OUTSIDE, "&x;")), "entities"),
        (
            lambda: epub({"content.opf": OPF.replace("<package", OUTSIDE.replace("html", "package") + "<package", 1)}),
            "entities",
        ),
        (lambda: epub(page("<div>" * 500 + "x" + "</div>" * 500)), "nesting"),
        (lambda: epub(page(f'<p title="{"x" * 200_000}">y</p>')), "attribute"),
        (
            lambda: epub({"META-INF/encryption.xml": ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")}),
            "DRM",
        ),
        (lambda: epub({"META-INF/rights.xml": "<rights/>"}), "DRM"),
    ],
)
def test_a_hostile_or_broken_book_is_refused_with_a_reason(data, said):
    with pytest.raises(ManuscriptError, match=said):
        read(data())


@each_row(
    ("limits", "said"),
    [
        (ManuscriptLimits(unpacked_bytes=1_000), "unpacks"),
        (ManuscriptLimits(document_bytes=100), "document of"),
        (ManuscriptLimits(text_chars=40), "characters"),
        (ManuscriptLimits(archive_files=3), "3 files"),
        (ManuscriptLimits(file_bytes=100), "larger"),
    ],
)
def test_limits_hold(limits, said):
    with pytest.raises(ManuscriptError, match=said):
        read(epub(), limits)


def test_a_directory_that_lies_about_its_length_is_refused_by_its_size():
    data = bytearray(epub(entries=[(f"{number:0500}.html", "") for number in range(300)]))
    end = data.rindex(b"PK\x05\x06")
    struct.pack_into("<HH", data, end + 8, 3, 3)
    with pytest.raises(ManuscriptError, match="files, as no book does"):
        read(bytes(data), ManuscriptLimits(archive_files=100))


def test_mangled_fonts_are_no_protection():
    assert read(epub({"META-INF/encryption.xml": ENCRYPTION.format("http://www.idpf.org/2008/embedding")})).chapters


def test_nothing_is_written_or_fetched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read(epub(page('<p>x<img src="http://192.0.2.1/a.png"/></p>')))
    assert not list(tmp_path.iterdir())
