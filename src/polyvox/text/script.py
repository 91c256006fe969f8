"""How a caller's text is brought into form and cut into pieces, each of which a model speaks in one go."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from polyvox.text import markup
from polyvox.text.markup import Insert, insert_at
from polyvox.text.normalize import Normalizer, normalizer_for
from polyvox.text.split import clauses, sentences
from polyvox.text.spoken import Pause
from polyvox.text.tracked import TrackedText
from polyvox.types import NormalizationOptions

LANGUAGE: Final = "ms"
"""How text is read unless its language is given: Malay, with the English that is mixed into it."""
PIECE_CHARS: Final = 400
STRETCH_CHARS: Final = 2_000

_WHITE: Final = re.compile(r"\s+")
_SPOKEN: Final = re.compile(r"\w")
_CLOSED: Final = re.compile(r"[.!?…:;,。！？；：，、؟।॥][\"'”’»)\]}」』）]*$")


class Script:
    """Reads texts on their way to the model; `reader` gives the normaliser of a language."""

    def __init__(self, reader: Callable[[str], Normalizer] = normalizer_for) -> None:
        self._reader = reader

    def plain(self, raw: str, options: NormalizationOptions, language: str | None = None) -> str:
        """The text as it is to be read, in one line with a full stop."""
        marked = _marked(raw)
        normalize = self._reader(language or LANGUAGE)
        parts = (_without_pauses(normalize(part, options), marked.inserts) for part in _stretches(marked.text))
        line = _WHITE.sub(" ", " ".join(part.text for part in parts)).strip()
        return _closed(line)

    def pieces(
        self, raw: str, options: NormalizationOptions, language: str | None = None
    ) -> Iterator[TrackedText | Pause]:
        """Pieces that can be spoken and pauses, in order; the text is worked on only as far as it is asked for."""
        marked = _marked(raw)
        normalize = self._reader(language or LANGUAGE)
        parts = (
            part
            for stretch in _stretches(marked.text)
            for sentence in sentences(normalize(stretch, options))
            for part in _parted(sentence, marked.inserts)
        )
        for piece in _merged(parts):
            if isinstance(piece, Pause):
                yield piece
            elif _SPOKEN.search(piece.text):
                line = piece.sub(_WHITE, " ").strip()
                yield line if _CLOSED.search(line.text) else _with_stop(line)


def _marked(raw: str) -> markup.Markup:
    """The text without markup; a word whose phonemes the caller gave is that word, since the model reads letters."""
    marked = markup.parse(raw)

    def spelled(match: re.Match[str]) -> str | None:
        insert = insert_at(match[0], marked.inserts)
        return None if insert is None or isinstance(insert, Pause) else insert.text

    inserts = re.compile(f"[{chr(markup.FIRST_INSERT)}-{chr(markup.FIRST_INSERT + markup.MAX_INSERTS - 1)}]")
    text = marked.text.sub(inserts, spelled) if marked.inserts else marked.text
    return markup.Markup(text, marked.inserts)


def _stretches(text: TrackedText) -> Iterator[TrackedText]:
    """Runs of whole sentences, so that a long text starts to speak at once."""
    start = end = 0
    for sentence in sentences(text):
        end += len(sentence)
        if end - start >= STRETCH_CHARS:
            yield text[start:end]
            start = end
    if end > start:
        yield text[start:end]


def _parted(sentence: TrackedText, inserts: tuple[Insert, ...]) -> Iterator[TrackedText | Pause]:
    """A sentence in parts of at most `PIECE_CHARS` characters, with the pauses between them."""
    start = 0
    for place, char in enumerate(sentence.text if inserts else ""):
        pause = insert_at(char, inserts)
        if isinstance(pause, Pause):
            yield from _short(sentence[start:place])
            yield pause
            start = place + 1
    yield from _short(sentence[start:])


def _short(text: TrackedText) -> Iterator[TrackedText]:
    if len(text) <= PIECE_CHARS:
        yield text
        return
    for clause in clauses(text):
        while len(clause) > PIECE_CHARS:
            space = clause.text.rfind(" ", 1, PIECE_CHARS)
            cut = space + 1 if space > 0 else PIECE_CHARS
            yield clause[:cut]
            clause = clause[cut:]
        yield clause


def _merged(parts: Iterable[TrackedText | Pause]) -> Iterator[TrackedText | Pause]:
    """Neighbours joined as long as they are not too long together."""
    joined: TrackedText | None = None
    for part in parts:
        if joined is not None and (isinstance(part, Pause) or len(joined) + len(part) > PIECE_CHARS):
            yield joined
            joined = None
        if isinstance(part, Pause):
            yield part
        else:
            joined = part if joined is None else _joined(joined, part)
    if joined is not None:
        yield joined


def _joined(one: TrackedText, other: TrackedText) -> TrackedText:
    gap = "" if one.text[-1:].isspace() or not one.text else " "
    at = one.ends[-1:] * len(gap)
    return TrackedText(one.text + gap + other.text, one.starts + at + other.starts, one.ends + at + other.ends)


def _without_pauses(text: TrackedText, inserts: tuple[Insert, ...]) -> TrackedText:
    if not inserts:
        return text
    pauses = re.compile(f"[{chr(markup.FIRST_INSERT)}-{chr(markup.FIRST_INSERT + len(inserts) - 1)}]")
    return text.sub(pauses, " ")


def _with_stop(text: TrackedText) -> TrackedText:
    last = text.ends[-1]
    return TrackedText(_closed(text.text), (*text.starts, last), (*text.ends, last))


def _closed(line: str) -> str:
    return line if not line or _CLOSED.search(line) else f"{line}."
