"""Timed words as they stand in a caption: with their punctuation, without markup."""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from polyvox.text.characters import INVISIBLE
from polyvox.text.segmentation.split import sentences
from polyvox.text.tracked import TrackedText
from polyvox.types import WordTiming


class Boundary(IntEnum):
    """The boundary behind a word, the weakest first."""

    WORD = 0
    CLAUSE = 1
    SENTENCE = 2
    PARAGRAPH = 3


@dataclass(frozen=True, slots=True)
class CaptionWord:
    """A word with the marks around it, whether a space stands before it, and what ends behind it."""

    timing: WordTiming
    text: str
    spaced: bool
    boundary: Boundary
    speaker: str = ""


# Every repeated class stops at a character that begins the next candidate, which keeps the search linear.
_MARKUP: Final = re.compile(
    r"(?P<tag><(?:!--[^<>]{0,1000}--|/?[A-Za-z][^<>]{0,1000}|[!?|][^<>]{0,1000})>)"
    r"|(?P<control>\[\s*(?:voice|rate|baserate|pause)\s*[:\s][^\[\]\n]{0,200}\])"
    r"|(?P<open>!?\[)(?P<word>[^\[\]\n]{1,400})(?P<target>\]\([^()\[\]\n]{0,1000}\))"
    r"|(?P<entity>&(?:amp|lt|gt|quot|apos|nbsp|mdash|ndash|hellip|\#39);)",
    re.IGNORECASE,
)
_BLOCK: Final = re.compile(r"</?(?:br|div|h[1-6]|li|p|s|tr)\b", re.IGNORECASE)
_MARKDOWN: Final = str.maketrans("", "", "*_`#~|\\")
_BULLETS: Final = frozenset(("-", "+", "•", "‣", "◦", "▪", ">"))
_UNSEEN: Final = re.compile(f"[{INVISIBLE}]+")
_SENTENCE_END: Final = re.compile(r"[.!?…।॥؟۔。！？｡．][\"'”’»)\]}」』）】〕》]*$")
_CLAUSE_END: Final = re.compile(r"[,;:—–，、；：،؛][\"'”’»)\]}」』）】〕》]*$")
_NON_SPACE: Final = re.compile(r"\S+")


def caption_words(words: Sequence[WordTiming], text: str = "", speaker: str = "") -> list[CaptionWord]:
    """The words of a text that was spoken, as the caller wrote them; their spans are of `text`.

    Without the text there is no punctuation: a word stands alone, spaced where its span does not touch the one before.
    """
    shown = _shown(text)
    found: list[CaptionWord] = []
    end = 0
    for index, timing in enumerate(words):
        start = max(timing.span.start, end)
        if not index:
            gap = "\n" + "".join(shown[:start])
        else:
            gap = "".join(shown[end:start]) if text else _blank(timing, words[index - 1])
        suffix, prefix, spaced, line_ends = _gap(gap)
        if found:
            found[-1] = _closed(found[-1], suffix, line_ends)
        end = max(end, timing.span.end)
        own = " ".join("".join(shown[start:end]).translate(_MARKDOWN).split()) or _clean(timing.word)
        found.append(CaptionWord(timing, prefix + own, spaced and bool(found), Boundary.WORD, speaker))
    if found:
        found[-1] = _closed(found[-1], _gap("".join(shown[end:]) + "\n")[0], 2)
    return _with_sentences(found)


def _blank(word: WordTiming, before: WordTiming) -> str:
    return "" if word.span.start == before.span.end and len(word.span) else " "


def _clean(word: str) -> str:
    return " ".join(_UNSEEN.sub("", word).split())


def _shown(text: str) -> list[str]:
    """The visible form of each character of a text: itself, or nothing where it is markup."""
    shown = list(_UNSEEN.sub(lambda unseen: "\0" * len(unseen[0]), text))
    for found in _MARKUP.finditer(text):
        if found["word"] is not None:
            _hide(shown, *found.span("open"))
            _hide(shown, *found.span("target"))
        else:
            _hide(shown, *found.span())
            if found["entity"]:
                shown[found.start()] = html.unescape(found[0])
            elif _BLOCK.match(found[0]):
                shown[found.start()] = "\n"
    return ["" if char == "\0" else char for char in shown]


def _hide(shown: list[str], start: int, end: int) -> None:
    shown[start:end] = [""] * (end - start)


def _gap(gap: str) -> tuple[str, str, bool, int]:
    """Marks behind the word before a gap, marks before the word behind it, whether it parts them, its line ends."""
    if not any(char.isspace() for char in gap):
        marks = "".join(filter(_is_mark, gap.translate(_MARKDOWN)))
        opening = next((at for at, char in enumerate(marks) if unicodedata.category(char) in ("Ps", "Pi")), len(marks))
        return marks[:opening], marks[opening:], False, 0
    suffix, prefix = "", ""
    for token in _NON_SPACE.finditer(gap):
        marks = _marks(token)
        if token.start() == 0:
            suffix += marks
        elif token.end() == len(gap):
            prefix = marks
        elif marks and not _is_bullet(token):
            suffix += f" {marks}"
    return suffix, prefix, True, gap.count("\n")


def _marks(token: re.Match[str]) -> str:
    """The marks of what stands between two words; beside letters that are not spoken only those that touch a word."""
    marks = token[0].translate(_MARKDOWN)
    silent = [at for at, char in enumerate(marks) if not _is_mark(char)]
    if not silent:
        return marks
    behind = marks[: silent[0]] if token.start() == 0 else ""
    return behind + (marks[silent[-1] + 1 :] if token.end() == len(token.string) else "")


def _is_bullet(token: re.Match[str]) -> bool:
    """Return whether a token begins a line as the mark of a list or a quotation."""
    return token[0] in _BULLETS and token.string[: token.start()].rstrip(" \t").endswith("\n")


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"


def _closed(word: CaptionWord, suffix: str, line_ends: int) -> CaptionWord:
    """A word with the marks behind it, and the clause or paragraph that ends there."""
    text = word.text + suffix
    boundary = Boundary.CLAUSE if line_ends or _CLAUSE_END.search(text) else Boundary.WORD
    return replace(word, text=text, boundary=Boundary.PARAGRAPH if line_ends > 1 else boundary)


def _with_sentences(words: list[CaptionWord]) -> list[CaptionWord]:
    """The words with the ends of their sentences; abbreviations and initials end none."""
    pieces: list[str] = []
    ends: dict[int, int] = {}
    length = 0
    for index, word in enumerate(words):
        pieces.append(" " * word.spaced + word.text)
        length += len(pieces[-1])
        ends[length] = index
    marked, at = list(words), 0
    for sentence in sentences(TrackedText.of("".join(pieces))):
        index = ends.get(at + len(sentence.text.rstrip()), -1)
        at += len(sentence)
        if index >= 0 and _SENTENCE_END.search(marked[index].text):
            marked[index] = replace(marked[index], boundary=max(marked[index].boundary, Boundary.SENTENCE))
    return marked
