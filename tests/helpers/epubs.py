"""EPUBs for tests: one as Calibre lays books out, and hostile ones."""

import io
import zipfile

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""

OPF = """<?xml version='1.0' encoding='utf-8'?>
<package xmlns="http://www.idpf.org/2007/opf" unique-identifier="uuid_id" version="2.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">
<dc:title>The Tide</dc:title><dc:language>ms</dc:language>
<dc:creator opf:role="aut" opf:file-as="Author, Ann">Ann Author</dc:creator>
<dc:creator opf:role="trl">Tim Translator</dc:creator>
<meta name="cover" content="cover"/></metadata>
<manifest>
<item id="cover" href="cover.jpeg" media-type="image/jpeg"/>
<item id="titlepage" href="titlepage.xhtml" media-type="application/xhtml+xml"/>
<item id="rights" href="text/rights.html" media-type="application/xhtml+xml"/>
<item id="id1" href="text/part%200000_split_000.html" media-type="application/xhtml+xml"/>
<item id="id2" href="text/part%200000_split_001.html" media-type="application/xhtml+xml"/>
<item id="ads" href="text/ads.html" media-type="application/xhtml+xml"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>
<spine toc="ncx"><itemref idref="titlepage"/><itemref idref="rights"/><itemref idref="id1"/><itemref idref="id2"/>
<itemref idref="ads" linear="no"/></spine>
<guide><reference type="cover" href="titlepage.xhtml" title="Cover"/>
<reference type="copyright-page" href="text/rights.html"/></guide></package>"""

NCX = """<?xml version='1.0' encoding='utf-8'?>
<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>
<navPoint id="a"><navLabel><text>Bab 1</text></navLabel><content src="text/part%200000_split_000.html#c1"/>
<navPoint id="b"><navLabel><text>A section</text></navLabel><content src="text/part%200000_split_000.html#s"/>
</navPoint></navPoint>
<navPoint id="c"><navLabel><text>Bab 2</text></navLabel><content src="text/part%200000_split_001.html#c2"/></navPoint>
</navMap></ncx>"""

PAGE = """<?xml version='1.0' encoding='utf-8'?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>The Tide</title></head><body class="calibre">{}</body></html>"""

JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffc0000b080004000601011100ffd9")
"""The head of a picture of 6 by 4 pixels."""

FILES = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": CONTAINER,
    "content.opf": OPF,
    "toc.ncx": NCX,
    "cover.jpeg": JPEG,
    "titlepage.xhtml": PAGE.format("<div>The Tide</div>"),
    "text/rights.html": PAGE.format("<p>All rights reserved.</p>"),
    "text/ads.html": PAGE.format("<p>Buy more books.</p>"),
    "text/part 0000_split_000.html": PAGE.format(
        '<div class="mbp_pagebreak" id="c1"></div><h2 class="c">BAB&nbsp;1</h2><h3>Ombak</h3>'
        '<p>Ombak datang<a href="#fn1" id="r1"><sup>1</sup></a> dan pergi&mdash;lagi.</p>'
        '<h4 id="s">A section</h4><p>More.</p>'
    ),
    "text/part 0000_split_001.html": PAGE.format(
        '<p>The chapter goes on here.</p><p id="c2" class="title">Two</p><p>The second.<br/>The end.</p>'
    ),
}


def epub(changes=None, entries=()):
    """The bytes of the book with other files, or without those that are None, and further zip entries."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**FILES, **(changes or {})}.items():
            if content is not None:
                archive.writestr(name, content)
        for info, content in entries:
            archive.writestr(info, content)
    return buffer.getvalue()
