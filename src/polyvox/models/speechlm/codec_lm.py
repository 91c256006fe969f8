"""Codec language models: a vocabulary extended by a codec's tokens, text ids in, speech tokens out."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from polyvox.models.loading import StateDict, WeightsError, aligned, load, with_aligned_rows, without_prefix
from polyvox.models.qwen.model import Qwen, QwenConfig


@dataclass(frozen=True, slots=True)
class CodecLmConfig:
    """The backbone, and the ids of the codec's first token and of the end of speech in its vocabulary."""

    first_code: int
    end: int
    codes: int = 65_536
    backbone: QwenConfig = field(default_factory=QwenConfig)


class CodecLm(nn.Module):
    """Logits over the codec's tokens and, last, the end of speech: the head has no rows for text."""

    def __init__(self, config: CodecLmConfig) -> None:
        super().__init__()
        self.config = config
        self.backbone = Qwen(config.backbone)
        self.head = nn.Parameter(torch.empty(aligned(self.vocabulary), config.backbone.hidden))

    @property
    def vocabulary(self) -> int:
        """Size of the head's vocabulary: the codec's tokens and the end."""
        return self.config.codes + 1

    @property
    def end(self) -> int:
        """The token that ends speech."""
        return self.config.codes

    def embed_ids(self, ids: Tensor) -> Tensor:
        """Embeddings of ids of the whole vocabulary."""
        return self.backbone.embed(ids)

    def embed_tokens(self, tokens: Tensor) -> Tensor:
        """Embeddings of tokens of the head's vocabulary."""
        ids = torch.where(tokens == self.end, self.config.end, tokens + self.config.first_code)
        return self.backbone.embed(ids)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., hidden] to [..., vocabulary]."""
        return functional.linear(hidden, self.head)[..., : self.vocabulary]


def load_codec_lm(config: CodecLmConfig, state: StateDict, dtype: torch.dtype = torch.float32) -> CodecLm:
    """Load a published state dict; where it has no head of its own, the embeddings are tied."""
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
    renamed["head"] = with_aligned_rows(torch.cat((codes, source[config.end : config.end + 1])))
    return load(lambda: CodecLm(config), renamed, dtype)
