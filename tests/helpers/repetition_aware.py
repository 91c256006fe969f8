"""Repetition-aware sampling as a pure function of scores, recent tokens and uniform draws: the reference of goldens."""

from dataclasses import dataclass

import torch
from torch import Tensor

from polyvox.models.cosyvoice.sampling import SamplingConfig


@dataclass(frozen=True, slots=True)
class Draw:
    """The sampled tokens [batch], and which of them were resampled because the first draw repeated."""

    tokens: Tensor
    redrawn: Tensor


@dataclass(frozen=True, slots=True)
class Nucleus:
    """Top-k candidates in falling order of probability; those beyond `top_p` have weight zero."""

    ids: Tensor
    weights: Tensor


def nucleus(scores: Tensor, config: SamplingConfig) -> Nucleus:
    """Top-k and top-p over the last dimension of `scores`."""
    weights, ids = scores.softmax(dim=-1).topk(min(config.top_k, scores.shape[-1]), dim=-1)
    reached_before = weights.cumsum(dim=-1) - weights
    return Nucleus(ids, weights.masked_fill(reached_before >= config.top_p, 0.0))


def pick(weights: Tensor, uniforms: Tensor) -> Tensor:
    """Sample an index for each row in proportion to its weights, by one uniform draw in [0, 1) per weight."""
    exponentials = -torch.log1p(-uniforms).to(weights.dtype)
    # A draw of zero would make the quotient infinite or undefined.
    return (weights / exponentials.clamp(min=torch.finfo(weights.dtype).tiny)).argmax(dim=-1)


def draw(scores: Tensor, recent: Tensor, first: Tensor, second: Tensor, config: SamplingConfig) -> Draw:
    """Sample one token for each row of `scores` [batch, vocabulary].

    `recent` [batch, window] holds the last tokens, -1 where there is none yet. `first` [batch, top_k] are
    the draws for the nucleus; `second` [batch, vocabulary] those over all other tokens, used where the first repeats.
    """
    candidates = nucleus(scores, config)
    chosen = candidates.ids.gather(-1, pick(candidates.weights, first)[:, None])
    redrawn = (recent == chosen).sum(dim=-1) >= config.window * config.tolerated_share
    others = pick(scores.scatter(-1, chosen, float("-inf")).softmax(dim=-1), second)
    return Draw(torch.where(redrawn, others, chosen[:, 0]), redrawn)
