"""First chunks before all others: where many streams begin together, what is heard later is read later."""

import asyncio
import sys

MANY = 8
"""Streams that begin on a GPU without holding each other up."""
LONGEST_SECONDS = 0.1
"""A stream that has been heard plays for longer than this, and is then spoken on beside those that begin."""


class FirstChunks:
    """Counts the streams that nobody has heard yet. While they are many, further chunks of all streams wait.

    They would take their turns of the event loop, the text workers and the device between the first ones.
    """

    def __init__(self, many: int = sys.maxsize) -> None:
        self._many = many
        self._unheard = 0
        self._opened = asyncio.Event()
        self._opened.set()
        self._opening: asyncio.TimerHandle | None = None

    def begin(self) -> "UnheardStream":
        """A stream that begins."""
        self._unheard += 1
        if self._unheard == self._many + 1 and self._opening is None:
            self._opened.clear()
            self._opening = asyncio.get_running_loop().call_later(LONGEST_SECONDS, self._opened.set)
        return UnheardStream(self)

    def end(self) -> None:
        """One of them is heard, or never will be."""
        self._unheard -= 1
        if self._unheard == self._many and self._opening is not None:
            self._opening.cancel()
            self._opening = None
            self._opened.set()

    async def passed(self) -> None:
        """Wait for them, as long as there are too many, and no longer than a listener can bear."""
        await self._opened.wait()


class UnheardStream:
    """One stream of a `FirstChunks`."""

    def __init__(self, streams: FirstChunks) -> None:
        self._streams: FirstChunks | None = streams

    def heard(self) -> None:
        """Its first audio is there, or it has ended: the first call counts."""
        if self._streams is not None:
            self._streams.end()
            self._streams = None
