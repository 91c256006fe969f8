"""Markup in the caller's text: inline phonemes, pauses and Markdown.

Phonemes (`[word](/wɜːd/)`) and pauses (`[pause:1.5s]`, `[pause:500ms]`, `[pause 1s]`) become inserts, each standing in
the text as one placeholder. Markdown is stripped down to its words. Line ends stay, because a list item or a
heading ends there; only those that merely wrap a running sentence become spaces.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from polyvox.errors import MarkupError
from polyvox.text.characters import INVISIBLE, SPACES
from polyvox.text.markup.code_blocks import replace_blocks
from polyvox.text.placeholders import MAX_PLACEHOLDERS, PLACEHOLDERS, mask, placeholder_index
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import Span

MAX_PAUSE_SECONDS: Final = 60.0
MAX_SILENCE_SECONDS: Final = 600.0
MAX_PHONEME_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class InlinePhonemes:
    """A word whose phonemes the caller gave; `span` is the word inside the brackets."""

    text: str
    phonemes: str
    span: Span


Insert = InlinePhonemes | Pause


@dataclass(frozen=True, slots=True)
class Markup:
    """The words of a text, with one placeholder for each insert."""

    text: TrackedText
    inserts: tuple[Insert, ...]


def parse(raw: str, code: str | None = None) -> Markup:
    """Take phonemes, pauses and Markdown out of a text; `MarkupError` where an insert cannot be honoured.

    `code` is said in place of a fenced block of code; None leaves its words in the text.
    """
    text = _speakable(TrackedText.of(raw))
    text, inserts = _take_inserts(text)
    return Markup(_plain(text, code), inserts)


def check(text: TrackedText) -> None:
    """Refuse what `parse` would, without parsing the rest; the error's place is one of the caller's text."""
    if "[" in text.text:
        _take_inserts(_speakable(text))


def placed(error: MarkupError, raw: str) -> MarkupError:
    """The error with the line and the column of its mark in a text."""
    if error.at is None:
        return error
    message = f"{error.message} It is at {place(raw, error.at)}."
    return MarkupError(message, field=error.field, at=error.at, mark=error.mark)


def place(raw: str, at: int) -> str:
    """Line and column of a character, each from 1."""
    line_start = raw.rfind("\n", 0, at) + 1
    return f"line {raw.count(chr(10), 0, at) + 1}, column {at - line_start + 1}"


def pause_seconds(raw: str) -> float:
    """Seconds of all pauses that a text asks for, without parsing the rest of it; one that is no length counts as 0."""
    if "[" not in raw:
        return 0.0
    marks = _INSERT.finditer(_UNSPEAKABLE.sub("", raw))
    lengths = (_DURATION.fullmatch((mark["given"] or mark["number"] or "").strip()) for mark in marks)
    return sum(max(0.0, _seconds(length)) for length in lengths if length is not None)


def _seconds(duration: re.Match[str]) -> float:
    return float(duration["amount"]) / (1000 if duration["unit"].lower() == "ms" else 1)


def insert_at(char: str, inserts: Sequence[Insert]) -> Insert | None:
    """The insert that a character of `Markup.text` stands for, if it stands for one."""
    index = placeholder_index(char)
    return inserts[index] if 0 <= index < len(inserts) else None


_UNSPEAKABLE: Final = re.compile(f"[{INVISIBLE}{PLACEHOLDERS}]+")
_LINE_END: Final = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028]")
_PARAGRAPH_END: Final = re.compile("\u2029")
_SPACE: Final = re.compile(f"[{SPACES}]")
# Letters typed as a base and loose accents; a longer pile of accents than this is decoration.
_LOOSE_ACCENT: Final = re.compile("[^\\W\\d_][\u0300-\u036f]{1,4}")


def _speakable(text: TrackedText) -> TrackedText:
    text = text.sub(_LINE_END, "\n").sub(_PARAGRAPH_END, "\n\n").sub(_SPACE, " ").sub(_UNSPEAKABLE, "")
    return text.sub(_LOOSE_ACCENT, lambda match: unicodedata.normalize("NFC", match.group()))


# Every repeated class stops at a character that begins the next candidate, which keeps the search linear.
_INSERT: Final = re.compile(
    r"\[(?P<word>[^\[\]\n]+)\]\(/(?P<phonemes>[^/()\[\]]*)/\)"
    r"|\[\s*pause(?:\s*:\s*(?P<given>[^\[\]\n]*)|\s+(?P<number>[+-]?\.?\d[^\[\]\n]*))\]",
    re.IGNORECASE,
)
_DURATION: Final = re.compile(r"(?P<amount>-?(?:\d+(?:\.\d*)?|\.\d+))\s*(?P<unit>ms|s|secs?|seconds?)", re.IGNORECASE)


def insert(text: TrackedText, start: int) -> Insert | None:
    """The insert whose markup begins there, if any; `MarkupError` where it cannot be honoured."""
    found = _INSERT.match(text.text, start)
    return None if found is None else _insert(text, found)


def _insert(text: TrackedText, found: re.Match[str]) -> Insert:
    return _pause(text, found) if found["word"] is None else _inline_phonemes(text, found)


def _take_inserts(text: TrackedText) -> tuple[TrackedText, tuple[Insert, ...]]:
    too_many = MarkupError(f"A text may hold at most {MAX_PLACEHOLDERS} phoneme or pause marks.", field="input")
    masked, inserts = mask(text, _INSERT, partial(_insert, text), too_many=too_many)
    if sum(each.seconds for each in inserts if isinstance(each, Pause)) > MAX_SILENCE_SECONDS:
        raise MarkupError(f"The pauses of a text may last at most {MAX_SILENCE_SECONDS:g} s together.", field="input")
    return masked, inserts


def _inline_phonemes(text: TrackedText, match: re.Match[str]) -> InlinePhonemes:
    word, phonemes = match["word"].strip(), match["phonemes"].strip()
    if "\n" in match["phonemes"]:
        raise _refusal(text, match, f"The phonemes for {_shortened(word)} hold a line break; keep them on one line.")
    if len(phonemes) > MAX_PHONEME_CHARS:
        raise _refusal(
            text, match, f"The phonemes for {_shortened(word)} are longer than {MAX_PHONEME_CHARS} characters."
        )
    if not word or not phonemes:
        raise _refusal(text, match, "Inline phonemes need a word and its phonemes, as in [word](/wɜːd/).")
    return InlinePhonemes(word, phonemes, text.span(match.start("word"), match.end("word")))


def _pause(text: TrackedText, match: re.Match[str]) -> Pause:
    given = (match["given"] or match["number"] or "").strip()
    duration = _DURATION.fullmatch(given)
    if duration is None:
        raise _refusal(
            text,
            match,
            f"The pause {_shortened(given)} is not a length of time; write [pause:1.5s] or [pause:500ms].",
        )
    seconds = _seconds(duration)
    if not 0 <= seconds <= MAX_PAUSE_SECONDS:
        raise _refusal(
            text, match, f"The pause {_shortened(given)} is outside the limit of 0 to {MAX_PAUSE_SECONDS:g} seconds."
        )
    return Pause(seconds, text.span(match.start(), match.end()))


def _refusal(text: TrackedText, match: re.Match[str], sentence: str) -> MarkupError:
    return MarkupError(sentence, field="input", at=text.span(*match.span()).start, mark=match[0])


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


_ENTITIES: Final = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&apos;": "'",
    "&#39;": "'",
    "&nbsp;": " ",
    "&mdash;": "—",
    "&ndash;": "–",
    "&hellip;": "…",
}
_ENTITY: Final = re.compile("|".join(_ENTITIES))
_BLOCK_TAG: Final = re.compile(
    r"</?(?:blockquote|br|div|h[1-6]|hr|li|ol|p|pre|table|td|th|tr|ul)(?: [^<>\n]*)?/?>", re.IGNORECASE
)
_INLINE_TAG: Final = re.compile(
    r"</?(?:a|b|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|script|small|span|strong|style|sub|sup|u)"
    r"(?: [^<>\n]*)?/?>|</[a-z][a-z0-9-]{0,30}>",
    re.IGNORECASE,
)
_QUOTE_MARK: Final = re.compile(r"^ {0,3}(?:> ?)+", re.MULTILINE)
_FENCE: Final = re.compile(r"^ {0,3}(?:`{3,}|~{3,})(?P<word> [\w+#.-]+|[\w+#.-]*) *$", re.MULTILINE)
_FENCE_MARK: Final = re.compile(r"`{3,}|~{3,}")
_RULE: Final = re.compile(r"^ {0,3}(?:(?:- ?){3,}|(?:\* ?){3,}|(?:_ ?){3,}|={2,}) *$", re.MULTILINE)
_TABLE_RULE: Final = re.compile(r"^ ?\|? ?:?-{2,}+:? ?\|(?: ?:?-++:? ?\|)*+ ?(?::?-++:?)? ?(?:\n|\Z)", re.MULTILINE)
_TABLE_EDGE: Final = re.compile(r"^ *\| *| ?\| *$", re.MULTILINE)
# Bars around the one side of a comparison tell its size: "|x| < 2".
_TABLE_BAR: Final = re.compile(
    r" \| +|(?<=\S)\| ++(?![<>=≤≥])|^\| +| \|(?!(?:[^|\s]{1,8} [-+−] )?[^|\s]{1,8}\| ?[<>=≤≥])", re.MULTILINE
)
_BLOCK_MARK: Final = re.compile(r"^ *(?:#{1,6}|[-*+•‣◦▪](?: \[[ xX]\])?) +(?=\S)", re.MULTILINE)
_CLOSING_HASHES: Final = re.compile(r" #+ *$", re.MULTILINE)
_ITEM_BRACKET: Final = re.compile(r"(?<=^\d)\)(?= )|(?<=^\d\d)\)(?= )", re.MULTILINE)
_FOOTNOTE: Final = re.compile(r"\[\^[^\[\]\n]{1,40}\]:?")
_TARGET: Final = r"(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)|\[[^\[\]\n]*\])"
_IMAGE: Final = re.compile(rf"!\[(?P<text>[^\[\]\n]*)\]{_TARGET}")
_LINK: Final = re.compile(rf"\[(?P<text>[^\[\]\n]*)\]{_TARGET}")
_AUTOLINK: Final = re.compile(r"<(?P<text>[^\s<>]*[@/][^\s<>]*)>")
_TICKS: Final = re.compile(r"`+")
_STRIKES: Final = re.compile(r"~~+")
_STARS: Final = re.compile(
    r"(?<![\w*\\])\*{1,3}(?=[^\s*=/.)])(?!(?<=[a-z] \*)\d{2,4}(?!\w|[^\n*]{0,60}\*))"
    r"|(?<=[^\s*\\/])(?<!\()(?<!(?<!\w)A)\*(?![\w*])|(?<=[^\s*\\/])\*{2,3}(?![\w*])"
)
_TOP_GRADE: Final = re.compile(r"(?<![A-Za-z0-9*])A\*")
_UNDERSCORES: Final = re.compile(r"(?<![^\s(\"'“‘*~—])_{1,3}(?=[^\s_])|(?<=[^\s_\\])_{1,3}(?![^\s.,;:!?)\"'”’*~—])")
_ESCAPE: Final = re.compile(r"\\(?=[\\`*_{}\[\]()#+.!|~>-])")
_SPACES: Final = re.compile(r" {2,}")
_LINE_EDGE: Final = re.compile(r" (?=\n)|(?<=\n) ")
_BLANK_LINES: Final = re.compile(r"\n{3,}")


def _plain(text: TrackedText, code: str | None) -> TrackedText:
    """The text without Markdown and HTML; its words keep their spans."""
    if code is not None:
        text = replace_blocks(text.sub(_QUOTE_MARK, ""), code)
    text = text.sub(_ENTITY, lambda match: _ENTITIES[match.group()]).sub(_BLOCK_TAG, "\n").sub(_INLINE_TAG, "")
    text = text.sub(_QUOTE_MARK, "")
    text = text.sub(_WRAP, _unwrapped).sub(_SPACES, " ")
    text = _without_fences(text)
    for pattern in (_RULE, _TABLE_RULE, _TABLE_EDGE):
        text = text.sub(pattern, "")
    text = text.sub(_TABLE_BAR, ", ")
    for pattern in (_BLOCK_MARK, _CLOSING_HASHES, _FOOTNOTE):
        text = text.sub(pattern, "")
    text = text.sub(_ITEM_BRACKET, ".")
    for pattern in (_IMAGE, _LINK, _AUTOLINK):
        text = text.keep(pattern, "text")
    for pattern in (_TICKS, _STRIKES):
        text = text.sub(pattern, "")
    text = text.sub(_STARS, _without_star)
    for pattern in (_UNDERSCORES, _ESCAPE):
        text = text.sub(pattern, "")
    return text.sub(_SPACES, " ").sub(_LINE_EDGE, "").sub(_BLANK_LINES, "\n\n")


def _without_star(match: re.Match[str]) -> str | None:
    """Nothing; a star that closes no emphasis says something of a figure or a grade: "72*", "a 3* hotel", "A*"."""
    text, start = match.string, match.start()
    line = text.rfind("\n", 0, start) + 1
    marked = text[start - 1 : start].isdigit() or _TOP_GRADE.match(text, max(0, start - 1)) is not None
    opened = "*" in _TOP_GRADE.sub("", text[line:start])
    return None if marked and not opened and match.group() == "*" else ""


def _without_fences(text: TrackedText) -> TrackedText:
    """The text without lines of fences; of one that closes a block, the word behind it stays (`` ``` after``)."""
    marks = [mark.start() for mark in _FENCE_MARK.finditer(text.text)]

    def removed(line: re.Match[str]) -> str | None:
        closes = bisect_left(marks, line.start()) % 2 == 1
        return None if closes and line["word"].startswith(" ") else ""

    return text.sub(_FENCE, removed)


_WRAP: Final = re.compile(r"(?<=[\w,;'’\"”)]) ?\n(?=[\w\"“'‘(])|(?<=[a-z]-)\n(?=[a-z])")
_BLOCK_LINE: Final = re.compile(r" *(?:#{1,6} |\||[-*+•‣◦▪] |\d{1,3}[.)] |[IVXLC]+[.)] )")
_HEADING_LINE: Final = re.compile(r" *(?:#{1,6} |\|)")
_WRAP_AT_LEAST: Final = 40
_WRAP_BEFORE_CAPITAL: Final = range(55, 101)


def _unwrapped(match: re.Match[str]) -> str | None:
    """A space for a line end inside a hard-wrapped paragraph; None where the line end says something.

    A continued line starts in lower case after a line of some length; one that starts with a capital counts only when
    the line before has the length that editors and mailers wrap at.
    """
    text = match.string
    start, end = text.rfind("\n", 0, match.start()) + 1, match.end()
    length = match.start() - start
    continued = length >= _WRAP_AT_LEAST if text[end].islower() else length in _WRAP_BEFORE_CAPITAL
    if not continued or _HEADING_LINE.match(text, start) or _BLOCK_LINE.match(text, end):
        return None
    return "" if text[match.start() - 1] == "-" else " "
