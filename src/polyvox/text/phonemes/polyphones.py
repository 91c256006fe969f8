"""Chinese characters with several readings, decided by the words around them.

pypinyin knows the readings of words. Where a character stands alone, or where its word says nothing, these phrases and
patterns decide; they see one stretch of Chinese characters at a time, whose ends are the ends of a clause.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from polyvox.text.phonemes.chinese_words import parts_of_speech, pieces
from polyvox.text.phonemes.polyphone_phrases import NAMES, PHRASES, SURNAMES, WORDS
from polyvox.text.phonemes.polyphone_rules import RULES

_COMPLEMENT: Final = 5
"""Words behind 为 that tell whether it is to be or for."""
_THINGS: Final = frozenset("nmxfsb")
_NO_THINGS: Final = frozenset("vdprc")
_DOING: Final = frozenset("vp")
_TITLE: Final = (
    "(?:先生|女士|小姐|老师|教授|经理|医生|大夫|同学|主任|师傅|律师|总(?![是会要有])|董(?!事会)|队长|局长|书记)"
)
_NAMED: Final = re.compile(f"姓(?P<name>{'|'.join(SURNAMES)})")
# Before a title only those that are seldom anything else there.
_TITLED: Final = re.compile(
    f"(?:^|(?<=[找见请问给跟和是叫位的了]))(?P<name>尉迟|令狐|[单仇任曾解查朴区翟覃缪葛纪])(?={_TITLE})"
    "|(?<=[小老])(?P<short>[仇曾翟覃缪朴葛任])(?=$|[来说去在是的和请也已你我他呢吗啊])"
)
_KNOWN: Final = re.compile(
    f"[{''.join(NAMES)}](?:"
    + "|".join(f"(?<={surname})(?={'|'.join(given.split())})" for surname, given in NAMES.items())
    + ")"
)


def corrections(text: str, words: Sequence[str]) -> dict[int, str]:
    """The readings that the context decides, by their places in a stretch of Chinese characters.

    `words` are the tokens of the text. Phrases and surnames go before rules, and rules before parts of speech.
    """
    found: dict[int, str] = {}
    for place, reading in (*_phrases(text), *_surnames(text)):
        found.setdefault(place, reading)
    for place, reading in _words(words):
        found.setdefault(place, reading)
    alone = _lone_places(pieces(words))
    for char in set(text) & RULES.keys():
        for rule in RULES[char]:
            for match in rule.pattern.finditer(text):
                place = match.start(match.lastgroup or 0)
                if not rule.alone or place in alone:
                    found.setdefault(place, rule.reading)
    for place, reading in (*_by_part_of_speech(words), *_copulas(words)):
        found.setdefault(place, reading)
    return found


def _by_part_of_speech(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Lone particles and verbs, by the kinds of the words on both sides."""
    tags = parts_of_speech()
    parts = [part for word in words for part in (pieces([word]) if not _PARTICLES.keys().isdisjoint(word) else [word])]
    place = 0
    for index, part in enumerate(parts):
        if part in _PARTICLES:
            before = parts[index - 1] if index else ""
            behind = parts[index + 1] if index + 1 < len(parts) else ""
            kinds = _kind((before, before[-2:], before[-1:]), tags), _kind((behind, behind[:2], behind[:1]), tags)
            reading = _PARTICLES[part](*kinds)
            if reading:
                yield place, reading
        place += len(part)


def _copulas(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """wéi, to be: 为 between two things, of which the second does nothing."""
    if "为" not in words:
        return
    place = 0
    for index, word in enumerate(words):
        if word == "为" and index:
            ahead = words[index + 1 : index + 1 + _COMPLEMENT]
            before, *behind = (_tagged(word) for word in (words[index - 1], *ahead))
            if before not in _NO_THINGS and behind and behind[0] in _THINGS and not _DOING.intersection(behind):
                yield place, "wei2"
        place += len(word)


def _tagged(word: str) -> str:
    return parts_of_speech().get(word, "x")[0]


def _kind(forms: tuple[str, str, str], tags: Mapping[str, str]) -> str:
    """The first letter of the tag of a word, or of that end of it which has one; `-` for no word."""
    return next((tags[form][0] for form in forms if form in tags), "x") if forms[0] else "-"


def _de_of_complement(before: str, behind: str) -> str | None:
    """děi, must, behind a thing, person or time and before what must be done; else the particle behind a verb."""
    if before in "nrtsfk-" and behind in "vdpr":
        return "dei3"
    return "de5" if before in "vazib" and behind != "-" else None


def _de_of_manner(before: str, behind: str) -> str | None:
    """The particle between how something is done and its doing; else the ground."""
    if before in "nv":
        return "de5" if behind == "v" else None
    return "de5" if before in "dazibl" and behind in "vdapi" else None


def _number_or_count(before: str, behind: str) -> str | None:
    """shǔ, to count, before whom or what is counted."""
    return "shu3" if behind == "r" or (before in "rdp" and behind != "m") else None


_PARTICLES: Final[Mapping[str, Callable[[str, str], str | None]]] = {
    "得": _de_of_complement,
    "地": _de_of_manner,
    "数": _number_or_count,
}


def _phrases(text: str) -> Iterator[tuple[int, str]]:
    """The readings of the phrases in a text; none begins inside another."""
    phrases = _phrases_by_first()
    behind = 0
    for place, char in enumerate(text):
        if place < behind or char not in phrases:
            continue
        phrase = next((phrase for phrase in phrases[char] if text.startswith(phrase, place)), None)
        if phrase:
            behind = place + len(phrase)
            yield from enumerate(PHRASES[phrase].split(), start=place)


def _words(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    place = 0
    for word in words:
        for offset, reading in enumerate(WORDS.get(word, "").split()):
            yield place + offset, reading
        place += len(word)


def _surnames(text: str) -> Iterator[tuple[int, str]]:
    for pattern in (_NAMED, _TITLED, _KNOWN):
        for match in pattern.finditer(text):
            name = match[match.lastgroup or 0]
            for offset, reading in enumerate(SURNAMES[name].split()):
                yield match.start(match.lastgroup or 0) + offset, reading


def _lone_places(words: Sequence[str]) -> frozenset[int]:
    """Places of words of one character."""
    places: list[int] = []
    start = 0
    for word in words:
        if len(word) == 1:
            places.append(start)
        start += len(word)
    return frozenset(places)


@cache
def _phrases_by_first() -> Mapping[str, Sequence[str]]:
    """The phrases by their first characters, the longest first."""
    found: dict[str, list[str]] = {}
    for phrase in sorted(PHRASES, key=len, reverse=True):
        found.setdefault(phrase[0], []).append(phrase)
    return found
