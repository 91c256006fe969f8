"""The inside of a process that reads texts for an engine, and what it is told and answers.

Messages are pickles: both ends are ours, and what comes out of a worker is what the server would have computed itself.
"""

import io
import os
import pickle
import struct
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from typing import Any, BinaryIO, Final, NamedTuple

from polyvox.errors import EngineError, PolyvoxError

SIZE: Final = struct.Struct("<I")
"""The length of the message behind it."""
MOST_BYTES: Final = 1 << 26
"""No message is longer."""


class Read(NamedTuple):
    """Read on in a text, and answer with its next part; a text that begins brings what there is to read."""

    text: int
    job: Any = None


class Finish(NamedTuple):
    """Answer with what the reader's other half makes of a part of a text, by its number, and of what is given."""

    text: int
    part: int
    given: Any


class Forget(NamedTuple):
    """Nobody asks for more of a text; this has no answer."""

    text: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, or what it was finished to: None at the text's end, or the reason why it cannot be had."""

    value: Any
    error: PolyvoxError | None = None


def packed(message: object) -> bytes:
    """A message as it is sent."""
    if isinstance(message, Finish | Forget) or (isinstance(message, Read) and message.job is None):
        # Of plain numbers and bytes: the event loop sends many.
        plain = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        return SIZE.pack(len(plain)) + plain
    content = io.BytesIO()
    content.write(bytes(SIZE.size))
    _Pickler(content, pickle.HIGHEST_PROTOCOL).dump(message)
    sent = content.getbuffer()
    SIZE.pack_into(sent, 0, len(sent) - SIZE.size)
    return bytes(sent)


class _Pickler(pickle.Pickler):
    """Writes dataclasses as calls of their class. Their own way takes four times as long to read, field by field."""

    def reducer_override(self, given: Any) -> Any:  # noqa: ANN401 - as the class has it
        names = _arguments(type(given))  # type: ignore[arg-type]  # a class is hashable
        return NotImplemented if names is None else (type(given), tuple(getattr(given, name) for name in names))


@cache
def _arguments(kind: type[object]) -> tuple[str, ...] | None:
    """The fields that a dataclass is called with; None where that is no dataclass, or not all of it."""
    if not is_dataclass(kind) or not all(each.init and not each.kw_only for each in fields(kind)):
        return None
    return tuple(each.name for each in fields(kind))


Reader = Callable[[Any], Iterator[object]]
"""Gives the parts of a job's text, each made when it is asked for."""


@dataclass(frozen=True, slots=True)
class Finisher:
    """The reader's other half, for parts that stay with the worker until they are finished."""

    outline: Callable[[Any], object]
    """The part of a text as it is sent."""
    finish: Callable[[Any, Any], object]
    """Makes a part of a text, and what is given with it, into something else."""


def _no_finisher(_: object) -> Finisher | None:
    return None


def answer_parent(
    reader: Callable[[Any], Reader], _: int, finisher: Callable[[Any], Finisher | None] = _no_finisher
) -> None:
    """All that a forked worker does; its standard input and output are its parent's.

    The first message is what `reader` makes the reader of all texts with, and `finisher` its other half.
    """
    with os.fdopen(os.dup(0), "rb") as source, os.fdopen(os.dup(1), "wb") as sink:
        os.dup2(2, 1)  # what anything prints is not an answer
        messages = _messages(source)
        for given in messages:
            answer_all(reader(given), messages, sink, finisher(given))


def answer_all(read: Reader, messages: Iterable[Any], sink: BinaryIO, finisher: Finisher | None = None) -> None:
    """Answer messages in their order until there are no more."""
    texts: dict[int, _Text] = {}
    for message in messages:
        if isinstance(message, Forget):
            texts.pop(message.text, None)
            continue
        if isinstance(message, Finish):
            assert finisher is not None
            part = texts[message.text].finished(message, finisher)
        else:
            if message.job is not None:
                texts[message.text] = _Text(read(message.job))
            part = texts[message.text].next_part(finisher)
            if part.value is None and finisher is None:
                del texts[message.text]
        sink.write(_sendable(part))
        sink.flush()


class _Text:
    """A text, and those of its parts that may have to be finished."""

    def __init__(self, unread: Iterator[object]) -> None:
        self._unread = unread
        self._count = 0
        self._kept: dict[int, object] = {}

    def next_part(self, finisher: Finisher | None) -> Part:
        return _tried(partial(self._read, finisher), "read")

    def finished(self, asked: Finish, finisher: Finisher) -> Part:
        return _tried(partial(finisher.finish, self._kept.pop(asked.part), asked.given), "finished")

    def _read(self, finisher: Finisher | None) -> object:
        part = next(self._unread, None)
        if part is None or finisher is None:
            return part
        self._kept[self._count] = part
        self._count += 1
        return finisher.outline(part)


def _sendable(part: Part) -> bytes:
    """A part as it is sent; the reason in its place where the parent would end the worker, and with it other texts."""
    message = packed(part)
    if len(message) - SIZE.size <= MOST_BYTES:
        return message
    return packed(Part(None, EngineError("A part of the text is too long to be spoken; send a shorter text.")))


def _messages(source: BinaryIO) -> Iterator[Any]:
    while len(head := source.read(SIZE.size)) == SIZE.size:
        yield pickle.loads(source.read(*SIZE.unpack(head)))  # noqa: S301 - from the process that started this one


def _tried(work: Callable[[], object], done: str) -> Part:
    try:
        return Part(work())
    except PolyvoxError as error:
        return Part(None, error)
    except Exception as error:  # noqa: BLE001 - a text with a fault fails alone
        traceback.print_exc()
        return Part(None, EngineError(f"The text could not be {done} ({type(error).__name__})."))
