"""Where an utterance is cut into chunks: a pure function of its clauses and the chunk policy."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import chain

from polyvox.engines.zipvoice.clauses import Clause
from polyvox.text.characters import HAN
from polyvox.text.spoken import Pause
from polyvox.types import ChunkPolicy, Span

# Chinese is written, and was learned, without spaces.
_SPACE_BEFORE_HAN = re.compile(rf"(?<=[,.;:?!…{HAN}])\s+(?=[{HAN}])")
# A chunk may end at a sentence when it has at least this share of its size, or run on to the end of its sentence, but
# not beyond what the model can say at once.
SHORTEST, LONGEST = 0.5, 1.25


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is spoken in one go."""

    pieces: tuple[Clause, ...]

    @property
    def text(self) -> str:
        """The clauses, in a dialogue with a tag wherever the speaker is another."""
        text, speaker = "", 0
        for piece in self.pieces:
            tag = f"[S{piece.speaker}]" if piece.speaker != speaker else ""
            text, speaker = f"{text}{tag}{piece.text.strip()} ", piece.speaker
        return _SPACE_BEFORE_HAN.sub("", text.strip())

    @property
    def span(self) -> Span:
        """Where the caller wrote it."""
        return reduce(Span.cover, (piece.span for piece in self.pieces))


def cut(pieces: Iterable[Clause | Pause], policy: ChunkPolicy) -> Iterator[Chunk | Pause]:
    """Gather clauses into chunks, reading on only as far as the next cut needs; no chunk goes across a pause."""
    waiting: deque[Clause] = deque()
    previous: int | None = None
    for item in chain(pieces, (None,)):
        if isinstance(item, Clause):
            waiting.append(item)
        while waiting and (not isinstance(item, Clause) or _weight(waiting) > _most(policy, previous)):
            count = _best(waiting, policy.size(previous), _most(policy, previous))
            taken = tuple(waiting.popleft() for _ in range(count))
            previous = _weight(taken)
            yield Chunk(taken)
        if isinstance(item, Pause):
            yield item


def _weight(pieces: Iterable[Clause]) -> int:
    return sum(piece.weight for piece in pieces)


def _most(policy: ChunkPolicy, previous: int | None) -> float:
    """The most that the next chunk may weigh."""
    return min(policy.size(previous) * LONGEST, policy.maximum)


def _best(pieces: deque[Clause], size: int, most: float) -> int:
    """How many clauses the next chunk takes: up to the end of a sentence if one is near, else what fits."""
    weight, fitting, sentence = 0, 1, 0
    for count, piece in enumerate(pieces, start=1):
        weight += piece.weight
        if weight > most:
            break
        if piece.ends_sentence and weight >= size * SHORTEST:
            sentence = count
        if weight <= size:
            fitting = count
    return sentence or fitting
