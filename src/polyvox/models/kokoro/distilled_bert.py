"""A small transformer in the place of Kokoro's ALBERT and the layer behind it: ids to the prosody predictor's input.

ALBERT applies one wide layer twelve times, which is most of the cost of Kokoro's front on a CPU. This network was
trained to give the predictor what ALBERT gives it, at about a tenth of the arithmetic.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.attention import attend, merge_heads, split_heads
from polyvox.models.kokoro.ragged import Ragged
from polyvox.models.loading import StateDict, load
from polyvox.models.lookup import lookup

EPS = 1e-5
HEAD_WIDTH = 64


@dataclass(frozen=True, slots=True)
class DistilledBertConfig:
    """The sizes of the network."""

    tokens: int = 178
    width: int = 320
    layers: int = 6
    feed_forward: int = 1280
    positions: int = 512
    outputs: int = 512

    @property
    def heads(self) -> int:
        return self.width // HEAD_WIDTH

    @classmethod
    def of_weights(cls, state: StateDict) -> "DistilledBertConfig":
        """The sizes of a state dict."""
        tokens, width = state["word.weight"].shape
        return cls(
            tokens,
            width,
            sum(name.endswith(".joint.weight") for name in state),
            len(state["layers.0.expand.weight"]),
            len(state["position.weight"]),
            len(state["output.weight"]),
        )


class DistilledBert(nn.Module):
    """Ids with the padding token at both ends to [batch, time, outputs]; layer norms have no weights of their own."""

    def __init__(self, config: DistilledBertConfig) -> None:
        super().__init__()
        self.config = config
        self.word = lookup(config.tokens, config.width)
        self.position = lookup(config.positions, config.width)
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config.layers))
        self.output = nn.Linear(config.width, config.outputs)

    def forward(self, ids: Tensor, ragged: Ragged) -> Tensor:
        """Ids [batch, time] to [batch, time, outputs]; undefined beyond a row's end."""
        positions = torch.arange(ids.shape[1], device=ids.device)
        rows = self.word(ids) + self.position(positions)
        mask = None if ragged.mask is None else ragged.mask[:, None].bool()
        for layer in self.layers:
            rows = layer(rows, mask)
        out: Tensor = self.output(_normed(rows))
        return out


class _Layer(nn.Module):
    def __init__(self, config: DistilledBertConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.joint = nn.Linear(config.width, 3 * config.width)
        self.merge = nn.Linear(config.width, config.width)
        self.expand = nn.Linear(config.width, config.feed_forward)
        self.contract = nn.Linear(config.feed_forward, config.width)

    def forward(self, rows: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (split_heads(part, self.heads) for part in self.joint(_normed(rows)).chunk(3, dim=2))
        rows = rows + self.merge(merge_heads(attend(query, key, value, mask)))
        inner = functional.gelu(self.expand(_normed(rows)), approximate="tanh")
        out: Tensor = rows + self.contract(inner)
        return out


def _normed(rows: Tensor) -> Tensor:
    return functional.layer_norm(rows, rows.shape[-1:], eps=EPS)


def load_distilled_bert(state: StateDict) -> DistilledBert:
    """The network with its weights."""
    config = DistilledBertConfig.of_weights(state)
    return load(lambda: DistilledBert(config), state)
