"""Chinese words: jieba's tokenizer and the parts of speech of its dictionary, and the phrases that pypinyin knows."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final

_LONGEST_TAGGED: Final = 2


def word_cutter() -> Any:  # noqa: ANN401
    """jieba's tokenizer."""
    return _dictionary()[0]


def parts_of_speech() -> Mapping[str, str]:
    """The tags of words of one and two characters: n noun, v verb, a adjective, d adverb, r pronoun, m numeral."""
    return _dictionary()[1]


def pieces(words: Sequence[str]) -> list[str]:
    """The words, parted where pypinyin knows no reading of the whole and so reads piece by piece."""
    return [piece for word in words for piece in (_known_parts(word) if len(word) > 1 else (word,))]


@lru_cache(4096)
def _known_parts(word: str) -> tuple[str, ...]:
    from pypinyin.constants import PHRASES_DICT
    from pypinyin.seg.mmseg import seg

    return (word,) if word in PHRASES_DICT else tuple(seg.cut(word))


@cache
def _dictionary() -> tuple[Any, Mapping[str, str]]:
    """jieba's tokenizer with its dictionary read straight from the package, and the tags in it.

    jieba would else load a cache from the shared temporary folder, where anyone may have put it, and write one there.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # its patterns are no raw strings, and nobody here can mend them
        import jieba

    cutter = jieba.Tokenizer()
    frequencies: dict[str, int] = {}
    tags: dict[str, str] = {}
    total = 0
    with cutter.get_dict_file() as file:
        for line in file:
            word, count, tag = line.decode().split()
            frequency = int(count)
            total += frequency
            frequencies[word] = frequency
            for end in range(1, len(word)):  # the tokenizer looks for prefixes of words
                frequencies.setdefault(word[:end], 0)
            if len(word) <= _LONGEST_TAGGED:
                tags[word] = sys.intern(tag)
    cutter.FREQ, cutter.total, cutter.initialized = frequencies, total, True
    return cutter, tags
