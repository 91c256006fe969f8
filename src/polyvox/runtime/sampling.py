"""Tokens drawn on the device for many sequences at once, each by its own rules and its own random numbers.

A random number is a function of a sequence's seed and of how many tokens it has drawn, so that a sequence does not
depend on which batch it rode in.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.runtime.tokens import Limits, Sampling

MOST_REPEAT_WINDOW = 64
FEW = 64
"""Where every sequence that truncates keeps at most this many candidates, only they are sorted."""

GAMMA = 0x9E3779B97F4A7C15 - 2**64
FIRST = 0xBF58476D1CE4E5B9 - 2**64
SECOND = 0x94D049BB133111EB - 2**64
BITS = 24


def uniforms(seeds: Tensor, steps: Tensor, stream: int) -> Tensor:
    """A number in [0, 1) for each seed and step: SplitMix64 as a function of its counter. The streams do not meet."""
    bits = _shifted(_mixed(_mixed(seeds) + (2 * steps + stream + 1) * GAMMA), 64 - BITS)
    return bits.float() * 2.0**-BITS


def _mixed(bits: Tensor) -> Tensor:
    bits = (bits ^ _shifted(bits, 30)) * FIRST
    bits = (bits ^ _shifted(bits, 27)) * SECOND
    return bits ^ _shifted(bits, 31)


def _shifted(bits: Tensor, count: int) -> Tensor:
    """To the right, zeros from the left: torch's own shift repeats the sign."""
    out: Tensor = (bits >> count) & (2 ** (64 - count) - 1)
    return out


@dataclass(frozen=True, slots=True)
class Steps:
    """Which work a batch of draws takes; work that none of its sequences needs is left out."""

    candidates: int
    """How many tokens are sorted by probability: none, `FEW` or all."""
    redraws: bool

    @classmethod
    def for_all(cls, rules: Iterable[Sampling], vocabulary: int) -> "Steps":
        """What a batch with these rules takes. It does not change what any of them draws."""
        candidates, redraws = 0, False
        for rule in rules:
            redraws = redraws or rule.repeat_window > 0
            if rule.top_k or rule.top_p < 1.0:
                candidates = max(candidates, FEW if 0 < rule.top_k <= FEW else vocabulary)
        return cls(min(candidates, vocabulary), redraws)


@dataclass(frozen=True, slots=True)
class Tables:
    """The rules and the past of every slot, a row for each."""

    counts: Tensor
    """Its seed, how many tokens it has drawn, `top_k` and the window for repetitions."""
    shares: Tensor
    """Temperature, repetition penalty, `top_p` and how many repetitions are tolerated."""
    free_to_end: Tensor
    """From how many tokens on it may end."""
    most: Tensor
    """At how many tokens it ends."""
    seen: Tensor
    ends: Tensor
    held: Tensor
    banned: Tensor
    recent: Tensor
    last: Tensor
    """The token drawn last."""
    ended: Tensor
    """Whether that was the last one under the slot's limits."""

    @classmethod
    def of(cls, slots: int, vocabulary: int, device: torch.device) -> "Tables":
        def each(dtype: torch.dtype, *more: int) -> Tensor:
            return torch.zeros(slots, *more, dtype=dtype, device=device)

        return cls(
            counts=each(torch.long, 4),
            shares=each(torch.float, 4),
            free_to_end=each(torch.long),
            most=each(torch.long),
            seen=each(torch.bool, vocabulary),
            ends=each(torch.bool, vocabulary),
            held=each(torch.bool, vocabulary),
            banned=each(torch.bool, vocabulary),
            recent=each(torch.long, MOST_REPEAT_WINDOW),
            last=each(torch.long),
            ended=each(torch.bool),
        )


FusedDraw = Callable[[Tensor, Tensor, Tables], Tensor]


class Sampler:
    """Draws for every slot by its own rules; the last slot is nobody's where there is a `fused` way.

    That one draws for the rows of which every token counts and none is drawn again, whatever the other rows need.
    """

    def __init__(self, slots: int, vocabulary: int, device: torch.device, fused: FusedDraw | None = None) -> None:
        self.vocabulary = vocabulary
        self.tables = Tables.of(slots, vocabulary, device)
        self._fused = fused
        self._seed, self._drawn, self._top_k, self._window = self.tables.counts.unbind(1)
        self._temperature, self._penalty, self._top_p, self._tolerated = self.tables.shares.unbind(1)
        self._penalty.fill_(1.0)
        self._marks: dict[int, tuple[frozenset[int], ...]] = {}

    @property
    def last(self) -> Tensor:
        """The token that each slot has drawn last."""
        return self.tables.last

    @property
    def ended(self) -> Tensor:
        """Whether that was its last one under its limits."""
        return self.tables.ended

    def begin(self, slot: int, rule: Sampling, seed: int, seen: Iterable[int]) -> None:
        """A new sequence takes the slot."""
        # A row of each table is sent at once: a device is told many small things more slowly than a few larger ones.
        tolerated = rule.repeat_window * rule.repeat_share
        self.tables.counts[slot] = torch.tensor((seed, 0, rule.top_k or self.vocabulary, rule.repeat_window))
        self.tables.shares[slot] = torch.tensor((rule.temperature, rule.repetition_penalty, rule.top_p, tolerated))
        self.tables.recent[slot] = -1
        self._mark(self.tables.seen[slot], seen)

    def limit(self, slot: int, limits: Limits) -> None:
        """The slot's sequence goes on under these limits, counted from here."""
        tables = self.tables
        tables.free_to_end[slot] = self._drawn[slot] + limits.least
        tables.most[slot] = self._drawn[slot] + limits.most
        tables.ended[slot] = False
        marks = limits.ends, limits.ends if limits.held is None else limits.held, limits.banned
        if self._marks.get(slot) != marks:
            for table, tokens in zip((tables.ends, tables.held, tables.banned), marks, strict=True):
                self._mark(table[slot], tokens)
            self._marks[slot] = marks

    def draw(self, scores: Tensor, slots: Tensor, steps: Steps) -> Tensor:
        """A token for each row of `scores` [n, vocabulary], by the rules of its slot."""
        if self._fused is None:
            return self._draw(scores, slots, steps)
        if not steps.candidates and not steps.redraws:
            return self._fused(scores, slots, self.tables)
        nobody = len(self.tables.last) - 1
        plain = self._keeps_all(slots) & (self._window[slots] == 0)
        others = self._draw(scores, torch.where(plain, nobody, slots), steps)
        return torch.where(plain, self._fused(scores, torch.where(plain, slots, nobody), self.tables), others)

    def _draw(self, scores: Tensor, slots: Tensor, steps: Steps) -> Tensor:
        drawn = self._drawn[slots]
        scores = self._allowed(scores.float(), slots, drawn)
        greedy = scores.argmax(dim=-1)
        temperature = self._temperature[slots]
        scores = scores / torch.where(temperature > 0, temperature, 1.0)[:, None]
        kept = scores.softmax(dim=-1)
        if steps.candidates:
            few = _truncated(kept, self._top_k[slots], self._top_p[slots], steps.candidates)
            kept = torch.where(self._keeps_all(slots)[:, None], kept, few)
        tokens = pick(kept, uniforms(self._seed[slots], drawn, 0))
        tokens = torch.where(temperature > 0, tokens, greedy)
        if steps.redraws:
            without = scores.scatter(-1, tokens[:, None], float("-inf")).softmax(dim=-1)
            others = pick(without, uniforms(self._seed[slots], drawn, 1))
            tokens = torch.where(self._repeats(tokens, slots, drawn), others, tokens)
        self._remember(tokens, slots, drawn)
        return tokens

    def _keeps_all(self, slots: Tensor) -> Tensor:
        return (self._top_k[slots] >= self.vocabulary) & (self._top_p[slots] >= 1.0)

    def _allowed(self, scores: Tensor, slots: Tensor, drawn: Tensor) -> Tensor:
        penalty = self._penalty[slots][:, None]
        penalised = torch.where(scores > 0, scores / penalty, scores * penalty)
        scores = torch.where(self.tables.seen[slots], penalised, scores)
        too_soon = (drawn < self.tables.free_to_end[slots])[:, None]
        return scores.masked_fill(self.tables.banned[slots] | (self.tables.held[slots] & too_soon), float("-inf"))

    def _repeats(self, tokens: Tensor, slots: Tensor, drawn: Tensor) -> Tensor:
        places = torch.arange(MOST_REPEAT_WINDOW, device=tokens.device)
        age = (drawn[:, None] - 1 - places) % MOST_REPEAT_WINDOW
        window = self._window[slots]
        count = ((self.tables.recent[slots] == tokens[:, None]) & (age < window[:, None])).sum(dim=-1)
        return (window > 0) & (count >= self._tolerated[slots])

    def _remember(self, tokens: Tensor, slots: Tensor, drawn: Tensor) -> None:
        self.tables.last[slots] = tokens
        # A scalar would come from the host, which a recorded graph cannot ask.
        self.tables.seen[slots, tokens] = torch.ones_like(tokens, dtype=torch.bool)
        self.tables.recent[slots, drawn % MOST_REPEAT_WINDOW] = tokens
        self._drawn[slots] = drawn + 1
        self.tables.ended[slots] = self.tables.ends[slots, tokens] | (drawn + 1 >= self.tables.most[slots])

    @staticmethod
    def _mark(row: Tensor, tokens: Iterable[int]) -> None:
        row.zero_()
        if marked := list(tokens):
            row[torch.tensor(marked, device=row.device)] = True


def pick(weights: Tensor, chance: Tensor) -> Tensor:
    """An index for each row, in proportion to its weights, at a number in [0, 1) for each row."""
    reached = weights.cumsum(dim=-1)
    total = reached[:, -1:]
    # The product may be rounded up to the total, which no token lies beyond.
    target = torch.minimum(chance[:, None] * total, total.nextafter(torch.zeros_like(total)))
    return torch.searchsorted(reached, target, right=True)[:, 0]


def _truncated(weights: Tensor, top_k: Tensor, top_p: Tensor, candidates: int) -> Tensor:
    """The weights that count, of at most so many, zeros for the others."""
    values, ids = weights.topk(candidates, dim=-1)
    reached_before = values.cumsum(dim=-1) - values
    ranks = torch.arange(candidates, device=weights.device)
    kept = values * ((reached_before < top_p[:, None]) & (ranks < top_k[:, None]))
    return torch.zeros_like(weights).scatter(-1, ids, kept)
