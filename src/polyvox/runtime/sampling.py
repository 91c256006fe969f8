"""Tokens drawn on the device for many sequences at once, each by its own rules and its own random numbers.

A random number is a function of a sequence's seed and of how many tokens it has drawn, so that a sequence does not
depend on which batch it rode in.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.runtime.tokens import Limits, Sampling

MOST_REPEAT_WINDOW = 64
FEW = 64
"""Where every sequence that truncates keeps at most this many candidates, only they are sorted."""

_GAMMA = 0x9E3779B97F4A7C15 - 2**64
_FIRST = 0xBF58476D1CE4E5B9 - 2**64
_SECOND = 0x94D049BB133111EB - 2**64
_BITS = 24


def uniforms(seeds: Tensor, steps: Tensor, stream: int) -> Tensor:
    """A number in [0, 1) for each seed and step: SplitMix64 as a function of its counter. The streams do not meet."""
    bits = _shifted(_mixed(_mixed(seeds) + (2 * steps + stream + 1) * _GAMMA), 64 - _BITS)
    return bits.float() * 2.0**-_BITS


def _mixed(bits: Tensor) -> Tensor:
    bits = (bits ^ _shifted(bits, 30)) * _FIRST
    bits = (bits ^ _shifted(bits, 27)) * _SECOND
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


class Sampler:
    """The rules and the past of every slot, as tensors on the device."""

    def __init__(self, slots: int, vocabulary: int, device: torch.device) -> None:
        self.vocabulary = vocabulary

        def each(dtype: torch.dtype, *more: int) -> Tensor:
            return torch.zeros(slots, *more, dtype=dtype, device=device)

        self.last = each(torch.long)
        """The token that each slot has drawn last."""
        self.ended = each(torch.bool)
        """Whether that was its last one under its limits."""
        # What a sequence begins with is one row of each table, so that it is sent to the device at once.
        self._counts = each(torch.long, 4)
        self._seed, self._drawn, self._top_k, self._window = self._counts.unbind(1)
        self._shares = each(torch.float, 4)
        self._temperature, self._penalty, self._top_p, self._tolerated = self._shares.unbind(1)
        self._free_to_end = each(torch.long)
        self._most = each(torch.long)
        self._seen = each(torch.bool, vocabulary)
        self._ends = each(torch.bool, vocabulary)
        self._held = each(torch.bool, vocabulary)
        self._banned = each(torch.bool, vocabulary)
        self._recent = each(torch.long, MOST_REPEAT_WINDOW)
        self._marks: dict[int, tuple[frozenset[int], ...]] = {}

    def begin(self, slot: int, rule: Sampling, seed: int, seen: Iterable[int]) -> None:
        """A new sequence takes the slot."""
        self._counts[slot] = torch.tensor((seed, 0, rule.top_k or self.vocabulary, rule.repeat_window))
        tolerated = rule.repeat_window * rule.repeat_share
        self._shares[slot] = torch.tensor((rule.temperature, rule.repetition_penalty, rule.top_p, tolerated))
        self._recent[slot] = -1
        self._mark(self._seen[slot], seen)

    def limit(self, slot: int, limits: Limits) -> None:
        """The slot's sequence goes on under these limits, counted from here."""
        self._free_to_end[slot] = self._drawn[slot] + limits.least
        self._most[slot] = self._drawn[slot] + limits.most
        self.ended[slot] = False
        marks = limits.ends, limits.ends if limits.held is None else limits.held, limits.banned
        if self._marks.get(slot) != marks:
            for table, tokens in zip((self._ends, self._held, self._banned), marks, strict=True):
                self._mark(table[slot], tokens)
            self._marks[slot] = marks

    def draw(self, scores: Tensor, slots: Tensor, steps: Steps) -> Tensor:
        """A token for each row of `scores` [n, vocabulary], by the rules of its slot."""
        drawn = self._drawn[slots]
        scores = self._allowed(scores.float(), slots, drawn)
        greedy = scores.argmax(dim=-1)
        temperature = self._temperature[slots]
        scores = scores / torch.where(temperature > 0, temperature, 1.0)[:, None]
        kept = _truncated(scores.softmax(dim=-1), self._top_k[slots], self._top_p[slots], steps.candidates)
        tokens = pick(kept, uniforms(self._seed[slots], drawn, 0))
        tokens = torch.where(temperature > 0, tokens, greedy)
        if steps.redraws:
            without = scores.scatter(-1, tokens[:, None], float("-inf")).softmax(dim=-1)
            others = pick(without, uniforms(self._seed[slots], drawn, 1))
            tokens = torch.where(self._repeats(tokens, slots, drawn), others, tokens)
        self._remember(tokens, slots, drawn)
        return tokens

    def _allowed(self, scores: Tensor, slots: Tensor, drawn: Tensor) -> Tensor:
        penalty = self._penalty[slots][:, None]
        penalised = torch.where(scores > 0, scores / penalty, scores * penalty)
        scores = torch.where(self._seen[slots], penalised, scores)
        too_soon = (drawn < self._free_to_end[slots])[:, None]
        return scores.masked_fill(self._banned[slots] | (self._held[slots] & too_soon), float("-inf"))

    def _repeats(self, tokens: Tensor, slots: Tensor, drawn: Tensor) -> Tensor:
        places = torch.arange(MOST_REPEAT_WINDOW, device=tokens.device)
        age = (drawn[:, None] - 1 - places) % MOST_REPEAT_WINDOW
        window = self._window[slots]
        count = ((self._recent[slots] == tokens[:, None]) & (age < window[:, None])).sum(dim=-1)
        return (window > 0) & (count >= self._tolerated[slots])

    def _remember(self, tokens: Tensor, slots: Tensor, drawn: Tensor) -> None:
        self.last[slots] = tokens
        # A scalar would come from the host, which a recorded graph cannot ask.
        self._seen[slots, tokens] = torch.ones_like(tokens, dtype=torch.bool)
        self._recent[slots, drawn % MOST_REPEAT_WINDOW] = tokens
        self._drawn[slots] = drawn + 1
        self.ended[slots] = self._ends[slots, tokens] | (drawn + 1 >= self._most[slots])

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
    """The weights that count, zeros for the others. A row that keeps everything may have more than `candidates`."""
    if not candidates:
        return weights
    values, ids = weights.topk(candidates, dim=-1)
    reached_before = values.cumsum(dim=-1) - values
    ranks = torch.arange(candidates, device=weights.device)
    kept = values * ((reached_before < top_p[:, None]) & (ranks < top_k[:, None]))
    whole = (top_k >= weights.shape[-1]) & (top_p >= 1.0)
    return torch.where(whole[:, None], weights, torch.zeros_like(weights).scatter(-1, ids, kept))
