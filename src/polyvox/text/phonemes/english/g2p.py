"""Grapheme-to-phoneme conversion of words in no dictionary: a small network, with letter-to-sound rules behind it."""

import json
import logging
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final

import numpy as np

from polyvox.onnx_session import open_session
from polyvox.text.phonemes.alphabet import ENGLISH_VOWELS
from polyvox.text.phonemes.english.lexicon import Variant
from polyvox.text.phonemes.english.rules import ruled

_log = logging.getLogger(__name__)
_END: Final = 1
_FIRST_SYMBOL: Final = 2
_MAX_LETTERS: Final = 32
_CACHED_WORDS: Final = 16_384
_MAX_SYMBOLS_PER_LETTER: Final = 3


class G2pNetwork:
    """An encoder-decoder over letters; takes lower-case words of the letters a to z. Greedy, so deterministic."""

    def __init__(self, encoder: bytes, decoder: bytes) -> None:
        self._encoder, self._decoder = open_session(encoder), open_session(decoder)
        described = self._encoder.get_modelmeta().custom_metadata_map
        self._letters: Final[dict[str, int]] = json.loads(described["letters"])
        self._symbols: Final[list[str]] = json.loads(described["symbols"])
        layers, pair, batch, heads, _, size = self._decoder.get_inputs()[1].shape
        self._empty_cache: Final = np.zeros((layers, pair, batch, heads, 0, size), np.float32)

    def describe(self) -> dict[str, Any]:
        """Ids of letters, symbols in the order of theirs, and the shape of an empty cache without its length."""
        shape = self._empty_cache.shape
        return {"letters": self._letters, "symbols": self._symbols, "cache": [*shape[:4], shape[5]]}

    def __call__(self, word: str, variant: Variant) -> str:
        """The phonemes, or an empty string where decoding does not end."""
        ids = [self._letters[f"{variant}-gold"], *(self._letters[letter] for letter in word), _END]
        (memory,) = self._encoder.run(None, {"letters": np.array([ids])})
        symbols: list[str] = []
        symbol, past = _END, self._empty_cache
        for _ in range(_MAX_SYMBOLS_PER_LETTER * len(word) + 4):
            scores, past = self._decoder.run(None, {"symbol": np.array([[symbol]]), "past": past, "memory": memory})
            symbol = int(scores[0].argmax())
            if symbol == _END:
                return "".join(symbols)
            if symbol >= _FIRST_SYMBOL:
                symbols.append(self._symbols[symbol - _FIRST_SYMBOL])
        return ""


@cache
def load(variant: Variant) -> Callable[[str], str]:
    """The G2P function of a variant, with an LRU cache. The network is loaded for the first word: most are listed."""

    @lru_cache(_CACHED_WORDS)
    def read(word: str) -> str:
        if len(word) > _MAX_LETTERS:
            pieces = [word[start : start + _MAX_LETTERS] for start in range(0, len(word), _MAX_LETTERS)]
            return " ".join(ruled(piece, variant) for piece in pieces)
        phonemes = _network()(word, variant)
        if ENGLISH_VOWELS & set(phonemes) or not set("aeiouy") & set(word):
            return phonemes or ruled(word, variant)
        _log.debug("G2P network gave no vowel for %r; using rules", word)
        return ruled(word, variant)

    return read


def graphs() -> tuple[bytes, bytes]:
    """The serialised encoder and decoder."""
    folder = resources.files(__package__)
    return folder.joinpath("g2p_encoder.onnx").read_bytes(), folder.joinpath("g2p_decoder.onnx").read_bytes()


def description() -> dict[str, Any]:
    """The description of the graphs' inputs and outputs."""
    return _network().describe()


@cache
def _network() -> G2pNetwork:
    return G2pNetwork(*graphs())
