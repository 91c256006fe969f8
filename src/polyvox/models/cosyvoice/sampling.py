"""Repetition-aware sampling: a pure function of scores, recent tokens and uniform draws, without a host round trip."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class SamplingConfig:
    """How the next token is chosen; the defaults are CosyVoice's."""

    top_p: float = 0.8
    top_k: int = 25
    window: int = 10
    tolerated_share: float = 0.1
    """A token that fills at least this share of the window is drawn again."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The chosen tokens [batch] and which of them replace a first choice that the window already held."""

    tokens: Tensor
    redrawn: Tensor


@dataclass(frozen=True, slots=True)
class Nucleus:
    """The likeliest tokens that together reach `top_p`, likeliest first; those beyond have weight zero."""

    ids: Tensor
    weights: Tensor


def nucleus(scores: Tensor, config: SamplingConfig) -> Nucleus:
    """The candidates among the last dimension of `scores`."""
    weights, ids = scores.softmax(dim=-1).topk(min(config.top_k, scores.shape[-1]), dim=-1)
    reached_before = weights.cumsum(dim=-1) - weights
    return Nucleus(ids, weights.masked_fill(reached_before >= config.top_p, 0.0))


def pick(weights: Tensor, uniforms: Tensor) -> Tensor:
    """An index for each row, drawn in proportion to its weights from one uniform draw in [0, 1) per weight."""
    waits = -torch.log1p(-uniforms).to(weights.dtype)
    # A draw of zero is a wait of zero, which would make the quotient infinite or undefined.
    return (weights / waits.clamp(min=torch.finfo(weights.dtype).tiny)).argmax(dim=-1)


def draw(scores: Tensor, recent: Tensor, first: Tensor, second: Tensor, config: SamplingConfig) -> Draw:
    """Choose one token for each row of `scores` [batch, vocabulary].

    `recent` [batch, window] holds the last tokens, -1 where there is none yet. `first` [batch, top_k] serves the
    choice among the nucleus; `second` [batch, vocabulary] the choice among everything else, when that token repeats.
    """
    candidates = nucleus(scores, config)
    chosen = candidates.ids.gather(-1, pick(candidates.weights, first)[:, None])
    redrawn = (recent == chosen).sum(dim=-1) >= config.window * config.tolerated_share
    others = pick(scores.scatter(-1, chosen, float("-inf")).softmax(dim=-1), second)
    return Draw(torch.where(redrawn, others, chosen[:, 0]), redrawn)
