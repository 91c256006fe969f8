"""Chunk boundaries of an utterance: a pure function of its clauses and the chunk policy."""

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

# Chinese is written, and was trained on, without spaces.
_SPACE_BEFORE_HAN = re.compile(rf"(?<=[,.;:?!…{HAN}])\s+(?=[{HAN}])")
# A chunk may end at a sentence when it has at least this share of its size, or run on to the end of its sentence, but
# not beyond what the model can speak at once.
MIN_SHARE, MAX_SHARE = 0.5, 1.25


@dataclass(frozen=True, slots=True)
class ClauseChunk:
    """Clauses that are synthesized together."""

    clauses: tuple[Clause, ...]

    @property
    def text(self) -> str:
        """The clauses, in a dialogue with a tag wherever the speaker changes."""
        text, speaker = "", 0
        for clause in self.clauses:
            tag = f"[S{clause.speaker}]" if clause.speaker != speaker else ""
            text, speaker = f"{text}{tag}{clause.text.strip()} ", clause.speaker
        return _SPACE_BEFORE_HAN.sub("", text.strip())

    @property
    def span(self) -> Span:
        """The span of the caller's text."""
        return reduce(Span.cover, (clause.span for clause in self.clauses))


def chunk_clauses(clauses: Iterable[Clause | Pause], policy: ChunkPolicy) -> Iterator[ClauseChunk | Pause]:
    """Gather clauses into chunks, reading ahead only as far as the next boundary needs; no chunk spans a pause."""
    waiting: deque[Clause] = deque()
    previous: int | None = None
    for item in chain(clauses, (None,)):
        if isinstance(item, Clause):
            waiting.append(item)
        while waiting and (not isinstance(item, Clause) or _weight(waiting) > _max_weight(policy, previous)):
            count = _next_count(waiting, policy.size(previous), _max_weight(policy, previous))
            taken = tuple(waiting.popleft() for _ in range(count))
            previous = _weight(taken)
            yield ClauseChunk(taken)
        if isinstance(item, Pause):
            yield item


def _weight(clauses: Iterable[Clause]) -> int:
    return sum(clause.weight for clause in clauses)


def _max_weight(policy: ChunkPolicy, previous: int | None) -> float:
    """The greatest weight of the next chunk."""
    return min(policy.size(previous) * MAX_SHARE, policy.maximum)


def _next_count(clauses: deque[Clause], size: int, most: float) -> int:
    """The number of clauses in the next chunk: up to the end of a sentence if one is near, else as many as fit."""
    weight, fitting, sentence = 0, 1, 0
    for count, clause in enumerate(clauses, start=1):
        weight += clause.weight
        if weight > most:
            break
        if clause.ends_sentence and weight >= size * MIN_SHARE:
            sentence = count
        if weight <= size:
            fitting = count
    return sentence or fitting
