"""SSML: a text as XML whose elements say how it is spoken.

Elements that are not known are dropped with a warning; their text is spoken.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Final

from polyvox.errors import MarkupError
from polyvox.hostile_xml import XmlError, XmlFault, XmlHandlers, XmlLimits, XmlReader
from polyvox.text.markup.inline_tags import TagRules, cleaned, joined
from polyvox.text.markup.say_as import said_as
from polyvox.text.markup.script import Bookmark, Part, Passage, Script, Silence, Style
from polyvox.text.markup.ssml_values import (
    BREAK_SECONDS,
    MAX_BREAK_SECONDS,
    MAX_VOLUME,
    break_seconds,
    pitch_of,
    rate_of,
    volume_of,
)
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import DROPPED, IGNORED, Warnings
from polyvox.types import SPEED_RANGE, Span

MAX_DEPTH: Final = 32
MAX_ELEMENTS: Final = 5_000
ELEMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "speak": "the text",
        "p": "a paragraph",
        "s": "a sentence",
        "break": "silence: time or strength",
        "prosody": "rate, volume and pitch",
        "emphasis": "a little slower and louder: level",
        "say-as": "how to read: interpret-as, format",
        "sub": "what to say instead: alias",
        "phoneme": "phonemes: ph in ipa, by models that work with phonemes",
        "voice": "another voice: name",
        "lang": "another language: xml:lang",
        "mark": "a place whose time is reported: name",
        "w": "a word",
        "token": "a word",
    }
)
_SILENT: Final = frozenset(("desc", "metadata", "meta", "lexicon"))
_EMPHASIS: Final = MappingProxyType(
    {"strong": (0.85, 1.35), "moderate": (0.92, 1.18), "none": (1.0, 1.0), "reduced": (1.08, 0.8)}
)
_BEGINS: Final = re.compile(r"\s*(?:<\?xml[^<>]*\?>\s*)?<speak[\s/>]")
_WHITE: Final = re.compile(r"\s+")
_PHONEMES: Final = re.compile(r"[^/()\[\]\n]{1,200}")
_WORD: Final = re.compile(r"[^\[\]\n]+")
_CLOSING_MARKS: Final = re.compile(r"[.,;:!?…。，、；：！？)\]}”’»』」]+")
_ROOT: Final = "<speak>", "</speak>"
_DOCUMENT: Final = ("<speak", "<?", "<!")


@dataclass(frozen=True, slots=True)
class SsmlRules:
    """An engine's abilities: its tags and languages, whether it takes phonemes, and whether it times words."""

    tags: TagRules = field(default_factory=TagRules)
    languages: frozenset[str] = frozenset()
    phonemes: bool = False
    word_timings: bool = False


def is_ssml(text: str) -> bool:
    """Return whether a text is a document in SSML, by its first element."""
    return _BEGINS.match(text) is not None


def parse(raw: str, rules: SsmlRules, warnings: Warnings, rate: float = 1.0) -> Script:
    """Read a document, or a part of one without `<speak>`; `rate` is the pace of the request's own voice.

    `MarkupError` names line and column of what is wrong.
    """
    document = _Document(raw, rules, warnings, Style(rate=rate))
    document.read()
    return Script(raw, tuple(document.parts))


@dataclass(slots=True)
class _Element:
    """An element that is open: what its text is spoken like, and what happens to the text when it closes."""

    name: str
    style: Style
    silent: bool
    attributes: Mapping[str, str]
    first_piece: int


class _Document:
    """One document while it is read."""

    def __init__(self, raw: str, rules: SsmlRules, warnings: Warnings, style: Style) -> None:
        self._raw = raw
        self._outermost = style
        self._rules = rules
        self._warnings = warnings
        self._wrapped = not raw.lstrip().startswith(_DOCUMENT)
        # A lone surrogate cannot be written in UTF-8; it is no character of XML either, which the parser then says.
        self._offsets = list(accumulate((len(char.encode("utf-8", "replace")) for char in raw), initial=0))
        handlers = XmlHandlers(self._start, self._end, self._characters)
        self._reader = XmlReader(handlers, XmlLimits(MAX_DEPTH, MAX_ELEMENTS), encoding="utf-8", joins_text=False)
        self._open: list[_Element] = []
        self._pieces: list[TrackedText] = []
        self._marks: list[tuple[int, str]] = []
        self.parts: list[Part] = []

    def read(self) -> None:
        data = self._raw.encode("utf-8", "replace")
        if self._wrapped:
            data = _ROOT[0].encode() + data + _ROOT[1].encode()
        try:
            self._reader.read(data)
        except XmlError as error:
            raise self._refusal(error) from error

    def _refusal(self, error: XmlError) -> MarkupError:
        column = error.column
        if self._wrapped and error.line == 1:
            column = max(0, column - len(_ROOT[0]))
        place = f"line {error.line}, column {column + 1}"
        match error.fault:
            case XmlFault.MALFORMED | XmlFault.ENCODING:
                told = (
                    f"is not well formed at {place}: {error.reason}. Close every element, write &amp; for & and "
                    "&lt; for <, or send the text without ssml."
                )
            case XmlFault.DECLARATIONS:
                told = f"has a document type or declares entities at {place}; remove them."
            case XmlFault.DEPTH | XmlFault.ELEMENTS:
                told = (
                    f"has more than {MAX_ELEMENTS:,} elements, or more than {MAX_DEPTH} inside each other, at {place}; "
                    "send it in parts."
                )
            case XmlFault.ATTRIBUTES:
                told = f"has an attribute of absurd length at {place}; shorten it."
        return MarkupError(f"The SSML {told}", field="input")

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        outer = self._open[-1] if self._open else None
        style = outer.style if outer else self._outermost
        silent = bool(outer and outer.silent)
        if not silent:
            if name in _SILENT:
                silent = True
            elif name not in ELEMENTS:
                self._warnings.count(DROPPED, f"<{name}>")
            inner = self._styled(name, attributes, style)
            if inner != style:
                self._flush(style)
            style = inner
            if name in ("p", "s"):
                self._end_lines(1 + (name == "p"))
        self._open.append(_Element(name, style, silent, attributes, len(self._pieces)))
        if not silent:
            self._place(name, attributes)

    def _end(self, name: str) -> None:
        element = self._open.pop()
        outer = self._open[-1].style if self._open else self._outermost
        if not element.silent:
            if (rewrite := _REWRITES.get(name)) is not None:
                self._rewrite(element, rewrite)
            if name in ("p", "s"):
                self._end_lines(1 + (name == "p"))
            if element.style != outer or not self._open:
                self._flush(element.style)

    def _characters(self, data: str) -> None:
        if not self._open or self._open[-1].silent:
            return
        start = self._position
        if self._raw[start : start + 1] == "&" and not self._reader.in_cdata:
            end = self._raw.find(";", start) + 1 or start + 1
            self._put(data, Span(start, end))
            return
        end = min(start + len(data), len(self._raw))
        text = TrackedText(data, tuple(range(start, start + len(data))), tuple(range(start + 1, start + len(data) + 1)))
        if end > start:
            self._pieces.append(text.sub(_WHITE, " "))

    @property
    def _position(self) -> int:
        """The character of the caller's text at which the parser is."""
        byte = self._reader.byte - (len(_ROOT[0]) if self._wrapped else 0)
        return min(max(0, bisect_right(self._offsets, byte) - 1), len(self._raw))

    def _place(self, name: str, attributes: Mapping[str, str]) -> None:
        """Silence and marks."""
        if name == "break":
            seconds = break_seconds(attributes.get("time"), attributes.get("strength"))
            if seconds is None or seconds > MAX_BREAK_SECONDS:
                self._warnings.count(IGNORED, _shown(name, attributes))
            seconds = BREAK_SECONDS["medium"] if seconds is None else min(seconds, MAX_BREAK_SECONDS)
            if seconds:
                self._flush(self._open[-1].style)
                self.parts.append(Silence(seconds))
        elif name == "mark":
            label = attributes.get("name", "").strip()[:200]
            if not label:
                self._warnings.count(IGNORED, _shown(name, attributes))
            elif self._rules.word_timings:
                self._marks.append((self._position, label))
            else:
                self._flush(self._open[-1].style)
                self.parts.append(Bookmark(label))

    def _styled(self, name: str, attributes: Mapping[str, str], style: Style) -> Style:
        if name == "prosody":
            style = self._prosody(attributes, style)
        elif name == "emphasis":
            rate, volume = _EMPHASIS.get(attributes.get("level", "moderate").lower(), _EMPHASIS["moderate"])
            style = _times(style, rate, volume)
        elif name == "voice":
            voice = attributes.get("name", "").strip()
            if voice:
                # A voice has a pace of its own, and what `prosody` around it asks for is on top of that.
                pace = self._outermost.rate if style.voice is None else 1.0
                style = replace(style, voice=voice[:200], rate=style.rate / pace, language=None)
            else:
                self._warnings.count(IGNORED, _shown(name, attributes))
        language = attributes.get("xml:lang", "").strip().lower()
        return self._in_language(language, style) if language else style

    def _in_language(self, language: str, style: Style) -> Style:
        for known in (language, language.partition("-")[0]):
            if known in self._rules.languages:
                return replace(style, language=known)
        self._warnings.count(IGNORED, f'xml:lang="{language}"')
        return style

    def _prosody(self, attributes: Mapping[str, str], style: Style) -> Style:
        readers: dict[str, Callable[[str], float | None]] = {"rate": rate_of, "volume": volume_of, "pitch": pitch_of}
        found = {"rate": 1.0, "volume": 1.0, "pitch": 0.0}
        for name, value in attributes.items():
            amount = readers[name](value) if name in readers else None
            if amount is None and name != "xml:lang":
                self._warnings.count(IGNORED, f'{name}="{value}"')
            elif amount is not None:
                found[name] = amount
        style = _times(style, found["rate"], found["volume"])
        return replace(style, pitch=max(-12.0, min(12.0, style.pitch + found["pitch"])))

    def _rewrite(self, element: _Element, rewrite: "_Rewrite") -> None:
        """Replace the text of an element by what is said for it."""
        pieces = self._pieces[element.first_piece :]
        content = joined(pieces).strip()
        if not len(content):
            return
        said = rewrite(self, element, content.text)
        if said is None:
            self._warnings.count(IGNORED, _shown(element.name, element.attributes))
        elif said != content.text:
            source = content.span(0, len(content))
            del self._pieces[element.first_piece :]
            for text in joined(pieces).text.partition(content.text)[0], said:
                self._put(text, source)

    def _say_as(self, element: _Element, text: str) -> str | None:
        kind, form = element.attributes.get("interpret-as", ""), element.attributes.get("format", "")
        return said_as(text, kind, form, element.style.language or "en")

    def _sub(self, element: _Element, text: str) -> str | None:
        alias = element.attributes.get("alias", "").strip()
        return _WHITE.sub(" ", alias) or None

    def _phoneme(self, element: _Element, text: str) -> str | None:
        ph, alphabet = element.attributes.get("ph", "").strip(), element.attributes.get("alphabet", "ipa").lower()
        fit = _PHONEMES.fullmatch(ph) and _WORD.fullmatch(text)
        return f"[{text}](/{ph}/)" if self._rules.phonemes and alphabet == "ipa" and fit else None

    def _put(self, text: str, source: Span) -> None:
        if text:
            self._pieces.append(TrackedText.of("").appended(text, source))

    def _end_lines(self, lines: int) -> None:
        """End a sentence or, with two lines, a paragraph: neither where it has ended already."""
        for piece in reversed(self._pieces):
            lines -= piece.text[len(piece.text.rstrip()) :].count("\n")
            if piece.text.strip():
                break
        self._put("\n" * max(0, lines), Span(self._position, self._position))

    def _flush(self, style: Style) -> None:
        """End the passage that was spoken in this style."""
        text = self._closed(cleaned(joined(self._pieces), self._rules.tags, self._warnings))
        if any(char.isalnum() for char in text.text):
            self.parts.append(Passage(text, style, tuple(self._marks)))
        elif self._marks:
            self.parts += (Bookmark(name) for _, name in self._marks)
        self._marks = []
        self._pieces = []
        for element in self._open:
            element.first_piece = 0

    def _closed(self, text: TrackedText) -> TrackedText:
        """A text without the marks it begins with, which close the passage before it, as in `<s>...</emphasis>.`."""
        before = self.parts[-1] if self.parts else None
        marks = _CLOSING_MARKS.match(text.text)
        if marks is None or not isinstance(before, Passage):
            return text
        self.parts[-1] = replace(before, text=before.text + text[: marks.end()])
        return text[marks.end() :]


_Rewrite = Callable[[_Document, _Element, str], str | None]
_REWRITES: Final[Mapping[str, _Rewrite]] = MappingProxyType(
    {"say-as": _Document._say_as, "sub": _Document._sub, "phoneme": _Document._phoneme}
)


def _times(style: Style, rate: float, volume: float) -> Style:
    return replace(
        style,
        rate=min(max(style.rate * rate, SPEED_RANGE.lowest), SPEED_RANGE.highest),
        volume=min(max(style.volume * volume, 0.0), MAX_VOLUME),
    )


def _shown(name: str, attributes: Mapping[str, str]) -> str:
    return f"<{' '.join((name, *(f'{key}={value[:40]!r}' for key, value in list(attributes.items())[:3])))}>"
