"""How CosyVoice's text is brought into form and cut into pieces, each of which is spoken by itself."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from polyvox.engines.cosyvoice.tags import Tags
from polyvox.errors import TextError
from polyvox.text.characters import INSERTS, INVISIBLE
from polyvox.text.detect import detect_language
from polyvox.text.markup import FIRST_INSERT, MAX_INSERTS
from polyvox.text.normalize import normalizer_for
from polyvox.text.split import sentences
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

LONGEST, SHORTEST_TO_CUT, SHORTEST_LAST = 80, 60, 20
"""A piece is closed when the next part would take it over the first, once it is over the second; a last piece under the
third joins the one before it. Counted in characters where the text is Chinese, in ids elsewhere."""
HARDEST = 200
"""A part without any mark to cut at is cut between words, or within them, at this length."""

STRETCH_CHARS = 2_000

_CHINESE: Final = re.compile("[\u4e00-\u9fff]")
_UNSPEAKABLE: Final = re.compile(f"[{INVISIBLE}{INSERTS}]+")
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
_NARROW: Final = re.compile(f"(?<=[\u4e00-\u9fff”{INSERTS}]) ?(?P<mark>[,;:!?]) ?")
_WIDE: Final = {",": "，", ";": "；", ":": "：", "!": "！", "?": "？"}
_NOT_CHINESE: Final = frozenset(("ja", "ko"))
_END_MARKS: Final = {True: "。？！；：、.?!;", False: ".?!;:"}
_CLOSING_QUOTES: Final = '"”'
_SPOKEN: Final = re.compile(r"\w")
_FINAL: Final = re.compile(r"[\s\"”’)\]]*$")

Length = Callable[[str], int]


class Script:
    """Texts of callers on their way to the tokenizer."""

    def __init__(self, tags: Tags, length: Length) -> None:
        self._tags = tags
        self._length = length

    def plain(self, raw: str, options: NormalizationOptions, language: str | None = None) -> TrackedText:
        """The text as it is to be read, in one piece; tags stay as they are."""
        return self._read(TrackedText.of(raw), options, language or detect_language(raw))

    def pieces(self, raw: str, options: NormalizationOptions, language: str | None = None) -> Iterator[TrackedText]:
        """The pieces in order, each of which can be spoken; the text is worked on only as far as it is asked for."""
        spoken = language or detect_language(raw)
        for stretch in _stretches(TrackedText.of(raw)):
            text = self._read(stretch, options, spoken)
            chinese = _CHINESE.search(text.text) is not None
            length: Length = len if chinese else self._length
            for piece in _merged(_parts(text, _END_MARKS[chinese]), length):
                for cut in _cut_hard(piece, length):
                    if _SPOKEN.search(cut.text):
                        yield _closed(cut, "。" if chinese else ".")

    def phrase(self, raw: str, options: NormalizationOptions, language: str | None, *, ends: bool) -> list[TrackedText]:
        """A phrase of a text that is still arriving, in parts that can be spoken; `ends` closes its sentence."""
        text = self.plain(raw, options, language)
        if not _SPOKEN.search(text.text):
            return []
        *before, last = _cut_hard(text, self.length)
        if ends:
            last = _closed(last, "。" if _CHINESE.search(last.text) else ".")
        return [*before, last]

    def length(self, text: str) -> int:
        """What a piece is measured by: characters where it is Chinese, ids elsewhere."""
        return len(text) if _CHINESE.search(text) else self._length(text)

    def _read(self, text: TrackedText, options: NormalizationOptions, language: str) -> TrackedText:
        text, tags = self._without_tags(text.sub(_UNSPEAKABLE, ""))
        if options.normalize:
            text = self._normalized(text, options, language)
        if tags:
            restored = re.compile(f"[{chr(FIRST_INSERT)}-{chr(FIRST_INSERT + len(tags) - 1)}]")
            text = text.sub(restored, lambda match: tags[ord(match[0]) - FIRST_INSERT])
        return text.strip()

    def _without_tags(self, text: TrackedText) -> tuple[TrackedText, list[str]]:
        """Each tag as one private character, which the normalisers leave alone."""
        tags: list[str] = []

        def taken(match: re.Match[str]) -> str:
            if len(tags) == MAX_INSERTS:
                raise TextError(f"The text holds more than {MAX_INSERTS} tags; send it in parts.", field="input")
            tags.append(match[0])
            return chr(FIRST_INSERT + len(tags) - 1)

        return text.sub(self._tags.pattern, taken), tags

    def _normalized(self, text: TrackedText, options: NormalizationOptions, language: str) -> TrackedText:
        family = language.partition("-")[0]
        if _CHINESE.search(text.text) is None or family in _NOT_CHINESE:
            return normalizer_for(language)(text.sub(_WHITE, " "), options)
        text = normalizer_for("zh")(text.sub(_NEWLINES, ""), options).strip()
        for pattern, replacement in _CHINESE_MARKS:
            text = text.sub(pattern, replacement)
        text = text.sub(_NARROW, lambda match: _WIDE[match["mark"]])
        return text.sub(_LOOSE_SPACE, "")


def _stretches(text: TrackedText) -> Iterator[TrackedText]:
    """Runs of whole sentences of some length, so that a long text starts to speak at once."""
    start = end = 0
    for sentence in sentences(text):
        end += len(sentence)
        if end - start >= STRETCH_CHARS:
            yield text[start:end]
            start = end
    if end > start:
        yield text[start:end]


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


def _merged(parts: list[TrackedText], length: Length) -> Iterator[TrackedText]:
    pieces: list[TrackedText] = []
    current: TrackedText | None = None
    for part in parts:
        if current is not None and length(current.text) > SHORTEST_TO_CUT:
            joined = _joined(current, part)
            if length(joined.text) > LONGEST:
                pieces.append(current)
                current = part
                continue
        current = part if current is None else _joined(current, part)
    if current is not None:
        if pieces and length(current.text) < SHORTEST_LAST:
            pieces[-1] = _joined(pieces[-1], current)
        else:
            pieces.append(current)
    yield from pieces


def _joined(first: TrackedText, second: TrackedText) -> TrackedText:
    return TrackedText(first.text + second.text, first.starts + second.starts, first.ends + second.ends)


def _cut_hard(piece: TrackedText, length: Length) -> Iterator[TrackedText]:
    """A piece that no mark ends for long, halved where a word ends near its middle until it can be spoken."""
    if length(piece.text) <= HARDEST or len(piece) < 2:
        yield piece
        return
    middle = len(piece) // 2
    space = max(piece.text.rfind(mark, middle // 2, middle + 1) for mark in " ,，、")
    cut = space + 1 if space > 0 else middle
    yield from _cut_hard(piece[:cut], length)
    yield from _cut_hard(piece[cut:], length)


def _closed(piece: TrackedText, mark: str) -> TrackedText:
    """The piece with a mark at its end, so that it is spoken as one that ends."""
    piece = piece.strip()
    last = _FINAL.sub("", piece.text)[-1:]
    if last and last in "。？！；：、.?!;:…,，":
        return piece
    return TrackedText(piece.text + mark, (*piece.starts, piece.starts[-1]), (*piece.ends, piece.ends[-1]))
