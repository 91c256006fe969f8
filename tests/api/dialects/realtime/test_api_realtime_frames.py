"""Audio of the socket in pieces."""

import struct

from polyvox.api.dialects.realtime.frames import MAX_PIECE_BYTES, AudioPiece, pieces


def test_a_frame_begins_with_four_numbers() -> None:
    frame = AudioPiece(b"\x01\x02", 480, 481).frame(7, 2**32 + 3)
    assert struct.unpack(">IIII", frame[:16]) == (7, 3, 480, 481)
    assert frame[16:] == b"\x01\x02"


def test_pieces_of_samples_say_which_they_hold() -> None:
    data = bytes(range(256)) * 600
    parts = list(pieces(data, 1_000, 1_000 + len(data) // 6, 6))
    assert b"".join(part.data for part in parts) == data
    assert all(len(part.data) <= MAX_PIECE_BYTES and len(part.data) % 6 == 0 for part in parts)
    assert [part.start_sample for part in parts] == [1_000, *(part.end_sample for part in parts[:-1])]
    assert parts[-1].end_sample == 1_000 + len(data) // 6
    assert len(parts) == 3


def test_encoded_pieces_belong_to_their_whole_chunk() -> None:
    parts = list(pieces(bytes(100_000), 10, 20, None))
    assert [(len(part.data), part.start_sample, part.end_sample) for part in parts] == [
        (MAX_PIECE_BYTES, 10, 20),
        (100_000 - MAX_PIECE_BYTES, 10, 20),
    ]


def test_no_bytes_are_no_piece() -> None:
    assert not list(pieces(b"", 0, 10, None))
    assert not list(pieces(b"", 0, 0, 2))
