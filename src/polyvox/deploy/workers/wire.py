"""Messages over a unix socket: JSON for their structure, raw bytes for samples; only the listed classes are made."""

import asyncio
import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

import numpy as np

from polyvox.deploy.messages import (
    ChunkMessage,
    DeferredVoice,
    EngineProfile,
    ErrorMessage,
    VoiceMissing,
)
from polyvox.runtime.stage import BatchReport
from polyvox.service.keys.counters import Level, Reservation, Resource
from polyvox.service.keys.record import Limits
from polyvox.types import (
    AudioChunk,
    Capabilities,
    ChunkPolicy,
    CodeBlocks,
    EngineLocation,
    MarkTiming,
    NormalizationOptions,
    PreparedVoice,
    Seconds,
    Span,
    StageSeconds,
    Streaming,
    TimingSource,
    Utterance,
    Voice,
    VoicePrompt,
    WordTiming,
)
from polyvox.voices.mixing import MixTerm

MAX_STRUCTURE_BYTES = 33_554_432
MAX_RAW_BYTES = 268_435_456
"""Samples of one message: 46 minutes of mono speech at 24 kHz."""

_RECORDS: dict[str, type[Any]] = {
    record.__name__: record
    for record in (
        AudioChunk,
        BatchReport,
        Capabilities,
        ChunkMessage,
        ChunkPolicy,
        DeferredVoice,
        EngineLocation,
        EngineProfile,
        ErrorMessage,
        Level,
        Limits,
        MarkTiming,
        MixTerm,
        NormalizationOptions,
        PreparedVoice,
        Reservation,
        Seconds,
        Span,
        StageSeconds,
        Utterance,
        Voice,
        VoiceMissing,
        VoicePrompt,
        WordTiming,
    )
}
_ENUMS: dict[str, type[Enum]] = {kind.__name__: kind for kind in (CodeBlocks, Resource, Streaming, TimingSource)}
_FIELDS = {record: tuple(each.name for each in fields(record)) for record in _RECORDS.values()}
_PLAIN = frozenset({type(None), bool, int, float, str})
_NUMBERS = "fiub"
STOPPED = ("stopped",)
"""The answer to `stop`, after which a connection is free for another call."""
_HEAD = struct.Struct("<IQ")
_KIND = "$"


class WireError(ValueError):
    """A message that is none of ours, or too large."""


def packed(message: object) -> list[bytes | memoryview]:
    """The pieces of a message's frame."""
    raw: list[bytes | memoryview] = []
    structure = json.dumps(_plain(message, raw), ensure_ascii=False, separators=(",", ":")).encode()
    size = sum(len(piece) for piece in raw)
    _check_sizes(len(structure), size)
    return [_HEAD.pack(len(structure), size) + structure, *raw]


def unpacked(structure: bytes, raw: bytes) -> Any:  # noqa: ANN401 - whatever was sent
    """The message of a frame; WireError where it is none."""
    try:
        reader = _RawReader(raw)
        message = _made(json.loads(structure), reader)
        reader.check_end()
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise WireError(f"a message that is none: {error}") from error
    return message


def _check_sizes(structure: int, raw: int) -> None:
    if structure > MAX_STRUCTURE_BYTES or raw > MAX_RAW_BYTES:
        raise WireError(f"a message of {structure} and {raw} bytes is too large")


def _plain(value: object, raw: list[bytes | memoryview]) -> object:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if (names := _FIELDS.get(kind)) is not None:
        return {_KIND: kind.__name__, "f": [_plain(getattr(value, name), raw) for name in names]}
    if kind is tuple or kind is list:
        items = [_plain(item, raw) for item in value]  # type: ignore[attr-defined]
        return {_KIND: "tuple", "f": items} if kind is tuple else items
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        raw.append(array.reshape(-1).view(np.uint8).data)
        return {_KIND: "array", "f": [array.dtype.str, list(value.shape)]}
    if isinstance(value, bytes):
        raw.append(value)
        return {_KIND: "bytes", "f": len(value)}
    if isinstance(value, Enum) and kind.__name__ in _ENUMS:
        return {_KIND: "enum", "f": [kind.__name__, value.value]}
    if isinstance(value, frozenset):
        return {_KIND: "set", "f": [_plain(item, raw) for item in sorted(value)]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {_KIND: "map", "f": [[_plain(key, raw), _plain(item, raw)] for key, item in value.items()]}
    raise WireError(f"a {kind.__name__} cannot be sent")


def _made(value: Any, raw: "_RawReader") -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_made(item, raw) for item in value]
    if not isinstance(value, dict):
        return value
    kind, parts = value[_KIND], value["f"]
    if (record := _RECORDS.get(kind)) is not None:
        made = [_made(part, raw) for part in parts]
        return record(**dict(zip(_FIELDS[record], made, strict=True)))
    return _CONTAINERS[kind](parts, raw)


def _array(parts: Any, raw: "_RawReader") -> Any:  # noqa: ANN401 - an array of any kind
    dtype, shape = np.dtype(parts[0]), parts[1]
    if dtype.kind not in _NUMBERS or dtype.hasobject or any(type(side) is not int or side < 0 for side in shape):
        raise WireError(f"an array of {dtype} is none of ours")
    return np.frombuffer(raw.take(dtype.itemsize * math.prod(shape)), dtype).reshape(shape)


_CONTAINERS: Mapping[str, Callable[[Any, "_RawReader"], Any]] = {
    "tuple": lambda parts, raw: tuple(_made(part, raw) for part in parts),
    "set": lambda parts, raw: frozenset(_made(part, raw) for part in parts),
    "map": lambda parts, raw: {_made(key, raw): _made(item, raw) for key, item in parts},
    "bytes": lambda parts, raw: bytes(raw.take(parts)),
    "enum": lambda parts, raw: _ENUMS[parts[0]](parts[1]),
    "array": _array,
}


class _RawReader:
    """The raw bytes of a message, taken in their order."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    def take(self, count: int) -> memoryview:
        if type(count) is not int or count < 0 or self._at + count > len(self._data):
            raise WireError("a message is shorter than it says")
        piece = self._data[self._at : self._at + count]
        self._at += count
        return piece

    def check_end(self) -> None:
        if self._at != len(self._data):
            raise WireError("a message is longer than it says")


class Connection:
    """One end of a connection between two of the server's processes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @property
    def is_open(self) -> bool:
        """False once either end was seen to close."""
        return not (self._reader.at_eof() or self._writer.is_closing())

    async def read(self) -> Any:  # noqa: ANN401 - whatever was sent
        """The next message; ConnectionError at the end, or where what comes is no message."""
        try:
            structure, raw = _HEAD.unpack(await self._reader.readexactly(_HEAD.size))
            _check_sizes(structure, raw)
            return unpacked(
                await self._reader.readexactly(structure), await self._reader.readexactly(raw) if raw else b""
            )
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError("the other process closed the connection") from error
        except WireError as error:
            self.close()
            raise ConnectionAbortedError(str(error)) from error

    def write(self, message: object) -> None:
        """Send a small message without waiting; what is written to a connection that has ended is lost."""
        self._writer.writelines(packed(message))

    async def send(self, message: object) -> None:
        """Send a message, no faster than it is read."""
        self.write(message)
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()
