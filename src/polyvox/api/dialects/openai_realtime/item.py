"""Items of a conversation: messages that the client wrote, turns that were heard, and speech that was made."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from polyvox.api.dialects.openai_realtime.client_events import ItemFields
from polyvox.api.dialects.openai_realtime.ids import new_id
from polyvox.api.dialects.openai_realtime.transcript import Transcript
from polyvox.errors import InvalidRequestError


class ItemStatus(StrEnum):
    """State of an item."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    INCOMPLETE = "incomplete"


class Item(Protocol):
    """An item of either kind; `chars` is how much text it keeps in memory."""

    id: str
    role: str

    @property
    def text(self) -> str: ...

    @property
    def chars(self) -> int: ...

    def fields(self) -> dict[str, Any]:
        """The item as server events show it."""


@dataclass(slots=True)
class Message:
    """A message of the client's."""

    id: str
    role: str
    content: Sequence[tuple[str, str]]
    """Types and texts of its parts."""

    @classmethod
    def of(cls, given: ItemFields) -> "Message":
        """The message that a client event describes."""
        return cls(given.id or new_id("item"), given.role, [(part.type, part.text) for part in given.content])

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.content)

    @property
    def chars(self) -> int:
        return len(self.text)

    def fields(self) -> dict[str, Any]:
        content = [{"type": kind, "text": text} for kind, text in self.content]
        return _fields(self.id, self.role, ItemStatus.COMPLETED, content)


class HeardItem:
    """A turn of the user's; the transcript is None until there is one. Its sound is not kept."""

    role = "user"

    def __init__(self, item_id: str, transcript: str | None = None) -> None:
        self.id = item_id
        self.transcript = transcript

    @property
    def text(self) -> str:
        return self.transcript or ""

    @property
    def chars(self) -> int:
        return len(self.text)

    def fields(self) -> dict[str, Any]:
        content = [{"type": "input_audio", "transcript": self.transcript}]
        return _fields(self.id, self.role, ItemStatus.COMPLETED, content)


class SpokenItem:
    """The speech of one response, as the assistant's message."""

    role = "assistant"

    def __init__(self, text: str, spoken_type: str) -> None:
        self.id = new_id("item")
        self.status = ItemStatus.IN_PROGRESS
        self.transcript = Transcript(text)
        self.seconds = 0.0
        """Length of the audio."""
        self._chars = len(text)
        self._spoken_type = spoken_type

    @property
    def text(self) -> str:
        return self.transcript.spoken

    @property
    def chars(self) -> int:
        return self._chars

    def fields(self) -> dict[str, Any]:
        content = [{"type": self._spoken_type, "transcript": self.transcript.spoken}]
        return _fields(self.id, self.role, self.status, content if self.seconds else [])

    def truncate(self, milliseconds: int) -> None:
        """Keep what is said before this time."""
        made = math.ceil(self.seconds * 1_000)
        if milliseconds > made:
            raise InvalidRequestError(f"The item has only {made} ms of audio.", field="audio_end_ms")
        self.seconds = milliseconds / 1_000
        self.transcript.truncate(self.seconds)


def _fields(item_id: str, role: str, status: ItemStatus, content: Sequence[Mapping[str, str | None]]) -> dict[str, Any]:
    return {
        "id": item_id,
        "object": "realtime.item",
        "type": "message",
        "status": str(status),
        "role": role,
        "content": list(content),
    }


def spoken_of(items: Sequence[Item]) -> Sequence[Item]:
    """The items that are spoken: the user's, or where there are none the assistant's; never the system's."""
    written = [item for item in items if item.role == "user"]
    return written or [item for item in items if item.role == "assistant"]
