"""Japanese words that the dictionary misreads, and characters that are read by their neighbours."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from polyvox.text.phonemes.japanese.heteronyms import HAN, RULES, Rule
from polyvox.text.phonemes.japanese.surnames import SURNAMES, surname_at

_FILE: Final = Path(__file__).with_name("words.txt")
_CLAUSE: Final = 14
# A word of three characters or more is that word wherever it stands; a shorter one only between the dictionary's words.
_SURE_FROM: Final = 3
# 今日中国 is China today.
_WEEKDAYS: Final = frozenset("月火水木金土日")
_BEHIND_MIDDLE: Final = frozenset("国学止心間央東")


@dataclass(frozen=True, slots=True)
class KnownWord:
    """A word at a place in a text, and how it sounds there."""

    start: int
    end: int
    reading: str
    certain: bool
    """True if it is that word whatever the dictionary makes of the characters around."""


def _sounds(table: str) -> dict[tuple[str, str], str]:
    """Parts of words with two sounds, written "川:かわ:がわ"."""
    return {(part, usual): behind for part, usual, behind in (entry.split(":") for entry in table.split())}


# The last part of a name and of a compound, the dictionary's sound for it, and the right one.
_BEHIND_NAMES: Final = _sounds(
    "川:かわ:がわ 山:やま:さん 道:みち:どー 人:にん:じん 寺:てら:じ "
    "湖:みずーみ:こ 城:しろ:じょー 口:くち:ぐち 家:いえ:け 家:か:け 家:うち:け"
)
_BEHIND_NOUNS: Final = _sounds(
    "日:ひ:び 日:にち:び 日:か:び 切り:きり:ぎり 豆腐:とーふ:どーふ 口:くち:ぐち 口:こー:ぐち 勝ち:かち:がち "
    "会社:かいしゃ:がいしゃ 部屋:へや:べや 通り:とーり:どーり 不足:ふそく:ぶそく 風呂:ふろ:ぶろ 布団:ふとん:ぶとん "
    "時計:とけー:どけー 棚:たな:だな 畑:はたけ:ばたけ 靴:くつ:ぐつ 薬:くすり:ぐすり 払い:はらい:ばらい 沿い:そい:ぞい "
    "連れ:つれ:ずれ 暮らし:くらし:ぐらし 疲れ:つかれ:ずかれ 嫌い:きらい:ぎらい 好き:すき:ずき 作り:つくり:ずくり "
    "替え:かえ:がえ 傘:かさ:がさ 箱:はこ:ばこ 袋:ふくろ:ぶくろ 止め:とめ:どめ "
    "書き:かき:がき 太鼓:たいこ:だいこ 寿司:すし:ずし 係:かかり:がかり 気味:きみ:ぎみ "
    "外:そと:がい"
)
_PLACES: Final = re.compile(
    "(?:開票|集計|研究|保健|停留|案内|洗面|休憩|診療|投票|撮影|避難|相談|教習|紹介|造船|給油|派出|検問|料金|印刷|託児|養成|収容|留置"
    "|製作|療養|観測|試験|待合|喫煙|脱衣|救護)\\Z"
)
_LEADING_HAN: Final = re.compile(f"[{HAN}]+")


def known_words(text: str) -> Iterator[KnownWord]:
    """The listed words and the decided characters of a text, in its order."""
    listed = _listed()
    for place, char in enumerate(text):
        if char in SURNAMES and (surname := surname_at(text, place)):
            yield KnownWord(place, place + len(surname[0]), surname[1], certain=True)
        if char in listed:
            yield from _words_at(text, place, listed[char])
        if char in RULES:
            yield from _decided_at(text, place, RULES[char])


def sound_behind(before: str, part: str, reading: str, *, name: bool) -> str | None:
    """The sound of the last part of a name or of a compound noun; None where it is the dictionary's."""
    if name:
        return _BEHIND_NAMES.get((part, reading))
    if part == "所" and _PLACES.search(before):
        return "じょ"
    return _BEHIND_NOUNS.get((part, reading)) if len(before) > 1 else None


def _words_at(text: str, place: int, words: tuple[tuple[str, str, bool], ...]) -> Iterator[KnownWord]:
    for word, reading, certain in words:
        end = place + len(word)
        if text.startswith(word, place) and not _goes_on(word[-1], text[end : end + 1]):
            yield KnownWord(place, end, reading, certain)


def _goes_on(last: str, following: str) -> bool:
    """Return whether the last character belongs to what follows: 一日中国, 三日月曜."""
    return (last == "中" and following in _BEHIND_MIDDLE) or (last in _WEEKDAYS and following == "曜")


def _decided_at(text: str, place: int, rules: tuple[Rule, ...]) -> Iterator[KnownWord]:
    for rule in rules:
        match = rule.pattern.match(text, place)
        if match and (rule.before is None or rule.before.search(text, max(0, place - _CLAUSE), place)):
            kana = _LEADING_HAN.sub("", match.group(), count=1)
            yield KnownWord(place, match.end(), rule.reading + kana, certain=False)
            return


@cache
def _listed() -> Mapping[str, tuple[tuple[str, str, bool], ...]]:
    """The words of the list by their first character, the longest first, each with its reading and whether it is sure.

    A word of the list with an exclamation mark is sure though it is short.
    """
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        written, reading = line.split(" ")
        word = written.removesuffix("!")
        found.setdefault(word[0], []).append((word, reading, len(word) >= _SURE_FROM or word != written))
    return {first: tuple(sorted(words, key=lambda word: -len(word[0]))) for first, words in found.items()}
