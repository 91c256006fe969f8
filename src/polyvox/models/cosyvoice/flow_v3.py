"""CosyVoice 3's flow: a lookahead layer as token encoder and a diffusion transformer as estimator."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache
from polyvox.models.cosyvoice import dit
from polyvox.models.cosyvoice.dit import DiT, DiTConfig, DiTTime
from polyvox.models.cosyvoice.flow import FRAMES_PER_TOKEN, Flow, FlowConfig, FlowParts, load_flow
from polyvox.models.cosyvoice.lookahead import Lookahead
from polyvox.models.loading import StateDict
from polyvox.models.lookup import lookup


@dataclass(frozen=True, slots=True)
class Flow3Config:
    """Sizes of version 3."""

    flow: FlowConfig = field(default_factory=FlowConfig)
    lookahead: int = 1024
    """Channels inside the lookahead layer."""
    estimator: DiTConfig = field(default_factory=DiTConfig)


class LookaheadTokenEncoder(nn.Module):
    """Token ids [batch, n] to mu [batch, bins, 2 n]."""

    def __init__(self, config: Flow3Config) -> None:
        super().__init__()
        self.input_embedding = lookup(config.flow.tokens, config.flow.bins)
        self.lookahead = Lookahead(config.flow.bins, config.lookahead, config.flow.ahead)

    def look_ahead(self, tokens: Tensor, context: Tensor, cache: LayerCache) -> Tensor:
        """Hidden rows [batch, n, bins] of the lookahead layer."""
        table = self.input_embedding.weight
        rows: Tensor = self.lookahead(functional.embedding(tokens, table), functional.embedding(context, table), cache)
        return rows

    def forward(self, tokens: Tensor, context: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        """Encode the next tokens, with those after them as `context`; `mask` is unused, for there is no attention."""
        return self.look_ahead(tokens, context, cache).transpose(1, 2).repeat_interleave(FRAMES_PER_TOKEN, dim=2)


def load_flow3(config: Flow3Config, state: StateDict, dtype: torch.dtype = torch.float32) -> Flow:
    """Load a published `flow` state dict of version 3."""
    parts = FlowParts(
        token_encoder=lambda: LookaheadTokenEncoder(config),
        token_encoder_names=((r"^pre_lookahead_layer\.", "lookahead."),),
        estimator=lambda: DiT(config.estimator),
        time=lambda: DiTTime(config.estimator),
        estimator_names=dit.RENAMED,
    )
    return load_flow(config.flow, parts, state, dtype)
