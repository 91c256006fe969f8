"""Tags of a WAV file: the chunks LIST (INFO) and iXML before its samples, and the reader of those chunks."""

from collections.abc import Iterator, Mapping
from html import escape  # that of xml.sax has each decoding process import urllib and ssl: a tenth of its CPU time
from types import MappingProxyType

from polyvox.hostile_xml import XmlError, XmlHandlers, XmlLimits, XmlReader

_INFO = MappingProxyType(
    {"comment": b"ICMT", "date": b"ICRD", "SOFTWARE": b"ISFT", "DIGITALSOURCETYPE": b"ISRC", "CONTENT_ID": b"IARL"}
)
"""Fields of the LIST chunk, by names of tags; tags without one are in the iXML chunk alone."""
_NAMES = MappingProxyType({field: name for name, field in _INFO.items()})
_ROOT, _USER = "BWFXML", "USER"
_MOST_CHUNKS = 64
_LONGEST_CHUNK = 65_536
_LIMITS = XmlLimits(depth=8, elements=500)


def tag_chunks(tags: Mapping[str, str]) -> bytes:
    """The chunks that hold these tags; nothing where there are none."""
    if not tags:
        return b""
    fields = b"".join(_chunk(_INFO[name], text.encode() + b"\0") for name, text in tags.items() if name in _INFO)
    user = "".join(f"<{name}>{escape(text, quote=False)}</{name}>" for name, text in tags.items())
    ixml = f"<{_ROOT}><IXML_VERSION>2.10</IXML_VERSION><{_USER}>{user}</{_USER}></{_ROOT}>"
    return _chunk(b"LIST", b"INFO" + fields) + _chunk(b"iXML", ixml.encode())


def read_wav_tags(data: bytes) -> dict[str, str]:
    """The tags of a WAV file from anywhere; what is malformed, too long or behind too many chunks is not read."""
    tags: dict[str, str] = {}
    for name, body in _chunks(data, 12):
        if name == b"LIST" and body.startswith(b"INFO"):
            fields = _chunks(body, 4)
            tags |= {_NAMES[field]: _text(value) for field, value in fields if field in _NAMES}
        elif name == b"iXML":
            tags |= _user_tags(body)
    return tags


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + len(body).to_bytes(4, "little") + body + bytes(len(body) % 2)


def _chunks(data: bytes, position: int) -> Iterator[tuple[bytes, bytes]]:
    """The names and bodies of chunks that are not too long; samples are passed over."""
    for _ in range(_MOST_CHUNKS):
        name, size = data[position : position + 4], int.from_bytes(data[position + 4 : position + 8], "little")
        position += 8
        if position > len(data):
            return
        if size <= _LONGEST_CHUNK:
            yield name, data[position : position + size]
        position += size + size % 2


def _text(value: bytes) -> str:
    return value.partition(b"\0")[0].decode(errors="replace")


def _user_tags(document: bytes) -> dict[str, str]:
    """The elements below `USER` of an iXML document; none where it is malformed."""
    path: list[str] = []
    tags: dict[str, str] = {}

    def start(name: str, attributes: Mapping[str, str]) -> None:
        path.append(name)

    def end(name: str) -> None:
        path.pop()

    def data(text: str) -> None:
        if path[:2] == [_ROOT, _USER] and len(path) == 3:
            tags[path[2]] = tags.get(path[2], "") + text

    try:
        XmlReader(XmlHandlers(start, end, data), _LIMITS).read(document)
    except XmlError:
        return {}
    return tags
