"""Speaks passages that are checked: each is heard, and spoken in another way while too many of its words are wrong."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import structlog

from polyvox.books.narration.passage_check import PassageCheck
from polyvox.books.narration.plan import Passage, passage_seed
from polyvox.books.narration.trimming import joined_passage
from polyvox.books.words import speakable
from polyvox.errors import EngineError, InvalidRequestError, NotServedError
from polyvox.service.jobs.narrator import Narrator
from polyvox.service.jobs.proofreader import Proof, Proofreader
from polyvox.text.segmentation.split import clauses
from polyvox.text.tracked import TrackedText
from polyvox.types import AudioChunk, Span, WordTiming

log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(__name__)

_MOST_RETAKES: Final = 3
_SEEDS: Final = 2
"""Other seeds that a model is tried with that draws its speech."""
_CLAUSE_PAUSE_SECONDS: Final = 0.18
_SHORTEST_CLAUSE_CHARS: Final = 8
"""Shorter ones stay with what follows: a word alone is spoken worse, not better."""


@dataclass(frozen=True, slots=True)
class Take:
    """A passage as it was spoken, and what was heard of it; `number` counts from 1."""

    number: int
    chunks: Sequence[AudioChunk]
    proof: Proof


class CheckedNarrator:
    """The voice of a narration that is verified: `narration.narrate(checked.speak)`.

    The best take of a passage is kept: that with the fewest wrong words, of equals that with the fewest wrong sounds,
    and of those the earlier. Retakes are another seed where the model draws its speech, the passage clause by clause,
    and the server's better model.
    """

    def __init__(self, narrator: Narrator, proofreader: Proofreader) -> None:
        self._narrator = narrator
        self._proofreader = proofreader

    async def speak(self, passage: Passage) -> AsyncIterator[AudioChunk | PassageCheck]:
        """The chunks of the take that is kept, and then the check of the passage."""
        first = [chunk async for chunk in self._narrator.speak(passage)]
        best, check = await self._checked(passage, first)
        for chunk in best:
            yield chunk
        yield check

    async def _checked(
        self, passage: Passage, first: Sequence[AudioChunk]
    ) -> tuple[Sequence[AudioChunk], PassageCheck]:
        if not first:
            return first, PassageCheck(unheard="There is no audio.")
        language = self._narrator.language(passage.voice, passage.text)
        wording = await self._narrator.wording(passage, language)
        try:
            takes = [Take(1, first, await self._proofreader.read(wording, first, language))]
        except NotServedError as error:
            return first, PassageCheck(unheard=error.message)
        for narrator, parts in self._retakes(passage):
            if takes[-1].proof.passed:
                break
            chunks = await _retaken(narrator, passage, parts)
            if chunks:
                proof = await self._proofreader.read(wording, chunks, language)
                takes.append(Take(len(takes) + 1, chunks, proof))
        best = min(takes, key=lambda take: (take.proof.words.wrong, round(take.proof.words.distance, 2), take.number))
        if len(takes) > 1:
            wrong = [take.proof.words.wrong for take in takes]
            log.info("passage respoken", index=passage.index, wrong=wrong, kept=best.number, passed=best.proof.passed)
        return best.chunks, PassageCheck(
            words=best.proof.words.words,
            wrong=best.proof.words.wrong,
            first_wrong=takes[0].proof.words.wrong,
            takes=len(takes),
            kept=best.number,
            heard=best.proof.heard,
            passed=best.proof.passed,
        )

    def _retakes(self, passage: Passage) -> Iterator[tuple[Narrator, Sequence[Passage]]]:
        """Other ways to speak a passage: by whom, and in which parts."""
        again = self._narrator.again()
        ways: list[tuple[Narrator, Sequence[Passage]]] = []
        if self._narrator.draws:
            seeds = (passage_seed(passage.seed, number) for number in range(_SEEDS))
            ways += [(again, [replace(passage, seed=seed)]) for seed in seeds]
        parts = clause_passages(passage)
        if len(parts) > 1:
            ways.append((again, parts))
        if (better := self._narrator.better()) is not None:
            ways.append((better, [passage]))
            if len(parts) > 1:
                ways.append((better, parts))
        yield from ways[:_MOST_RETAKES]


async def _retaken(narrator: Narrator, passage: Passage, parts: Sequence[Passage]) -> Sequence[AudioChunk]:
    """The chunks of a retake; none where it can never be spoken so, which is no reason to do without the first take.

    What may pass, such as a server that stops, is raised: which take is kept must not depend on it.
    """
    try:
        spoken = [[chunk async for chunk in narrator.speak(part)] for part in parts]
    except (InvalidRequestError, NotServedError, EngineError) as error:
        log.warning("passage not respoken", index=passage.index, reason=error.message)
        return ()
    return spoken[0] if len(parts) == 1 else joined_parts(passage.text, parts, spoken)


def clause_passages(passage: Passage) -> list[Passage]:
    """The clauses of a passage as passages; the passage alone where it has one, or where markup might be cut."""
    if "[" in passage.text:
        return [passage]
    parts: list[str] = []
    held = ""
    for clause in clauses(TrackedText.of(passage.text)):
        held += clause.text
        if len(held) >= _SHORTEST_CLAUSE_CHARS and speakable(held):
            parts, held = [*parts, held], ""
    if held and parts:
        parts[-1] += held
    return [replace(passage, text=part.strip()) for part in parts] or [passage]


def joined_parts(text: str, parts: Sequence[Passage], spoken: Sequence[Sequence[AudioChunk]]) -> Sequence[AudioChunk]:
    """Parts of a passage as the chunks of one, a short pause between them; times and spans are those of the whole."""
    chunks: list[AudioChunk] = []
    start = at = 0
    for part, audio in zip(parts, spoken, strict=True):
        whole = joined_passage(audio, part.text)
        at = text.index(part.text, at)
        pause = round(_CLAUSE_PAUSE_SECONDS * whole.sample_rate) if part is not parts[-1] else 0
        silence = np.zeros((pause, *whole.pcm.shape[1:]), np.float32)
        words = tuple(_moved(word, start / whole.sample_rate, at) for word in whole.words)
        pcm = np.concatenate([whole.pcm, silence])
        chunks.append(AudioChunk(pcm, whole.sample_rate, len(chunks), start, part.text, words=words))
        start, at = start + len(pcm), at + len(part.text)
    return chunks


def _moved(word: WordTiming, seconds: float, chars: int) -> WordTiming:
    span = Span(word.span.start + chars, word.span.end + chars)
    return replace(word, start=word.start + seconds, end=word.end + seconds, span=span)
