"""Where an utterance is cut into chunks: a pure function of its words and the chunk policy."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from polyvox.engines.kokoro.vocabulary import IDS, MAX_PHONEMES
from polyvox.text.spoken import Pause, Sentence, SpokenWord
from polyvox.types import ChunkPolicy, Span

# A cut is looked for from SHORTEST to LONGEST times the size aimed at; where no mark of punctuation stands there, a
# later chunk may run on to PATIENCE times its size before it is cut between two plain words.
SHORTEST, LONGEST, PATIENCE = 0.6, 1.25, 2.0


class Break(IntEnum):
    """How good a place for a cut is, from no mark at all to the end of a paragraph."""

    WORD = 0
    PHRASE = 1
    COMMA = 2
    CLAUSE = 3
    SENTENCE = 4
    PARAGRAPH = 5


# Worth of a break, in chunk sizes of distance from the size aimed at.
_WORTH = {
    Break.WORD: 0.0,
    Break.PHRASE: 0.5,
    Break.COMMA: 1.4,
    Break.CLAUSE: 1.8,
    Break.SENTENCE: 2.6,
    Break.PARAGRAPH: 3.0,
}
# Seconds of silence between two chunks at speed 1: what the model itself leaves there inside one call.
_PAUSES = {
    Break.WORD: 0.0,
    Break.PHRASE: 0.0,
    Break.COMMA: 0.10,
    Break.CLAUSE: 0.18,
    Break.SENTENCE: 0.42,
    Break.PARAGRAPH: 0.70,
}
_MARKS = {
    Break.COMMA: frozenset(',“”"()'),
    Break.CLAUSE: frozenset(";:—"),
    Break.SENTENCE: frozenset(".!?…"),
}
_OPENING = frozenset('(“"')
_PHRASE_OPENERS = frozenset(
    "and or but nor so yet because although though while when where which who whom whose that than as if unless until "
    "since before after with without within into onto from over under between through during about against among "
    "across toward towards upon for of to in on at by".split()
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one call of the model says, and the silence after it: scaled by speed, or as the caller asked for."""

    words: tuple[SpokenWord, ...]
    ends: Break
    asked_pause: float | None = None

    @property
    def phonemes(self) -> str:
        return "".join(word.phonemes + " " * word.space for word in self.words).rstrip(" ")

    @property
    def ids(self) -> list[int]:
        return [IDS[symbol] for symbol in self.phonemes]

    @property
    def span(self) -> Span | None:
        spans = [word.span for word in self.words]
        return Span(min(span.start for span in spans), max(span.end for span in spans)) if spans else None

    def pause(self, speed: float) -> float:
        return self.asked_pause if self.asked_pause is not None else _PAUSES[self.ends] / speed


@dataclass(frozen=True, slots=True)
class _Step:
    """One word on its way into a chunk, and how good a cut after it would be; None where none may be."""

    word: SpokenWord
    after: Break | None

    @property
    def length(self) -> int:
        return len(self.word.phonemes) + self.word.space


class _Ahead:
    """Words read ahead of the next cut, no further than the next pause that the caller asked for."""

    def __init__(self, steps: Iterator[_Step | Pause]) -> None:
        self._steps = steps
        self._pause: Pause | None = None
        self._length = 0
        self.words: deque[_Step] = deque()

    def read(self, limit: int) -> bool:
        """Read until more than `limit` phonemes wait; False when the text has ended."""
        while self._pause is None and self._length <= limit:
            step = next(self._steps, None)
            if step is None:
                break
            if isinstance(step, Pause):
                self._pause = step
            else:
                self.words.append(step)
                self._length += step.length
        return bool(self.words) or self._pause is not None

    def take(self, count: int) -> list[_Step]:
        taken = [self.words.popleft() for _ in range(count)]
        self._length -= sum(step.length for step in taken)
        return taken

    def take_pause(self) -> float | None:
        """The seconds asked for, once every word before them is taken."""
        if self.words or self._pause is None:
            return None
        seconds, self._pause = self._pause.seconds, None
        return seconds


def cut(sentences: Iterator[Sentence], policy: ChunkPolicy) -> Iterator[Chunk]:
    """Cut a stream of sentences into chunks, reading on only as far as the next cut needs."""
    ahead = _Ahead(_steps(sentences))
    previous: int | None = None
    while ahead.read(limit := min(MAX_PHONEMES, int(policy.size(previous) * PATIENCE))):
        taken = ahead.take(_best_cut(ahead.words, policy.size(previous), limit, hasty=previous is None))
        if taken:
            previous = sum(step.length for step in taken)
        ends = (taken[-1].after if taken else None) or Break.WORD
        yield Chunk(tuple(step.word for step in taken), ends, ahead.take_pause())


def _best_cut(steps: deque[_Step], size: int, limit: int, *, hasty: bool) -> int:
    """How many words the next chunk takes. A hasty cut, the first, does not wait for punctuation."""
    length = fitting = 0
    places: list[tuple[int, int, Break]] = []
    for count, step in enumerate(steps, start=1):
        length += step.length
        if length - step.word.space > limit:
            break
        fitting = count
        if step.after is not None:
            places.append((count, length, step.after))
    if fitting == len(steps) and length <= size * LONGEST:
        return len(steps)
    near = [place for place in places if size * SHORTEST <= place[1] <= size * LONGEST]
    if not hasty and not any(kind >= Break.COMMA for _, _, kind in near):
        near = [place for place in places if place[1] > size * LONGEST and place[2] >= Break.COMMA][:1] or near
    if not (near or places):
        return max(1, fitting)
    return max(near or places, key=lambda place: _WORTH[place[2]] - abs(place[1] - size) / size)[0]


def _steps(sentences: Iterator[Sentence]) -> Iterator[_Step | Pause]:
    for sentence in sentences:
        words = [piece for word in sentence.words for piece in _pieces(word)]
        for word, following in pairwise([*words, None]):
            if isinstance(word, Pause):
                yield word
            elif isinstance(word, SpokenWord) and following is None:
                spaced = SpokenWord(word.text, word.phonemes, word.span, True)
                yield _Step(spaced, Break.PARAGRAPH if sentence.ends_paragraph else Break.SENTENCE)
            elif isinstance(word, SpokenWord) and following is not None:
                yield _Step(word, _break_between(word, following))


def _pieces(word: SpokenWord | Pause) -> list[SpokenWord | Pause]:
    """A word as it is, or cut where it alone is longer than the model can say at once."""
    if isinstance(word, Pause) or len(word.phonemes) < MAX_PHONEMES:
        return [word]
    step = MAX_PHONEMES // 2
    parts = [word.phonemes[start : start + step] for start in range(0, len(word.phonemes), step)]
    return [SpokenWord(word.text, part, word.span, True) for part in parts]


def _break_between(word: SpokenWord, following: SpokenWord | Pause) -> Break | None:
    if isinstance(following, Pause):
        return Break.SENTENCE
    if not word.space and (word.text in _OPENING or following.is_punctuation):
        return None
    if word.is_punctuation:
        return next((kind for kind, marks in _MARKS.items() if word.text[-1] in marks), Break.WORD)
    return Break.PHRASE if following.text.lower() in _PHRASE_OPENERS else Break.WORD
