"""Japanese text to phonemes: words and readings by fugashi with UniDic; other scripts are read as English."""

import logging
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise, zip_longest
from threading import Lock
from typing import Any, Final

from polyvox.errors import NotServedError
from polyvox.extras import install_hint
from polyvox.text.characters import HAN
from polyvox.text.markup.markup import Insert
from polyvox.text.phonemes import misaki
from polyvox.text.phonemes.base import Phonemizer, split_phonemes
from polyvox.text.phonemes.japanese.counters import (
    ASKED_AND_COUNTER,
    LONGEST_NUMBER,
    MYRIADS,
    NAMED_HUNDREDS,
    NUMBER_AND_COUNTER,
    NUMERAL_AND_COUNTER,
    asked_kana,
    counted_kana,
    in_digits,
    number_kana,
    numeral_value,
)
from polyvox.text.phonemes.japanese.given_names import given_name
from polyvox.text.phonemes.japanese.kana import hiragana, kana_phonemes
from polyvox.text.phonemes.japanese.words import known_words, sound_behind
from polyvox.text.spoken import Spoken, SpokenWord
from polyvox.text.tracked import TrackedText

_log = logging.getLogger(__name__)
_KANA: Final = r"\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff"
_STRETCH: Final = re.compile(rf"(?:[{HAN}{_KANA}]|(?<![A-Za-z])\d++(?![A-Za-z]))+")
_HALF_WIDTH: Final = re.compile(r"[\uff66-\uff9f]+")
_NUMBER: Final = re.compile(r"\d+")
_KATAKANA: Final = re.compile("[ァ-ヴー]{2,}")
_HAN: Final = re.compile(f"[{HAN}]")
# Digits and letters that the normaliser called by their names, which the dictionary would cut anyhow.
_SPELLED_OUT: Final = re.compile(
    "(?<![ァ-ヶー])(?:ゼロ|マル|イチ|ニー|サン|ヨン|ゴー|ロク|ナナ|ハチ|キュー|エー|ビー|シー|ディー|イー|エフ|ジー"
    "|エイチ|アイ|ジェー|ケー|エル|エム|エヌ|オー|ピー|アール|エス|ティー|ユー|ブイ|ダブリュー|エックス|ワイ|ゼット|ツー|スリー|フォー)++(?![ァ-ヶー])"
)
_MONTH_BEFORE: Final = re.compile("(?:\\d|[一二三四五六七八九十毎今来先翌同])月の?$")
# What makes 1日 the first of a month and no length of time.
_FROM_THE_FIRST: Final = re.compile(
    "から(?!\\d+日(?!ま))|まで|付け?|づけ|現在|午[前後]|[朝夜]|の(?:午[前後]|朝|夜)|\\("
)
# Behind these a number puts in order and counts nothing; and what a class of a school has.
_ORDERED: Final = ("分の", "年", "第", "予選", "予選の", "決勝", "決勝の", "回戦", "ヒート")
_CLASS: Final = re.compile("の(?:担任|教室|生徒|児童|先生|クラス|子)|(?:で|が)?[一二三四五六七八九1-9]着")
_MAX_STRETCH_CHARS: Final = 400
_MOST_GROUPED: Final = 8
# The particles behind a mark or another script, which a Chinese character would make a part of its word.
_PARTICLE: Final = re.compile(rf"[はへ](?!虫類)(?=[{HAN}])(?<=[”」』)）】》〉A-Za-z].)")
_PARTICLES: Final = {"は": "わ", "へ": "え"}
_DIGITS: Final = "零一二三四五六七八九"
_DECIMAL: Final = re.compile("[零一二三四五六七八九十百千万]点(?P<digits>[零一二三四五六七八九]{1,16})(?![十百千])")
_DECIMALS: Final = dict(zip(_DIGITS, "れー いち に さん よん ご ろく なな はち きゅー".split(), strict=True))
_OPENING: Final = ("“", "(")


@dataclass(frozen=True, slots=True)
class _Morpheme:
    surface: str
    reading: str
    is_noun: bool = False
    is_name: bool = False
    is_surname: bool = False


@dataclass(frozen=True, slots=True)
class _Joined:
    """A number with its counter, or another word of several morphemes, and how they sound together."""

    start: int
    end: int
    reading: str
    certain: bool = False
    """True if it is one whatever the dictionary makes of the characters around."""
    closed: bool = False
    """True if a Chinese character behind it begins another word."""


class JapanesePhonemizer:
    """Reads Japanese; `latin` reads the words of other scripts that stand in it."""

    def __init__(self, latin: Phonemizer) -> None:
        self._latin = latin
        self._tagger = _tagger()
        self._lock = Lock()  # a tagger works on one text at a time

    def __call__(self, text: TrackedText, inserts: Sequence[Insert]) -> list[Spoken]:
        text = text.sub(_HALF_WIDTH, lambda match: unicodedata.normalize("NFKC", match.group()))
        text, counted = _with_numerals(text)
        starts = [one.start for one in counted]
        spoken: list[Spoken] = []
        start = 0
        for match in _STRETCH.finditer(text.text):
            spoken += self._latin(text[start : match.start()], inserts)
            for place in range(match.start(), match.end(), _MAX_STRETCH_CHARS):
                end = min(place + _MAX_STRETCH_CHARS, match.end())
                inside = counted[bisect_left(starts, place) : bisect_left(starts, end)]
                spoken += self._words(text[place:end], inside, place)
            start = match.end()
        spoken += self._latin(text[start:], inserts)
        ends_open = text.text[-1:].isspace()
        return [_spaced(word, following, ends_open) for word, following in zip_longest(spoken, spoken[1:])]

    def _words(self, text: TrackedText, counted: Sequence[_Joined], offset: int) -> list[SpokenWord]:
        with self._lock:
            morphemes = self._morphemes(text.text)
            if torn := _torn(morphemes, counted, offset):
                morphemes = [one for start, end in pairwise(torn) for one in self._morphemes(text.text[start:end])]
        morphemes = _with_counted(morphemes, counted, offset)
        words: list[SpokenWord] = []
        place = 0
        for group in _grouped(morphemes):
            surface = "".join(part.surface for part in group)
            span = text.span(place, place + len(surface))
            place += len(surface)
            sounds = split_phonemes(kana_phonemes("".join(part.reading for part in group)))
            if not sounds:
                _log.debug("no reading is known for %r", surface)
            words += [SpokenWord(surface, sound, span, True) for sound in sounds]
        return words

    def _morphemes(self, text: str) -> list[_Morpheme]:
        morphemes = [
            _Morpheme(
                node.surface,
                _reading(node),
                is_noun=node.feature.pos1 == "名詞",
                is_name=node.feature.pos2 == "固有名詞",
                is_surname=node.feature.pos4 == "姓",
            )
            for node in self._tagger(text)
        ]
        morphemes = _with_given_names(morphemes)
        return [_behind(before, one) for before, one in zip([None, *morphemes], morphemes, strict=False)]


def _torn(morphemes: Sequence[_Morpheme], counted: Sequence[_Joined], offset: int) -> list[int]:
    """The places to cut a stretch at so that no number or word is read as a part of others; empty where none is."""
    text = "".join(morpheme.surface for morpheme in morphemes)
    edges = [0, *accumulate(len(morpheme.surface) for morpheme in morphemes)]
    inside = [one for one in counted if one.certain and offset <= one.start and one.end <= offset + edges[-1]]
    cuts = {end - offset for one in inside for end in (one.start, one.end)} - {*edges}
    cuts |= {one.end - offset for one in inside if one.closed and _HAN.match(text, one.end - offset)}
    return sorted({0, edges[-1], *cuts}) if cuts else []


def _with_numerals(text: TrackedText) -> tuple[TrackedText, list[_Joined]]:
    """The text with its figures in characters, and where numbers and words with known sounds stand in it."""
    counted: list[_Joined] = []
    grown = 0

    def numeral(match: re.Match[str]) -> str | None:
        nonlocal grown
        if not _stands_alone(match):
            return None
        number, counter = match["number"], match["counter"] or ""
        characters = _in_characters(number) + counter
        start = match.start() + grown
        if len(number) <= LONGEST_NUMBER and not (len(number) > 1 and number[0] == "0"):
            before = match.string[max(0, match.start() - 4) : match.start()]
            dated = _MONTH_BEFORE.search(before) is not None or _FROM_THE_FIRST.match(match.string, match.end())
            part = before.endswith(_ORDERED) or (
                counter == "組" and _CLASS.match(match.string, match.end()) is not None
            )
            reading = (
                counted_kana(number, counter, in_month=bool(dated), as_part=part)
                if counter
                else number_kana(int(number))
            )
            counted.append(_Joined(start, start + len(characters), hiragana(reading), certain=True))
        grown += len(characters) - len(match.group())
        return characters

    text = text.sub(_NUMBER, lambda match: "".join(str(int(char)) for char in match.group()))
    text = text.sub(NAMED_HUNDREDS, _in_figures)
    text = text.sub(MYRIADS, lambda match: in_digits(match.groupdict(default="0")))
    text = text.sub(NUMBER_AND_COUNTER, numeral)
    words = [
        _Joined(word.start, word.end, word.reading, certain=word.certain, closed=True)
        for word in known_words(text.text)
    ]
    found = [*counted, *words, *_numerals(text.text), *_called(text.text), *_particles(text.text)]
    return text, _apart(sorted(found, key=lambda joined: (joined.start, -joined.end)))


def _in_figures(match: re.Match[str]) -> str:
    return f"{match['thousands'] or ''}{match['more'] or match['hundreds'] or '0'}00"


def _called(text: str) -> Iterator[_Joined]:
    """Digits and letters that are called by their names, and the figures behind a decimal point."""
    for match in _SPELLED_OUT.finditer(text):
        yield _Joined(*match.span(), hiragana(match.group()), certain=True)
    for match in _DECIMAL.finditer(text):
        yield _Joined(*match.span("digits"), "".join(_DECIMALS[digit] for digit in match["digits"]), certain=True)


def _particles(text: str) -> Iterator[_Joined]:
    for match in _PARTICLE.finditer(text):
        yield _Joined(*match.span(), _PARTICLES[match.group()], certain=True)


def _numerals(text: str) -> Iterator[_Joined]:
    """Numbers in characters with their counters, and 何 with its."""
    for match in NUMERAL_AND_COUNTER.finditer(text):
        kana = counted_kana(str(numeral_value(match["numeral"])), match["counter"])
        yield _Joined(*match.span(), hiragana(kana))
    for match in ASKED_AND_COUNTER.finditer(text):
        yield _Joined(*match.span(), hiragana(asked_kana(match["counter"])))


def _apart(joined: Sequence[_Joined]) -> list[_Joined]:
    """Those that do not begin inside another."""
    kept: list[_Joined] = []
    for one in joined:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _with_counted(morphemes: list[_Morpheme], counted: Sequence[_Joined], offset: int) -> list[_Morpheme]:
    """The morphemes, with those that are one number or word joined, which sounds as they do together."""
    starts: dict[int, int] = {}
    place = offset
    for index, morpheme in enumerate(morphemes):
        starts[place] = index
        place += len(morpheme.surface)
    starts[place] = len(morphemes)
    for number in reversed(counted):
        first, last = starts.get(number.start), starts.get(number.end)
        if first is not None and last is not None and first < last:
            surface = "".join(morpheme.surface for morpheme in morphemes[first:last])
            morphemes = [*morphemes[:first], _Morpheme(surface, number.reading), *morphemes[last:]]
    return morphemes


def _with_given_names(morphemes: list[_Morpheme]) -> list[_Morpheme]:
    """The morphemes, with what stands behind a surname and is a given name as one."""
    for place in range(len(morphemes) - 1, 0, -1):
        if morphemes[place - 1].is_surname:
            found = given_name([one.surface for one in morphemes[place : place + 4]])
            if found:
                end = place + found[0]
                surface = "".join(one.surface for one in morphemes[place:end])
                morphemes = [*morphemes[:place], _Morpheme(surface, found[1], is_name=True), *morphemes[end:]]
    return morphemes


def _behind(before: _Morpheme | None, morpheme: _Morpheme) -> _Morpheme:
    """A last part of a name or a compound, which the dictionary reads as if it stood alone."""
    if before is None or not (before.is_name or before.is_noun):
        return morpheme
    sound = sound_behind(before.surface, morpheme.surface, morpheme.reading, name=before.is_name)
    return replace(morpheme, reading=sound) if sound else morpheme


def _reading(node: Any) -> str:  # noqa: ANN401
    """The sound of a word; an イ that katakana writes is no long vowel."""
    sound = _dictionary_reading(node)
    if len(sound) == len(node.surface) and _KATAKANA.fullmatch(node.surface):
        return "".join(
            "い" if written == "イ" and heard == "ー" else heard
            for written, heard in zip(node.surface, sound, strict=True)
        )
    return sound


def _dictionary_reading(node: Any) -> str:  # noqa: ANN401
    return hiragana(getattr(node.feature, "pron", None) or getattr(node.feature, "kana", None) or node.surface)


def _grouped(morphemes: Sequence[_Morpheme]) -> list[Sequence[_Morpheme]]:
    """Morphemes joined where together they are one listed word, the longest first."""
    groups: list[Sequence[_Morpheme]] = []
    start = 0
    while start < len(morphemes):
        ends = range(min(len(morphemes), start + _MOST_GROUPED), start + 1, -1)
        joined = (end for end in ends if "".join(part.surface for part in morphemes[start:end]) in _listed_words())
        end = next(joined, start + 1)
        groups.append(morphemes[start:end])
        start = end
    return groups


def _stands_alone(match: re.Match[str]) -> bool:
    """No letter of a name touches the figures; one behind their counter does not."""
    around = match.string[max(0, match.start() - 1) : match.start()]
    if not match["counter"]:
        around += match.string[match.end() : match.end() + 1]
    return not any(char.isascii() and char.isalpha() for char in around)


def _in_characters(digits: str) -> str:
    """A number in characters, which the dictionary reads: by tens of thousands, or digit by digit."""
    if len(digits) > LONGEST_NUMBER or (digits.startswith("0") and len(digits) > 1):
        return "".join(_DIGITS[int(digit)] for digit in digits)
    if int(digits) == 0:
        return _DIGITS[0]
    groups = [digits[max(0, end - 4) : end] for end in range(len(digits), 0, -4)]
    named = [
        _thousands(group) + unit for group, unit in zip(groups, ("", "万", "億", "兆"), strict=False) if int(group)
    ]
    return "".join(reversed(named))


def _thousands(digits: str) -> str:
    said = ""
    for digit, unit in zip(digits.zfill(4), ("千", "百", "十", ""), strict=True):
        if digit != "0":
            said += unit if digit == "1" and unit else _DIGITS[int(digit)] + unit
    return said


def _spaced(word: Spoken, following: Spoken | None, ends_open: bool) -> Spoken:
    """Words are parted by a space, but not at a stop, and marks cling to the word before them."""
    if not isinstance(word, SpokenWord):
        return word
    if not isinstance(following, SpokenWord):
        space = ends_open if following is None else True
    elif word.phonemes in _OPENING or word.phonemes.endswith("ʔ") or following.phonemes.startswith("ʔ"):
        space = False
    else:
        space = following.phonemes in _OPENING or not following.is_punctuation
    return SpokenWord(word.text, word.phonemes, word.span, space)


@cache
def _listed_words() -> frozenset[str]:
    (words,) = misaki.blocks("ja")
    return frozenset(words.split("\n"))


def _tagger() -> Any:  # noqa: ANN401
    try:
        import fugashi
        import unidic_lite
    except ImportError as error:
        raise NotServedError(
            f"Japanese needs a dictionary that is not installed; get it with {install_hint('ja')}.",
            field="language",
        ) from error
    return fugashi.Tagger(f'-d "{unidic_lite.DICDIR}"')
