"""Whisper's tokens: byte pairs of text, and special ones for languages, tasks and the places of a transcript."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from polyvox.errors import BundleError
from polyvox.voices.recognition.languages import LANGUAGES

_WORDS: Final = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
_MAX_WORD_BYTES: Final = 200
"""Bytes of one word that are merged together; the square of it is the work."""


def _visible_bytes() -> dict[str, int]:
    """The character that stands for each byte in the vocabulary: itself where it can be seen, else one beyond."""
    seen = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


_BYTES: Final = _visible_bytes()
_CHARS: Final = {byte: char for char, byte in _BYTES.items()}


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The ids of special tokens; `languages` by their codes."""

    end: int
    start: int
    translate: int
    transcribe: int
    previous: int
    no_timestamps: int
    languages: Mapping[str, int]

    @classmethod
    def of(cls, ids: Mapping[str, int]) -> "SpecialTokens":
        languages = {code: ids[f"<|{code}|>"] for code in LANGUAGES if f"<|{code}|>" in ids}
        return cls(
            end=ids["<|endoftext|>"],
            start=ids["<|startoftranscript|>"],
            translate=ids["<|translate|>"],
            transcribe=ids["<|transcribe|>"],
            previous=ids["<|startofprev|>"],
            no_timestamps=ids["<|notimestamps|>"],
            languages=languages,
        )


class WhisperTokenizer:
    """Encodes prompts and decodes transcripts. What looks like a special token in a prompt is plain text."""

    def __init__(
        self, vocabulary: Mapping[str, int], merges: Sequence[tuple[str, str]], special: SpecialTokens
    ) -> None:
        self.special = special
        self._ids = vocabulary
        self._pieces = {number: bytes(_BYTES[char] for char in piece) for piece, number in vocabulary.items()}
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._encoded = lru_cache(1_024)(self._encode_word)

    @classmethod
    def read(cls, path: Path) -> "WhisperTokenizer":
        """From a `tokenizer.json`, whose merges are pairs or lines."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            pairs = (each.split(" ") if isinstance(each, str) else each for each in content["model"]["merges"])
            merges = [(first, second) for first, second in pairs]
            special = SpecialTokens.of({token["content"]: token["id"] for token in content["added_tokens"]})
            plain = {piece: number for piece, number in content["model"]["vocab"].items() if number < special.end}
            return cls(plain, merges, special)
        except (KeyError, TypeError, ValueError) as error:
            raise BundleError(f"{path.name} is no tokenizer of Whisper's; fetch it again.") from error

    def piece(self, number: int) -> bytes:
        """The bytes of one token; nothing for special ones."""
        return self._pieces.get(number, b"")

    def text(self, ids: Iterable[int]) -> str:
        """The text of a token sequence, each run of white space a single space."""
        return plain_text(b"".join(map(self.piece, ids)))

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        return [number for word in _WORDS.findall(text) for number in self._encoded(word.encode()[:_MAX_WORD_BYTES])]

    def _encode_word(self, word: bytes) -> tuple[int, ...]:
        pieces = [_CHARS[byte] for byte in word]
        while ranked := [(self._ranks[pair], at) for at, pair in enumerate(pairwise(pieces)) if pair in self._ranks]:
            at = min(ranked)[1]
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        return tuple(self._ids[piece] for piece in pieces)


def plain_text(content: bytes) -> str:
    """Bytes of tokens as text on one line."""
    return " ".join(content.decode("utf-8", errors="replace").split())
