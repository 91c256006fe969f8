"""Quotes, dashes, brackets and other marks in the forms that the models know, for every language.

The models' punctuation is ; : , . ! ? — … " ( ) “ ”. Apostrophes and hyphens stay inside words, line ends between
sentences, and the private-use characters of inserts wherever they are.
"""

import re
import unicodedata
from typing import Final

from polyvox.text.characters import INVISIBLE, SPACES
from polyvox.text.placeholders import PLACEHOLDERS
from polyvox.text.tracked import TrackedText

_SPACE: Final = re.compile(f"[{SPACES}]")
_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]+")
_COMPATIBLE: Final = re.compile("[\uff01-\uff5e\ufb00-\ufb06\U0001d400-\U0001d7ff]")
_SQUARE_UNIT: Final = re.compile("[\u3371-\u337a\u3380-\u33df]")  # units of one character each, such as ㎡ and ㎏
_POWERS: Final = str.maketrans("23", "²³")
# Numbers in circles that head the items of a list, within a line too.
_LISTED: Final = re.compile("(?<![^\\s;；。,，:：、])[\u2460-\u2473](?=[^\\W_])|[\u2460-\u2473](?=[\\d\u2460-\u2473])")
# Digits of other scripts, in circles, and below the line; those above the line are powers and stay.
_OTHER_DIGIT: Final = re.compile(
    "(?![0-9])\\d|[\u1369-\u1371\u19da\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff"
    "\u2776-\u277e\u2780-\u2788\u278a-\u2792\U00010a40-\U00010a43\U00010e60-\U00010e68\U00011052-\U0001105a"
    "\U0001f100-\U0001f10a]"
)
_HYPHEN: Final = re.compile("[\u2010-\u2012\ufe63]|\u2212(?=[.\\d])")
_SOLIDUS: Final = re.compile("[\u2044\u2215]")
_APOSTROPHE: Final = re.compile(r"(?<=[^\W\d_])[’‘ʼ`´](?=[^\W\d_])")
# All other characters than those of plain European text, which have one form only.
_FOLDABLE: Final = re.compile("[^ -_a-~\n\u00a1-\u00ac\u00ae-\u00b3\u00b5-\u024f]")


def fold(text: TrackedText) -> TrackedText:
    """One form for each character: plain digits and letters, one kind of space, hyphen and apostrophe."""
    if _FOLDABLE.search(text.text) is None:
        return text
    text = text.sub(_SPACE, " ").sub(_INVISIBLE, "")
    if text.text.isascii():
        return text.sub(_APOSTROPHE, "'") if "`" in text.text else text
    text = text.sub(_COMPATIBLE, lambda match: unicodedata.normalize("NFKC", match.group()))
    text = text.sub(_SQUARE_UNIT, lambda match: unicodedata.normalize("NFKC", match.group()).translate(_POWERS))
    text = text.sub(_LISTED, lambda match: f"{unicodedata.numeric(match.group()):.0f}, ")
    text = text.sub(_OTHER_DIGIT, lambda match: str(unicodedata.digit(match.group())))
    return text.sub(_HYPHEN, "-").sub(_SOLIDUS, "/").sub(_APOSTROPHE, "'")


def speakable(text: TrackedText) -> TrackedText:
    """The text as it stands, without what no reader could say: controls, pictures, signs of no meaning."""
    return text.sub(_SPACE, " ").sub(_INVISIBLE, "").sub(_APOSTROPHE, "'").sub(_UNKNOWN, _symbol_kept)


_OPENING: Final = re.compile("[„«「『〝《〈]|(?<![\\w.,!?…])''(?=\\w)|``")
_CLOSING: Final = re.compile("[‟»」』〞〟》〉]|''")
_OPEN_BRACKET: Final = re.compile(r"[\[{〔【［｛]")
_CLOSE_BRACKET: Final = re.compile(r"[\]}〕】］｝]")
_ELLIPSIS: Final = re.compile(r"\.{2,}|\.(?: \.)+|…[.…]*|⋯+")
# A lookbehind behind the first character, not in front of it, lets the search skip to that character.
_LONG_DASH: Final = re.compile(r"-{2,}|[—―⸺⸻](?: ?[-–—―⸺⸻])*|[-–](?<!\S[-–])(?!\S)|–(?![^\W\d_])|–(?<![^\W\d_]–)")
_FULL_STOP: Final = re.compile("[。｡।॥۔]")
_COMMA: Final = re.compile("[、﹐﹑،]")
_OTHER_MARKS: Final = {"؟": "?", "؛": ";", "¿": "", "¡": ""}
_OTHER_MARK: Final = re.compile("[" + "".join(_OTHER_MARKS) + "]")
_SHORT_DASH: Final = re.compile("–")
_SHOUTED: Final = re.compile(r"[!?][!?]+")
_REPEATED: Final = re.compile(r"([,;:])\1+")
_UNKNOWN: Final = re.compile(rf"[^\w\s'\"“”();:,.!?—…{PLACEHOLDERS}-]|_")
# A vowel sign of Devanagari ends a word as a letter does.
_LOOSE_HYPHEN: Final = re.compile(r"-(?<![^\W_]-)(?<![\u0900-\u0963]-)-*+(?!\d)|-+(?![^\W_])")
_HOLLOW: Final = re.compile(r"\( *\)|“ *”")
_MARK_AFTER_MARK: Final = re.compile(r"(?<=[,;:—])(?: ?[,;:—])+(?=[ \n]|$)|[,;:](?= ?[.!?…])")
_SPACES: Final = re.compile(r" {2,}")
_SPACE_AT_MARK: Final = re.compile(r"\A +| +\Z| (?=[,.;:!?…)”\n])|(?<=[(“\n]) ")

# Chinese and Japanese write no space behind a mark; with one, every language ends its sentences alike.
_TIGHT: Final = re.compile(
    '(?<=[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff”)])[,.;:!?…]++[”")]*+(?=[^\\s—])'
    '|(?<![,.;:!?…])[,.;:!?…]++[”")]*+(?=[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff“(])'
)
# Words with one mark and one space between them, in which there is nothing to do.
_TIDY: Final = re.compile(r"[^\W_]++(?:(?:[.,;:!?]? |['-])[^\W_]++)*+[.!?]?")


def tidy(text: TrackedText, *, keep_symbols: bool = False) -> TrackedText:
    """Marks in the voices' forms, nothing repeated, and nothing left that has no sound."""
    if _TIDY.fullmatch(text.text):
        return text
    if not text.text.isascii() or "''" in text.text or "``" in text.text:
        text = text.sub(_OPENING, "“").sub(_CLOSING, "”").sub(_FULL_STOP, ".").sub(_COMMA, ",")
        text = text.sub(_OTHER_MARK, lambda match: _OTHER_MARKS[match.group()])
    text = text.sub(_OPEN_BRACKET, "(").sub(_CLOSE_BRACKET, ")")
    text = text.sub(_ELLIPSIS, "…").sub(_LONG_DASH, "—").sub(_SHORT_DASH, "-")
    text = text.sub(_SHOUTED, _calmer).sub(_REPEATED, r"\1")
    text = (
        text.sub(_SINGLE_QUOTE, _SingleQuotes())
        .sub(_UNKNOWN, _symbol_kept if keep_symbols else _letter_kept)
        .sub(_LOOSE_HYPHEN, "")
    )
    text = text.sub(_HOLLOW, "").sub(_SPACES, " ").sub(_SPACE_AT_MARK, "").sub(_MARK_AFTER_MARK, "")
    return text.sub(_TIGHT, lambda match: match.group() + " ")


def _calmer(match: re.Match[str]) -> str:
    """One mark for many; astonishment keeps both kinds."""
    return "?!" if len(set(match.group())) > 1 else match.group()[0]


def _letter_kept(match: re.Match[str]) -> str | None:
    """None for vowel signs and accents, which belong to letters; all other signs become a space."""
    return None if unicodedata.category(match.group()) in ("Mn", "Mc") else " "


_READ_SIGNS: Final = frozenset("°©®№℃℉")


def _symbol_kept(match: re.Match[str]) -> str | None:
    """None for signs that may mean something to a reader; pictures and stray modifiers become a space."""
    sign = match.group()
    return None if sign in _READ_SIGNS or unicodedata.category(sign) not in ("So", "Sk", "Me", "Cn", "Cs") else " "


_SINGLE_QUOTE: Final = re.compile("['’‘‚‛ʼ`´′]|\n")
# Words that begin with an apostrophe of their own.
_CLIPPED: Final = re.compile(
    r"(?:tis|twas|twere|twill|em|til|till|n|cause|cos|cuz|bout|round|neath|gainst|ere|kay)\b|\d", re.I
)
# After "the dogs’", the same quotation's real end is still to come: behind a mark, as quotations end.
_CLOSED_LATER: Final = re.compile("[^‘“”\"\n]{0,200}?[.,!?…—]['’](?!\\w)")


class _SingleQuotes:
    """Makes single quotation marks double ones while walking along a text, and tells apostrophes from them.

    Quotations that are still open at a line end are forgotten.
    """

    def __init__(self) -> None:
        self._open = 0

    def __call__(self, match: re.Match[str]) -> str:
        char, text = match.group(), match.string
        if char == "\n":
            self._open = 0
            return char
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if after.isalnum():
            return self._before_word(char, before, _CLIPPED.match(text, match.end()) is not None)
        owned = before in ("s", "S") and _CLOSED_LATER.match(text, match.end()) is not None
        return self._after_word(before, owned)

    def _before_word(self, char: str, before: str, clipped: bool) -> str:
        if before.isalnum() or clipped or (char == "’" and before != "“"):
            return "'"
        self._open += 1
        return "“"

    def _after_word(self, before: str, owned: bool) -> str:
        if self._open and before and not before.isspace() and not owned:
            self._open -= 1
            return "”"
        return "'" if before.isalnum() else ""
