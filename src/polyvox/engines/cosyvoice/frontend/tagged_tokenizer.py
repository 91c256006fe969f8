"""The common part of the tokenizers of all versions: byte pairs, between tags that are one id each."""

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer


class TaggedTokenizer:
    """Text to ids; several threads may use it at once. `special` has the id of everything that `tags` finds."""

    def __init__(self, words: Tokenizer, tags: re.Pattern[str], special: Mapping[str, int]) -> None:
        self._words = words
        self._tags = tags
        self._special = special

    def encode(self, text: str) -> list[int]:
        """The ids of a text with tags in it."""
        ids: list[int] = []
        done = 0
        for tag in self._tags.finditer(text):
            ids += [*self._plain(text[done : tag.start()]), self._special[tag[0]]]
            done = tag.end()
        return ids + self._plain(text[done:])

    def encode_array(self, text: str) -> npt.NDArray[np.int32]:
        """The ids as an array."""
        return np.array(self.encode(text), np.int32)

    def _plain(self, text: str) -> list[int]:
        ids: list[int] = self._words.encode(text).ids if text else []
        return ids
