"""CosyVoice 2's flow: a conformer token encoder and a U-Net estimator."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import BlockCausalMask
from polyvox.models.cache import LayerCache
from polyvox.models.cosyvoice import conformer, unet
from polyvox.models.cosyvoice.conformer import Conformer, ConformerConfig
from polyvox.models.cosyvoice.flow import Flow, FlowConfig, FlowParts, load_flow
from polyvox.models.cosyvoice.unet import MeanVelocityTime, UNet, UNetConfig, UNetTime
from polyvox.models.loading import StateDict
from polyvox.models.lookup import lookup


@dataclass(frozen=True, slots=True)
class Flow2Config:
    """Sizes of version 2."""

    flow: FlowConfig = field(default_factory=FlowConfig)
    encoder: ConformerConfig = field(default_factory=ConformerConfig)
    estimator: UNetConfig = field(default_factory=UNetConfig)


class ConformerTokenEncoder(nn.Module):
    """Token ids [batch, n] to mu [batch, bins, 2 n]."""

    def __init__(self, config: Flow2Config) -> None:
        super().__init__()
        self.input_embedding = lookup(config.flow.tokens, config.encoder.width)
        self.encoder = Conformer(config.encoder)
        self.encoder_proj = nn.Linear(config.encoder.width, config.flow.bins)

    def encode(self, tokens: Tensor, context: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        """Hidden rows [batch, 2 n, width] of the encoder."""
        table = self.input_embedding.weight
        rows: Tensor = self.encoder(
            functional.embedding(tokens, table), functional.embedding(context, table), cache, mask
        )
        return rows

    def forward(self, tokens: Tensor, context: Tensor, cache: LayerCache, mask: BlockCausalMask) -> Tensor:
        """Encode the next tokens, with those after them as `context`."""
        mu: Tensor = self.encoder_proj(self.encode(tokens, context, cache, mask))
        return mu.transpose(1, 2)


def load_flow2(config: Flow2Config, state: StateDict, dtype: torch.dtype = torch.float32) -> Flow:
    """Load a published `flow` state dict of version 2."""
    parts = FlowParts(
        token_encoder=lambda: ConformerTokenEncoder(config),
        token_encoder_names=conformer.RENAMED,
        estimator=lambda: UNet(config.estimator),
        time=lambda: (MeanVelocityTime if config.flow.meanflow else UNetTime)(config.estimator),
        estimator_names=unet.RENAMED,
    )
    return load_flow(config.flow, parts, state, dtype)
