"""ZipVoice's tokenizer: pinyin for Chinese, IPA for English, and marks as they are.

`<chang2>` is a syllable that the caller spells; `[laugh]`, `[S1]` pass through as tokens.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

import structlog

from polyvox.errors import UnavailableError
from polyvox.text.characters import HAN
from polyvox.text.phonemes import phonemizer_for
from polyvox.text.phonemes.chinese_words import word_cutter
from polyvox.text.phonemes.espeak.choice import Espeak, open_espeak
from polyvox.text.phonemes.espeak.ipa import RuleBasedEnglish
from polyvox.text.phonemes.espeak.lines import cleaned

_log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

MARK: Final = r"<[A-Za-zÜü]{1,7}[1-5]>|\[[A-Za-z][A-Za-z0-9 _-]{0,23}\]"
"""Inline marks of the caller: a syllable in pinyin, or a tag."""

_PLAIN: Final = str.maketrans("，。！？；：、‘’“”⋯", ",.!?;:,''\"\"…")
_ELLIPSIS: Final = re.compile(r"···|・・・|\.\.\.")
_PIECE: Final = re.compile(
    rf"(?P<mark>{MARK})|(?P<han>[{HAN}]+)|(?P<latin>[A-Za-z\u00c0-\u024f]+)|(?P<other>.)", re.DOTALL
)
_AROUND_SPEAKER: Final = re.compile(r"(?<!\s)\s*(\[S[12]\])\s*")
_SYLLABLE: Final = re.compile(r"[^\W\d_]+[1-5]")
_DIGIT: Final = re.compile(r"\d")
_LONG_NUMBER: Final = re.compile(r"\d{16,}")
_HAN_DIGITS: Final = str.maketrans("0123456789", "零一二三四五六七八九")
# Where a clause ends: marks before a space or a closing sign, dots of omission, and dashes.
_CLAUSE_END: Final = re.compile(r"(?P<mark>[.,;:?!])[.,;:?!]*(?=[\s\"')\]]|$)|…+|[—–]+|(?<=\s)-+(?=\s)")
_DOTTED: Final = re.compile(r"(?<![^\W_])[A-Za-z](?:\.[A-Za-z])*$")
_REACH: Final = 16
_LOWER_NEXT: Final = re.compile(r"\.\s+[a-z]")
_SENTENCE_MARKS: Final = frozenset(".?!")


class SegmentKind(StrEnum):
    """The tokenization of a segment."""

    CHINESE = "zh"
    ENGLISH = "en"
    PINYIN = "pinyin"
    TAG = "tag"


@dataclass(frozen=True, slots=True)
class TokenizerSegment:
    """A run of text of one kind."""

    text: str
    kind: SegmentKind


class EmiliaTokenizer:
    """Tokenizes mixed Chinese and English; English by espeak-ng, or by our own rules where it is missing."""

    def __init__(self, espeak: str) -> None:
        self._program = espeak

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text; a model may not know all of them."""
        return [token for segment in segments(plain(text)) for token in self._read(segment)]

    def _read(self, segment: TokenizerSegment) -> list[str]:
        match segment.kind:
            case SegmentKind.CHINESE:
                return chinese_tokens(segment.text)
            case SegmentKind.PINYIN:
                return _syllable_tokens(segment.text[1:-1].lower())
            case SegmentKind.TAG:
                return [segment.text]
            case SegmentKind.ENGLISH:
                return self._english_tokens(segment.text)

    def _english_tokens(self, text: str) -> list[str]:
        """One token for each letter of IPA; a comma keeps a space behind it, a full stop does not."""
        clauses = [(line, mark) for words, mark in _clauses(text) if (line := cleaned(words))]
        tokens: list[str] = []
        sounds = self._english.phonemize([line for line, _ in clauses])
        for index, ((_, mark), sound) in enumerate(zip(clauses, sounds, strict=True)):
            tokens += unicodedata.normalize("NFD", sound)
            tokens += mark
            if index + 1 < len(clauses) and mark not in _SENTENCE_MARKS:
                tokens.append(" ")
        return tokens

    @property
    def uses_espeak(self) -> bool:
        """True if English is phonemized by espeak-ng."""
        return not isinstance(self._english, RuleBasedEnglish)

    @cached_property
    def _english(self) -> Espeak:
        try:
            # Release 1.51, which systems have, says `four` as in the training data; the library's 1.52 does not.
            return open_espeak(self._program, "en-us", "en-us", program_first=True)
        except UnavailableError as error:
            _log.warning("English is phonemized by built-in rules", reason=error.message)
            return RuleBasedEnglish(phonemizer_for("en-us", espeak=self._program))


def plain(text: str) -> str:
    """Chinese and typographic marks in their plain forms, and no space around who speaks."""
    return _AROUND_SPEAKER.sub(r"\1", _ELLIPSIS.sub("…", text.translate(_PLAIN)))


def segments(text: str) -> list[TokenizerSegment]:
    """Runs of one script; what belongs to none goes with what is before it, or else with what follows.

    A text of figures and signs alone counts as English.
    """
    found: list[TokenizerSegment] = []
    run: list[re.Match[str]] = []
    script: SegmentKind | None = None
    for piece in _PIECE.finditer(text):
        own = _script_of(piece)
        if script is not None and own not in (None, script):
            found += _with_marks(run, script)
            run, script = [], None
        run.append(piece)
        script = script or own
    return found + _with_marks(run, script or SegmentKind.ENGLISH)


def _script_of(piece: re.Match[str]) -> SegmentKind | None:
    if piece["han"] or (piece["mark"] and piece["mark"].startswith("<")):
        return SegmentKind.CHINESE
    return SegmentKind.ENGLISH if piece["latin"] else None


def _with_marks(run: list[re.Match[str]], script: SegmentKind) -> list[TokenizerSegment]:
    """A run cut at the marks in it."""
    parts: list[TokenizerSegment] = []
    words = ""
    for piece in run:
        if not piece["mark"]:
            words += piece.group()
            continue
        if words:
            parts.append(TokenizerSegment(words, script))
        parts.append(
            TokenizerSegment(piece.group(), SegmentKind.PINYIN if piece["mark"].startswith("<") else SegmentKind.TAG)
        )
        words = ""
    return [*parts, TokenizerSegment(words, script)] if words else parts


def chinese_tokens(text: str) -> list[str]:
    """Initials and finals after tone sandhi; other characters are tokens of their own."""
    from pypinyin import Style, lazy_pinyin

    words = word_cutter().lcut(_with_figures_read(text))
    readings = lazy_pinyin(words, style=Style.TONE3, tone_sandhi=True, neutral_tone_with_five=True)
    tokens: list[str] = []
    for reading in readings:
        tokens += _syllable_tokens(reading) if _SYLLABLE.fullmatch(reading) else reading
    return tokens


def _syllable_tokens(pinyin: str) -> list[str]:
    """`zhang1` as `zh0` and `ang1`; a syllable without an initial is its final alone."""
    from pypinyin.contrib.tone_convert import to_finals_tone3, to_initials

    initial = to_initials(pinyin, strict=False)
    final = to_finals_tone3(pinyin, strict=False, neutral_tone_with_five=True)
    return [part for part in (initial and f"{initial}0", final) if part]


def _with_figures_read(text: str) -> str:
    """Figures that no normaliser has read, as Chinese numbers; one that is none is read figure by figure."""
    if not _DIGIT.search(text):
        return text
    import cn2an

    text = _LONG_NUMBER.sub(lambda match: match.group().translate(_HAN_DIGITS), text)
    try:
        return str(cn2an.transform(text, "an2cn"))
    except ValueError:
        return text.translate(_HAN_DIGITS)


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """The words of each clause and the mark behind them, empty where there is none to speak of."""
    start = 0
    for match in _CLAUSE_END.finditer(text):
        if _abbreviates(match):
            continue
        yield text[start : match.start()], match["mark"] or ""
        start = match.end()
    yield text[start:], ""


def _abbreviates(match: re.Match[str]) -> bool:
    """Return whether a full stop belongs to single letters in the middle of a sentence, as in `i.e. this`."""
    before = match.string[max(0, match.start() - _REACH) : match.start()]
    return (
        match.group() == "."
        and _DOTTED.search(before) is not None
        and _LOWER_NEXT.match(match.string, match.start()) is not None
    )
