"""Sampling on the device for many sequences at once, each by its own parameters and random numbers.

A random number is a function of a sequence's seed and of how many tokens it has sampled, so that a sequence does not
depend on its batch.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from polyvox.runtime.pinned_output import upload
from polyvox.runtime.tokens import GenerationLimits, SamplingParams

MAX_REPEAT_WINDOW = 64
FEW_CANDIDATES = 64
"""Candidates that are sorted where every sequence that truncates keeps at most this many."""

SPLITMIX_GAMMA = 0x9E3779B97F4A7C15 - 2**64
SPLITMIX_FIRST = 0xBF58476D1CE4E5B9 - 2**64
SPLITMIX_SECOND = 0x94D049BB133111EB - 2**64
UNIFORM_BITS = 24
_GUIDED_DIM = 3


def uniforms(seeds: Tensor, steps: Tensor, stream: int) -> Tensor:
    """A uniform number in [0, 1) for each seed and step: SplitMix64 as a function of its counter.

    Streams 0 and 1 share no counter.
    """
    bits = _shift_right(_mix(_mix(seeds) + (2 * steps + stream + 1) * SPLITMIX_GAMMA), 64 - UNIFORM_BITS)
    return bits.float() * 2.0**-UNIFORM_BITS


def _mix(bits: Tensor) -> Tensor:
    bits = (bits ^ _shift_right(bits, 30)) * SPLITMIX_FIRST
    bits = (bits ^ _shift_right(bits, 27)) * SPLITMIX_SECOND
    return bits ^ _shift_right(bits, 31)


def _shift_right(bits: Tensor, count: int) -> Tensor:
    """Logical shift; torch's own is arithmetic."""
    out: Tensor = (bits >> count) & (2 ** (64 - count) - 1)
    return out


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """The work that sampling a batch takes; what none of its sequences needs is left out."""

    candidates: int
    """Number of tokens that are sorted by probability: none, `FEW_CANDIDATES` or all."""
    redraws: bool
    """True if some sequence draws repeated tokens again."""
    floors: bool = False
    """True if some sequence leaves out tokens by `min_p`."""

    @classmethod
    def of(cls, batch: Iterable[SamplingParams], vocabulary: int) -> "SamplingPlan":
        """The plan of a batch. It does not change the tokens of any sequence."""
        candidates, redraws, floors = 0, False, False
        for params in batch:
            redraws = redraws or params.repeat_window > 0
            floors = floors or params.min_p > 0
            if params.top_k or params.top_p < 1.0:
                candidates = max(candidates, FEW_CANDIDATES if 0 < params.top_k <= FEW_CANDIDATES else vocabulary)
        return cls(min(candidates, vocabulary), redraws, floors)


@dataclass(frozen=True, slots=True)
class SamplerState:
    """Parameters and history of every slot, a row for each."""

    int_params: Tensor
    """Seed, tokens sampled so far, `top_k` and the window for repetitions."""
    float_params: Tensor
    """Temperature, repetition penalty, `top_p` and how many repetitions are tolerated."""
    more_params: Tensor
    """`min_p` and guidance, which no kernel reads."""
    min_length: Tensor
    """Tokens sampled before which a stop token is held back."""
    max_length: Tensor
    """Tokens sampled at which the sequence ends."""
    seen: Tensor
    """Tokens that the repetition penalty applies to."""
    stop: Tensor
    held: Tensor
    """Stop tokens that are held back before `min_length`."""
    banned: Tensor
    recent: Tensor
    """The last `MAX_REPEAT_WINDOW` tokens, as a ring."""
    last: Tensor
    """The token sampled last."""
    ended: Tensor
    """Mask of the tokens that ended their sequences."""

    @classmethod
    def zeros(cls, slots: int, vocabulary: int, device: torch.device) -> "SamplerState":
        def each(dtype: torch.dtype, *more: int) -> Tensor:
            return torch.zeros(slots, *more, dtype=dtype, device=device)

        return cls(
            int_params=each(torch.long, 4),
            float_params=each(torch.float, 4),
            more_params=each(torch.float, 2),
            min_length=each(torch.long),
            max_length=each(torch.long),
            seen=each(torch.bool, vocabulary),
            stop=each(torch.bool, vocabulary),
            held=each(torch.bool, vocabulary),
            banned=each(torch.bool, vocabulary),
            recent=each(torch.long, MAX_REPEAT_WINDOW),
            last=each(torch.long),
            ended=each(torch.bool),
        )


NO_TOKEN = -1
"""Stands where a row's logits are not finite; its sequence has ended."""

FusedSampling = Callable[[Tensor, Tensor, SamplerState], Tensor]
"""`sample(logits, slots, state)` for sequences that do not draw again, nor truncate unless top-p is nested in top-k."""


class Sampler:
    """Samples for every slot by its own parameters.

    With `fused`, that samples for the rows that it can, whatever the other rows need; the last slot must then be spare.
    """

    def __init__(
        self,
        slots: int,
        vocabulary: int,
        device: torch.device,
        fused: FusedSampling | None = None,
        *,
        nested: bool = False,
        late_penalty: bool = False,
    ) -> None:
        """`nested` takes top-p as a share of what top-k leaves, instead of all; `fused` then does as well.

        `late_penalty` applies the repetition penalty to what the limits leave, instead of before them; `fused` cannot.
        """
        self.vocabulary = vocabulary
        self._nested, self._late_penalty = nested, late_penalty
        self.state = SamplerState.zeros(slots, vocabulary, device)
        self._fused = fused
        self._seed, self._sampled, self._top_k, self._window = self.state.int_params.unbind(1)
        self._temperature, self._penalty, self._top_p, self._tolerated = self.state.float_params.unbind(1)
        self._min_p, self._guidance = self.state.more_params.unbind(1)
        self._penalty.fill_(1.0)
        self._token_sets: dict[int, tuple[frozenset[int], ...]] = {}

    @property
    def last(self) -> Tensor:
        """Each slot's last token."""
        return self.state.last

    @property
    def ended(self) -> Tensor:
        """Mask of the slots whose last token ended its sequence."""
        return self.state.ended

    def start(self, slot: int, params: SamplingParams, seed: int, seen: Iterable[int]) -> None:
        """Begin a new sequence in the slot."""
        self.start_all([(slot, params, seed, seen)])

    def start_all(self, starts: Sequence[tuple[int, SamplingParams, int, Iterable[int]]]) -> None:
        """Begin new sequences, each given by its slot, parameters, seed and the tokens that count as seen.

        Few transfers serve for all of them, and none waits for the device.
        """
        ints, floats, seen = [], [], []
        for slot, params, seed, tokens in starts:
            ints.append((slot, seed, 0, params.top_k or self.vocabulary, params.repeat_window))
            tolerated = params.repeat_window * params.repeat_share
            limits = params.temperature, params.repetition_penalty, params.top_p, tolerated
            floats.append((*limits, params.min_p, params.guidance))
            seen += [slot * self.vocabulary + token for token in tokens]
        table = self._upload(ints)
        slots = table[:, 0]
        self.state.int_params[slots] = table[:, 1:]
        settings = self._upload(floats)
        self.state.float_params[slots], self.state.more_params[slots] = settings[:, :4], settings[:, 4:]
        self.state.recent.index_fill_(0, slots, -1)
        self._mark(self.state.seen, slots, seen)

    def set_limits(self, slot: int, limits: GenerationLimits) -> None:
        """Set the limits of the slot's sequence, counted from here."""
        self.set_all_limits([(slot, limits)])

    def set_all_limits(self, updates: Sequence[tuple[int, GenerationLimits]]) -> None:
        """Set the limits of several slots' sequences, as `start_all` begins them."""
        state = self.state
        table = self._upload([(slot, limits.min_tokens, limits.max_tokens) for slot, limits in updates])
        slots = table[:, 0]
        sampled = self._sampled[slots]
        state.min_length[slots] = sampled + table[:, 1]
        state.max_length[slots] = sampled + table[:, 2]
        state.ended.index_fill_(0, slots, 0)
        self._set_token_sets(updates)

    def _set_token_sets(self, updates: Sequence[tuple[int, GenerationLimits]]) -> None:
        """Mark each slot's stop, held and banned tokens, where they are not those of its sequence before."""
        changed: list[tuple[int, tuple[frozenset[int], ...]]] = []
        for slot, limits in updates:
            held = limits.stop_tokens if limits.held_tokens is None else limits.held_tokens
            token_sets = limits.stop_tokens, held, limits.banned_tokens
            if self._token_sets.get(slot) != token_sets:
                self._token_sets[slot] = token_sets
                changed.append((slot, token_sets))
        if not changed:
            return
        slots = self._upload([slot for slot, _ in changed])
        for kind, table in enumerate((self.state.stop, self.state.held, self.state.banned)):
            self._mark(table, slots, [slot * self.vocabulary + token for slot, sets in changed for token in sets[kind]])

    def sample(self, logits: Tensor, slots: Tensor, plan: SamplingPlan) -> Tensor:
        """A token for each row of `logits` [n, vocabulary], by its slot's parameters; `NO_TOKEN` where it fails.

        Those of guided sequences are [n, 2, vocabulary]: with guidance and without.
        """
        if logits.dim() == _GUIDED_DIM:
            with_guidance, without = logits.float().unbind(1)
            logits = with_guidance + self._guidance[slots][:, None] * (with_guidance - without)
        if self._fused is None:
            return self._sample(logits, slots, plan)
        if not plan.redraws and not plan.floors and (self._nested or not plan.candidates):
            return self._fused(logits, slots, self.state)
        spare = len(self.state.last) - 1
        plain = (self._keeps_all(slots) | self._nested) & (self._window[slots] == 0) & (self._min_p[slots] == 0)
        others = self._sample(logits, torch.where(plain, spare, slots), plan)
        return torch.where(plain, self._fused(logits, torch.where(plain, slots, spare), self.state), others)

    def _sample(self, logits: Tensor, slots: Tensor, plan: SamplingPlan) -> Tensor:
        sampled = self._sampled[slots]
        logits = self._constrained(logits.float(), slots, sampled)
        temperature = self._temperature[slots]
        min_p = self._min_p[slots] if plan.floors else None
        uniform = uniforms(self._seed[slots], sampled, 0)
        draws = Draws(temperature, self._top_k[slots], self._top_p[slots], uniform, min_p)
        penalise = partial(self._penalised, slots=slots) if self._late_penalty else None
        tokens = draw(logits, draws, plan.candidates, nested=self._nested, penalise=penalise)
        if plan.redraws:
            scaled = logits / torch.where(temperature > 0, temperature, 1.0)[:, None]
            without = scaled.scatter(-1, tokens.clamp(min=0)[:, None], float("-inf")).softmax(dim=-1)
            others = sample_index(without, uniforms(self._seed[slots], sampled, 1))
            again = self._repeats(tokens, slots, sampled) & (tokens != NO_TOKEN)
            tokens = torch.where(again, others, tokens)
        self._record(tokens, slots, sampled)
        return tokens

    def _keeps_all(self, slots: Tensor) -> Tensor:
        """Mask of the slots that do not truncate their distribution."""
        return (self._top_k[slots] >= self.vocabulary) & (self._top_p[slots] >= 1.0)

    def _constrained(self, logits: Tensor, slots: Tensor, sampled: Tensor) -> Tensor:
        if not self._late_penalty:
            logits = self._penalised(logits, slots)
        too_soon = (sampled < self.state.min_length[slots])[:, None]
        return logits.masked_fill(self.state.banned[slots] | (self.state.held[slots] & too_soon), float("-inf"))

    def _penalised(self, logits: Tensor, slots: Tensor) -> Tensor:
        penalty = self._penalty[slots][:, None]
        penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
        return torch.where(self.state.seen[slots], penalised, logits)

    def _repeats(self, tokens: Tensor, slots: Tensor, sampled: Tensor) -> Tensor:
        ring = torch.arange(MAX_REPEAT_WINDOW, device=tokens.device)
        age = (sampled[:, None] - 1 - ring) % MAX_REPEAT_WINDOW
        window = self._window[slots]
        count = ((self.state.recent[slots] == tokens[:, None]) & (age < window[:, None])).sum(dim=-1)
        return (window > 0) & (count >= self._tolerated[slots])

    def _record(self, tokens: Tensor, slots: Tensor, sampled: Tensor) -> None:
        failed, tokens = tokens == NO_TOKEN, tokens.clamp(min=0)
        self.state.last[slots] = tokens
        # A scalar would come from the host, which a captured graph cannot ask.
        self.state.seen[slots, tokens] = torch.ones_like(tokens, dtype=torch.bool)
        self.state.recent[slots, sampled % MAX_REPEAT_WINDOW] = tokens
        self._sampled[slots] = sampled + 1
        over = self.state.stop[slots, tokens] | (sampled + 1 >= self.state.max_length[slots])
        self.state.ended[slots] = over | failed

    def _mark(self, table: Tensor, slots: Tensor, places: Sequence[int]) -> None:
        """Make these places of the flat table the only marked ones in the rows of the slots."""
        table.index_fill_(0, slots, 0)
        if places:
            table.view(-1).index_fill_(0, self._upload(places), 1)

    def _upload(self, values: Sequence[object]) -> Tensor:
        return upload(torch.tensor(values), self.state.last.device)


@dataclass(frozen=True, slots=True)
class Draws:
    """Parameters of one draw a row, [n] each; temperature 0 is greedy."""

    temperature: Tensor
    top_k: Tensor
    top_p: Tensor
    uniform: Tensor
    min_p: Tensor | None = None


def draw(
    logits: Tensor,
    draws: Draws,
    candidates: int,
    *,
    nested: bool = False,
    penalise: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """A token for each row of `logits` [n, vocabulary]; `NO_TOKEN` where they are not finite.

    `penalise` changes the logits that the limits leave.
    """
    logits = logits / torch.where(draws.temperature > 0, draws.temperature, 1.0)[:, None]
    every = logits.softmax(dim=-1)
    weights = within_limits(every, draws, candidates, nested=nested)
    if penalise is not None:
        logits = penalise(logits).masked_fill(weights == 0, float("-inf"))
        weights = logits.softmax(dim=-1)
    tokens = torch.where(draws.temperature > 0, sample_index(weights, draws.uniform), logits.argmax(dim=-1))
    # One value that is not finite makes all of a row NaN, and so does a row of nothing but forbidden tokens.
    return torch.where(every[:, 0].isfinite(), tokens, NO_TOKEN)


def within_limits(weights: Tensor, draws: Draws, candidates: int, *, nested: bool = False) -> Tensor:
    """The probabilities within min-p, top-k and top-p, of at most so many candidates; zeros for the others.

    Top-p is a share of all, or where `nested` of what min-p and top-k leave.
    """
    if draws.min_p is not None:
        weights = weights * (weights >= draws.min_p[:, None] * weights.amax(dim=-1, keepdim=True))
    if not candidates:
        return weights
    values, ids = weights.topk(candidates, dim=-1)
    values = values * (torch.arange(candidates, device=weights.device) < draws.top_k[:, None])
    reached_before = values.cumsum(dim=-1) - values
    share = draws.top_p[:, None] * values.sum(dim=-1, keepdim=True) if nested else draws.top_p[:, None]
    kept = torch.zeros_like(weights).scatter(-1, ids, values * (reached_before < share))
    keeps_all = (draws.top_k >= weights.shape[-1]) & (draws.top_p >= 1.0)
    return torch.where(keeps_all[:, None], weights, kept)


def sample_index(weights: Tensor, uniform: Tensor) -> Tensor:
    """An index for each row, in proportion to its weights: the inverse of their sum at `uniform` [n] in [0, 1)."""
    reached = weights.cumsum(dim=-1)
    # A number of `UNIFORM_BITS` bits below 1 takes at least half a unit in the last place off a sum: it cannot be met.
    return torch.searchsorted(reached, uniform[:, None] * reached[:, -1:], right=True)[:, 0]
