"""`speak_passages` with readers that give passages and pauses."""

import numpy as np
import pytest

from polyvox.engines.kit.passages import speak_passages
from polyvox.errors import SilentTextError
from polyvox.text.spoken import Pause
from polyvox.types import AudioChunk, Span

pytestmark = pytest.mark.anyio

SILENCE = Pause(0.5, Span(0, 1))


class Voice:
    """Speaks a word as one chunk of its text, and an empty one as none; what is begun and left is in `log`."""

    def __init__(self, *given: list[str] | Pause) -> None:
        self._given = [*given, None]
        self.log: list[str] = []

    async def read(self) -> list[str] | Pause | None:
        self.log.append("read")
        return self._given.pop(0)

    async def speak(self, word: str):
        try:
            for letter in word:
                yield chunk(letter)
        finally:
            self.log.append(f"left {word}")

    def spoken(self):
        return speak_passages(self.read, self.speak, lambda pause: chunk(f"{pause.seconds} s"))


def chunk(text: str) -> AudioChunk:
    return AudioChunk(np.zeros(1, np.float32), 24_000, 0, 0, text=text)


async def test_passages_and_pauses_come_in_order_and_a_segment_is_read_when_its_turn_comes() -> None:
    voice = Voice(["ab", "c"], SILENCE, ["d"])
    assert [each.text async for each in voice.spoken()] == ["a", "b", "c", "0.5 s", "d"]
    assert voice.log == ["read", "left ab", "left c", "read", "read", "left d", "read"]


async def test_a_text_of_which_nothing_is_spoken_is_refused() -> None:
    for given in ((), (SILENCE,), ([""],), ([],)):
        with pytest.raises(SilentTextError):
            [_ async for _ in Voice(*given).spoken()]


async def test_who_leaves_ends_the_passage_that_is_spoken() -> None:
    voice = Voice(["ab"], ["c"])
    chunks = voice.spoken()
    await anext(chunks)
    await chunks.aclose()
    assert voice.log == ["read", "left ab"]
