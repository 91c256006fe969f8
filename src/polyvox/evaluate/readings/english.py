"""The judge of English readings: by phonemes, as the server reads a text.

A reading is written in lower case. A capital letter alone is called by its name (`A P I`), with `s` behind it as a
plural (`A P Is`). `{one|two}` accepts either, `{and|}` may be left out. `word/phonemes/` asks for these phonemes, with
their stress; every other word may have any sound that the dictionary knows for it.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from polyvox.evaluate.readings.reading_list import Reading
from polyvox.text.phoneme_frontend import PhonemeFrontend
from polyvox.text.phonemes.english import g2p
from polyvox.text.phonemes.english.inflection import with_s
from polyvox.text.phonemes.english.lexicon import lexicon
from polyvox.text.phonemes.english.roles import Role
from polyvox.text.phonemes.english.words import WordContext, WordPhonemizer
from polyvox.text.spoken import SpokenWord
from polyvox.types import NormalizationOptions

_TOKEN: Final = re.compile(r"(?P<brace>[{|}])|(?P<word>[^\s{|}/]+)(?:/(?P<sound>[^/]+)/)?")
_LETTER: Final = re.compile(r"([A-Z])(s?)")
_SECONDARY: Final = str.maketrans({"ˌ": "", "ɾ": "T", "ʔ": "t"})
# Sounds of the little words that depend on what follows them.
_WEAK: Final = {"a": ("ɐ", "ə"), "the": ("ðə", "ði"), "to": ("tə", "tʊ", "tu"), "an": ("ɐn",), "am": ("ɐm",)}


@cache
def _frontend() -> PhonemeFrontend:
    return PhonemeFrontend("en-us", espeak="")


@cache
def _phonemizer() -> WordPhonemizer:
    return WordPhonemizer(lexicon("us"), g2p.load("us"))


def phonemes(written: str) -> str:
    """The phonemes of a text as the server reads it, with primary stress, without spaces and punctuation."""
    return "".join(word.phonemes for word in _spoken(written)).translate(_SECONDARY)


def words(written: str) -> str:
    """The words behind those phonemes, each with its own."""
    return " ".join(f"{word.text}/{word.phonemes}/" for word in _spoken(written))


def said(written: str) -> str:
    """The words alone."""
    return " ".join(word.text for word in _spoken(written))


def is_read(reading: Reading) -> bool:
    """Return whether the server reads the text of a case as a person would."""
    return re.fullmatch("".join(_patterns(reading.heard)), phonemes(reading.written)) is not None


def _spoken(written: str) -> Iterator[SpokenWord]:
    for sentence in _frontend().read(written, NormalizationOptions()):
        for word in sentence.words:
            if isinstance(word, SpokenWord) and not word.is_punctuation:
                yield word


def _patterns(heard: str) -> Iterator[str]:
    for token in _TOKEN.finditer(_alternatives_apart(heard)):
        if token["brace"]:
            yield {"{": "(?:", "|": "|", "}": ")"}[token["brace"]]
        elif token["sound"]:
            sounds = token["sound"].translate(_SECONDARY).split("¦")
            yield f"(?:{'|'.join(map(re.escape, sounds))})"
        else:
            yield f"(?:{'|'.join(sorted(_sounds(token['word'])))})"


def _alternatives_apart(heard: str) -> str:
    """Braces inside phonemes become a plain group, so that only those around words are left."""
    return re.sub(r"/\{([^/}]*)\}/", lambda match: f"/{match[1].replace('|', '¦')}/", heard)


@cache
def _sounds(word: str) -> frozenset[str]:
    letter = _LETTER.fullmatch(word)
    if letter:
        name = lexicon("us").letter(letter[1])
        sounds = {with_s(name, "us") if letter[2] else name}
    else:
        roles = {
            _phonemizer().read(word, WordContext(role, before_break=ends)) for role in Role for ends in (False, True)
        }
        capital = _phonemizer().read(word.capitalize())
        sounds = {*roles, capital, *_WEAK.get(word, ())}
    return frozenset(_any_stress(sound) for sound in sounds)


def _any_stress(sound: str) -> str:
    plain = re.sub("[ˈˌ ]", "", sound).translate(_SECONDARY)
    return "ˈ?" + "ˈ?".join(re.escape(symbol) for symbol in plain)
