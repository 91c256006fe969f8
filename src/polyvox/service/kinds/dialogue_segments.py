"""Segments of a dialogue: which turns an engine speaks as one utterance, and how its spans map back to the turns."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from polyvox.service.pronunciation.source_words import SourceWords
from polyvox.text.tracked import TrackedText
from polyvox.types import Span

TURN_SEPARATOR = "\n"
"""Between two turns in the text of a whole dialogue; no markup spans it."""
SPEAKERS = ("[S1]", "[S2]")
"""Speaker tags in the text for an engine that speaks with two voices."""


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """The text of one voice before another speaks; `prompt_text` is the transcript of the voice's recording.

    `spoken` is the text without markup that nobody obeys, None where it has none. `rate` is a factor on the speed.
    """

    voice: str
    text: str
    prompt_text: str | None = None
    spoken: TrackedText | None = None
    rate: float = 1.0

    @property
    def spoken_text(self) -> str:
        return self.text if self.spoken is None else self.spoken.text


@dataclass(frozen=True, slots=True)
class TurnSpan:
    """The span of a turn's text in a segment, and where that text starts in the whole dialogue.

    `source` says which characters of the turn's text those of the segment stand for, where they are not the same.
    """

    turn: int
    span: Span
    whole_start: int
    source: TrackedText | None = None

    def in_turn(self, position: int, *, at_end: bool) -> int:
        """Map a position in the segment's text for this turn to the text of the turn."""
        if self.source is None or not len(self.source):
            return position
        if at_end:
            return self.source.ends[position - 1] if position else 0
        return self.source.starts[min(position, len(self.source) - 1)]


@dataclass(frozen=True, slots=True)
class DialogueSegment:
    """Turns that an engine speaks as one text, by one voice or by two in the order of `SPEAKERS`."""

    voices: tuple[str, ...]
    text: str
    turn_spans: tuple[TurnSpan, ...]
    rate: float = 1.0

    @property
    def first_turn(self) -> int:
        return self.turn_spans[0].turn

    def in_whole(self, span: Span) -> Span:
        """Map a span of the segment's text to the text of the whole dialogue; empty where it covers no turn."""
        start = self._whole_position(span.start, at_end=False)
        return Span(start, max(start, self._whole_position(span.end, at_end=True)))

    def source_words(self, whole: str) -> SourceWords | None:
        """The mapping from words of rewritten turns to those of the text `whole`; None where no turn is rewritten."""
        if all(turn.source is None for turn in self.turn_spans):
            return None
        spans = [self.in_whole(Span(at, at + 1)) for at in range(len(self.text))]
        tracked = TrackedText(self.text, tuple(span.start for span in spans), tuple(span.end for span in spans))
        return SourceWords.of_text(tracked, whole)

    def _whole_position(self, position: int, *, at_end: bool) -> int:
        """Map a position; one between turns moves to the start of the next, or with `at_end` to the end of the last."""
        index = max(0, bisect_right(self.turn_spans, position, key=lambda turn: turn.span.start) - 1)
        turn = self.turn_spans[index]
        if position >= turn.span.end and not at_end and index + 1 < len(self.turn_spans):
            return self.turn_spans[index + 1].whole_start
        inside = min(max(position, turn.span.start), turn.span.end) - turn.span.start
        return turn.whole_start + turn.in_turn(inside, at_end=at_end)


def dialogue_text(turns: Sequence[DialogueTurn]) -> str:
    """Join the turns to the text that word timings and captions refer to."""
    return TURN_SEPARATOR.join(turn.text for turn in turns)


def turn_starts(turns: Sequence[DialogueTurn]) -> list[int]:
    """Start of each turn in the whole text."""
    return list(accumulate((len(turn.text) + len(TURN_SEPARATOR) for turn in turns), initial=0))[: len(turns)]


def turn_segments(turns: Sequence[DialogueTurn]) -> list[DialogueSegment]:
    """One segment per turn."""
    starts = turn_starts(turns)
    return [
        DialogueSegment(
            (turn.voice,),
            turn.spoken_text,
            (TurnSpan(index, Span(0, len(turn.spoken_text)), starts[index], turn.spoken),),
            turn.rate,
        )
        for index, turn in enumerate(turns)
    ]


def pair_segments(turns: Sequence[DialogueTurn], pause: float) -> list[DialogueSegment]:
    """The fewest segments with at most two voices each; a voice that is in two in a row keeps its speaker tag.

    `pause` is the silence between two turns of a segment in seconds; 0 leaves it to the engine.
    """
    starts = turn_starts(turns)
    segments: list[DialogueSegment] = []
    begin = 0
    while begin < len(turns):
        end, voices = begin, list[str]()
        while end < len(turns) and (turns[end].voice in voices or len(voices) < len(SPEAKERS)):
            if turns[end].voice not in voices:
                voices.append(turns[end].voice)
            end += 1
        ordered = _speaker_order(voices, segments[-1].voices if segments else ())
        segments.append(_segment(turns, starts, range(begin, end), ordered, pause))
        begin = end
    return segments


def _speaker_order(voices: list[str], before: tuple[str, ...]) -> tuple[str, ...]:
    """The voices in the order of their speaker tags: one that was in the segment before keeps its tag."""
    if len(voices) == len(SPEAKERS) and (before[:1] == (voices[1],) or before[1:] == (voices[0],)):
        voices = voices[::-1]
    return tuple(voices)


def _segment(
    turns: Sequence[DialogueTurn], starts: Sequence[int], which: range, voices: tuple[str, ...], pause: float
) -> DialogueSegment:
    text = ""
    turn_spans: list[TurnSpan] = []
    milliseconds = round(pause * 1000)
    silence = f" [pause:{milliseconds}ms] " if milliseconds else ""
    for index in which:
        turn = turns[index]
        if text:
            text += silence + TURN_SEPARATOR
        if len(voices) > 1:
            text += f"{SPEAKERS[voices.index(turn.voice)]} "
        span = Span(len(text), len(text) + len(turn.spoken_text))
        turn_spans.append(TurnSpan(index, span, starts[index], turn.spoken))
        text += turn.spoken_text
    return DialogueSegment(voices, text, tuple(turn_spans))
