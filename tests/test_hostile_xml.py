"""One reader of all XML refuses what is made to do harm, before it has read it."""

from collections.abc import Mapping

import pytest

from polyvox.hostile_xml import XmlError, XmlFault, XmlHandlers, XmlLimits, XmlReader

LIMITS = XmlLimits(depth=3, elements=5, attribute_chars=10)
BOMB = b'<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'


def read(document: bytes, **options: bool) -> list[str]:
    events: list[str] = []

    def start(name: str, _attributes: Mapping[str, str]) -> None:
        events.append(name)

    XmlReader(XmlHandlers(start, lambda name: None, events.append), LIMITS, **options).read(document)
    return events


def test_a_document_within_the_limits_is_read():
    assert read(b"<a><b><c>text &amp; &#65;</c></b></a>") == ["a", "b", "c", "text & A"]
    assert read(b'<a xmlns="urn:x">t</a>', namespaces=True) == ["urn:x a", "t"]


def test_what_is_over_a_limit_or_declares_something_is_refused_with_its_place():
    refused = {
        b"<a>": XmlFault.MALFORMED,
        b"<a>&unknown;</a>": XmlFault.MALFORMED,
        b'<?xml version="1.0" encoding="no-such"?><a/>': (XmlFault.MALFORMED, XmlFault.ENCODING),
        b"<!DOCTYPE a><a/>": XmlFault.DECLARATIONS,
        BOMB: XmlFault.DECLARATIONS,
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>': XmlFault.DECLARATIONS,
        b"<a><b><c><d/></c></b></a>": XmlFault.DEPTH,
        b"<a><b/><b/><b/><b/><b/></a>": XmlFault.ELEMENTS,
        b'<a x="123456" y="78901"/>': XmlFault.ATTRIBUTES,
    }
    for document, faults in refused.items():
        with pytest.raises(XmlError) as refusal:
            read(document)
        assert refusal.value.fault in (faults if isinstance(faults, tuple) else (faults,)), document
        assert refusal.value.line == 1


def test_a_document_type_that_only_names_one_is_taken_where_it_is_allowed():
    plain = b'<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://localhost:1/x.dtd"><a/>'
    assert read(plain, is_plain_doctype_allowed=True) == ["a"]
    with pytest.raises(XmlError):
        read(BOMB, is_plain_doctype_allowed=True)
