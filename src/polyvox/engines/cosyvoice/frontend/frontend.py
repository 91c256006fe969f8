"""CosyVoice's text frontend: normalisation, tags, and segments that the model speaks one by one."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from polyvox.engines.cosyvoice.frontend.tags import Tags
from polyvox.engines.cosyvoice.languages import LANGUAGES
from polyvox.errors import TextError
from polyvox.text.characters import INVISIBLE
from polyvox.text.detect import detect_language
from polyvox.text.markup.inline_tags import cleaned
from polyvox.text.normalize import normalizer_for
from polyvox.text.placeholders import MAX_PLACEHOLDERS, PLACEHOLDERS, mask, placeholder_index, placeholder_pattern
from polyvox.text.segmentation.segment import merge, sentence_blocks
from polyvox.text.tracked import TrackedText
from polyvox.text.warnings import Warnings
from polyvox.types import NormalizationOptions

MAX_SEGMENT, MIN_SEGMENT, MIN_LAST_SEGMENT = 80, 60, 20
"""A segment is closed when the next part would take it over the first, once it is over the second; a last segment under
the third joins the one before it. Counted in characters where the text is Chinese, in ids elsewhere."""
HARD_LIMIT = 200
"""A part without any mark to cut at is cut between words, or within them, at this length."""

BLOCK_CHARS = 2_000

_CHINESE: Final = re.compile("[\u4e00-\u9fff]")
_UNSPEAKABLE: Final = re.compile(f"[{INVISIBLE}{PLACEHOLDERS}]+")
_WHITE: Final = re.compile(r"\s+")
_NEWLINES: Final = re.compile(r"\n+")
_LOOSE_SPACE: Final = re.compile(r"(?<![\x21-\x7f]) +| +(?![\x21-\x7f ])")
_CHINESE_MARKS: Final = (
    (re.compile("²"), "平方"),
    (re.compile("³"), "立方"),
    (re.compile(r"\.(?![A-Za-z0-9])"), "。"),
    (re.compile(" - "), "，"),
    (re.compile(r"[()（）【】`]"), ""),
    (re.compile("—{2,}"), " "),
    (re.compile("—"), "，"),
    (re.compile("[，,、]+$"), "。"),
)
_NARROW: Final = re.compile(f"(?<=[\u4e00-\u9fff”{PLACEHOLDERS}]) ?(?P<mark>[,;:!?]) ?")
_WIDE: Final = {",": "，", ";": "；", ":": "：", "!": "！", "?": "？"}
_NOT_CHINESE: Final = frozenset(("ja", "ko"))
_END_MARKS: Final = {True: "。？！；：、.?!;", False: ".?!;:"}
_CLOSING_QUOTES: Final = '"”'
_SPOKEN: Final = re.compile(r"\w")
_FINAL: Final = re.compile(r"[\s\"”’)\]]*$")

Length = Callable[[str], int]


class CosyVoiceFrontend:
    """Texts of callers on their way to the tokenizer; `length` counts the ids of a text."""

    def __init__(self, tags: Tags, length: Length) -> None:
        self._tags = tags
        self._length = length

    def normalized(self, raw: str, options: NormalizationOptions, language: str | None = None) -> TrackedText:
        """The whole text, normalised; tags stay as they are."""
        return self._normalized(TrackedText.of(raw), options, language or self.language(raw))

    def segments(self, raw: str, options: NormalizationOptions, language: str | None = None) -> Iterator[TrackedText]:
        """The segments that can be spoken, in order; the text is normalised only as far as it is asked for."""
        spoken = language or self.language(raw)
        for block in sentence_blocks(TrackedText.of(raw), BLOCK_CHARS):
            text = self._normalized(block, options, spoken)
            chinese = _CHINESE.search(text.text) is not None
            length: Length = len if chinese else self._length
            for segment in _merged(_parts(text, _END_MARKS[chinese]), length):
                for part in _halved(segment, length):
                    if _SPOKEN.search(part.text):
                        yield _closed(part, "。" if chinese else ".")

    def phrase(self, raw: str, options: NormalizationOptions, language: str | None, *, ends: bool) -> list[TrackedText]:
        """A phrase of a text that is still streaming in, in parts that can be spoken; `ends` closes its sentence."""
        text = self.normalized(raw, options, language)
        if not _SPOKEN.search(text.text):
            return []
        *before, last = _halved(text, self.length)
        if ends:
            last = _closed(last, "。" if _CHINESE.search(last.text) else ".")
        return [*before, last]

    def length(self, text: str) -> int:
        """The size of a segment: characters where it is Chinese, ids elsewhere."""
        return len(text) if _CHINESE.search(text) else self._length(text)

    def language(self, raw: str) -> str:
        """The language of a text, among those of the model."""
        return detect_language(raw, LANGUAGES[self._tags.version])

    def _normalized(self, text: TrackedText, options: NormalizationOptions, language: str) -> TrackedText:
        too_many = TextError(f"The text holds more than {MAX_PLACEHOLDERS} tags; send it in parts.", field="input")
        text = cleaned(text.sub(_UNSPEAKABLE, ""), self._tags.rules, Warnings())
        text, tags = mask(text, self._tags.pattern, lambda match: match.group(), too_many=too_many)
        if options.normalize:
            text = _normalized_words(text, options, language)
        if tags:
            text = text.sub(placeholder_pattern(len(tags)), lambda match: tags[placeholder_index(match[0])])
        return text.strip()


def _normalized_words(text: TrackedText, options: NormalizationOptions, language: str) -> TrackedText:
    family = language.partition("-")[0]
    if _CHINESE.search(text.text) is None or family in _NOT_CHINESE:
        return normalizer_for(language)(text.sub(_WHITE, " "), options)
    text = normalizer_for("zh")(text.sub(_NEWLINES, ""), options).strip()
    for pattern, replacement in _CHINESE_MARKS:
        text = text.sub(pattern, replacement)
    text = text.sub(_NARROW, lambda match: _WIDE[match["mark"]])
    return text.sub(_LOOSE_SPACE, "")


def _parts(text: TrackedText, marks: str) -> list[TrackedText]:
    """The text cut after every mark, a quotation mark behind it included."""
    parts, start = [], 0
    for match in re.finditer(f"[{re.escape(marks)}][{_CLOSING_QUOTES}]?", text.text):
        if match.start() > start:
            parts.append(text[start : match.end()])
        start = match.end()
    if start < len(text):
        parts.append(text[start:])
    return parts


def _merged(parts: list[TrackedText], length: Length) -> list[TrackedText]:
    def fits(merged: TrackedText, part: TrackedText) -> bool:
        return length(merged.text) <= MIN_SEGMENT or length((merged + part).text) <= MAX_SEGMENT

    segments = list(merge(parts, fits))
    if len(segments) > 1 and length(segments[-1].text) < MIN_LAST_SEGMENT:
        *segments, before, last = segments
        segments.append(before + last)
    return segments


def _halved(segment: TrackedText, length: Length) -> Iterator[TrackedText]:
    """A segment over the hard limit, halved where a word ends near its middle until its parts are within it."""
    if length(segment.text) <= HARD_LIMIT or len(segment) < 2:
        yield segment
        return
    middle = len(segment) // 2
    space = max(segment.text.rfind(mark, middle // 2, middle + 1) for mark in " ,，、")
    cut = space + 1 if space > 0 else middle
    yield from _halved(segment[:cut], length)
    yield from _halved(segment[cut:], length)


def _closed(segment: TrackedText, mark: str) -> TrackedText:
    """The segment with a mark at its end, so that it is spoken with the intonation of an end."""
    segment = segment.strip()
    last = _FINAL.sub("", segment.text)[-1:]
    if last and last in "。？！；：、.?!;:…,，":
        return segment
    return segment.appended(mark, segment.span(len(segment) - 1, len(segment)))
