"""CosyVoice's language model in the form that the shared runtime drives: one space of ids for all that it reads."""

from collections.abc import Sequence

import torch
from torch import Tensor

from polyvox.models.cosyvoice.bistream import Feed, Kind
from polyvox.models.cosyvoice.lm import CosyVoiceLm
from polyvox.models.qwen.model import Qwen


class CosyVoiceDecoder:
    """Text ids first, then the two marks, then speech tokens."""

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
        """What stands before the first token: the start, all text, the task, the prompt's speech."""
        return (self._start, *text, self._start + 1, *(self._speech + token for token in speech))

    def feed(self, feed: Feed) -> tuple[int, ...]:
        """The ids of interleaved text and speech."""
        first = {Kind.TEXT: 0, Kind.SPEECH: self._speech}
        marks = {Kind.START: self._start, Kind.TASK: self._start + 1}
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
