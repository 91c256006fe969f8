"""The text of one generation while it arrives."""

import asyncio

from polyvox.service.contexts.patience import Patience


class TextFeed:
    """Fragments for one reader, in the order in which they are pushed; iterating ends once it is closed.

    Fragments that arrived since the last reading are handed out as one.
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._fragments: list[str] = []
        self._changed = asyncio.Event()
        self._closed = False
        self._speakable = False

    def push(self, text: str) -> None:
        self._fragments.append(text)
        self._speakable = self._speakable or any(char.isalnum() for char in text)
        self._changed.set()

    def close(self) -> None:
        """Nothing follows."""
        self._closed = True
        self._changed.set()

    async def speakable(self) -> bool:
        """Wait until there is something to speak; False where the text ends without."""
        while not (self._speakable or self._closed):
            await self._change()
        return self._speakable

    def __aiter__(self) -> "TextFeed":
        return self

    async def __anext__(self) -> str:
        while not self._fragments:
            if self._closed:
                raise StopAsyncIteration
            await self._change()
        text = "".join(self._fragments)
        self._fragments.clear()
        return text

    async def _change(self) -> None:
        self._changed.clear()
        await self._patience.wait(self._changed)
