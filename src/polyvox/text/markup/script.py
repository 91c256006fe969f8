"""A text taken apart by its markup: passages, each in a voice and a manner, silences and marks."""

from dataclasses import dataclass
from itertools import chain

from polyvox.text.tracked import TrackedText
from polyvox.types import Span


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a passage; all of it beside what the request asks for as a whole.

    `voice` is None for the request's own. `rate` and `volume` are factors, `pitch` is in semitones.
    """

    voice: str | None = None
    rate: float = 1.0
    volume: float = 1.0
    pitch: float = 0.0
    language: str | None = None


PLAIN = Style()


@dataclass(frozen=True, slots=True)
class Passage:
    """Text that is spoken in one manner; its spans are those of the caller's text.

    `marks` are places in it, as characters of the caller's text, with their names.
    """

    text: TrackedText
    style: Style = PLAIN
    marks: tuple[tuple[int, str], ...] = ()

    @property
    def speakable(self) -> bool:
        return any(char.isalnum() for char in self.text.text)

    def in_whole(self, span: Span) -> Span:
        """Map a span of the passage to the caller's text."""
        text = self.text
        if not len(text):
            return Span(0, 0)
        start = min(max(0, span.start), len(text) - 1)
        if span.end <= span.start:
            return Span(text.starts[start], text.starts[start])
        return text.span(start, max(start + 1, span.end))


@dataclass(frozen=True, slots=True)
class Silence:
    """Silence that the caller asked for, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A place whose time the caller wants to know."""

    name: str


Part = Passage | Silence | Bookmark


@dataclass(frozen=True, slots=True)
class Script:
    """The parts of a text in order."""

    raw: str
    parts: tuple[Part, ...]

    @property
    def plain(self) -> bool:
        """True if the text is spoken just as the caller sent it."""
        if len(self.parts) != 1:
            return False
        (part,) = self.parts
        return isinstance(part, Passage) and part.style == PLAIN and part.text.text == self.raw

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Those that hold something to speak."""
        return tuple(part for part in self.parts if isinstance(part, Passage) and part.speakable)

    @property
    def voices(self) -> tuple[str, ...]:
        """The voices that the markup names, each once, in the order of their first passages."""
        return tuple(dict.fromkeys(part.style.voice for part in self.passages if part.style.voice is not None))

    @property
    def silence_seconds(self) -> float:
        return sum(part.seconds for part in self.parts if isinstance(part, Silence))

    def tagged(self, voice: str | None) -> str:
        """The same in inline tags, without volume and pitch.

        `voice` is the request's own, to which the tags go back; where it is not known, to that of whoever speaks them.
        """
        text, style = "", PLAIN
        for part in (*self.parts, Passage(TrackedText.of(""))):
            if isinstance(part, Silence):
                text += f" [pause:{_decimal(part.seconds)}s] " if part.seconds else ""
            elif isinstance(part, Passage):
                text, style = text + _change(style, part.style, voice or "") + part.text.text, part.style
        return " ".join(text.split())

    @property
    def text(self) -> str:
        """The text that is spoken, passage after passage."""
        return "".join(chain.from_iterable(part.text.text for part in self.parts if isinstance(part, Passage)))


def _change(style: Style, wanted: Style, voice: str) -> str:
    """The tags between two passages; one for a voice also ends the rate before it."""
    tags = ""
    if wanted.voice != style.voice:
        tags, style = f" [voice:{wanted.voice or voice}] ", PLAIN
    return tags if wanted.rate == style.rate else f"{tags} [rate:{_decimal(wanted.rate)}] "


def _decimal(value: float) -> str:
    """A number with a decimal point; to four places, so that it is never in exponent notation."""
    return str(round(float(value), 4))
