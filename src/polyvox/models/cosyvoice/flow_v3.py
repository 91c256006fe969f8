"""CosyVoice 3's flow: a look at the next tokens in front of a diffusion transformer."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import Sight
from polyvox.models.cosyvoice import dit
from polyvox.models.cosyvoice.dit import DiT, DiTConfig, DiTTime
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowConfig, FlowParts, load_flow
from polyvox.models.cosyvoice.lookahead import Lookahead
from polyvox.models.loading import StateDict
from polyvox.models.lookup import lookup
from polyvox.models.memory import Memory


@dataclass(frozen=True, slots=True)
class Flow3Config:
    """All sizes of version 3."""

    flow: FlowConfig = field(default_factory=FlowConfig)
    lookahead: int = 1024
    """Channels inside the look-ahead layer."""
    estimator: DiTConfig = field(default_factory=DiTConfig)


class LookaheadFront(nn.Module):
    """Token ids [batch, n] to mu [batch, bins, 2 n]."""

    def __init__(self, config: Flow3Config) -> None:
        super().__init__()
        self.input_embedding = lookup(config.flow.tokens, config.flow.bins)
        self.lookahead = Lookahead(config.flow.bins, config.lookahead, config.flow.ahead)

    def look(self, tokens: Tensor, context: Tensor, memory: Memory) -> Tensor:
        """The tokens' rows [batch, n, bins], each with what follows it."""
        table = self.input_embedding.weight
        rows: Tensor = self.lookahead(functional.embedding(tokens, table), functional.embedding(context, table), memory)
        return rows

    def forward(self, tokens: Tensor, context: Tensor, memory: Memory, sight: Sight) -> Tensor:
        """Continue by tokens that `context` follows; there is no attention here that `sight` would concern."""
        return self.look(tokens, context, memory).transpose(1, 2).repeat_interleave(FRAMES_PER_TOKEN, dim=2)


def load_flow3(config: Flow3Config, state: StateDict, dtype: torch.dtype = torch.float32) -> Flow:
    """The model of a published `flow` state dict of version 3."""
    parts = FlowParts(
        front=lambda: LookaheadFront(config),
        front_names=((r"^pre_lookahead_layer\.", "lookahead."),),
        estimator=lambda: DiT(config.estimator),
        time=lambda: DiTTime(config.estimator),
        estimator_names=dit.RENAMED,
    )
    return load_flow(config.flow, parts, state, dtype)
