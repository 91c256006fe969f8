"""Previews of designed voices, for as long as their owner may want to keep one of them."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import uuid4

from polyvox.audio.encode import Tags
from polyvox.errors import NotFoundError
from polyvox.types import Pcm

_MAX_BYTES = 64 << 20
_MAX_OF_ONE_OWNER = 12
_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class DesignPreview:
    """A text as a voice says it that was made from a description; mono samples."""

    owner: str
    description: str
    text: str
    language: str
    pcm: Pcm
    sample_rate: int
    tags: Tags = field(default_factory=dict)
    """The marks of synthetic speech, for its files."""

    @property
    def seconds(self) -> float:
        return len(self.pcm) / self.sample_rate


class DesignPreviews:
    """Previews in memory by their ids: few of each owner, all within a size, and none older than an hour."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, max_bytes: int = _MAX_BYTES) -> None:
        self._clock, self._max_bytes = clock, max_bytes
        self._kept: OrderedDict[str, tuple[float, DesignPreview]] = OrderedDict()

    def add(self, preview: DesignPreview) -> str:
        """Keep a preview; the id by which its owner finds it. Older ones make room."""
        name = uuid4().hex
        self._kept[name] = self._clock() + _SECONDS, preview
        self._tidy(preview.owner)
        return name

    def find(self, name: str, owner: str) -> DesignPreview:
        """The owner's preview of this id; NotFoundError where it is not there, or not any more."""
        self._tidy(owner)
        kept = self._kept.get(name)
        if kept is None or kept[1].owner != owner:
            raise NotFoundError(
                "There is no preview of this id, or not any more; design the voice again.", field="generated_voice_id"
            )
        return kept[1]

    def _tidy(self, owner: str) -> None:
        now = self._clock()
        for name in [name for name, (end, _) in self._kept.items() if end <= now]:
            del self._kept[name]
        of_owner = [name for name, (_, preview) in self._kept.items() if preview.owner == owner]
        for name in of_owner[:-_MAX_OF_ONE_OWNER]:
            del self._kept[name]
        while sum(preview.pcm.nbytes for _, preview in self._kept.values()) > self._max_bytes:
            self._kept.popitem(last=False)
