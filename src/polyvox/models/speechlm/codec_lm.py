"""Language models whose vocabulary was extended by a codec's tokens: text ids in, speech tokens out."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.loading import StateDict, WeightsError, load, without_prefix
from polyvox.models.qwen.model import Qwen, QwenConfig

_EVEN = 64


@dataclass(frozen=True, slots=True)
class CodecLmConfig:
    """The backbone, and where its vocabulary holds the codec's tokens and the id that ends speech."""

    first_code: int
    end: int
    codes: int = 65_536
    backbone: QwenConfig = field(default_factory=QwenConfig)


class CodecLm(nn.Module):
    """Scores over the codec's tokens and, last, the end: what speech cannot continue with has no row in the head."""

    def __init__(self, config: CodecLmConfig) -> None:
        super().__init__()
        self.config = config
        self.backbone = Qwen(config.backbone)
        self.head = nn.Parameter(torch.empty(_even(self.vocabulary), config.backbone.hidden))

    @property
    def vocabulary(self) -> int:
        """How many tokens the head tells apart."""
        return self.config.codes + 1

    @property
    def end(self) -> int:
        """The token that ends speech."""
        return self.config.codes

    def embed_ids(self, ids: Tensor) -> Tensor:
        """The input rows of ids of the whole vocabulary."""
        return self.backbone.embed(ids)

    def embed_tokens(self, tokens: Tensor) -> Tensor:
        """The input rows of tokens of the head."""
        ids = torch.where(tokens == self.end, self.config.end, tokens + self.config.first_code)
        return self.backbone.embed(ids)

    def scores(self, hidden: Tensor) -> Tensor:
        """Unnormalised, [..., vocabulary]."""
        return functional.linear(hidden, self.head)[..., : self.vocabulary]


def _even(rows: int) -> int:
    """So many that a GPU multiplies by them at full speed; for an odd number of rows it takes several times as long."""
    return -(-rows // _EVEN) * _EVEN


def load_codec_lm(config: CodecLmConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> CodecLm:
    """The model of a published state dict; where it has no head of its own, the embeddings serve as one."""
    embeddings = "model.embed_tokens.weight"
    source = state.get("lm_head.weight", state.get(embeddings))
    last = max(config.first_code + config.codes - 1, config.end)
    if source is None or source.shape[0] <= last:
        raise WeightsError(f"The weights of CodecLm lack row {last} of lm_head.weight or {embeddings}.")
    codes = source[config.first_code : config.first_code + config.codes]
    renamed = {
        f"backbone.{name}": tensor
        for name, tensor in without_prefix("model.", state).items()
        if name != "lm_head.weight"
    }
    rest = codes.new_zeros(_even(config.codes + 1) - config.codes - 1, codes.shape[1])
    renamed["head"] = torch.cat((codes, source[config.end : config.end + 1], rest))
    return load(lambda: CodecLm(config), renamed, dtype)
