"""Which turns of a dialogue are spoken in one go, and how what is heard points back at them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from polyvox.types import Span

BETWEEN_TURNS = "\n"
"""What stands between two turns in the text of a whole dialogue; no markup goes across it."""
SPEAKERS = ("[S1]", "[S2]")
"""Who speaks, in a text for an engine that speaks with two voices."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one voice says before another does; `prompt_text` is what is said in the recording of the voice."""

    voice: str
    text: str
    prompt_text: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A turn's text inside a scene, and where that text begins in the whole dialogue."""

    turn: int
    span: Span
    whole_start: int


@dataclass(frozen=True, slots=True)
class Scene:
    """Turns that an engine speaks as one text, by the voices of the cast: one, or the two of `SPEAKERS` in order."""

    cast: tuple[str, ...]
    text: str
    places: tuple[Place, ...]

    @property
    def first_turn(self) -> int:
        return self.places[0].turn

    def in_whole(self, span: Span) -> Span:
        """A span of the scene's text in the text of the whole dialogue; an empty one where it holds no turn's words."""
        start = self._whole_place(span.start, at_end=False)
        return Span(start, max(start, self._whole_place(span.end, at_end=True)))

    def _whole_place(self, position: int, *, at_end: bool) -> int:
        """A place between turns is moved to the next one's beginning, or to the end of the one before."""
        index = max(0, bisect_right(self.places, position, key=lambda place: place.span.start) - 1)
        place = self.places[index]
        if position >= place.span.end and not at_end and index + 1 < len(self.places):
            return self.places[index + 1].whole_start
        inside = min(max(position, place.span.start), place.span.end) - place.span.start
        return place.whole_start + inside


def whole_text(turns: Sequence[Turn]) -> str:
    """The turns as one text, which word timings and captions point at."""
    return BETWEEN_TURNS.join(turn.text for turn in turns)


def turn_starts(turns: Sequence[Turn]) -> list[int]:
    """Where each turn begins in the whole text."""
    return list(accumulate((len(turn.text) + len(BETWEEN_TURNS) for turn in turns), initial=0))[: len(turns)]


def one_by_one(turns: Sequence[Turn]) -> list[Scene]:
    """Each turn a scene of its own."""
    starts = turn_starts(turns)
    return [
        Scene((turn.voice,), turn.text, (Place(index, Span(0, len(turn.text)), starts[index]),))
        for index, turn in enumerate(turns)
    ]


def in_pairs(turns: Sequence[Turn], pause: float) -> list[Scene]:
    """As few scenes as can be had with at most two voices in each; who goes on speaking keeps their place.

    `pause` is the silence between two turns of a scene; 0 leaves it to the engine.
    """
    starts = turn_starts(turns)
    scenes: list[Scene] = []
    begin = 0
    while begin < len(turns):
        end, voices = begin, list[str]()
        while end < len(turns) and (turns[end].voice in voices or len(voices) < len(SPEAKERS)):
            if turns[end].voice not in voices:
                voices.append(turns[end].voice)
            end += 1
        cast = _seated(voices, scenes[-1].cast if scenes else ())
        scenes.append(_scene(turns, starts, range(begin, end), cast, pause))
        begin = end
    return scenes


def _seated(voices: list[str], before: tuple[str, ...]) -> tuple[str, ...]:
    """The voices of a scene in the order of their places: one that was there before stays where it was."""
    if len(voices) == len(SPEAKERS) and (before[:1] == (voices[1],) or before[1:] == (voices[0],)):
        voices = voices[::-1]
    return tuple(voices)


def _scene(turns: Sequence[Turn], starts: Sequence[int], which: range, cast: tuple[str, ...], pause: float) -> Scene:
    text = ""
    places: list[Place] = []
    milliseconds = round(pause * 1000)
    silence = f" [pause:{milliseconds}ms] " if milliseconds else ""
    for index in which:
        turn = turns[index]
        if text:
            text += silence + BETWEEN_TURNS
        if len(cast) > 1:
            text += f"{SPEAKERS[cast.index(turn.voice)]} "
        places.append(Place(index, Span(len(text), len(text) + len(turn.text)), starts[index]))
        text += turn.text
    return Scene(cast, text, tuple(places))
