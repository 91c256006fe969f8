"""The inside of a process that reads texts for an engine, and what it is told and answers.

Messages are pickles: both ends are ours, and what comes out of a worker is what the server would have computed itself.
"""

import os
import pickle
import struct
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from polyvox.errors import EngineError, PolyvoxError

SIZE: Final = struct.Struct("<I")
"""The length of the message behind it."""
MOST_BYTES: Final = 1 << 26
"""No message is longer."""


@dataclass(frozen=True, slots=True)
class Read:
    """Read on in a text, and answer with its next part; a text that begins brings what there is to read."""

    text: int
    job: Any = None


@dataclass(frozen=True, slots=True)
class Forget:
    """Nobody asks for the rest of a text any more; this has no answer."""

    text: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text: None at its end, or the reason why it cannot be read."""

    value: Any
    error: PolyvoxError | None = None


def packed(message: object) -> bytes:
    """A message as it is sent."""
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return SIZE.pack(len(content)) + content


Reader = Callable[[Any], Iterator[object]]
"""Gives the parts of a job's text, each made when it is asked for."""


def answer_parent(reader: Callable[[Any], Reader], _: int) -> None:
    """All that a forked worker does; its standard input and output are its parent's.

    The first message is what `reader` makes the reader of all texts with.
    """
    with os.fdopen(os.dup(0), "rb") as source, os.fdopen(os.dup(1), "wb") as sink:
        os.dup2(2, 1)  # what anything prints is not an answer
        messages = _messages(source)
        for given in messages:
            answer_all(reader(given), messages, sink)


def answer_all(read: Reader, messages: Iterable[Any], sink: BinaryIO) -> None:
    """Answer messages in their order until there are no more."""
    texts: dict[int, Iterator[object]] = {}
    for message in messages:
        if isinstance(message, Forget):
            texts.pop(message.text, None)
            continue
        if message.job is not None:
            texts[message.text] = read(message.job)
        part = _next_part(texts[message.text])
        if part.value is None:
            del texts[message.text]
        sink.write(packed(part))
        sink.flush()


def _messages(source: BinaryIO) -> Iterator[Any]:
    while len(head := source.read(SIZE.size)) == SIZE.size:
        yield pickle.loads(source.read(*SIZE.unpack(head)))  # noqa: S301 - from the process that started this one


def _next_part(parts: Iterator[object]) -> Part:
    try:
        return Part(next(parts, None))
    except PolyvoxError as error:
        return Part(None, error)
    except Exception as error:  # noqa: BLE001 - a text that cannot be read fails alone
        traceback.print_exc()
        return Part(None, EngineError(f"The text could not be read ({type(error).__name__})."))
