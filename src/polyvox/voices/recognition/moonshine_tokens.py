"""Moonshine's tokenizer, text to token ids: sentence-piece marks, byte pairs, bytes for what has no piece."""

import json
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

_SPACE: Final = "▁"
_MAX_WORD: Final = 200
"""Characters of one word that are merged together; the square of it is the work."""


class MoonshineTokenizer:
    """Encodes words one by one; each is written behind a space, as in running text."""

    def __init__(self, vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> None:
        self._vocabulary = vocabulary
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._cached = lru_cache(4_096)(self._encode)

    @classmethod
    def read(cls, path: Path) -> "MoonshineTokenizer":
        """From a `tokenizer.json`, whose merges are pairs or lines."""
        model = json.loads(path.read_text(encoding="utf-8"))["model"]
        pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"])
        return cls(model["vocab"], [(first, second) for first, second in pairs])

    def encode(self, word: str) -> tuple[int, ...]:
        """The ids of one word with the marks beside it."""
        return self._cached(word[:_MAX_WORD])

    def _encode(self, word: str) -> tuple[int, ...]:
        pieces = [*_SPACE, *word]
        while (found := self._first_merge(pieces)) is not None:
            pieces[found : found + 2] = [pieces[found] + pieces[found + 1]]
        return tuple(each for piece in pieces for each in self._ids(piece))

    def _first_merge(self, pieces: list[str]) -> int | None:
        """The place of the pair that was merged first in training; None where no two pieces belong together."""
        ranked = [(self._ranks[pair], at) for at, pair in enumerate(pairwise(pieces)) if pair in self._ranks]
        return min(ranked)[1] if ranked else None

    def _ids(self, piece: str) -> list[int]:
        if piece in self._vocabulary:
            return [self._vocabulary[piece]]
        return [self._vocabulary[f"<0x{byte:02X}>"] for byte in piece.encode()]
