"""Places inside a sentence at which an arriving text may be cut without being read otherwise."""

import re
import unicodedata
from typing import Final

from polyvox.text.segmentation.abbreviations import may_abbreviate

MIN_OPENING: Final = 20
"""Letters of an alphabet that a clause needs to be spoken before the rest of its sentence is known."""
_AFTER_OPENING: Final = 16
"""Characters of the sentence that must follow such a clause."""
_AFTER_PHRASE: Final = 64

_SIGNS: Final = "\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u200c\u200d"
"""Loose accents and the signs of Devanagari, which are parts of words and no letters to `re`."""
_LETTER: Final = rf"(?:[^\W\d_A-Z]|[{_SIGNS}])"
_PLAIN: Final = rf"(?:I|{_LETTER}+(?:['’][a-z]+)?),?"
_HAN: Final = "[\u4e00-\u9fff]"
# Behind three plain words and before two more nothing is read otherwise for what stands on the far side: there is no
# figure, abbreviation or capital near.
_PHRASE: Final = re.compile(rf"(?<!\S)(?:{_PLAIN} +){{3}}(?={_PLAIN} +{_PLAIN}\s)|(?<={_HAN})[，、；：](?={_HAN})")

_NUMERALS: Final = "〇零一二三四五六七八九十百千万萬亿億两兩"
_DENSE: Final = rf"(?:(?![{_NUMERALS}])[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff])"
_CLAUSE: Final = re.compile(
    rf"(?<={_DENSE})(?:[，；：、]|—{{1,2}})(?={_DENSE})|(?<=[^\W\d_])(?:[,;:](?=\s)|\s[—–](?=\s)|—(?=[^\W\d_]))"
    rf"|(?<=[{_SIGNS}])[,;](?=\s)"
)
_LONGEST_CLAUSE_MARK: Final = 4  # with what must follow it
_TWO_WORDS: Final = re.compile(r"\s*(\S+)\s+(\S+)(?=\s)")
_WIDE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_WIDTH: Final = 3
_PAIRS: Final = ("()", "[]", "{}", "“”", "«»", "「」", "『』", "（）", "【】", "《》")
_HALVES: Final = ('"', "`", "¿", "¡", "|")

_WORD: Final = re.compile(r"\S+")
_OPENERS: Final = "\"'“‘«([{¿¡「『（【《*_"
_CLOSERS: Final = "\"'”’»)]}」』）】》*_"
_MARKED: Final = re.compile(r"(?P<word>[^\s.,;:!?…।॥؟۔،؛]+)(?P<mark>[.,;:!?…।॥؟۔،؛]+)")
# A dash behind a date may open the second half of a range.
_DENSE_MARKED: Final = re.compile(
    rf"(?<={_DENSE})(?!(?<=[年月日号號时時点點分])—)[，、；。！？…—]+[{re.escape(_CLOSERS)}]*(?!\d)"
)
_ADDRESS: Final = re.compile(r"[./\\@&=<>_#]|\d:|:/")
_ELIDED: Final = re.compile("^[^'’]*['’]")
_NEAR: Final = 3
_JOINERS: Final = "\u200d\ufe0e\ufe0f\u20e3"
# Words of several languages that begin a phrase: before them speech may pause.
_JOINING: Final = frozenset(
    "and or but because when while if which where with without from into about for in on at by of than "
    "after before until since although "
    "dan atau tetapi tapi kerana sebab untuk dengan di ke dari daripada pada yang kalau jika apabila bila supaya agar "
    "y o pero porque cuando que con sin de del en para por como "
    "et ou mais quand avec sans dans pour par sur "
    "ma perché quando che con senza di del per da "
    "e mas quando com sem em "
    "und oder aber weil wenn dass mit ohne von für "
    "और या लेकिन क्योंकि कि जब".split()
)
# Words that are said otherwise at the end of a phrase, or for what follows them.
_DEPENDENT: Final = frozenset(
    "the this that these those his her its our your their she you they was were are been being has have had does did "
    "will would can could should shall may might must not just very more most some any each every what how why then "
    "there here such used uses read lead live lives close wind wound tear tears bow row sow bass minute record records "
    "content dove object objects produce refuse resume resumes present presents use excuse desert number house houses "
    "separate estimate estimates subject project projects increase permit conduct contract".split()
)
_BEFORE_ADDRESSES: Final = frozenset(
    "at to on see visit open from via called named file web site website "
    "di ke kat dari layari lawati semak en visita sur su em "
    "archivo fichero fichier arquivo ejecuta lance esegui".split()
)

_MAIL: Final = frozenset("mail e-mail email correo courriel".split())


def phrase_end(text: str, start: int, certain: int) -> int | None:
    """The end of the first phrase before `certain`, where neither side of the cut is read otherwise for the other."""
    found = _PHRASE.search(text, start, certain + _AFTER_PHRASE)
    return None if found is None else found.end()


def opening_clause(text: str, start: int, searched: int, certain: int) -> tuple[int | None, int]:
    """The end of a first clause that may be spoken alone, and from where the search goes on as `searched`.

    No sentence ends before `certain`; the end is None as long as it takes more text to tell.
    """
    for mark in _CLAUSE.finditer(text, searched, certain):
        dense = _WIDE.match(text, mark.start() - 1) is not None
        following = _TWO_WORDS.match(text, mark.end())
        if mark.end() + (_AFTER_OPENING // _WIDTH if dense else _AFTER_OPENING) > certain:
            return None, mark.start()
        if not dense and following is None:
            return None, mark.start()
        clause = text[start : mark.end()]
        apart = dense or (following is not None and _stands_apart(text, start, mark, following))
        if apart and _width(clause) >= MIN_OPENING and _is_balanced(clause):
            return mark.end(), mark.end()
    return None, max(searched, certain - _LONGEST_CLAUSE_MARK)


def safe_end(text: str, start: int) -> int | None:
    """The last place of a text that stopped arriving up to which it can be spoken, whatever comes next.

    It never follows or parts a figure, an abbreviation, an address, a name or a word that may be unfinished. Behind a
    plain word a mark at the very end counts as the end of a clause or sentence.
    """
    words = list(_WORD.finditer(text, start))
    for index in reversed(range(len(words))):
        place = _marked_place(text, words, index) or _plain_place(text, words, index)
        if place is not None and not is_extender(text[place : place + 1]):
            return place
    return None


def is_extender(char: str) -> bool:
    """Return whether a character changes the one before it: an accent, a vowel sign, a part of an emoji."""
    return bool(char) and (
        unicodedata.category(char).startswith("M") or char in _JOINERS or "\U0001f3fb" <= char <= "\U0001f3ff"
    )


def is_plain(word: str) -> bool:
    """Return whether a word is no figure, name, abbreviation, code or address: its neighbours do not change it."""
    return word == "I" or (word == word.lower() and _is_word(word))


def _is_word(word: str) -> bool:
    letters = word.replace("'", "").replace("’", "").replace("\u200c", "").replace("\u200d", "")
    return letters[:1].isalpha() and all(char.isalpha() or unicodedata.category(char)[0] == "M" for char in letters)


def _width(text: str) -> int:
    return len(text) + (_WIDTH - 1) * len(_WIDE.findall(text))


def _is_balanced(text: str) -> bool:
    return all(text.count(pair[0]) <= text.count(pair[1]) for pair in _PAIRS) and not any(
        text.count(half) % 2 for half in _HALVES
    )


def _stands_apart(text: str, start: int, mark: re.Match[str], following: re.Match[str]) -> bool:
    """Return whether plain words stand on both sides of a clause's mark."""
    *_, third, second, last = ["", "", "", *text[max(start, mark.start() - 80) : mark.start()].split()]
    before = is_plain(last) and is_plain(second) and not _has_figure(third)
    return before and is_plain(following[1].rstrip(",")) and is_plain(following[2].rstrip(","))


def _has_figure(word: str) -> bool:
    return any(char.isnumeric() or unicodedata.category(char) == "Sc" for char in word)


def _marked_place(text: str, words: list[re.Match[str]], index: int) -> int | None:
    """The place behind the mark that a word ends with, or behind the last one inside it where words have no spaces."""
    word = words[index]
    dense = list(_DENSE_MARKED.finditer(word[0]))
    if dense:
        return word.start() + dense[-1].end()
    marked = _MARKED.fullmatch(word[0].rstrip(_CLOSERS).lstrip(_OPENERS))
    if marked is None or not _closes(marked, words, index):
        return None
    complete = word.end() < len(text)
    if marked["mark"] == "." and not complete and _may_be_address(marked["word"], words[:index]):
        return None
    return word.end()


def _closes(marked: re.Match[str], words: list[re.Match[str]], index: int) -> bool:
    """Return whether a mark behind a word ends a clause or a sentence, whatever follows."""
    word, mark = marked["word"], marked["mark"]
    if mark[-1] in "!?।॥؟۔":
        return _ADDRESS.search(word) is None
    opens = _begins(words, index) and is_plain(word.lower()) and len(word) > _NEAR
    if not (is_plain(word) or (opens and mark != ",")):  # a city before the letters of its state
        return False
    if mark == ":":  # what stands behind one may tell how a figure is read
        return False
    return mark[0] != "." or not (mark.endswith(",") or may_abbreviate(_ELIDED.sub("", word)))


def _may_be_address(word: str, before: list[re.Match[str]]) -> bool:
    """Return whether a full stop at the very end may be one inside an address or a file's name."""
    if any(each[0].lower() in _MAIL for each in before[-_NEAR:]):
        return True
    return len(before) < _NEAR - 1 or before[-1][0].lower() in _BEFORE_ADDRESSES or _WIDE.search(word) is not None


def _plain_place(text: str, words: list[re.Match[str]], index: int) -> int | None:
    """The place behind a word that stands among plain words, before one that begins a phrase and is complete."""
    if index < _NEAR or index + 1 >= len(words) or words[index + 1].end() == len(text):
        return None
    before, word, after = (words[place][0] for place in (index - 1, index, index + 1))
    known = is_plain(before)
    near = words[max(0, index - _NEAR) : index]
    if not (known and is_plain(word) and after in _JOINING) or any(_has_figure(each[0]) for each in near):
        return None
    return None if len(word) < _NEAR or word in _DEPENDENT or word in _JOINING else words[index].end()


def _begins(words: list[re.Match[str]], index: int) -> bool:
    """Return whether a word is the first of a sentence, where a capital says nothing."""
    return index == 0 or words[index - 1][0].rstrip(_CLOSERS).endswith((".", "!", "?", "…"))
