"""Chinese characters with several readings, decided by the words around them.

pypinyin knows the readings of words. Where a character stands alone, or where its word says nothing, these phrases and
patterns decide; they see one stretch of Chinese characters at a time, whose ends are the ends of a clause.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

from polyvox.text.phonemes.chinese_words import parts_of_speech, pieces, word_cutter
from polyvox.text.phonemes.full_names import names_among, surnames_before_names
from polyvox.text.phonemes.polyphone_again import again
from polyvox.text.phonemes.polyphone_clauses import CLAUSE_RULES
from polyvox.text.phonemes.polyphone_phrases import NAMES, PHRASES, SURNAMES
from polyvox.text.phonemes.polyphone_rules import RULES
from polyvox.text.phonemes.polyphone_senses import SENSE_RULES
from polyvox.text.phonemes.polyphone_words import WORDS

# What a clause decides goes before what the neighbours do.
_RULES: Final = {
    char: SENSE_RULES.get(char, ()) + CLAUSE_RULES.get(char, ()) + RULES.get(char, ())
    for char in dict.fromkeys((*SENSE_RULES, *CLAUSE_RULES, *RULES))
}
_COMPLEMENT: Final = 5
"""Words behind 为 that tell whether it is to be or for."""
_THINGS: Final = frozenset("nmxfsb")
_NO_THINGS: Final = frozenset("vdprc")
_DOING: Final = frozenset("vp")
_NOMINAL: Final = frozenset("nrtsfqm")
# What somebody gets: a prize, a point, a benefit or an illness. Whatever else is said behind 得 must be done.
_GOT: Final = re.compile("^[到了分知奖票出主失手以力宠势益利的好实便人民天真意不]|[癌病炎症瘤分奖票牌名冠金军]$")
_LONGEST_LISTED: Final = 6
_PAIR: Final = 2
_TERM: Final = 3
_IDIOM: Final = 4
_CALLED: Final = "先生|女士|小姐|老师|教授|医生|大夫|同学|师傅|律师|阿姨|叔叔|大爷|奶奶"
_TITLE: Final = (
    f"(?:{_CALLED}|经理|主任|总(?![是会要有体共数计额结的理价量和经监裁部兵书编代])|董(?!事会)|队长|局长|书记|院长"
    "|校长|工(?=$|[说来]))"
)
_NAMED: Final = re.compile(
    f"(?<=[名我他她]叫)(?P<given>[任曾单解查仇区朴盖])(?=.{{1,2}}(?:$|的))|姓(?P<name>{'|'.join(SURNAMES)})"
)
# What a clause goes on with behind somebody's name.
_FAMILIAR: Final = (
    "[来去在是的和也已你我他她呢吗啊把给跟被让找没又都就还将刚要会想昨今明下上早晚退怎先叫发请问到]"
    "|说(?!员|词|法)|[、]|开[车会]|请|负责|结婚|回[来去家]"
)
# Before a title only those that are seldom anything else there.
_TITLED: Final = re.compile(
    f"(?:^|(?<=[找见请问给跟和是叫位的了由向对与及让随陪]))(?P<name>尉迟|令狐|[曾查葛纪华])(?={_TITLE})"
    # To serve as, at the beginning of a clause.
    f"|(?<=[找见请问给跟和是叫位由])(?P<asked>任)(?={_TITLE})"
    "|(?<=[小老阿])(?P<short>曾(?!经)|[翟覃缪](?!子)|葛(?![根布藤]))"
    f"|(?<![个张笔些的几下接]小)(?<=[小老阿])(?P<familiar>[仇朴任单查盖](?=$|{_FAMILIAR})|解(?={_FAMILIAR})(?!的)|(?<=老)解$)"
    "|(?:^|(?<=[和跟与找见请问给是叫了对被让位过]))(?P<kin>[任曾单解仇朴翟葛纪覃盖])(?=(?:[姐哥嫂姨](?![哥姐伦特])|(?:[叔伯]"
    "|总(?![是会要有在让把共计价量数额体分结])|工(?![作人业资程厂地会具序期种艺商单])|导(?![致师演入航弹管购线读出])|老板)"
    "(?:$|[您你好说在来去的是和已要会让叫把给请有没也她他])))"
    "|(?<=[跟和与找叫问请喊让]小)(?P<named>[仇任单查盖解])(?![位元车子据身品放释区])"
)
# Anywhere before a word that people are called by, unless the character in front makes another word of it; those that
# are no verbs or places before any title.
_CALLED_ONES: Final = re.compile(
    "|".join(
        f"(?<![{before}]){name}(?={title})"
        for name, before, title in (
            ("解", "了理讲化破瓦分缓误谅注辩拆溶电调图详见和排劝开难求", _TITLE),
            ("单", "简名订菜账清买下表传孤床被保签填接工运一二两三四五六七八九十多", _TITLE),
            ("仇", "报恩情寻", _TITLE), ("朴", "纯淳质俭古简", _TITLE), ("[翟覃缪]", "", _TITLE),
            ("任(?!教授|律师)", "曾担主责上现前历兼连信放聘就出升离继委胜首", _CALLED),
            ("区", "地小市社城园郊山景校辖库片专灾赛战厂", _CALLED),
            ("查", "检调审侦抽核搜盘普", _CALLED), ("盖", "覆涵铺掩膝瓶锅", _CALLED),
        )
    ).replace("(?<![])", "")
)  # fmt: skip
_KNOWN: Final = re.compile(
    f"[{''.join(NAMES)}](?:"
    + "|".join(f"(?<={surname})(?={'|'.join(given.split())})" for surname, given in NAMES.items())
    + ")"
)
# With characters of which a text that the pattern fits has one.
_SURNAME_PATTERNS: Final = (
    (_NAMED, frozenset("姓叫")),
    (_TITLED, frozenset("尉令曾查葛纪华任仇翟覃缪朴单解盖")),
    (_CALLED_ONES, frozenset("解单仇朴翟覃缪任区查盖")),
    (_KNOWN, frozenset(NAMES)),
)


def corrections(text: str, words: Sequence[str]) -> dict[int, str]:
    """The readings that the context decides, by their places in a stretch of Chinese characters.

    `words` are the tokens of the text. Phrases and surnames go before rules, and rules before parts of speech.
    """
    found: dict[int, str] = {}
    for place, reading in (*_phrases(text), *_surnames(text), *surnames_before_names(text), *names_among(text, words)):
        found.setdefault(place, reading)
    for place, reading in _words(words):
        found.setdefault(place, reading)
    found.update(_by_rules(text, words, frozenset(found)))
    for place, reading in (*_by_part_of_speech(words), *_copulas(words), *again(text, words)):
        found.setdefault(place, reading)
    return found


def _by_rules(text: str, words: Sequence[str], decided: frozenset[int]) -> Iterator[tuple[int, str]]:
    """The readings by the first rule that fits; of a place whose reading is decided no more is asked."""
    lone: frozenset[int] | None = None
    for char in set(text) & _RULES.keys():
        places = {place for place, other in enumerate(text) if other == char} - decided
        for rule in _RULES[char]:
            if not places:
                break
            if rule.alone and lone is None:
                lone = _lone_places(words)
            fitting = places.intersection(rule.found_in(text, tuple(places)))
            if rule.alone:
                fitting &= lone or frozenset()
            yield from ((place, rule.reading) for place in fitting)
            places -= fitting


def _by_part_of_speech(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Lone particles and verbs, by the kinds of the words on both sides."""
    tags = parts_of_speech()
    parts = [part for word in words for part in (pieces([word]) if _holds_particle(word) else [word])]
    place = 0
    for index, part in enumerate(parts):
        if part in _PARTICLES:
            before = parts[index - 1] if index else ""
            behind = parts[index + 1] if index + 1 < len(parts) else ""
            kinds = _kind_before(before, tags), _kind((behind, behind[:2], behind[:1]), tags)
            reading = _PARTICLES[part](*kinds)
            if reading is None and part == "得" and _is_duty(kinds, behind) and place in _lone_places(words):
                reading = "dei3"
            if reading:
                yield place, reading
        place += len(part)


def _is_duty(kinds: tuple[str, str], behind: str) -> bool:
    """Return whether something is said behind a lone 得 that somebody must do, and does not get."""
    return kinds[0] in _NOMINAL and kinds[1] not in "-m" and _GOT.search(behind) is None


def _holds_particle(word: str) -> bool:
    """Return whether a token may have a particle in it; 地 behind one character and 数 at any end are nouns."""
    if _PARTICLES.keys().isdisjoint(word):
        return False
    if len(word) == _PAIR and not word_cutter().FREQ.get(word):
        return True
    return len(word) == 1 or not (word[-1] == "数" or (len(word) == _PAIR and word[1] == "地"))


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


def _kind_before(word: str, tags: Mapping[str, str]) -> str:
    """A longer word is the name of a thing, whatever its end is by itself; but 热乎乎 tells how something is."""
    if len(word) == _TERM and word[1] != word[2] and word not in tags:
        return "n"
    return _kind((word, word[-2:], word[-1:]), tags)


def _kind(forms: tuple[str, str, str], tags: Mapping[str, str]) -> str:
    """The first letter of the tag of a word, or of that end of it which has one; `-` for no word, `i` for idioms."""
    if len(forms[0]) == _IDIOM:
        return "i"
    return next((tags[form][0] for form in forms if form in tags), "x") if forms[0] else "-"


def _de_of_complement(before: str, behind: str) -> str | None:
    """děi, must, behind a thing, person or time and before what must be done; else the particle behind a verb."""
    if (before in "nrtsfkdc-" and behind in "vdpr") or (before == "u" and behind in "vdprm"):
        return "dei3"
    return "de5" if (before in "vazib" and behind != "-") or (behind == "a" and before not in "nrt-") else None


def _de_of_manner(before: str, behind: str) -> str | None:
    """The particle between how something is done and its doing, and behind an idiom; else the ground."""
    if before == "i":
        return "de5" if behind != "-" else None
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
    phrases = _phrases_by_start()
    behind = 0
    for place in range(len(text) - 1):
        start = text[place : place + 2]
        if place < behind or start not in phrases:
            continue
        for phrase, readings in phrases[start]:
            if text.startswith(phrase, place):
                behind = place + len(phrase)
                yield from ((place + offset, reading) for offset, reading in readings)
                break


def _words(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    place = 0
    for word in words:
        if len(word) > 1:
            for offset, reading in _listed(word):
                yield place + offset, reading
        place += len(word)


@lru_cache(4096)
def _listed(word: str) -> tuple[tuple[int, str], ...]:
    """The readings of the listed words in a token, by their places in it; the longest go first."""
    listed = _listed_words()
    found: dict[int, str] = {}
    for size in range(min(len(word), _LONGEST_LISTED), 1, -1):
        for start in range(len(word) - size + 1):
            for offset, reading in listed.get(word[start : start + size], ()):
                found.setdefault(start + offset, reading)
    return tuple(found.items())


def _surnames(text: str) -> Iterator[tuple[int, str]]:
    for pattern, hints in _SURNAME_PATTERNS:
        if hints.isdisjoint(text):
            continue
        for match in pattern.finditer(text):
            name = match[match.lastgroup or 0]
            for offset, reading in enumerate(SURNAMES[name].split()):
                yield match.start(match.lastgroup or 0) + offset, reading


def _lone_places(words: Sequence[str]) -> frozenset[int]:
    """Places of words of one character, and of pairs that the tokenizer has made up: 他量 of 给他量了体温."""
    known = word_cutter().FREQ
    places: list[int] = []
    start = 0
    for word in words:
        if len(word) == 1:
            places.append(start)
        elif len(word) == _PAIR and not known.get(word):
            places += (start, start + 1)
        start += len(word)
    return frozenset(places)


@cache
def _listed_words() -> Mapping[str, tuple[tuple[int, str], ...]]:
    """The characters of every listed word that are read as its heading says, by their places in the word."""
    found: dict[str, tuple[tuple[int, str], ...]] = {}
    for heading, words in WORDS.items():
        char, reading = heading.split()
        for word in words.split():
            found[word] = (*found.get(word, ()), *((at, reading) for at, other in enumerate(word) if other == char))
    return found


@cache
def _phrases_by_start() -> Mapping[str, Sequence[tuple[str, tuple[tuple[int, str], ...]]]]:
    """Phrases and their readings by their first two characters, the longest first.

    A listed word that the tokenizer would part is one of them, since no token can be relied on to hold it.
    """
    cutter = word_cutter()
    readings = {word: listed for word, listed in _listed_words().items() if cutter.lcut(word) != [word]}
    readings |= {phrase: tuple(enumerate(said.split())) for phrase, said in PHRASES.items()}
    found: dict[str, list[tuple[str, tuple[tuple[int, str], ...]]]] = {}
    for phrase in sorted(readings, key=len, reverse=True):
        found.setdefault(phrase[:2], []).append((phrase, readings[phrase]))
    return found
