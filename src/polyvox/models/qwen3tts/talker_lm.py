"""The talker as a language model over the codes of the first group and, last, the end of speech."""

import torch
from torch import Tensor
from torch.nn import functional

from polyvox.models.loading import with_aligned_rows
from polyvox.models.qwen.model import Qwen
from polyvox.models.qwen3tts.talker import Talker


class TalkerLm:
    """The head has rows for what may be sampled: no marks, languages or speakers."""

    def __init__(self, talker: Talker) -> None:
        config, weight = talker.config, talker.head.weight
        self._head = with_aligned_rows(torch.cat((weight[: config.codes], weight[config.codec_ids.eos][None])))
        self.talker = talker

    @property
    def backbone(self) -> Qwen:
        return self.talker.backbone

    @property
    def vocabulary(self) -> int:
        return self.end + 1

    @property
    def end(self) -> int:
        """The token that ends speech."""
        return self.talker.config.codes

    def embed_ids(self, ids: Tensor) -> Tensor:
        """Text rows; prompts hold codec rows as well, and are given as embeddings."""
        return self.talker.text_rows(ids)

    def embed_tokens(self, tokens: Tensor) -> Tensor:
        """Rows of first codes alone; whole frames have rows of their own."""
        return self.talker.codec_rows(tokens)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., hidden] to [..., vocabulary]."""
        return functional.linear(hidden, self._head)[..., : self.vocabulary]
