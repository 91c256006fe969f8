"""Messages over a unix socket: JSON for their structure, raw bytes for samples; only the listed classes are made."""

import asyncio
import json
import math
import struct
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any, cast

import numpy as np
import structlog

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
    PhonemeShare,
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

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

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
        PhonemeShare,
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
_FIELDS = {record: tuple((each.name, each.default) for each in fields(record)) for record in _RECORDS.values()}
_SHARES = [each.name for each in fields(WordTiming)].index("shares")
_PLAIN = frozenset({type(None), bool, int, float, str})
_NUMBERS = "fiub"
STOPPED = ["stopped"]
"""The answer to `stop`, after which a connection is free for another call."""
END = ["end"]
"""In place of an item after the last."""
_MOST_UNREAD = 8
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
    if (known := _FIELDS.get(kind)) is not None:
        values = [getattr(value, name) for name, _ in known]
        if kind is WordTiming:
            values[_SHARES] = tuple(values[_SHARES])  # its phonemes may be made only now
        while values and _is_default(values[-1], known[len(values) - 1][1]):
            values.pop()
        return {_KIND: kind.__name__, "f": [_plain(each, raw) for each in values]}
    if kind is tuple or kind is list:
        items = [_plain(item, raw) for item in value]  # type: ignore[attr-defined]
        return {_KIND: "tuple", "f": items} if kind is tuple else items
    return _plain_other(value, raw)


def _plain_other(value: object, raw: list[bytes | memoryview]) -> object:
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value)
        raw.append(array.reshape(-1).view(np.uint8).data)
        return {_KIND: "array", "f": [array.dtype.str, list(value.shape)]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytes):
        raw.append(value)
        return {_KIND: "bytes", "f": len(value)}
    if isinstance(value, Enum) and type(value).__name__ in _ENUMS:
        return {_KIND: "enum", "f": [type(value).__name__, value.value]}
    if isinstance(value, frozenset):
        return {_KIND: "set", "f": [_plain(item, raw) for item in sorted(value)]}
    if isinstance(value, Mapping):
        return {_KIND: "map", "f": [[_plain(key, raw), _plain(item, raw)] for key, item in value.items()]}
    raise WireError(f"a {type(value).__name__} cannot be sent")


def _is_default(value: object, default: object) -> bool:
    """Return whether a field at the end of a record may be left out."""
    return value is default or (type(value) is type(default) and type(value) in _PLAIN and value == default)


def _made(value: Any, raw: "_RawReader") -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_made(item, raw) for item in value]
    if not isinstance(value, dict):
        return value
    kind, parts = value[_KIND], value["f"]
    if (record := _RECORDS.get(kind)) is not None:
        return record(*[_made(part, raw) for part in parts])
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


GONE = None
"""In place of a message once the other process has closed its end."""


class Channel(asyncio.Protocol):
    """One end of a connection between two of the server's processes.

    Messages go to `on_message` in their order, at last GONE; where there is nobody, they wait to be read.
    """

    def __init__(self, on_message: "Callable[[Channel, Any], None] | None" = None) -> None:
        self.on_message = on_message
        self._transport: asyncio.Transport | None = None
        self._data = bytearray()
        self._unread: deque[Any] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._lost = False

    @property
    def is_open(self) -> bool:
        """False once either end was seen to close."""
        return not self._lost and self._transport is not None and not self._transport.is_closing()

    async def read(self) -> Any:  # noqa: ANN401 - whatever was sent
        """The next message; ConnectionError at the end, or where what comes is no message."""
        while not self._unread:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        message = self._unread[0]
        if message is GONE:
            raise ConnectionResetError("the other process has closed the connection")
        self._unread.popleft()
        if len(self._unread) < _MOST_UNREAD and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
        return message

    def write(self, message: object) -> None:
        """Send a message without waiting; what is written to a connection that has ended is lost."""
        if self.is_open and self._transport is not None:
            # Not `writelines`: in early releases of Python 3.12 and 3.13 it never asks a writer to wait.
            self._transport.write(b"".join(packed(message)))

    async def send(self, message: object) -> None:
        """Send a message, no faster than it is read; ConnectionError where nobody reads any more."""
        if not self.is_open:
            raise ConnectionResetError("the other process has closed the connection")
        self.write(message)
        if self._writable is not None:
            await asyncio.shield(self._writable)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        try:
            while (message := self._next()) is not None:
                self._take(message)
        except WireError as error:
            log.error("a message cannot be read", reason=str(error))
            self._data.clear()
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._take(GONE)

    def pause_writing(self) -> None:
        self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None

    def _next(self) -> Any:  # noqa: ANN401 - whatever was sent
        """The next message of what has arrived; None where it is not whole yet."""
        if len(self._data) < _HEAD.size:
            return None
        structure, raw = _HEAD.unpack_from(self._data)
        _check_sizes(structure, raw)
        end = _HEAD.size + structure + raw
        if len(self._data) < end:
            return None
        middle = _HEAD.size + structure
        with memoryview(self._data) as whole:
            message = unpacked(bytes(whole[_HEAD.size : middle]), bytes(whole[middle:end]))
        del self._data[:end]
        if message is None:
            raise WireError("an empty message")
        return message

    def _take(self, message: Any) -> None:  # noqa: ANN401 - whatever was sent
        if self.on_message is not None:
            self.on_message(self, message)
            return
        self._unread.append(message)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
        if len(self._unread) >= _MOST_UNREAD and self.is_open and self._transport is not None:
            self._transport.pause_reading()
