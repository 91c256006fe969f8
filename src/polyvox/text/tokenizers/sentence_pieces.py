"""SentencePiece tokenizers, from `tokenizer.json` or from the unigram model in `tokenizer.model`."""

import struct
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers

_MAX_BYTES = 16 << 20
_BLANK = "▁"
_UNIGRAM = 1
_UNKNOWN = 2
# Numbers of the fields in SentencePiece's `ModelProto` and its parts.
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_PIECE_TEXT, _PIECE_SCORE, _PIECE_KIND = 1, 2, 3
_TRAINER_KIND, _TRAINER_BYTES = 3, 35
_CHARSMAP, _PREFIX, _TRIMS = 2, 3, 4
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_MAX_SHIFT = 63

Field = tuple[int, int | bytes]


def sentence_pieces(path: Path) -> Tokenizer:
    """The tokenizer in a file, for which a control token in a text is plain text; ValueError says what is wrong."""
    if path.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path.name} is larger than any tokenizer")
    content = path.read_bytes()
    if path.suffix == ".json":
        tokenizer = Tokenizer.from_buffer(content)
        tokenizer.encode_special_tokens = True
        return tokenizer
    return _unigram(content)


def _unigram(content: bytes) -> Tokenizer:
    pieces: list[tuple[str, float]] = []
    unknown, byte_fallback = 0, False
    kind: int | bytes = _UNIGRAM
    charsmap, prefix, trims = b"", True, True
    for number, value in _fields(content):
        if number == _PIECES:
            piece = dict(_fields(_as_bytes(value)))
            if piece.get(_PIECE_KIND) == _UNKNOWN:
                unknown = len(pieces)
            pieces.append((_as_bytes(piece.get(_PIECE_TEXT, b"")).decode(), _as_float(piece.get(_PIECE_SCORE))))
        elif number == _TRAINER:
            trainer = dict(_fields(_as_bytes(value)))
            kind = trainer.get(_TRAINER_KIND, _UNIGRAM)
            byte_fallback = bool(trainer.get(_TRAINER_BYTES, 0))
        elif number == _NORMALIZER:
            normalizer = dict(_fields(_as_bytes(value)))
            charsmap = _as_bytes(normalizer.get(_CHARSMAP, b""))
            prefix, trims = bool(normalizer.get(_PREFIX, 1)), bool(normalizer.get(_TRIMS, 1))
    if kind != _UNIGRAM:
        raise ValueError("it is no unigram model; convert it to tokenizer.json")
    if not pieces:
        raise ValueError("it holds no pieces")
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=unknown, byte_fallback=byte_fallback))
    tokenizer.normalizer = _normalizer(charsmap, prefix=prefix, trims=trims)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace(_BLANK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def _normalizer(charsmap: bytes, *, prefix: bool, trims: bool) -> normalizers.Normalizer:
    steps: list[normalizers.Normalizer] = [normalizers.Precompiled(charsmap)] if charsmap else []
    if trims:
        steps += [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    if prefix:
        steps.append(normalizers.Prepend(_BLANK))
    return normalizers.Sequence([*steps, normalizers.Replace(" ", _BLANK)])


def _fields(message: bytes) -> Iterator[Field]:
    """The fields of a protobuf message: numbers, and bytes of strings and of nested messages."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, place = _varint(message, place)
            yield number, value
            continue
        if wire == _LENGTH:
            length, place = _varint(message, place)
        elif wire in (_FIXED32, _FIXED64):
            length = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError("it is no SentencePiece model")
        if place + length > len(message):
            raise ValueError("it ends within a field")
        yield number, message[place : place + length]
        place += length


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(message) and shift <= _MAX_SHIFT:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    raise ValueError("it ends within a number")


def _as_bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("it is no SentencePiece model")
    return value


def _as_float(value: int | bytes | None) -> float:
    if value is None:
        return 0.0
    if not isinstance(value, bytes) or len(value) != struct.calcsize("<f"):
        raise ValueError("it is no SentencePiece model")
    return float(struct.unpack("<f", value)[0])
