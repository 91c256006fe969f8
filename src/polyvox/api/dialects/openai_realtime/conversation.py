"""Conversation: the items of one socket in their order."""

from collections.abc import Iterable, Sequence

from polyvox.api.dialects.openai_realtime.event_error import EventError
from polyvox.api.dialects.openai_realtime.ids import new_id
from polyvox.api.dialects.openai_realtime.item import Item, Message

_MAX_ITEMS = 256
_ROOT = "root"


class Conversation:
    """Items, bounded in number and text: the oldest make room for new ones, as OpenAI's truncation does."""

    def __init__(self, max_chars: int) -> None:
        self.id = new_id("conv")
        self._max_chars = max_chars
        self._items: list[Item] = []
        self._spoken: set[str] = set()

    def find(self, item_id: str) -> Item | None:
        """The item of this id."""
        return next((item for item in self._items if item.id == item_id), None)

    def add(self, item: Item, after: str = "") -> str | None:
        """Put in an item at the end, or after another one, or first after `root`; the id of the item before it."""
        if self.find(item.id) is not None:
            raise EventError(
                f"There is an item {item.id!r} already; choose another id.", "item_create_duplicate_id", field="item.id"
            )
        place = self._place_after(after)
        previous = self._items[place - 1].id if place else None
        self._items.insert(place, item)
        self._make_room(item)
        return previous

    def remove(self, item: Item) -> None:
        """Take an item out."""
        self._items.remove(item)
        self._spoken.discard(item.id)

    def items_to_speak(self) -> Sequence[Item]:
        """The client's messages that no response has spoken yet; else the user's last item, to say it again."""
        messages = [item for item in self._items if isinstance(item, Message)]
        waiting = [message for message in messages if message.id not in self._spoken and message.role != "system"]
        return waiting or [item for item in self._items if item.role == "user"][-1:]

    def note_spoken(self, items: Iterable[Item]) -> None:
        """Remember that a response speaks these items."""
        self._spoken |= {item.id for item in items}
        self._spoken &= {item.id for item in self._items}

    def _place_after(self, item_id: str) -> int:
        if not item_id:
            return len(self._items)
        if item_id == _ROOT:
            return 0
        found = self.find(item_id)
        if found is None:
            raise EventError(
                f"There is no item {item_id!r} to put another one after.",
                "item_create_invalid_previous_item_id",
                field="previous_item_id",
            )
        return self._items.index(found) + 1

    def _make_room(self, added: Item) -> None:
        chars = sum(item.chars for item in self._items)
        while len(self._items) > _MAX_ITEMS or chars > self._max_chars:
            oldest = next((item for item in self._items if item is not added), None)
            if oldest is None:
                return
            self.remove(oldest)
            chars -= oldest.chars
