"""The items of a text, read in this process or in one of their own, and prepared for the device."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from polyvox.engines.zipvoice.frontend import TokenChunk
from polyvox.engines.zipvoice.synthesizer import PreparedChunk
from polyvox.runtime.device_executor import DeviceExecutor
from polyvox.runtime.text_workers.workers import WorkerText
from polyvox.text.spoken import Pause

Prepare = Callable[[TokenChunk], PreparedChunk]


@dataclass(frozen=True, slots=True)
class TextItem:
    """A chunk that may be synthesized, or a pause."""

    item: TokenChunk | Pause
    chunk: PreparedChunk | None

    @classmethod
    def of(cls, item: TokenChunk | Pause, prepare: Prepare) -> "TextItem":
        return cls(item, None if isinstance(item, Pause) else prepare(item))


class TextItems(Protocol):
    """The items of one text in order, each made when it is asked for."""

    async def next(self) -> TextItem | None:
        """The next one; None behind the last."""

    def close(self) -> None:
        """Ask for no more."""


class OwnItems:
    """Items that a thread of this process reads."""

    def __init__(self, items: Iterator[TokenChunk | Pause], prepare: Prepare, executor: DeviceExecutor) -> None:
        self._items = (TextItem.of(item, prepare) for item in items)
        self._executor = executor

    async def next(self) -> TextItem | None:
        return await self._executor.run(lambda: next(self._items, None))

    def close(self) -> None:
        """Nothing is made that was not asked for."""


class WorkerItems:
    """Items that another process reads; a thread of this one prepares them."""

    def __init__(self, text: WorkerText[TokenChunk | Pause], prepare: Prepare, executor: DeviceExecutor) -> None:
        self._text, self._prepare, self._executor = text, prepare, executor

    async def next(self) -> TextItem | None:
        item = await self._text.next()
        return None if item is None else await self._executor.run(partial(TextItem.of, item, self._prepare))

    def close(self) -> None:
        self._text.close()
