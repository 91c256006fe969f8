"""Texts that are spoken passage by passage."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import TypeVar

from polyvox.engines.kit.checks import nothing_to_say
from polyvox.text.spoken import Pause
from polyvox.types import AudioChunk

Passage = TypeVar("Passage")


async def speak_passages(
    read: Callable[[], Awaitable[Sequence[Passage] | Pause | None]],
    speak: Callable[[Passage], AsyncGenerator[AudioChunk]],
    pause: Callable[[Pause], AudioChunk],
) -> AsyncGenerator[AudioChunk]:
    """The chunks of a text; `SilentTextError` where nothing of it is spoken.

    `read` gives the passages of the next segment or a pause, and None at the end: a segment is read when those before
    it have been spoken.
    """
    spoken = False
    while (given := await read()) is not None:
        if isinstance(given, Pause):
            yield pause(given)
            continue
        for passage in given:
            async with aclosing(speak(passage)) as chunks:
                async for chunk in chunks:
                    spoken = True
                    yield chunk
    if not spoken:
        raise nothing_to_say()
