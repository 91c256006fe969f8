"""Audio on the socket: pieces of at most 64 KiB, each a JSON message or a binary frame."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

MAX_PIECE_BYTES = 65_536
"""So that contexts take turns, and no client's limit on messages is met."""

_HEADER = struct.Struct(">IIII")
_WRAP = 2**32


@dataclass(frozen=True, slots=True)
class AudioPiece:
    """Bytes of a context's audio, and the samples that they belong to."""

    data: bytes
    start_sample: int
    end_sample: int

    def frame(self, number: int, sequence: int) -> bytes:
        """The piece as a binary frame: four big-endian numbers of 32 bits, then the bytes."""
        header = (number, sequence, self.start_sample, self.end_sample)
        return _HEADER.pack(*(value % _WRAP for value in header)) + self.data


def pieces(data: bytes, start: int, end: int, sample_bytes: int | None) -> Iterator[AudioPiece]:
    """A chunk's bytes in pieces. `sample_bytes` is the size of a sample of all channels; None in encoded formats, where
    every piece belongs to the whole chunk.
    """
    if sample_bytes is None:
        for at in range(0, len(data), MAX_PIECE_BYTES):
            yield AudioPiece(data[at : at + MAX_PIECE_BYTES], start, end)
        return
    step = MAX_PIECE_BYTES - MAX_PIECE_BYTES % sample_bytes
    for at in range(0, len(data), step):
        part = data[at : at + step]
        first = start + at // sample_bytes
        yield AudioPiece(part, first, first + len(part) // sample_bytes)
