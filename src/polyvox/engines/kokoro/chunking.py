"""Split an utterance into chunks: a pure function of its words and the chunk policy."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, pairwise

from polyvox.engines.kokoro.phrases import PhraseWords
from polyvox.engines.kokoro.vocabulary import IDS, MAX_PHONEMES
from polyvox.text.spoken import Pause, Sentence, SpokenWord
from polyvox.types import ChunkPolicy, Span

# A split is sought from SHORTEST to LONGEST times the target size; where no punctuation mark stands there, a later
# chunk may run on to PATIENCE times its size before it is split between two plain words. While chunks still grow, the
# listener has little ahead: waiting longer for a mark is heard as a gap.
SHORTEST, LONGEST, GROWING_PATIENCE, PATIENCE = 0.6, 1.25, 1.4, 2.0
# Where no phrase ends there, one from this on may: between two plain words is the last place to split.
SHORTEST_PHRASE = 0.4
# A chunk of whole sentences that is longer than this times its target size has an opening.
_OPENED = 1.5
# A listener waits for the plan of an opening: it is at most so many times the target size, if one of this length or
# longer is heard then.
_LONGEST_PLAN, _SHORTEST_OPENING = 1.05, 0.43
# Of the phonemes that are planned for an opening, at least so many are left for the rest: a word sounds as it does
# inside of a sentence only where some of what follows is planned with it.
_CONTEXT_PHONEMES = 9


class Break(IntEnum):
    """The kinds of boundary between words, from no mark at all to the end of a paragraph."""

    WORD = 0
    PHRASE = 1
    COMMA = 2
    CLAUSE = 3
    SENTENCE = 4
    PARAGRAPH = 5


# Score of a break, in units of relative distance from the target size.
_SCORES = {
    Break.WORD: 0.0,
    Break.PHRASE: 0.5,
    Break.COMMA: 1.4,
    Break.CLAUSE: 1.8,
    Break.SENTENCE: 2.6,
    Break.PARAGRAPH: 3.0,
}
# The seam behind an opening is no pause: it may fall between words of one phrase where there is no better place.
_TIED_SCORE = -1.0
# Seconds of silence that the network itself leaves at the end of a sentence of some length, and at a clause's.
SENTENCE_PAUSE, CLAUSE_PAUSE = 0.42, 0.18
_COMMA_PAUSE = 0.10
_PARAGRAPH_RATIO = 5 / 3
_MARKS = {
    Break.COMMA: frozenset(',“”"()'),
    Break.CLAUSE: frozenset(";:—"),
    Break.SENTENCE: frozenset(".!?…"),
}
_OPENING = frozenset('(“"')


@dataclass(frozen=True, slots=True)
class PausePolicy:
    """Seconds of silence at speed 1 after a sentence and after a clause; 0 leaves them to the network."""

    sentence: float = SENTENCE_PAUSE
    clause: float = CLAUSE_PAUSE

    def between_chunks(self, kind: Break) -> float:
        """The silence at a seam, where the network's own is lost; a comma there has its usual one."""
        if kind < Break.CLAUSE:
            return _COMMA_PAUSE if kind == Break.COMMA else 0.0
        if kind == Break.CLAUSE:
            return self.clause or CLAUSE_PAUSE
        return (self.sentence or SENTENCE_PAUSE) * (_PARAGRAPH_RATIO if kind == Break.PARAGRAPH else 1.0)

    def within_chunk(self, kind: Break) -> float:
        """The least silence at a break that the network speaks over; 0 where its own is taken as it is."""
        own = (self.clause if kind == Break.CLAUSE else self.sentence) == 0
        return 0.0 if own or kind < Break.CLAUSE else self.between_chunks(kind)


@dataclass(frozen=True, slots=True)
class Opening:
    """The beginning of a chunk that may be heard before the rest is planned, in phonemes: `planned`, and `heard`."""

    heard: int
    planned: int


@dataclass(frozen=True, slots=True)
class PhonemeChunk:
    """Words that are synthesised in one call, and the silence after them: scaled by speed, or as the caller asked.

    `breaks` holds the kind of break after each word, for the pauses inside the chunk. A network that is heard in pieces
    begins a long chunk with its `opening`.
    """

    words: tuple[SpokenWord, ...]
    ends: Break
    asked_pause: float | None = None
    breaks: tuple[Break, ...] = ()
    pauses: PausePolicy = PausePolicy()
    opening: Opening | None = None

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
        return self.asked_pause if self.asked_pause is not None else self.pauses.between_chunks(self.ends) / speed


@dataclass(frozen=True, slots=True)
class _Candidate:
    """One word, and the break after it; None where the text must not be split."""

    word: SpokenWord
    after: Break | None

    @property
    def length(self) -> int:
        return len(self.word.phonemes) + self.word.space

    @property
    def heard(self) -> Break:
        """The break as it is spoken within a chunk: the mark in `"Really?" she asked` ends a clause."""
        if self.after is None:
            return Break.CLAUSE if self.word.text[-1:] in _MARKS[Break.SENTENCE] else Break.WORD
        return self.after


class _Lookahead:
    """Words read ahead of the next split, no further than the next pause that the caller asked for."""

    def __init__(self, candidates: Iterator[_Candidate | Pause]) -> None:
        self._candidates = candidates
        self._pause: Pause | None = None
        self._length = 0
        self.words: deque[_Candidate] = deque()

    def read(self, limit: int, *, to_sentence: bool = False) -> bool:
        """Read until more than `limit` phonemes wait, or to the next sentence's end; False when the text has ended."""
        while self._pause is None and self._length <= limit:
            candidate = next(self._candidates, None)
            if candidate is None:
                break
            if isinstance(candidate, Pause):
                self._pause = candidate
                break
            self.words.append(candidate)
            self._length += candidate.length
            if to_sentence and (candidate.after or Break.WORD) >= Break.SENTENCE:
                break
        return bool(self.words) or self._pause is not None

    def take(self, count: int) -> list[_Candidate]:
        taken = [self.words.popleft() for _ in range(count)]
        self._length -= sum(candidate.length for candidate in taken)
        return taken

    def take_pause(self) -> float | None:
        """The seconds asked for, once every word before them is taken."""
        if self.words or self._pause is None:
            return None
        seconds, self._pause = self._pause.seconds, None
        return seconds


_Split = tuple[int, int, Break]
"""A place where the words may be split: their number, their length in phonemes, and the break after them."""


def split_chunks(
    sentences: Iterator[Sentence],
    policy: ChunkPolicy,
    pauses: PausePolicy = PausePolicy(),
    phrases: PhraseWords = PhraseWords(),
) -> Iterator[PhonemeChunk]:
    """Split a stream of sentences into chunks, reading only as far as the next split needs."""
    lookahead = _Lookahead(_candidates(sentences, phrases))
    previous: int | None = None
    while True:
        size, hasty = policy.size(previous), previous is None
        if policy.whole_sentences:
            taken = _take_sentences(lookahead, size, policy)
        else:
            taken = _take_clauses(lookahead, size, policy, hasty=hasty)
        if taken is None:
            return
        if taken:
            previous = sum(candidate.length for candidate in taken)
        ends = (taken[-1].after if taken else None) or Break.WORD
        words = tuple(candidate.word for candidate in taken)
        breaks = tuple(candidate.heard for candidate in taken)
        opening = _opening(taken, size) if policy.whole_sentences else None
        yield PhonemeChunk(words, ends, lookahead.take_pause(), breaks, pauses, opening)


def _take_clauses(lookahead: _Lookahead, size: int, policy: ChunkPolicy, *, hasty: bool) -> list[_Candidate] | None:
    """The words of the next chunk near its target size; none before a pause, None at the end of the text."""
    limit = _limit(size, policy)
    if not lookahead.read(limit):
        return None
    return lookahead.take(_best_split(lookahead.words, size, limit, hasty=hasty))


def _take_sentences(lookahead: _Lookahead, size: int, policy: ChunkPolicy) -> list[_Candidate] | None:
    """The sentences nearest to the target size; the next one where it is longer, clauses of one that is too long."""
    longest = min(MAX_PHONEMES, int(policy.maximum * LONGEST))
    near = min(longest, int(size * LONGEST))
    if not lookahead.read(near):
        return None
    ends = _sentence_ends(lookahead, near)
    if not ends or ends[-1][1] < size * SHORTEST:
        lookahead.read(longest, to_sentence=True)
        ends = _sentence_ends(lookahead, longest)
    if not ends:
        return _take_clauses(lookahead, policy.maximum, policy, hasty=True)
    return lookahead.take(min(ends, key=lambda split: (split[1] < size * SHORTEST, abs(split[1] - size)))[0])


def _sentence_ends(lookahead: _Lookahead, limit: int) -> list[_Split]:
    return [split for split in _splits(lookahead.words, limit) if split[2] >= Break.SENTENCE]


def _opening(words: list[_Candidate], size: int) -> Opening | None:
    """The beginning of a chunk that is much longer than its target size; None where it is not, or has one word."""
    if sum(candidate.length for candidate in words) <= size * _OPENED:
        return None
    ends = [split for split in _word_ends(words) if split[1] <= size * LONGEST]
    pairs = [(end, planned) for end in ends if (planned := _context(ends, end[1])) is not None]
    near = [pair for pair in pairs if pair[0][1] >= size * _SHORTEST_OPENING and pair[1] <= size * _LONGEST_PLAN]
    usable = near or [pair for pair in pairs if pair[0][1] >= size * SHORTEST_PHRASE]
    if not usable:
        return None
    best, planned = max(usable, key=lambda pair: _seam_score(pair[0][2]) + pair[0][1] / size)
    return Opening(best[1], planned)


def _seam_score(kind: Break | None) -> float:
    return _TIED_SCORE if kind is None else _SCORES[kind]


def _word_ends(words: list[_Candidate]) -> list[tuple[int, int, Break | None]]:
    """Ends of words with a space behind them: phonemes without and with it, and the break."""
    lengths = accumulate(candidate.length for candidate in words)
    return [(end - 1, end, word.after) for end, word in zip(lengths, words, strict=True) if word.word.space]


def _context(ends: list[tuple[int, int, Break | None]], heard: int) -> int | None:
    """The phonemes to plan for so many that are heard: the nearest end of a word with enough behind them."""
    return next((end for end, _, _ in ends if end >= heard + _CONTEXT_PHONEMES), None)


def _limit(size: int, policy: ChunkPolicy) -> int:
    patience = PATIENCE if size >= policy.maximum else GROWING_PATIENCE
    return min(MAX_PHONEMES, int(size * patience))


def _splits(words: deque[_Candidate], limit: int) -> list[_Split]:
    """All splits of at most so many phonemes."""
    length, splits = 0, list[_Split]()
    for count, candidate in enumerate(words, start=1):
        length += candidate.length
        if length - candidate.word.space > limit:
            break
        if candidate.after is not None:
            splits.append((count, length, candidate.after))
    return splits


def _best_split(candidates: deque[_Candidate], size: int, limit: int, *, hasty: bool) -> int:
    """Number of words that the next chunk takes. A hasty split does not run on to the next mark."""
    if sum(candidate.length for candidate in candidates) <= min(limit, size * LONGEST):
        return len(candidates)
    splits = _splits(candidates, limit)
    near = [split for split in splits if size * SHORTEST <= split[1] <= size * LONGEST]
    if not hasty and not any(kind >= Break.COMMA for _, _, kind in near):
        near = [split for split in splits if split[1] > size * LONGEST and split[2] >= Break.COMMA][:1] or near
    if not any(kind >= Break.PHRASE for _, _, kind in near):
        wider = [split for split in splits if size * SHORTEST_PHRASE <= split[1] <= size * GROWING_PATIENCE]
        near = [split for split in wider if split[2] >= Break.PHRASE] or near
    if not (near or splits):
        return max(1, _fitting(candidates, limit))
    return max(near or splits, key=lambda split: _SCORES[split[2]] - abs(split[1] - size) / size)[0]


def _fitting(words: deque[_Candidate], limit: int) -> int:
    """Number of words that have at most so many phonemes."""
    lengths = accumulate(candidate.length for candidate in words)
    return sum(length - word.word.space <= limit for length, word in zip(lengths, words, strict=True))


def _candidates(sentences: Iterator[Sentence], phrases: PhraseWords) -> Iterator[_Candidate | Pause]:
    for sentence in sentences:
        words = [piece for word in sentence.words for piece in _pieces(word)]
        for word, following in pairwise([*words, None]):
            if isinstance(word, Pause):
                yield word
            elif isinstance(word, SpokenWord) and following is None:
                spaced = SpokenWord(word.text, word.phonemes, word.span, True)
                yield _Candidate(spaced, Break.PARAGRAPH if sentence.ends_paragraph else Break.SENTENCE)
            elif isinstance(word, SpokenWord) and following is not None:
                yield _Candidate(word, _break_between(word, following, phrases))


def _pieces(word: SpokenWord | Pause) -> list[SpokenWord | Pause]:
    """A word, or its pieces where it alone is longer than the network can take."""
    if isinstance(word, Pause) or len(word.phonemes) < MAX_PHONEMES:
        return [word]
    size = MAX_PHONEMES // 2
    parts = [word.phonemes[start : start + size] for start in range(0, len(word.phonemes), size)]
    return [SpokenWord(word.text, part, word.span, True) for part in parts]


def _break_between(word: SpokenWord, following: SpokenWord | Pause, phrases: PhraseWords) -> Break | None:
    if isinstance(following, Pause):
        return Break.SENTENCE
    if not word.space and (word.text in _OPENING or following.is_punctuation):
        return None
    if word.is_punctuation:
        return next((kind for kind, marks in _MARKS.items() if word.text[-1] in marks), Break.WORD)
    if phrases.are_tied(word.text, following.text):
        return None
    return Break.PHRASE if phrases.are_phrases(word.text, following.text) else Break.WORD
