"""Chinese text to phonemes: words by jieba, readings by pypinyin; what is not Chinese is read as English."""

import logging
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Final

from polyvox.text.characters import HAN
from polyvox.text.markup.markup import Insert
from polyvox.text.normalize.chinese.pinyin_names import as_characters, word_as_characters
from polyvox.text.phonemes.base import Phonemizer, split_phonemes
from polyvox.text.phonemes.chinese_words import pieces, word_cutter
from polyvox.text.phonemes.neutral_tones import light_places
from polyvox.text.phonemes.pinyin import syllable
from polyvox.text.phonemes.polyphone_words import INITIAL, USUAL
from polyvox.text.phonemes.polyphones import corrections
from polyvox.text.phonemes.tone_sandhi import with_sandhi
from polyvox.text.spoken import Spoken, SpokenWord
from polyvox.text.tracked import TrackedText

_log = logging.getLogger(__name__)
_STRETCH: Final = re.compile(
    rf"(?P<han>[{HAN}]+)|(?P<number>(?<![A-Za-z\d])\d{{1,16}}(?![A-Za-z\d]))|(?P<other>\s+|\S)"
)
# Names of accounts in small letters, and what the normaliser says for the marks in them.
_ACCOUNT: Final = re.compile(r"(?<![A-Za-z'])[a-z]{2,24}(?: (?:点|下划线|杠) [a-z]{2,24}(?![A-Za-z']))*(?![A-Za-z'])")
_LETTERS: Final = re.compile("[a-z]+")
_OPENING: Final = ("“", "(")
# Before another letter no article of English, but the first of a row: 沪A D12345.
_LETTER: Final = re.compile("[A-Za-z]")
_LETTER_A: Final = "ˈA"
_LOOSE_DIGITS: Final = str.maketrans("0123456789", "零一二三四五六七八九")


class ChinesePhonemizer:
    """Reads Mandarin; `latin` reads the words of other scripts that stand in it."""

    def __init__(self, latin: Phonemizer) -> None:
        self._latin = latin

    def __call__(self, text: TrackedText, inserts: Sequence[Insert]) -> list[Spoken]:
        spoken: list[Spoken] = []
        start = 0
        names = _names_in_pinyin(text.text)
        for match in _STRETCH.finditer(text.text):
            if match["other"] is not None:
                if match.start() in names:
                    spoken += self._latin(text[start : match.start()], inserts)
                    start = match.start() + len(names[match.start()][0])
                    spoken += _name_words(text[match.start() : start], names[match.start()][1])
                continue
            spoken += self._latin(text[start : match.start()], inserts)
            part = text[match.start() : match.end()]
            spoken += han_words(part) if match["han"] else _number_words(part)
            start = match.end()
        spoken += self._latin(text[start:], inserts)
        ends_open = text.text[-1:].isspace()
        return [_spaced(word, following, ends_open) for word, following in zip_longest(spoken, spoken[1:])]


def han_words(text: TrackedText) -> list[SpokenWord]:
    """The words of a run of Chinese characters; one without a known reading is logged and left out."""
    spoken: list[SpokenWord] = []
    place = 0
    words: list[str] = word_cutter().lcut(text.text)
    readings = pinyin(text.text, words)
    for word in words:
        span = text.span(place, place + len(word))
        sounds = split_phonemes(_phonemes(word, tuple(readings[place : place + len(word)])))
        spoken += [SpokenWord(word, sound, span, True) for sound in sounds]
        place += len(word)
    return spoken


def pinyin(text: str, words: Sequence[str]) -> list[str]:
    """The reading of every character of a run of Chinese characters, with its tone as a number.

    By the words that the run was cut into, and by context where they leave a choice.
    """
    readings = [reading for word in words for reading in _word_readings(word)]
    for place, reading in corrections(text, words).items():
        readings[place] = reading
    return with_sandhi(text, readings)


def _names_in_pinyin(text: str) -> dict[int, tuple[str, str]]:
    """By their places, the words that are names in pinyin, each with characters for its syllables."""
    names: dict[int, tuple[str, str]] = {}
    for match in _ACCOUNT.finditer(text):
        words = list(_LETTERS.finditer(match.group()))
        whole = as_characters(" ".join(word.group() for word in words)) if len(words) > 1 else None
        said = whole.split(" ") if whole else [word_as_characters(word.group()) for word in words]
        for word, characters in zip(words, said, strict=True):
            if characters:
                names[match.start() + word.start()] = word.group(), characters
    return names


def _name_words(text: TrackedText, characters: str) -> list[SpokenWord]:
    phonemes = _phonemes(characters, _word_readings(characters))
    span = text.span(0, len(text))
    return [SpokenWord(text.text, sound, span, True) for sound in split_phonemes(phonemes)]


def _number_words(text: TrackedText) -> list[SpokenWord]:
    """A number that no normaliser has spoken for."""
    import cn2an

    digits = "".join(str(int(char)) for char in text.text)
    han = digits.translate(_LOOSE_DIGITS) if digits.startswith("0") else str(cn2an.an2cn(digits, "low"))
    span = text.span(0, len(text))
    return [SpokenWord(han, sound, span, True) for sound in split_phonemes(_phonemes(han, _word_readings(han)))]


@lru_cache(4096)
def _word_readings(word: str) -> tuple[str, ...]:
    """One reading for each character, the usual one where no listed word tells; one without any stands for itself."""
    from pypinyin import Style, lazy_pinyin
    from pypinyin.constants import PHRASES_DICT

    def themselves(chars: str) -> list[str]:
        return list(chars)

    readings = lazy_pinyin(word, style=Style.TONE3, neutral_tone_with_five=True, errors=themselves)  # type: ignore[arg-type]
    unlisted = [piece not in PHRASES_DICT for piece in pieces([word]) for _ in piece]
    if len(word) > 1 and unlisted[0]:
        readings[0] = INITIAL.get(word[0], readings[0])
    readings = [
        USUAL.get(char, reading) if usual else reading
        for char, reading, usual in zip(word, readings, unlisted, strict=True)
    ]
    for place in light_places(word):
        readings[place] = readings[place].rstrip("12345") + "5"
    return tuple(readings)


@lru_cache(4096)
def _phonemes(word: str, readings: tuple[str, ...]) -> str:
    sounds = [syllable(reading) for reading in readings]
    if None in sounds:
        _log.debug("no reading is known for a character of %r", word)
    return "".join(sound for sound in sounds if sound)


def _spaced(word: Spoken, following: Spoken | None, ends_open: bool) -> Spoken:
    """Chinese has no spaces: words are parted by one, and marks cling to the word before them."""
    if not isinstance(word, SpokenWord):
        return word
    if word.text in "Aa" and isinstance(following, SpokenWord) and _LETTER.fullmatch(following.text):
        word = SpokenWord(word.text, _LETTER_A, word.span, word.space)
    if not isinstance(following, SpokenWord):
        space = ends_open if following is None else True
    elif word.phonemes in _OPENING:
        space = False
    else:
        space = following.phonemes in _OPENING or not following.is_punctuation
    return SpokenWord(word.text, word.phonemes, word.span, space)
