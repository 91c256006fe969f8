"""Adapter of CosyVoice's language model to the LM scheduler: one id space for text, special tokens and speech."""

from collections.abc import Sequence

import torch
from torch import Tensor

from polyvox.models.cosyvoice.bistream import Feed, InputKind
from polyvox.models.cosyvoice.lm import CosyVoiceLm
from polyvox.models.qwen.model import Qwen


class CosyVoiceLmAdapter:
    """The input ids are text ids, then the start and task tokens, then speech tokens."""

    def __init__(self, lm: CosyVoiceLm) -> None:
        self._lm = lm
        self._start = lm.config.backbone.vocabulary
        self._speech = self._start + 2

    @property
    def backbone(self) -> Qwen:
        return self._lm.backbone

    @property
    def vocabulary(self) -> int:
        return self._lm.config.speech.rows

    def prompt(self, text: Sequence[int], speech: Sequence[int]) -> tuple[int, ...]:
        """The input ids of a prompt: start, all text, task, the prompt's speech."""
        return (self._start, *text, self._start + 1, *(self._speech + token for token in speech))

    def feed(self, feed: Feed) -> tuple[int, ...]:
        """The input ids of interleaved text and speech."""
        first = {InputKind.TEXT: 0, InputKind.SPEECH: self._speech}
        marks = {InputKind.START: self._start, InputKind.TASK: self._start + 1}
        ids: list[int] = []
        for kind, own in feed:
            ids += [marks[kind]] if kind in marks else [first[kind] + each for each in own]
        return tuple(ids)

    def embed_ids(self, ids: Tensor) -> Tensor:
        text = self._lm.embed_text(ids.clamp(max=self._start - 1))
        marks = self._lm.marks[(ids - self._start).clamp(0, 1)]
        speech = self._lm.embed_speech((ids - self._speech).clamp(min=0))
        kind = ids[..., None]
        return torch.where(kind < self._start, text, torch.where(kind < self._speech, marks, speech))

    def embed_tokens(self, tokens: Tensor) -> Tensor:
        return self._lm.embed_speech(tokens)

    def logits(self, hidden: Tensor) -> Tensor:
        return self._lm.scores(hidden)
