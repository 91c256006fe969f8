"""Scores of the places between two words at which a line or a cue may end."""

import re
from typing import Final

from polyvox.text.captions.rules import is_wide
from polyvox.text.captions.words import Boundary, CaptionWord

SENTENCE: Final = 0
CLAUSE: Final = 12
PHRASE: Final = 22
WORD: Final = 40
WITHIN_PHRASE: Final = 70
WITHIN_WORD: Final = 200

# Words of all languages at once: the language of a text is not always known, and a wrong guess only moves a line end.
_BEGIN_PHRASE: Final = frozenset(
    "although and because before but for from if into nor or since so than that then though unless until when where "
    "whether which while who whose why with without yet "
    "agar atau bahawa bahwa bila dan dengan jika karena kecuali kerana ketika manakala namun sebab sebelum sehingga "
    "sementara serta setelah supaya tapi tetapi untuk walaupun yang "
    "aunque como cuando donde e mas mientras ni o pero porque pues que si sino u y "
    "afin car comme donc et lorsque mais ou où parce pendant puis puisque quand qui si "
    "aber als bis damit dass denn doch nachdem ob obwohl oder sobald sondern und während weil wenn "
    "anche che dove ma mentre oppure perché però poiché quando se embora enquanto onde ou pois porém".split()
)
_HOLD_NEXT: Final = frozenset(
    "a an the my your his her its our their this these those some any no every each of to in on at by as very not i we "
    "he she they you it is are was were be mr mrs ms dr prof st mt "
    "di ke dari pada para si sang oleh itu ini tidak tak akan telah sudah sedang "
    "el la los las un una unos unas de del al en por con sin su sus mi mis tu "
    "le les des du une au aux sur dans son sa ses mon ma mes ne se "
    "der die das den dem ein eine einen einem einer im am vom zum zur von zu nicht "
    "il lo gli uno nel della dello degli delle non um uma os as do da dos das ao em no na nos nas".split()
)
_NO_LINE_START: Final = frozenset("ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶー々ゝゞ")
_PARTICLES: Final = frozenset("はがをにでともへの了着过的地得吗呢吧")
_LETTERS: Final = re.compile(r"[^\W\d_]+")


def break_cost(before: CaptionWord, behind: CaptionWord) -> int:
    """The cost of a break between two words, 0 at the end of a sentence."""
    if before.boundary >= Boundary.SENTENCE:
        return SENTENCE
    if not behind.spaced:
        return _unspaced_cost(before, behind)
    if before.boundary is Boundary.CLAUSE:
        return CLAUSE
    last, first = _key(before.text), _key(behind.text)
    if last in _HOLD_NEXT or last in _BEGIN_PHRASE:
        return WITHIN_PHRASE
    return PHRASE if first in _BEGIN_PHRASE else WORD


def _unspaced_cost(before: CaptionWord, behind: CaptionWord) -> int:
    """Of a break where no space stands: between characters of Chinese or Japanese, else within a word."""
    last, first = before.text[-1:], behind.text[:1]
    wide = bool(last and first) and (is_wide(last) or is_wide(first))
    if before.boundary is Boundary.CLAUSE:
        return CLAUSE
    if not wide or first in _NO_LINE_START:
        return WITHIN_WORD
    return PHRASE if last in _PARTICLES else WORD


def _key(text: str) -> str:
    found = _LETTERS.search(text)
    return found[0].lower() if found else ""
