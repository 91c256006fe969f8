"""Covers: what kind of picture some bytes are, and how large it is, without decoding it."""

import struct
from typing import Final

from polyvox.books.manuscript import Cover
from polyvox.errors import ManuscriptError

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8\xff"
# Start of frame: C0 to CF but for C4 (tables), C8 (reserved) and CC (tables).
_FRAME_STARTS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_MAX_SIDE: Final = 20_000


def read_cover(data: bytes, field: str = "cover") -> Cover:
    """The cover in some bytes; ManuscriptError where they are no JPEG or PNG file."""
    if data.startswith(_PNG):
        cover = Cover(data, "image/png")
    elif data.startswith(_JPEG):
        cover = Cover(data, "image/jpeg")
    else:
        raise ManuscriptError("The cover is neither a JPEG nor a PNG file; convert it to one.", field=field)
    width, height = picture_size(cover)
    if not (0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE):
        raise ManuscriptError(
            f"The cover is broken or larger than {_MAX_SIDE} pixels a side; save it again.", field=field
        )
    return cover


def picture_size(cover: Cover) -> tuple[int, int]:
    """Width and height in pixels; zeros where they cannot be found."""
    data = cover.data
    if cover.media_type == "image/png":
        return struct.unpack(">II", data[16:24]) if len(data) >= 24 else (0, 0)
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in _FRAME_STARTS:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 1 if marker == 0xFF else 2 + length
    return 0, 0
