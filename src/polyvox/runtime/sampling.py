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
        self._seed = each(torch.long)
        self._drawn = each(torch.long)
        self._temperature = each(torch.float)
        self._penalty = each(torch.float)
        self._top_k = each(torch.long)
        self._top_p = each(torch.float)
        self._window = each(torch.long)
        self._tolerated = each(torch.float)
        self._free_to_end = each(torch.long)
        self._seen = each(torch.bool, vocabulary)
        self._held = each(torch.bool, vocabulary)
        self._banned = each(torch.bool, vocabulary)
        self._recent = each(torch.long, MOST_REPEAT_WINDOW)

    def begin(self, slot: int, rule: Sampling, seed: int, seen: Iterable[int]) -> None:
        """A new sequence takes the slot."""
        self._seed[slot], self._drawn[slot] = seed, 0
        self._temperature[slot], self._penalty[slot] = rule.temperature, rule.repetition_penalty
        self._top_k[slot] = rule.top_k or self.vocabulary
        self._top_p[slot] = rule.top_p
        self._window[slot] = rule.repeat_window
        self._tolerated[slot] = rule.repeat_window * rule.repeat_share
        self._recent[slot] = -1
        self._mark(self._seen[slot], seen)

    def limit(self, slot: int, limits: Limits) -> None:
        """The slot's sequence goes on under these limits, counted from here."""
        self._free_to_end[slot] = self._drawn[slot] + limits.least
        self._mark(self._held[slot], limits.ends if limits.held is None else limits.held)
        self._mark(self._banned[slot], limits.banned)

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
